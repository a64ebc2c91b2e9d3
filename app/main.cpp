#include <csignal>
#include <string>
#include <vector>

#include <unistd.h>

#include "app/command.h"
#include "app/exit_code.h"
#include "images/file.h"

namespace {

// Only async-signal-safe calls: unlink and _exit.
void stop_by_signal(int signal) {
  imgpipe::remove_temporary_files();
  ::_exit(imgpipe::kExitSignalBase + signal);
}

void handle(int signal, void (*handler)(int)) {
  struct sigaction action {};
  action.sa_handler = handler;
  sigfillset(&action.sa_mask);
  ::sigaction(signal, &action, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) {
    // What the caller chose to ignore (nohup) stays ignored.
    struct sigaction inherited {};
    if (::sigaction(signal, nullptr, &inherited) == 0 && inherited.sa_handler == SIG_IGN) continue;
    handle(signal, stop_by_signal);
  }
  // A reader that went away and a file-size limit then come back as errors of write(2).
  handle(SIGPIPE, SIG_IGN);
  handle(SIGXFSZ, SIG_IGN);
  return imgpipe::run_command(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc));
}
