// Describes how a file is stored, from its headers (imgpipe info), and loads the parts of the file that this
// requires.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "images/codecs/animation_frame.h"

namespace imgpipe {

class PartialFile;  // images/files/partial_file.h

// As stored, in the field's terms; empty: not specified or not applicable.
struct FileDetails {
  std::string color{};  // "bilevel", "grey", "palette", "RGB", "YCbCr", "CMYK", "YCCK", "duotone"
  int channels = 0;     // per pixel, including alpha and ignored channels; 1 with a palette
  // A TIFF's channels after the colours: "unspecified", "associated alpha", "unassociated alpha" or "not
  // stated". `bands_needed`: why a run rejects the image without --bands; empty: it does not.
  std::vector<std::string> extra_channels{};
  std::string bands_needed{};
  std::string compression{};  // "none", "deflate", "baseline DCT, Huffman"
  std::string subsampling{};  // of chroma: "4:2:0"
  // The colour space in a PNG's chunks if it has no ICC profile: "sRGB", "BT.2020, PQ (cICP 9, 16, 0, 1)".
  std::string color_space{};
  std::string layout{};   // "interlaced (Adam7)", "12 strips of 16 rows", "6 tiles of 256x256"
  std::string variant{};  // of the format: "BigTIFF, little-endian", "PSB", "header of 124 bytes"
  std::string decoder{};  // the code that decodes the pixels: "libpng", "libwebp", "imgpipe"
  // The number of images: an animation's frames and a separate still image. For pages see Codec::open_pages.
  std::int64_t images = 1;
  std::vector<AnimationFrame> frames{};  // of an animation of several images, the pages
};

// Returns the name of a chroma subsampling, such as "4:2:0" (ITU-T H.273, libjpeg-turbo), or an empty string.
[[nodiscard]] std::string chroma_sampling(std::int64_t across, std::int64_t down);

// Returns a text such as "1 bit per pixel" or "24 bits per pixel".
[[nodiscard]] std::string bits_per_pixel_text(int bits);

// One function per codec. Describes a file that open_reader() accepts; values lost to damage are empty. May
// throw for other files.
[[nodiscard]] FileDetails describe_jpeg(std::span<const std::byte> file);
[[nodiscard]] FileDetails describe_png(std::span<const std::byte> file);
[[nodiscard]] FileDetails describe_bmp(std::span<const std::byte> file);
[[nodiscard]] FileDetails describe_gif(std::span<const std::byte> file);
[[nodiscard]] FileDetails describe_tga(std::span<const std::byte> file);
[[nodiscard]] FileDetails describe_psd(std::span<const std::byte> file);
[[nodiscard]] FileDetails describe_webp(std::span<const std::byte> file);
[[nodiscard]] FileDetails describe_tiff(std::span<const std::byte> file);
[[nodiscard]] FileDetails describe_netpbm(std::span<const std::byte> file);
[[nodiscard]] FileDetails describe_pfm(std::span<const std::byte> file);
[[nodiscard]] FileDetails describe_npy(std::span<const std::byte> file);

// One function per codec. Loads the parts that open_reader(), Codec::describe and Codec::find_metadata need.
// Throws Error(input) and Error(memory) like PartialFile::load().
void load_jpeg_header(PartialFile& front);
void load_png_chunks(PartialFile& front);
void load_bmp_header(PartialFile& front);
void load_tga_header(PartialFile& front);
void load_psd_sections(PartialFile& front);
void load_tiff_directory(PartialFile& front);

}  // namespace imgpipe
