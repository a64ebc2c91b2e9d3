// Before one input's way, be it an image or all its pages: what cannot be meant, and the engine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "app/engine_factory.h"
#include "app/log_subject.h"
#include "app/process_options/process_options.h"
#include "app/result_files.h"
#include "pipeline/device.h"
#include "pipeline/engine.h"
#include "pipeline/plan.h"

namespace imgpipe {

// Input, output and results against each other, and whether the output and results may be written at all.
void check_paths(const ProcessOptions& options, Format format, FilesInUse& in_use);
// One line about results that a run replaces though they were made with other options; nothing for none.
void log_replaced(std::size_t results);
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
