#include "app/signals.h"

#include <atomic>
#include <csignal>

#include <unistd.h>

#include "app/exit_code.h"
#include "images/temporary_file.h"

namespace imgpipe {
namespace {

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
  handle(SIGPIPE, SIG_IGN);
  handle(SIGXFSZ, SIG_IGN);
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
