// A batch from its first result to its last, or to the end of a signal's time of grace.
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
  std::function<void(const BatchResult&)> ended;  // an input, done or failed
  std::function<void()> pause;                    // after each result, and while none comes
};

struct BatchEnd {
  int signal = 0;              // 0: none came
  std::optional<Error> fatal;  // Batch::fatal()
  std::string stopped;         // why it ended early; empty otherwise
  bool is_complete = true;     // else inputs are still on their way

  // `of_inputs`: where nothing ended it early.
  [[nodiscard]] int exit_code(int of_inputs) const;
};

// The first of the signals stops the batch: what is on its way may then end within the time of grace.
[[nodiscard]] BatchEnd follow(Batch& batch, bool fail_fast, const SignalGuard& signals,
                              const BatchEvents& events);
// Logs a fatal error. That of an output was reported with its image.
void log_fatal(const BatchEnd& end);
// Ends the process, inputs on their way with it: their threads cannot be ended one by one.
[[noreturn]] void end_process(const BatchEnd& end);

}  // namespace imgpipe
