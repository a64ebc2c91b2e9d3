// Ends the process when a kernel does not end: nothing else gets out of a wait for a device.
#pragma once

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace imgpipe {

class TimeLimit {
 public:
  // Seconds that each thing watched may take; 0: any number.
  explicit TimeLimit(int seconds);
  ~TimeLimit();
  TimeLimit(const TimeLimit&) = delete;
  TimeLimit& operator=(const TimeLimit&) = delete;

  // From now on `what` runs, in place of what ran before. When the time is up, one line on stderr says that
  // it has not ended, temporary files go, and the process ends with kExitInput.
  void begin(std::string what);
  // Nothing runs.
  void end();

 private:
  void watch();

  std::chrono::seconds limit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::string what_;  // empty: nothing runs
  std::chrono::steady_clock::time_point until_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace imgpipe
