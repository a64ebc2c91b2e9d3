#include "lab/bench/time_limit.h"

#include <utility>

#include <unistd.h>

#include "app/exit_code.h"
#include "app/log.h"
#include "images/files/temporary_file.h"

namespace imgpipe {

TimeLimit::TimeLimit(int seconds) : limit_(seconds) {
  if (seconds > 0) thread_ = std::thread([this] { watch(); });
}

TimeLimit::~TimeLimit() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void TimeLimit::begin(std::string what) {
  {
    const std::lock_guard lock(mutex_);
    what_ = std::move(what);
    until_ = std::chrono::steady_clock::now() + limit_;
  }
  changed_.notify_one();
}

void TimeLimit::end() {
  begin("");
}

void TimeLimit::watch() {
  std::unique_lock lock(mutex_);
  while (!ends_) {
    if (what_.empty()) {
      changed_.wait(lock);
      continue;
    }
    const std::chrono::steady_clock::time_point until = until_;
    if (changed_.wait_until(lock, until) != std::cv_status::timeout) continue;
    if (ends_ || what_.empty() || until != until_) continue;
    log_error(what_ + ": still running after " + std::to_string(limit_.count()) +
              " s (--time-limit): the kernel hangs or is far too slow");
    remove_temporary_files();
    ::_exit(kExitInput);
  }
}

}  // namespace imgpipe
