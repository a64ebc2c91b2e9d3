// Follows a batch to its last result, or to the end of the grace period after a signal.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "app/signals.h"
#include "images/error.h"
#include "pipeline/jobs/batch.h"

namespace imgpipe {

// Called by follow(), in the caller's thread.
struct BatchEvents {
  std::function<void(BatchResult&)> ended;  // an input, done or failed
  std::function<void()> pause;              // after each result, and regularly while waiting for one
  // Adds to a list that grows; false: not before a result was taken. Not called after a signal.
  std::function<bool()> feed = [] { return false; };
};

struct BatchEnd {
  int signal = 0;              // 0: none received
  std::optional<Error> fatal;  // Batch::fatal()
  std::string stopped;         // why the batch ended early; otherwise empty
  bool is_complete = true;     // false: inputs are still in progress

  // Returns `of_inputs` unless a signal or a fatal error ended the batch.
  [[nodiscard]] int exit_code(int of_inputs) const;
};

// Takes results until the batch ends. The first signal stops the batch; inputs in progress may then finish
// within the grace period.
[[nodiscard]] BatchEnd follow(Batch& batch, bool fail_fast, const SignalGuard& signals,
                              const BatchEvents& events);
// Logs a fatal error, except an output error, which was reported with its image.
void log_fatal(const BatchEnd& end);
// Ends the process together with inputs in progress: their threads cannot be ended individually.
[[noreturn]] void end_process(const BatchEnd& end);

}  // namespace imgpipe
