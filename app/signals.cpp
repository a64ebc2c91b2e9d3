#include "app/signals.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <exception>
#include <new>
#include <utility>

#include <unistd.h>

#include "app/exit_code.h"
#include "app/log.h"
#include "images/files/temporary_file.h"

namespace imgpipe {
namespace {

std::terminate_handler before_terminate = std::abort;
std::atomic<bool> noting{false};
std::atomic<int> noted{0};
std::string_view first_note;  // written while `noting` is false
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free);

// timeout(1) and batch systems signal a process and then its group, which delivers one request twice within
// microseconds. A person takes longer than this to repeat a signal.
constexpr std::int64_t kSameRequestNs = 200'000'000;
std::atomic<std::int64_t> first_signal_ns{0};  // 0: none received
static_assert(std::atomic<std::int64_t>::is_always_lock_free);

// The text of a SignalLine. The handler reads one buffer while set() fills the other.
struct LineBuffer {
  std::array<char, SignalLine::kMaxBytes> text{};
  std::size_t bytes = 0;
};
std::array<LineBuffer, 2> line_buffers;
std::atomic<const LineBuffer*> signal_line{nullptr};
static_assert(std::atomic<const LineBuffer*>::is_always_lock_free);

std::int64_t monotonic_ns() {
  struct timespec now {};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

// Makes only async-signal-safe calls: clock_gettime, write, unlink and _exit.
void on_signal(int signal) {
  if (noting.load()) {
    const std::int64_t now = monotonic_ns();
    // One atomic step claims the request and stores its time: the repetition may arrive on another thread.
    std::int64_t first = 0;
    if (first_signal_ns.compare_exchange_strong(first, now)) {
      noted = signal;
      const int error = errno;
      [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, first_note.data(), first_note.size());
      errno = error;
      return;
    }
    if (now - first < kSameRequestNs) return;
  }
  if (const LineBuffer* const line = signal_line.exchange(nullptr)) {
    [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, line->text.data(), line->bytes);
  }
  remove_temporary_files();
  ::_exit(kExitSignalBase + signal);
}

[[noreturn]] void on_terminate() noexcept {
  constexpr std::size_t kProbeBytes = 1 << 12;
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
    // The runtime terminates without an exception if it cannot allocate one, and if a joinable thread is
    // destroyed. A small allocation distinguishes the two cases.
    void* some = std::malloc(kProbeBytes);
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
    // Signals that the caller ignores (nohup) stay ignored.
    struct sigaction inherited {};
    if (::sigaction(signal, nullptr, &inherited) == 0 && inherited.sa_handler == SIG_IGN) continue;
    handle(signal, on_signal);
  }
  // If SIGCHLD is ignored, the system does not report how child processes ended.
  handle(SIGCHLD, SIG_DFL);
  handle(SIGPIPE, SIG_IGN);
  handle(SIGXFSZ, SIG_IGN);
}

void install_last_resort() noexcept {
  before_terminate = std::set_terminate(on_terminate);
}

SignalGuard::SignalGuard(std::string_view note) {
  noted = 0;
  first_signal_ns = 0;
  first_note = note;
  noting = true;
}
SignalGuard::~SignalGuard() {
  noting = false;
}
int SignalGuard::received() const {
  return noted;
}

SignalLine::~SignalLine() {
  signal_line = nullptr;
}
void SignalLine::set(std::string_view line) {
  if (line.size() > kMaxBytes) return;
  LineBuffer& next = line_buffers[std::exchange(next_line_, 1 - next_line_)];
  std::ranges::copy(line, next.text.begin());
  next.bytes = line.size();
  signal_line = &next;
}

}  // namespace imgpipe
