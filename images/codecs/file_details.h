// What a file's headers say of how it is stored, for people who look at a file (imgpipe info), and how much
// of a file has to be read for that. Nothing here decodes pixels.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace imgpipe {

class FileFront;  // images/files/file_front.h

// As stored, in the field's own words; empty: the file does not say, or it does not apply.
struct FileDetails {
  std::string color{};  // "bilevel", "grey", "palette", "RGB", "YCbCr", "CMYK", "YCCK", "duotone"
  int channels = 0;     // of a pixel, alpha and what is passed over too; of a palette 1
  // What a TIFF says of the channels after the colours: "unspecified", "associated alpha", "unassociated
  // alpha", or "not stated". And why a run refuses the image without --bands; empty: it does not.
  std::vector<std::string> extra_channels{};
  std::string bands_needed{};
  std::string compression{};  // "none", "deflate", "baseline DCT, Huffman"
  std::string subsampling{};  // of chroma: "4:2:0"
  // What the chunks of a PNG say that its samples mean, where no ICC profile says it: "sRGB", "gamma 1",
  // "BT.2020, PQ (cICP 9, 16, 0, 1)".
  std::string color_space{};
  std::string layout{};   // "interlaced (Adam7)", "12 strips of 16 rows", "6 tiles of 256x256"
  std::string variant{};  // of the format: "BigTIFF, little-endian", "PSB", "header of 124 bytes"
  std::string decoder{};  // which code here makes the pixels: "libpng", "libwebp", "imgpipe"
  // Frames of an animation, and a picture that is none of them; of what has pages: see Codec::open_pages.
  std::int64_t images = 1;
};

// "4:2:0", of a chroma plane that has one sample for so many of the luma's, across and down: the names in use
// (ITU-T H.273's and libjpeg-turbo's); empty where there is none.
[[nodiscard]] std::string chroma_sampling(std::int64_t across, std::int64_t down);

// "1 bit a pixel", "24 bits a pixel".
[[nodiscard]] std::string bits_a_pixel(int bits);

// By codec, of a file that open_reader() takes with the same bytes; what damage leaves open is empty. Of
// others it may throw as open_reader() does.
[[nodiscard]] FileDetails describe_jpeg(std::span<const std::byte> file);
[[nodiscard]] FileDetails describe_png(std::span<const std::byte> file);
[[nodiscard]] FileDetails describe_bmp(std::span<const std::byte> file);
[[nodiscard]] FileDetails describe_gif(std::span<const std::byte> file);
[[nodiscard]] FileDetails describe_tga(std::span<const std::byte> file);
[[nodiscard]] FileDetails describe_psd(std::span<const std::byte> file);
[[nodiscard]] FileDetails describe_webp(std::span<const std::byte> file);
[[nodiscard]] FileDetails describe_tiff(std::span<const std::byte> file);
[[nodiscard]] FileDetails describe_netpbm(std::span<const std::byte> file);

// By codec: reads what open_reader(), Codec::describe and Codec::find_metadata look at. Of formats without
// one that are not read row by row where they lie the whole file is read. Throws Error(input) and
// Error(memory) as FileFront::load() does.
void load_jpeg_header(FileFront& front);
void load_png_chunks(FileFront& front);
void load_bmp_header(FileFront& front);
void load_tga_header(FileFront& front);
void load_psd_sections(FileFront& front);
void load_tiff_directory(FileFront& front);

}  // namespace imgpipe
