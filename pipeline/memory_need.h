// Estimates the memory that an image takes from its header and its plan, before any of it is allocated.
// Batches admit images by this estimate; a single image is rejected if memory does not suffice.
#pragma once

#include <cstdint>
#include <limits>

#include "images/codecs/codec.h"
#include "pipeline/plan.h"

namespace imgpipe {

// The parameters of a job that determine its memory.
struct MemoryEstimateRequest {
  const Plan& plan;
  const Reader& reader;            // not yet read from
  const Writer* writer = nullptr;  // not yet written to; may be null
  bool handed_on = false;          // the file goes to Job::sink while it is encoded
  int repeat = 0;                  // this and the following as in Job
  bool keep_source = false, keep_outputs = false, keep_pixels = false;
  bool source_in_memory = false, target_in_memory = false;  // whether Job::source and Job::target are set
};

// An upper bound of the bytes held at one time besides the input file: images, rows in progress, and the
// memory of reader and writer.
struct MemoryNeed {
  std::int64_t bytes = 0;       // with one band in progress: one thread
  std::int64_t band_bytes = 0;  // per additional band in progress
  // The maximum number of bands in progress.
  std::int64_t max_bands = std::numeric_limits<std::int64_t>::max();

  [[nodiscard]] std::int64_t with_threads(int threads) const;
  // Returns the most threads, 1 to `threads`, that `max_bytes` suffices for; 1 even if it does not.
  [[nodiscard]] int threads_within(int threads, std::int64_t max_bytes) const;
};

// The number of bands in progress at one time. With several threads: one per thread, one being read, and one
// waiting.
[[nodiscard]] constexpr int bands_at_once(int threads) {
  return threads <= 1 ? 1 : threads + 2;
}

// An upper bound of the memory of all bands of an image, counted in bands of `band_rows` rows, the height for
// one thread. With several threads bands are not taller, but more of them overlap.
[[nodiscard]] constexpr std::int64_t max_bands(std::int64_t rows, std::int64_t band_rows) {
  return 2 * (rows / band_rows + 1) + 2;
}

// The need of the writer when it takes bands of `rows` rows.
[[nodiscard]] MemoryNeed writer_need(const MemoryEstimateRequest& question, std::int64_t rows);
// The same for a whole image.
[[nodiscard]] MemoryNeed writer_need(const MemoryEstimateRequest& question);

// The need of an image that goes to a lane as pixels, from reading to encoding.
[[nodiscard]] MemoryNeed lane_need(const MemoryEstimateRequest& question);
// The same if the lane decodes a JPEG and encodes: it uploads a scan and downloads a file.
[[nodiscard]] MemoryNeed coded_lane_need(const MemoryEstimateRequest& question);

// The bytes of all results of a plan.
[[nodiscard]] std::int64_t bytes_of_results(const Plan& plan);
// The bytes of all images that the steps of a plan make.
[[nodiscard]] std::int64_t bytes_of_steps(const Plan& plan);
// The bytes of the plan's tables and of its steps' histograms: half a megabyte per plane of 16 bits.
[[nodiscard]] std::int64_t table_bytes_of(const Plan& plan);

}  // namespace imgpipe
