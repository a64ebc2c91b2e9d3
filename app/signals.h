// Signals that ask the process to end: at once, or, while a batch runs, when it has put its work away. And
// what it does when it must end because there is no memory to go on.
#pragma once

#include <cstddef>
#include <string_view>

namespace imgpipe {

// SIGINT, SIGTERM and SIGHUP remove the temporary files and end the process with 128 + N, unless the caller
// had them ignored. SIGPIPE and SIGXFSZ are ignored: what they tell then comes back as errors of write(2).
// SIGCHLD is not, whatever the caller chose.
// Call it once, before any thread is made.
void install_signal_handlers();

// What is left where nobody can catch a std::bad_alloc: one line, no temporary files, exit code 1, in place
// of std::terminate()'s abort. Any other exception that nobody catches is a defect, and aborts as ever.
void install_last_resort() noexcept;

// While one lives, the first of these signals is only noted; another one, more than 0.2 s later, ends the
// process at once. An earlier one counts as a repetition: timeout(1) and batch systems signal a process and
// then its group.
class SignalGuard {
 public:
  // `note`: a string literal that the first signal writes to stderr.
  explicit SignalGuard(std::string_view note = {});
  ~SignalGuard();
  SignalGuard(const SignalGuard&) = delete;
  SignalGuard& operator=(const SignalGuard&) = delete;

  // The signal that came, 0 when none has.
  [[nodiscard]] int received() const;
};

// While one lives, a signal that ends the process at once first writes its line to stderr.
class SignalLine {
 public:
  SignalLine() = default;
  ~SignalLine();
  SignalLine(const SignalLine&) = delete;
  SignalLine& operator=(const SignalLine&) = delete;

  // Replaces the line, which ends with a newline. A longer one than kMostBytes is not written.
  void set(std::string_view line);
  static constexpr std::size_t kMostBytes = 1024;

 private:
  std::size_t next_line_ = 0;  // of two buffers
};

}  // namespace imgpipe
