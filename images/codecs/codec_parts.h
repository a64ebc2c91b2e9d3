// What the codecs share with codec.cpp and nobody else.
#pragma once

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "images/codecs/codec.h"
#include "images/image.h"

namespace imgpipe {

class InputFile;

using Bytes = std::span<const std::byte>;

// The value that --lenient gives to samples that could not be recovered: mid-grey, half the range rounded up.
[[nodiscard]] constexpr int missing_sample(SampleType type) {
  return max_sample(type) / 2 + 1;
}
inline constexpr Sample kMissingSample = missing_sample(SampleType::u8);

// Writes `pixels` pixels that could not be recovered: mid-grey, and opaque.
template <class T>
void fill_missing(T* out, std::int64_t pixels, int channels) {
  std::fill_n(out, pixels * channels, static_cast<T>(missing_sample(sample_type_of<T>)));
  if (channels % 2 != 0) return;
  for (std::int64_t i = 1; i <= pixels; ++i)
    out[i * channels - 1] = static_cast<T>(max_sample(sample_type_of<T>));
}

// The rows as a writer of 8-bit files takes them. Throws Error(usage) where their samples have more bits.
[[nodiscard]] ConstHostPlane as_8_bit(ConstHostView rows);

// Throws Error(input) unless an image of this shape may be decoded: sides within 1..2^31-1, pixels within
// options.max_pixels. Whether there is memory for it depends on what is to be done with it.
void check_header(const Shape& shape, const DecodeOptions& options);

// Throws Error(memory) unless so many bytes, for an image of this shape, are available.
void check_memory(const Shape& shape, std::int64_t bytes);

// Throws Error(input) when `file_bytes` of data cannot hold `raw_bytes` of pixels at `best_ratio` to one.
void check_plausible(std::int64_t raw_bytes, std::size_t file_bytes, std::int64_t best_ratio);

// Why a file is not as it should be behind its image: "12 bytes follow the image (another image?)".
[[nodiscard]] std::string following_bytes(std::size_t count, bool another_image);

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

// Where the pixels of a PNG lie that open_plain_png() can read.
struct PlainPng {
  std::size_t first_idat = 0;    // of the file: the length field of the first IDAT chunk
  std::size_t end_of_idats = 0;  // behind the last of them
};

// The pixels of a PNG whose first IDAT chunk is at `first_idat`, if the file is complete from there, its IDAT
// chunks follow one another and are followed by IEND and chunks of the types `harmless` only (four letters
// and a zero each); else nullopt.
std::optional<PlainPng> plain_png(Bytes file, std::size_t first_idat,
                                  std::span<const unsigned char> harmless);
// Reads such a PNG of 8 bits a sample, not interlaced, whose header `library` has judged: a strict reader by
// libpng that has given no row yet.
std::unique_ptr<Reader> open_plain_png(Bytes file, const PlainPng& plain, std::unique_ptr<Reader> library);

// Gives the rows of `stored` turned upright, as its header says.
std::unique_ptr<Reader> make_oriented_reader(std::unique_ptr<Reader> stored,
                                             std::pmr::memory_resource* memory);

std::unique_ptr<Reader> open_jpeg(Bytes bytes, const DecodeOptions& options);
std::unique_ptr<Reader> open_png(Bytes bytes, const DecodeOptions& options);
// `rest`: where the bytes are of a raw file of which `bytes` is the beginning; nullptr where it is all of it.
std::unique_ptr<Reader> open_netpbm(Bytes bytes, const DecodeOptions& options,
                                    const InputFile* rest = nullptr);
// Whether a file that begins like this is raw PBM, PGM or PPM with a sound header that ends here.
bool is_raw_netpbm(Bytes beginning, DecodeOptions options);
std::unique_ptr<Reader> open_bmp(Bytes bytes, const DecodeOptions& options);
std::unique_ptr<Reader> open_tga(Bytes bytes, const DecodeOptions& options);
std::unique_ptr<Reader> open_gif(Bytes bytes, const DecodeOptions& options);
// Whether the first frame of a GIF that open_gif() takes covers the whole picture.
bool gif_frame_covers_screen(Bytes bytes);
std::unique_ptr<Reader> open_psd(Bytes bytes, const DecodeOptions& options);
std::unique_ptr<Reader> open_stb(Bytes bytes, Format format, const DecodeOptions& options);

std::unique_ptr<Writer> make_jpeg_writer(Shape shape, const EncodeOptions& options);
std::unique_ptr<Writer> make_png_writer(Shape shape, const EncodeOptions& options);
std::unique_ptr<Writer> make_bmp_writer(Shape shape, const EncodeOptions& options);
std::unique_ptr<Writer> make_tga_writer(Shape shape, const EncodeOptions& options);
// Throws Error(usage) for a shape that stb_image_write cannot make a file of.
void check_stb_writable(Format format, Shape shape);
std::unique_ptr<Writer> make_stb_writer(Format format, Shape shape, const EncodeOptions& options);
std::unique_ptr<Writer> make_netpbm_writer(Shape shape, const EncodeOptions& options);

std::string jpeg_version();
std::string png_version();
std::string stb_version();

}  // namespace imgpipe
