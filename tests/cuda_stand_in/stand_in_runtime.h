// Replaces the functions of the CUDA runtime: they need no device, and each can be made to fail. Members that
// a test does not set keep their defaults until reset().
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

// The behaviour of the functions. By default they provide neither memory nor streams nor events.
enum class StandInMode : std::uint8_t {
  none,
  plans,  // returns addresses, of separate blocks only; copies nothing
  runs,   // allocates memory, and copies
};

struct StandInRuntime {
  void reset();
  // Ends the wait of threads that search for devices.
  void start();
  [[nodiscard]] std::size_t pinned_bytes() const;
  cudaError_t failed(cudaError_t status);
  // Records a call if it is on the logging thread.
  void log(const std::string& call);

  std::mutex mutex;
  StandInMode mode = StandInMode::none;
  std::vector<std::pair<int, int>> capabilities;  // by device
  int device = 0;                                 // current device
  std::vector<int> devices_set;
  std::size_t max_pinned = 0;
  cudaError_t refusal = cudaErrorMemoryAllocation;  // status returned if pinning would exceed max_pinned
  cudaError_t count_status = cudaSuccess;
  std::string refusal_text;
  std::map<void*, std::size_t> pinned;
  cudaError_t last_error = cudaSuccess;
  int ptx_version = 0;
  int active_clusters = 0;
  cudaError_t cluster_status = cudaSuccess;
  int cluster_questions = 0;
  // For `plans`.
  std::vector<std::size_t> blocks;                          // sizes, in order of allocation
  std::vector<std::pair<const void*, std::size_t>> copies;  // to or from the device
  // For `runs`.
  std::size_t free_bytes = 0;             // of the device
  std::map<void*, std::size_t> memory;    // allocated blocks
  std::int64_t mallocs = 0;               // since the test reset it
  std::int64_t first_failing_malloc = 0;  // allocations from this one to the last one below fail
  std::int64_t last_failing_malloc = 0;
  bool is_intact = true;         // the device's verdict on a JPEG's scan
  std::uint64_t scan_bytes = 0;  // size of the JPEG that it encodes; 0: none
  // For results that callers keep.
  int context_records = 0;                            // events of all work of a context
  cudaError_t query_status = cudaSuccess;             // of every event
  cudaError_t legacy_capture = cudaSuccess;           // status of the question whether it captures
  std::vector<cudaStreamCaptureMode> modes_in_calls;  // of the calling thread, in cudaMalloc and cudaFree
  std::thread::id logging_thread;
  std::vector<std::string> calls;
  bool is_starting = false;  // threads that search for devices wait until the logging thread needs one
  std::condition_variable started;
};

extern StandInRuntime runtime;

}  // namespace imgpipe::test
