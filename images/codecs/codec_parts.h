// Shared by the codecs and the codec table (images/formats/) only.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "images/codecs/codec.h"
#include "images/image.h"

namespace imgpipe {

class InputFile;

using Bytes = std::span<const std::byte>;

// The length of a file as its beginning declares it.
struct FileClaim {
  std::int64_t width = 0, height = 0;  // 0: unknown or invalid
  std::int64_t max_pixel_bytes = 8;    // the most per pixel: uncompressed 16-bit RGBA, unless the codec says
  std::int64_t other_bytes = 0;        // besides pixels and metadata; kEndless: continues after these bytes
};
inline constexpr std::int64_t kEndless = std::numeric_limits<std::int64_t>::max();

// The type that unsigned integers of `bits` bits are decoded to.
[[nodiscard]] constexpr Sample decoded_sample(int bits, int max_bits) {
  return std::min(bits, max_bits) > 8 ? Sample::u16 : Sample::u8;
}

// White, and opaque alpha.
template <SampleElement T>
[[nodiscard]] constexpr T white_sample() {
  if constexpr (kIsFloat<T>)
    return 1;
  else
    return static_cast<T>(kLargest<T>);
}

// The value of unrecoverable samples with --lenient: mid-grey, half the range, for integers rounded up.
[[nodiscard]] constexpr int missing_sample(Sample type) {
  return max_sample(type) / 2 + 1;
}
inline constexpr Sample8 kMissingSample = missing_sample(Sample::u8);

// Fills `pixels` unrecoverable pixels with opaque mid-grey.
template <class T>
void fill_missing(T* out, std::int64_t pixels, int channels) {
  T missing{};
  if constexpr (kIsFloat<T>)
    missing = T{0.5};
  else
    missing = static_cast<T>(missing_sample(sample_type_of<T>));
  std::fill_n(out, pixels * channels, missing);
  if (channels % 2 != 0) return;
  for (std::int64_t i = 1; i <= pixels; ++i) out[i * channels - 1] = white_sample<T>();
}

// The same for rows of any sample type.
void fill_missing(const HostView& rows);

// Returns the rows for a writer of 8-bit files. Throws Error(usage) if their samples have more bits.
[[nodiscard]] ConstHostPlane as_8_bit(ConstHostView rows);

// Throws Error(input) unless the sides are within 1..2^31-1 and the pixels within options.max_pixels. Does
// not check memory, which depends on the use.
void check_header(const Shape& shape, const DecodeOptions& options);

// Throws Error(input) if `file_bytes` cannot hold `raw_bytes` of pixels compressed at `best_ratio` to one.
void check_plausible(std::int64_t raw_bytes, std::size_t file_bytes, std::int64_t best_ratio);

// Throws Error(memory) if a library's failure may be due to a lack of memory for `bytes`.
void check_library_memory(std::int64_t bytes);

// Throws Error(usage) for a shape that neither stb_image_write nor our equivalent writers can store.
// `max_side`: limit of the format's header. stb's sizes are int, and it doubles buffers as they grow.
void check_storable_size(Format format, const Shape& shape, std::int64_t max_side);

// Returns the warning for data after the image: "12 bytes follow the image (another image?)".
[[nodiscard]] std::string following_bytes(std::size_t count, bool another_image);
// Adds that warning if the file continues after `end`.
void warn_of_following_bytes(Bytes file, std::size_t end, std::vector<std::string>& warnings);

// A reader that can only decode the whole image. If one call reads all rows, it decodes into the caller's
// memory; otherwise it holds the image until the last row.
class WholeImageReader : public Reader {
 public:
  [[nodiscard]] std::int64_t working_bytes(bool whole) const override;

 protected:
  explicit WholeImageReader(std::pmr::memory_resource* memory) : memory_(memory) {}
  void read_next_rows(HostView rows) override;
  virtual void decode(HostView whole) = 0;  // called once
  [[nodiscard]] std::pmr::memory_resource* memory() const noexcept { return memory_; }

 private:
  std::pmr::memory_resource* memory_;
  Image image_;
  std::int64_t next_row_ = 0;
};

// Opens a reader by `open`, with DecodeOptions::with_profile and inks resolved for a file that begins with
// `bytes`.
using ReaderOpener = std::function<std::unique_ptr<Reader>(const DecodeOptions&)>;
[[nodiscard]] std::unique_ptr<Reader> open_with_profile(Bytes bytes, DecodeOptions options,
                                                        const ReaderOpener& open);

// Wraps `stored` in a reader that applies the header's orientation.
std::unique_ptr<Reader> make_oriented_reader(std::unique_ptr<Reader> stored,
                                             std::pmr::memory_resource* memory);

}  // namespace imgpipe
