#include "app/batch/follow_batch.h"

#include <chrono>

#include <unistd.h>

#include "app/exit_code.h"
#include "app/log.h"
#include "images/files/temporary_file.h"

namespace imgpipe {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kPollInterval{50};   // interval between checks for signals
constexpr std::chrono::milliseconds kGracePeriod{1700};  // for inputs in progress, after a signal

bool is_unreported(const std::optional<Error>& fatal) {
  return fatal && fatal->kind() != ErrorKind::output;
}

}  // namespace

BatchEnd follow(Batch& batch, bool fail_fast, const SignalGuard& signals, const BatchEvents& events) {
  std::optional<Clock::time_point> deadline;
  bool has_failed = false;
  while (!batch.finished()) {
    const bool is_fed = !deadline && events.feed();
    if (std::optional<BatchResult> result =
            batch.next(is_fed ? std::chrono::milliseconds(0) : kPollInterval)) {
      has_failed = has_failed || result->failed;
      events.ended(*result);
    }
    events.pause();
    if (signals.received() == 0) continue;
    if (!deadline) {
      deadline = Clock::now() + kGracePeriod;
      batch.stop();
    }
    if (Clock::now() > *deadline) break;
  }
  BatchEnd end;
  end.signal = signals.received();
  end.fatal = batch.fatal();
  if (end.signal != 0) end.stopped = "signal " + std::to_string(end.signal);
  if (end.fatal) end.stopped = is_unreported(end.fatal) ? end.fatal->what() : "cannot write an output";
  if (fail_fast && has_failed && end.stopped.empty()) end.stopped = "an image failed (--fail-fast)";
  end.is_complete = batch.finished();
  return end;
}

int BatchEnd::exit_code(int of_inputs) const {
  if (signal != 0) return kExitSignalBase + signal;
  return fatal ? exit_code_of(fatal->kind()) : of_inputs;
}

void log_fatal(const BatchEnd& end) {
  if (is_unreported(end.fatal)) log_error(end.fatal->what());
}

void end_process(const BatchEnd& end) {
  remove_temporary_files();
  ::_exit(kExitSignalBase + end.signal);
}

}  // namespace imgpipe
