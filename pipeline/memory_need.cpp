#include "pipeline/memory_need.h"

#include <algorithm>
#include <string>

#include "images/block_pool.h"
#include "images/error.h"
#include "images/image.h"

namespace imgpipe {

std::int64_t MemoryNeed::with_threads(int threads) const {
  return bytes + (bands_at_once(threads) - 1) * band_bytes;
}

int MemoryNeed::threads_within(int threads, std::int64_t most_bytes) const {
  while (threads > 1 && with_threads(threads) > most_bytes) --threads;
  return threads;
}

// Of PNG: the rows as the format has them, the same filtered, room for their compressed form, which at worst
// is a little longer, and the compressor's own state.
std::int64_t strip_work_bytes(const Writer* writer, const Shape& shape) {
  if (writer == nullptr || writer->strip_rows() == 0) return 0;
  constexpr std::int64_t kStateBytes = std::int64_t{1} << 20;
  const std::int64_t rows = std::min(writer->strip_rows(), shape.height);
  const std::int64_t strip = rows * (shape.width * shape.channels + 1);
  return 3 * strip + strip / 8 + kStateBytes;
}

// Decoded into one piece; uploaded, worked on and downloaded; encoded.
std::int64_t lane_bytes(const MemoryQuestion& question) {
  const std::int64_t source = question.plan.input.samples();
  const std::int64_t result = question.plan.output.samples();
  const std::int64_t encoding = question.writer == nullptr ? 0 : question.writer->working_bytes();
  return std::max({source + question.reader.working_bytes(true), source + result,
                   result + encoding + strip_work_bytes(question.writer, question.plan.output)});
}

std::int64_t bytes_of_steps(const Plan& plan) {
  std::int64_t bytes = 0;
  for (const Step& step : plan.steps)
    if (writes_pixels(step.stage->writes)) bytes += step.out.pixels() * step.out.channels();
  return bytes;
}

// Small images are not worth the look, which takes longer than they do.
void check_available(std::int64_t bytes) {
  constexpr std::int64_t kUncheckedBytes = std::int64_t{16} << 20;
  if (bytes <= kUncheckedBytes) return;
  const std::int64_t available = available_memory_bytes() + block_pool().use().kept;
  if (bytes <= available) return;
  throw Error(ErrorKind::memory, "not enough memory: up to " + std::to_string(bytes) + " bytes needed, " +
                                     std::to_string(available) + " are available");
}

}  // namespace imgpipe
