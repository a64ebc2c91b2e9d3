// What the codecs share with each other and with the table of formats (images/formats/), and nobody else.
#pragma once

#include <algorithm>
#include <cstddef>
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

// What the beginning of a file says of how long it may be.
struct FileClaim {
  std::int64_t width = 0, height = 0;  // 0: not known yet, or nothing that makes sense
  std::int64_t bytes_a_pixel = 8;      // the most that one takes: 16-bit RGBA, not compressed
  std::int64_t other_bytes = 0;        // besides pixels and metadata; kEndless: goes on beyond these bytes
};
inline constexpr std::int64_t kEndless = std::numeric_limits<std::int64_t>::max();

// The type that samples of `bits` are decoded to: at most most_bits.
[[nodiscard]] constexpr Sample decoded_sample(int bits, int most_bits) {
  return std::min(bits, most_bits) > 8 ? Sample::u16 : Sample::u8;
}

// The value that --lenient gives to samples that could not be recovered: mid-grey, half the range rounded up.
[[nodiscard]] constexpr int missing_sample(Sample type) {
  return max_sample(type) / 2 + 1;
}
inline constexpr Sample8 kMissingSample = missing_sample(Sample::u8);

// Writes `pixels` pixels that could not be recovered: mid-grey, and opaque.
template <class T>
void fill_missing(T* out, std::int64_t pixels, int channels) {
  std::fill_n(out, pixels * channels, static_cast<T>(missing_sample(sample_type_of<T>)));
  if (channels % 2 != 0) return;
  for (std::int64_t i = 1; i <= pixels; ++i) out[i * channels - 1] = static_cast<T>(kLargest<T>);
}

// The same for rows, of samples of any type.
void fill_missing(const HostView& rows);

// The rows as a writer of 8-bit files takes them. Throws Error(usage) where their samples have more bits.
[[nodiscard]] ConstHostPlane as_8_bit(ConstHostView rows);

// Throws Error(input) unless an image of this shape may be decoded: sides within 1..2^31-1, pixels within
// options.max_pixels. Whether there is memory for it depends on what is to be done with it.
void check_header(const Shape& shape, const DecodeOptions& options);

// Throws Error(input) when `file_bytes` of data cannot hold `raw_bytes` of pixels at `best_ratio` to one.
void check_plausible(std::int64_t raw_bytes, std::size_t file_bytes, std::int64_t best_ratio);

// Throws Error(usage) for a shape that neither stb_image_write nor our writers of the same files can store.
// `most_side` is the limit of the format's header; stb's sizes are int, and it doubles buffers as they grow.
void check_storable_size(Format format, const Shape& shape, std::int64_t most_side);

// Why a file is not as it should be behind its image: "12 bytes follow the image (another image?)".
[[nodiscard]] std::string following_bytes(std::size_t count, bool another_image);
// Adds that as a warning where the file goes on after an image that ends at `end`.
void warn_of_following_bytes(Bytes file, std::size_t end, std::vector<std::string>& warnings);

// A reader that can only make its whole image at once. A caller that asks for all rows in one call gets
// them decoded into its own memory; for a caller of bands the image is held here until its last row.
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

// Gives the rows of `stored` turned upright, as its header says.
std::unique_ptr<Reader> make_oriented_reader(std::unique_ptr<Reader> stored,
                                             std::pmr::memory_resource* memory);

}  // namespace imgpipe
