// Signals that ask the process to end: at once, or, while a batch runs, when it has put its work away. And
// what it does when it must end because there is no memory to go on.
#pragma once

namespace imgpipe {

// SIGINT, SIGTERM and SIGHUP remove the temporary files and end the process with 128 + N, unless the caller
// had them ignored. SIGPIPE and SIGXFSZ are ignored: what they tell then comes back as errors of write(2).
// SIGCHLD is not, whatever the caller chose.
// Call it once, before any thread is made.
void install_signal_handlers();

// What is left where nobody can catch a std::bad_alloc: one line, no temporary files, exit code 1, in place
// of std::terminate()'s abort. Any other exception that nobody catches is a defect, and aborts as ever.
void install_last_resort() noexcept;

// While one lives, the first of these signals is only noted; the second ends the process at once.
class SignalsNoted {
 public:
  SignalsNoted();
  ~SignalsNoted();
  SignalsNoted(const SignalsNoted&) = delete;
  SignalsNoted& operator=(const SignalsNoted&) = delete;

  // The signal that came, 0 when none has.
  [[nodiscard]] int received() const;
};

}  // namespace imgpipe
