// Processes many images into one array on the host: N results, one after the other in one buffer.
//
//   sources   0 | 1 | 2 | ...     a thread takes the next one: opens it, plans it, decodes and runs it
//                                 band by band, straight into its row of the buffer
//   buffer    ----0----|----1----|----2----| ...
//
// The first result that is planned determines the type of the rows. Results of other types get separate
// memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "images/error.h"
#include "images/image.h"
#include "pipeline/jobs/array_job.h"
#include "pipeline/jobs/array_plans.h"
#include "pipeline/runner.h"
#include "pipeline/threads/host_threads.h"

namespace imgpipe {

// The threads that share a batch, each with a runner. Used by one batch at a time.
class BatchThreads {
 public:
  // `device` and `device_memory_bytes`, the limit of each runner, as in RunnerSettings; threads:
  // 1..kMaxThreads. Throws like Runner().
  BatchThreads(std::string device, int threads, std::int64_t device_memory_bytes = 0);

  // Returns the runner for a single image, which all threads share.
  [[nodiscard]] Runner& runner();
  // Calls `work` on one thread per part, at most on all. If there are fewer parts than threads, the idle
  // threads help with each image. `work` must not throw.
  void run(std::size_t parts, const std::function<void(Runner&)>& work);
  void trim();

 private:
  // Makes the runners for `active` threads, unless they exist.
  void make_runners(int active);

  const std::string device_;
  const int count_;
  const std::int64_t device_memory_bytes_;
  std::unique_ptr<HostThreads> threads_;  // made for the first batch of several images
  int threads_each_ = 0;
  std::vector<std::unique_ptr<Runner>> runners_;
};

struct BatchedArray {
  std::optional<Error> error{};
  ArrayType type{};   // of the result
  HostView pixels{};  // in BatchedArrays::rows, the caller's memory or `memory`; empty after an error
  Image memory{};
  std::vector<std::string> warnings{};  // the reader's, about accepted damage
};

struct BatchedArrays {
  // Set if every result has this type and is in its row of `rows`, or of the caller's memory. Rows of failed
  // images are black.
  std::optional<ArrayType> type{};
  Image rows{};
  std::vector<BatchedArray> items{};  // by source
};

// Memory of the caller for all results. They all must have these axes and samples.
struct BatchTarget {
  ArrayType type{};
  HostView first{};
  std::int64_t stride_bytes = 0;  // from one result to the next
};

struct BatchOptions {
  std::optional<BatchTarget> target{};
  bool stop_at_error = false;                                           // begin no image after a failure
  std::pmr::memory_resource* memory = std::pmr::new_delete_resource();  // of the results; outlives them
};

// `plans` may be shared by concurrent batches. An error of an image is in its item. Throws Error(memory) if
// the buffer of all results needs more memory than is available.
[[nodiscard]] BatchedArrays run_array_batch(std::span<const ArraySource> sources, ArrayPlans& plans,
                                            const DecodeOptions& decode, BatchThreads& threads,
                                            const BatchOptions& options = {});

}  // namespace imgpipe
