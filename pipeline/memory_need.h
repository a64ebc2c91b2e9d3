// How much memory an image takes: known by its header and its plan, before any of it is allocated. A batch
// admits images by it, and one image is judged by it.
#pragma once

#include <cstdint>
#include <limits>

#include "images/codecs/codec.h"
#include "pipeline/plan.h"

namespace imgpipe {

// What is to be done with one image, as far as it says what memory that takes.
struct MemoryQuestion {
  const Plan& plan;
  const Reader& reader;            // not yet read from
  const Writer* writer = nullptr;  // not yet written to; may be absent
  bool handed_on = false;          // its file, as it is made: Job::sink
  int repeat = 0;                  // these as in Job
  bool keep_source = false, keep_outputs = false, keep_pixels = false;
};

// An upper bound of what is held at one time, beside the file: images, rows on their way, and what reader and
// writer hold. Bytes.
struct MemoryNeed {
  std::int64_t bytes = 0;       // with one band on its way: one thread
  std::int64_t band_bytes = 0;  // what each further band takes
  // There are no more bands than that.
  std::int64_t max_bands = std::numeric_limits<std::int64_t>::max();

  [[nodiscard]] std::int64_t with_threads(int threads) const;
  // How many of `threads` may work at the image within so many bytes; at least one.
  [[nodiscard]] int threads_within(int threads, std::int64_t max_bytes) const;
};

// Bands that are on their way at one time: one is read while every thread has one, and one waits.
[[nodiscard]] constexpr int bands_at_once(int threads) {
  return threads <= 1 ? 1 : threads + 2;
}

// A bound of the memory of an image's bands, in bands of one thread, which have `band_rows` rows: several
// threads' are as large or smaller, but each has rows around it.
[[nodiscard]] constexpr std::int64_t max_bands(std::int64_t rows, std::int64_t band_rows) {
  return 2 * (rows / band_rows + 1) + 2;
}

// What the writer holds that takes bands of so many rows, and what more for each further thread that encodes.
[[nodiscard]] MemoryNeed writer_need(const MemoryQuestion& question, std::int64_t rows);
// The same where it takes a whole image.
[[nodiscard]] MemoryNeed writer_need(const MemoryQuestion& question);

// Of an image that goes to a lane, from its file to its encoded result.
[[nodiscard]] MemoryNeed lane_need(const MemoryQuestion& question);
// The same where the lane decodes a JPEG and encodes: its scan goes up, a file comes down.
[[nodiscard]] MemoryNeed coded_lane_need(const MemoryQuestion& question);

// Of all results of a plan.
[[nodiscard]] std::int64_t bytes_of_results(const Plan& plan);
// Of all images that the steps of a plan make.
[[nodiscard]] std::int64_t bytes_of_steps(const Plan& plan);
// Of the plan's tables, and of its steps' histograms, which are all kept: half a megabyte a plane of 16 bits.
[[nodiscard]] std::int64_t table_bytes_of(const Plan& plan);

}  // namespace imgpipe
