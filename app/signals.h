// Handles signals that ask the process to end: at once, or during a batch after an orderly stop. Also ends
// the process when memory runs out.
#pragma once

#include <cstddef>
#include <string_view>

namespace imgpipe {

// Installs the handlers; call it once, before any thread is created. SIGINT, SIGTERM and SIGHUP remove the
// temporary files and end the process with 128 + N, unless the caller ignored them. SIGPIPE and SIGXFSZ are
// ignored, so that write(2) returns the error. SIGCHLD gets its default action, whatever the caller chose.
void install_signal_handlers();

// Handles an uncaught std::bad_alloc: prints one line, removes temporary files and exits with code 1 instead
// of aborting. Any other uncaught exception is a defect and still aborts.
void install_last_resort() noexcept;

// While a guard exists, the first SIGINT, SIGTERM or SIGHUP is only recorded. A second signal more than 0.2 s
// later ends the process at once. An earlier one is ignored as a repetition: timeout(1) and batch systems
// signal a process and then its group.
class SignalGuard {
 public:
  // `note`: a string literal that the first signal writes to stderr.
  explicit SignalGuard(std::string_view note = {});
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

  // Returns the received signal, or 0.
  [[nodiscard]] int received() const;
};

// While a SignalLine exists, a signal that ends the process at once first writes this line to stderr.
class SignalLine {
 public:
  SignalLine() = default;
  ~SignalLine();
  SignalLine(const SignalLine&) = delete;
  SignalLine& operator=(const SignalLine&) = delete;

  // Replaces the line, which must end with a newline. Lines longer than kMaxBytes are ignored.
  void set(std::string_view line);
  static constexpr std::size_t kMaxBytes = 1024;

 private:
  std::size_t next_line_ = 0;  // index into the two buffers
};

}  // namespace imgpipe
