// Functions in place of the CUDA runtime's: no device is needed, and each of them can be made to fail. What
// tests do not set keeps its default until reset().
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <cuda_runtime.h>

namespace imgpipe::test {

// What the functions do. By default there is no memory, and there are neither streams nor events.
enum class StandInMode : std::uint8_t {
  none,
  plans,  // gives addresses, of blocks that are asked for alone; copies nothing
  runs,   // has memory, and copies; kernels do nothing
};

struct StandInRuntime {
  void reset();
  // Ends the wait of threads that look for devices.
  void start();
  [[nodiscard]] std::size_t pinned_bytes() const;
  cudaError_t failed(cudaError_t status);
  // Of calls of the logging thread.
  void log(const std::string& call);

  std::mutex mutex;
  StandInMode mode = StandInMode::none;
  std::vector<std::pair<int, int>> capabilities;  // by device
  int device = 0;                                 // the current one
  std::vector<int> devices_set;
  std::size_t max_pinned = 0;
  cudaError_t refusal = cudaErrorMemoryAllocation;  // beyond max_pinned
  cudaError_t count_status = cudaSuccess;
  std::string refusal_text;
  std::map<void*, std::size_t> pinned;
  cudaError_t last_error = cudaSuccess;
  int ptx_version = 0;
  int active_clusters = 0;
  cudaError_t cluster_status = cudaSuccess;
  int cluster_questions = 0;
  // Of `plans`.
  std::vector<std::size_t> blocks;                          // that were given, one after the other
  std::vector<std::pair<const void*, std::size_t>> copies;  // to or from the device
  // Of `runs`.
  std::size_t free_bytes = 0;             // of the device
  std::map<void*, std::size_t> memory;    // that was given
  std::int64_t mallocs = 0;               // since the test set it
  std::int64_t first_failing_malloc = 0;  // of those: this one fails, and all after it until the last
  std::int64_t last_failing_malloc = 0;
  bool is_intact = true;         // what the device finds of a JPEG's scan
  std::uint64_t scan_bytes = 0;  // of the JPEG that it makes; 0: none
  std::thread::id logging_thread;
  std::vector<std::string> calls;
  bool is_starting = false;  // threads that look for devices wait until the logging thread asks for its own
  std::condition_variable started;
};

extern StandInRuntime runtime;

}  // namespace imgpipe::test
