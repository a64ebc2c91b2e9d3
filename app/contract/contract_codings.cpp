#include "app/contract/contract_codings.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include <jpeglib.h>

#include "images/error.h"

namespace imgpipe {
namespace {

using FileBytes = std::vector<std::byte>;

void require(bool holds) {
  if (!holds) throw Error(ErrorKind::usage, "the format cannot hold the image");
}

FileBytes by_writer(const ContractCoding& coding, ConstHostView pixels) {
  const Shape shape = pixels.shape();
  require(storable_shape(coding.format, shape) == shape);
  const std::unique_ptr<Writer> writer = make_writer(coding.format, shape, coding.options);
  writer->write_rows(pixels);
  return writer->finish().joined();
}

// Kinds of JPEG that imgpipe reads and does not write. The library ends the program on an error, which valid
// shapes and parameters exclude.
FileBytes by_libjpeg(const ContractCoding& coding, ConstHostView pixels) {
  require(pixels.holds<Sample8>() && !pixels.shape().has_alpha());
  jpeg_compress_struct encoder{};
  jpeg_error_mgr errors{};
  encoder.err = jpeg_std_error(&errors);
  jpeg_create_compress(&encoder);
  unsigned char* bytes = nullptr;
  unsigned long length = 0;
  jpeg_mem_dest(&encoder, &bytes, &length);
  encoder.image_width = static_cast<JDIMENSION>(pixels.width);
  encoder.image_height = static_cast<JDIMENSION>(pixels.height);
  encoder.input_components = pixels.channels;
  encoder.in_color_space = pixels.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&encoder);
  jpeg_set_quality(&encoder, coding.options.quality, TRUE);
  encoder.dct_method = JDCT_ISLOW;
  encoder.comp_info[0].h_samp_factor = coding.horizontal;
  encoder.comp_info[0].v_samp_factor = coding.vertical;
  encoder.restart_in_rows = coding.restart_rows;
  if (coding.progressive) jpeg_simple_progression(&encoder);
  jpeg_start_compress(&encoder, TRUE);
  for (std::int64_t y = 0; y < pixels.height; ++y) {
    auto* row = const_cast<JSAMPLE*>(reinterpret_cast<const JSAMPLE*>(pixels.row(y)));
    jpeg_write_scanlines(&encoder, &row, 1);
  }
  jpeg_finish_compress(&encoder);
  const std::unique_ptr<unsigned char, void (*)(void*)> owner(bytes, std::free);
  const auto* first = reinterpret_cast<const std::byte*>(bytes);
  FileBytes file(first, first + length);
  jpeg_destroy_compress(&encoder);
  return file;
}

// A GIF of one frame: samples are indices of 256 colours. LZW without strings: a clear code before the codes
// would take more than 9 bits.
FileBytes by_gif(const ContractCoding&, ConstHostView pixels) {
  require(pixels.holds<Sample8>() && pixels.channels == 1);
  constexpr unsigned kClear = 256, kEnd = 257, kBits = 9;
  constexpr std::size_t kCodesBetweenClears = 250, kBlockBytes = 255;
  FileBytes file;
  const auto put = [&](std::initializer_list<unsigned> bytes) {
    for (const unsigned byte : bytes) file.push_back(static_cast<std::byte>(byte));
  };
  const auto low = [](std::int64_t side) { return static_cast<unsigned>(side & 255); };
  const auto high = [](std::int64_t side) { return static_cast<unsigned>(side >> 8); };
  const unsigned w = low(pixels.width), W = high(pixels.width);
  const unsigned h = low(pixels.height), H = high(pixels.height);
  put({'G', 'I', 'F', '8', '9', 'a', w, W, h, H, 0xF7, 0, 0});
  for (unsigned i = 0; i < 256; ++i) put({i, 255 - i, i * 7});
  put({0x2C, 0, 0, 0, 0, w, W, h, H, 0, 8});
  FileBytes codes;
  unsigned waiting = 0, bits = 0;
  const auto code = [&](unsigned value) {
    waiting |= value << bits;
    for (bits += kBits; bits >= 8; bits -= 8, waiting >>= 8) codes.push_back(static_cast<std::byte>(waiting));
  };
  std::size_t written = 0;
  for (std::int64_t y = 0; y < pixels.height; ++y) {
    for (std::int64_t x = 0; x < pixels.width; ++x) {
      if (written++ % kCodesBetweenClears == 0) code(kClear);
      code(static_cast<unsigned>(pixels.row(y)[x]));
    }
  }
  code(kEnd);
  if (bits > 0) codes.push_back(static_cast<std::byte>(waiting));
  for (std::size_t at = 0; at < codes.size(); at += kBlockBytes) {
    const std::size_t length = std::min(kBlockBytes, codes.size() - at);
    put({static_cast<unsigned>(length)});
    const auto block = codes.begin() + static_cast<std::ptrdiff_t>(at);
    file.insert(file.end(), block, block + static_cast<std::ptrdiff_t>(length));
  }
  put({0, 0x3B});
  return file;
}

ContractCoding jpeg(std::string_view name, int quality, int horizontal, int vertical,
                    bool progressive = false, int restart_rows = 0, int scale = 1) {
  return {.name = name,
          .encode = by_libjpeg,
          .format = Format::jpeg,
          .options = {.quality = quality},
          .scale = scale,
          .horizontal = horizontal,
          .vertical = vertical,
          .progressive = progressive,
          .restart_rows = restart_rows};
}

}  // namespace

