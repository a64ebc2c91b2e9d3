// The settings of images by the command line; checks and the choice of the device before the first image.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/jobs/result_files.h"
#include "app/log_subject.h"
#include "app/process_options/process_options.h"
#include "pipeline/device.h"
#include "pipeline/engine.h"
#include "pipeline/engine_choice.h"
#include "pipeline/jobs/image_job.h"
#include "pipeline/jobs/input_job.h"
#include "pipeline/plan.h"

namespace imgpipe {

// Outputs are put in place only where that still replaces what it may (app/files/replaceable.h).
[[nodiscard]] ImageSettings image_settings(const ProcessOptions& options);

// --pages.
[[nodiscard]] std::optional<PageRequest> page_request(const ProcessOptions& options);

// The input and the output of a run that is not a batch; `name` is the input's in messages.
[[nodiscard]] ImageFiles image_files(const ProcessOptions& options, std::string name);

// A regular file, or none yet.
[[nodiscard]] bool becomes_plain_file(const std::string& path);

// --threads, or as many as there are.
[[nodiscard]] int thread_count(const ExecutionOptions& execution);

// Input, output and results against each other, and whether the output and results may be written at all.
void check_paths(const ProcessOptions& options, Format format, FilesInUse& in_use);
// The subject of a message about the input.
[[nodiscard]] LogSubject subject_of(const std::string& reason, const ProcessOptions& options);
// Logs the steps of the plan, for --verbose.
void log_plan(const Plan& plan);

// The device of one input. With auto the size of the image decides; a requested device is made ready while
// the file is read.
class EngineChoice {
 public:
  // Throws Error(usage) for a text that does not name a device.
  EngineChoice(const ProcessOptions& options, const EngineFactory& factory);

  // Starts the engine if it is known already. Throws Error(usage) for several devices.
  void begin();
  // The engine for an image of `pixels`. `not_on_cuda`: why its plan cannot run on CUDA; empty: it can.
  // Throws Error(usage) where CUDA is required and cannot run it.
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
