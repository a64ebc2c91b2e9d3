// The checks before the first image, and the choice of the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "app/jobs/batch_files.h"
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

[[nodiscard]] std::optional<PageRequest> page_request(const ProcessOptions& options);

// Returns the input and output of a run that is not a batch; `name` is the input's name in messages.
[[nodiscard]] ImageFiles image_files(const ProcessOptions& options, std::string name);

// Returns the same as a file of a batch, without its state.
[[nodiscard]] BatchFile file_of(const ProcessOptions& options, Format format);

// Returns true for a regular file or a path that does not exist yet.
[[nodiscard]] bool is_or_becomes_regular_file(const std::string& path);

// Returns --threads, or the number of available threads.
[[nodiscard]] int thread_count(const ExecutionOptions& execution);

// Checks input, output and results against each other, and whether the output and results may be written.
void check_paths(const ProcessOptions& options, Format format, FilesInUse& in_use);
[[nodiscard]] LogSubject subject_of(const std::string& reason, const ProcessOptions& options);
void log_plan(const Plan& plan);

// The device of one input. With auto the image's size decides; a requested device starts during reading.
class EngineChoice {
 public:
  // Throws Error(usage) if the option does not name a device.
  EngineChoice(const ProcessOptions& options, const EngineFactory& factory);

  // Starts the engine if the device is already known. Throws Error(usage) for several devices.
  void begin();
  // Returns the engine for images of up to `pixels`. `not_on_cuda` is the reason their plan cannot run on
  // CUDA, or empty. `is_tiny`: one thread is enough. Throws Error(usage) if CUDA is required and cannot run
  // the plan.
  Engine& engine(std::int64_t pixels, const std::string& not_on_cuda, bool is_tiny);
  [[nodiscard]] const std::string& why() const { return choice_.why; }
  // The threads that the engine was given.
  [[nodiscard]] int threads() const { return threads_; }

 private:
  void start(int threads);

  const ProcessOptions& options_;
  const EngineFactory& factory_;
  int threads_ = 0;
  DeviceChoice choice_;
  std::unique_ptr<Engine> engine_;
};

}  // namespace imgpipe