std::span<const ContractCoding> contract_codings() {
  static const std::vector<ContractCoding> codings{
      {"bmp", by_writer, Format::bmp},
      {"gif", by_gif, Format::gif},
      {"jpeg 30", by_writer, Format::jpeg, {.quality = 30}},
      {"jpeg 90", by_writer, Format::jpeg, {.quality = 90}},
      {"jpeg 100", by_writer, Format::jpeg, {.quality = 100}},
      jpeg("jpeg 4:4:4", 75, 1, 1),
      jpeg("jpeg 4:2:2", 75, 2, 1),
      jpeg("jpeg 4:4:0", 75, 1, 2),
      jpeg("jpeg 4:2:0", 75, 2, 2),
      jpeg("jpeg 4:1:1", 75, 4, 1),
      jpeg("jpeg 4:2:0 restarts", 85, 2, 2, false, 1),
      jpeg("jpeg 4:4:4 progressive", 60, 1, 1, true),
      jpeg("jpeg 4:2:2 progressive", 85, 2, 1, true),
      jpeg("jpeg 4:2:0 progressive", 95, 2, 2, true),
      jpeg("jpeg 4:4:4 at 1/2", 75, 1, 1, false, 0, 2),
      jpeg("jpeg 4:2:2 at 1/2", 75, 2, 1, false, 0, 2),
      jpeg("jpeg 4:2:0 at 1/2", 75, 2, 2, false, 0, 2),
      jpeg("jpeg 4:2:0 at 1/4", 75, 2, 2, false, 0, 4),
      jpeg("jpeg 4:2:0 at 1/8", 75, 2, 2, false, 0, 8),
      jpeg("jpeg 4:2:0 progressive at 1/4", 75, 2, 2, true, 0, 4),
      {"npy", by_writer, Format::npy},
      {"pfm", by_writer, Format::pfm},
      {"pgm", by_writer, Format::pgm},
      {"png 0", by_writer, Format::png, {.png_level = 0}},
      {"png 1", by_writer, Format::png, {.png_level = 1}},
      {"png 2", by_writer, Format::png, {.png_level = 2}},
      {"png 9", by_writer, Format::png, {.png_level = 9}},
      {"ppm", by_writer, Format::ppm},
      {"tga", by_writer, Format::tga},
      {"tiff deflate", by_writer, Format::tiff},
      {"tiff deflate in tiles", by_writer, Format::tiff, {.tiff_tile = 16}},
      {"tiff lzw", by_writer, Format::tiff, {.tiff_packing = TiffPacking::lzw}},
      {"tiff none", by_writer, Format::tiff, {.tiff_packing = TiffPacking::none}},
      {"tiff packbits", by_writer, Format::tiff, {.tiff_packing = TiffPacking::packbits}},
      {"tiff zstd", by_writer, Format::tiff, {.tiff_packing = TiffPacking::zstd}},
      {"webp 0", by_writer, Format::webp, {.webp_level = 0}},
      {"webp 6", by_writer, Format::webp, {.webp_level = 6}}};
  return codings;
}

const ContractCoding* find_coding(std::string_view name) {
  const auto coding = std::ranges::find(contract_codings(), name, &ContractCoding::name);
  return coding == contract_codings().end() ? nullptr : &*coding;
}

}  // namespace imgpipe
