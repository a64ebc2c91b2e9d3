// Ends the process if a kernel runs too long, because a wait for a device cannot be interrupted.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace imgpipe {

class TimeLimit {
 public:
  // `seconds`: the limit for each watched run; 0: none.
  explicit TimeLimit(int seconds);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

  // Watches `what` alone. When its time is up, logs one line and ends the process with kExitInput.
  void begin(std::string what);
  // Watches nothing.
  void end();

 private:
  void watch();

  std::chrono::seconds limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;  // empty: nothing is watched
  std::chrono::steady_clock::time_point until_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace imgpipe
