// What the command line means for images, and what is checked and chosen before the first of them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "app/engine_factory.h"
#include "app/jobs/result_files.h"
#include "app/log_subject.h"
#include "app/process_options/process_options.h"
#include "pipeline/device.h"
#include "pipeline/engine.h"
#include "pipeline/jobs/image_job.h"
#include "pipeline/plan.h"

namespace imgpipe {

// Outputs are put in place only where that still replaces what it may (app/files/replaceable.h).
[[nodiscard]] ImageSettings image_settings(const ProcessOptions& options);

// The input and the output of a run that is no batch; `name` is the input's in messages.
[[nodiscard]] ImageFiles image_files(const ProcessOptions& options, std::string name);

// --threads, or as many as there are.
[[nodiscard]] int thread_count(const ExecutionOptions& execution);

// Input, output and results against each other, and whether the output and results may be written at all.
void check_paths(const ProcessOptions& options, Format format, FilesInUse& in_use);
// Of a message about the one input.
[[nodiscard]] LogSubject subject_of(const std::string& reason, const ProcessOptions& options);
// What the plan does, for --verbose.
void say_plan(const Plan& plan);

// The device of one input. With auto its size decides where there is a device; a device asked for is made
// ready while the file is read.
class EngineChoice {
 public:
  // Throws Error(usage) for a text that names no device.
  EngineChoice(const ProcessOptions& options, const EngineFactory& factory);

  // Starts the engine where it is known already. Throws Error(usage) for several devices.
  void begin();
  // For an image of so many pixels. `not_on_cuda`: why its plan cannot run there; empty: it can. Throws
  // Error(usage) where it must.
  Engine& engine(std::int64_t pixels, const std::string& not_on_cuda);
  [[nodiscard]] const std::string& why() const { return choice_.why; }

 private:
  void start();

  const ProcessOptions& options_;
  const EngineFactory& factory_;
  DeviceChoice choice_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace imgpipe
