#include "tests/support/system_calls.h"

#include <cerrno>
#include <csignal>
#include <stdexcept>
#include <string>

#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace imgpipe::test {
namespace {

constexpr int kRefused = 77, kThrown = 78;

// Stops with one system call; raise() makes several.
void stop(pid_t self) {
  ::syscall(SYS_kill, self, SIGSTOP);
}

[[noreturn]] void run_traced(const std::function<void()>& before, const std::function<void()>& counted) {
  if (::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(kRefused);
  const pid_t self = ::getpid();
  try {
    before();
    stop(self);
    counted();
    stop(self);
  } catch (...) {
    ::_exit(kThrown);
  }
  ::_exit(0);
}

int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

}  // namespace

std::optional<int> system_calls_of(const std::function<void()>& before,
                                   const std::function<void()>& counted) {
  const pid_t child = ::fork();
  if (child < 0) throw std::runtime_error("fork failed");
  if (child == 0) run_traced(before, counted);
  int calls_and_returns = 0;
  int stops = 0;
  for (;;) {
    const int status = wait_for(child);
    if (WIFEXITED(status) && WEXITSTATUS(status) == kRefused) return std::nullopt;
    if (!WIFSTOPPED(status))
      throw std::runtime_error("the traced process ended, wait status " + std::to_string(status));
    const int signal = WSTOPSIG(status);
    if (signal == (SIGTRAP | 0x80)) {
      ++calls_and_returns;
    } else if (signal == SIGSTOP && ++stops == 2) {
      break;
    } else if (signal == SIGSTOP) {
      ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL);
    }
    const int passed_on = signal == SIGSTOP || signal == (SIGTRAP | 0x80) ? 0 : signal;
    ::ptrace(stops == 0 ? PTRACE_CONT : PTRACE_SYSCALL, child, nullptr, passed_on);
  }
  ::kill(child, SIGKILL);
  (void)wait_for(child);
  return calls_and_returns / 2 - 1;  // less the second stop()
}

}  // namespace imgpipe::test
