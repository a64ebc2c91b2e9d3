#include "app/signals.h"

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <new>

#include <unistd.h>

#include "app/exit_code.h"
#include "app/log.h"
#include "images/files/temporary_file.h"

namespace imgpipe {
namespace {

std::terminate_handler before_terminate = std::abort;
std::atomic<bool> noting{false};
std::atomic<int> noted{0};
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

// Only async-signal-safe calls: unlink and _exit.
void on_signal(int signal) {
  int none = 0;
  if (noting.load() && noted.compare_exchange_strong(none, signal)) return;
  remove_temporary_files();
  ::_exit(kExitSignalBase + signal);
}

[[noreturn]] void on_terminate() noexcept {
  constexpr std::size_t kSomeBytes = 1 << 12;
  bool no_memory = false;
  if (const std::exception_ptr error = std::current_exception()) {
    try {
      std::rethrow_exception(error);
    } catch (const std::bad_alloc&) {
      no_memory = true;
    } catch (...) {
      no_memory = false;
    }
  } else {
    // The runtime ends so where there is none for the exception itself; a thread that nobody joined does too.
    void* some = std::malloc(kSomeBytes);
    no_memory = some == nullptr;
    std::free(some);
  }
  if (!no_memory) before_terminate();
  log_error_without_memory("not enough memory");
  remove_temporary_files();
  ::_exit(kExitInput);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigfillset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

void install_signal_handlers() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // What the caller chose to ignore (nohup) stays ignored.
    struct sigaction inherited {};
    if (::sigaction(signal, nullptr, &inherited) == 0 && inherited.sa_handler == SIG_IGN) continue;
    handle(signal, on_signal);
  }
  // Of children of a process that ignores it the system does not tell how they ended.
  handle(SIGCHLD, SIG_DFL);
  handle(SIGPIPE, SIG_IGN);
  handle(SIGXFSZ, SIG_IGN);
}

void install_last_resort() noexcept {
  before_terminate = std::set_terminate(on_terminate);
}

SignalsNoted::SignalsNoted() {
  noted = 0;
  noting = true;
}
SignalsNoted::~SignalsNoted() {
  noting = false;
}
int SignalsNoted::received() const {
  return noted;
}

}  // namespace imgpipe
