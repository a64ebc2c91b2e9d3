#include "tests/support/large_files.h"

#include <cstdio>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <utility>

#include <png.h>

#include "images/codecs/codec.h"
#include "images/image.h"
#include "tests/support/gif_file.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/psd_file.h"
#include "tests/support/webp_file.h"

namespace imgpipe::test {
namespace {

using Bytes = std::vector<std::byte>;

void add(Bytes& file, std::initializer_list<int> values) {
  for (const int value : values) file.push_back(static_cast<std::byte>(value));
}

// Stores the colour planes at half the image's size.
JpegKind with(bool progressive, int orientation) {
  return {.h = 2, .v = 2, .progressive = progressive, .orientation = orientation};
}

enum class Png { interlaced, deep, palette };

void append(png_structp png, png_bytep data, png_size_t count) {
  auto* file = static_cast<Bytes*>(png_get_io_ptr(png));
  const auto* first = reinterpret_cast<const std::byte*>(data);
  file->insert(file->end(), first, first + count);
}

// 16-bit samples repeat the 8-bit sample; palettes have 256 greys.
Bytes png_of(ConstHostPlane rgb, Png kind) {
  Bytes file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(png, &file, append, nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(rgb.width), static_cast<png_uint_32>(rgb.height),
               kind == Png::deep ? 16 : 8, kind == Png::palette ? PNG_COLOR_TYPE_PALETTE : PNG_COLOR_TYPE_RGB,
               kind == Png::interlaced ? PNG_INTERLACE_ADAM7 : PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  std::vector<png_color> palette(256);
  for (unsigned i = 0; i < 256; ++i)
    palette[i].red = palette[i].green = palette[i].blue = static_cast<png_byte>(i);
  if (kind == Png::palette) png_set_PLTE(png, info, palette.data(), 256);
  png_set_compression_level(png, 1);
  png_write_info(png, info);
  const int passes = kind == Png::interlaced ? png_set_interlace_handling(png) : 1;
  std::vector<png_byte> row;
  for (int pass = 0; pass < passes; ++pass) {
    for (std::int64_t y = 0; y < rgb.height; ++y) {
      row.clear();
      const int step = kind == Png::palette ? 3 : 1;
      for (std::int64_t i = 0; i < rgb.width * 3; i += step) {
        row.push_back(rgb.row(y)[i]);
        if (kind == Png::deep) row.push_back(rgb.row(y)[i]);
      }
      png_write_row(png, row.data());
    }
  }
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return file;
}

Bytes written(ConstHostPlane rgb, Format format, bool grey) {
  Image image({rgb.width, rgb.height, grey ? 1 : 3});
  for (std::int64_t y = 0; y < rgb.height; ++y) {
    for (std::int64_t i = 0; i < image.shape().width * image.shape().channels; ++i)
      image.view().row(y)[i] = rgb.row(y)[grey ? 3 * i : i];
  }
  const auto writer = make_writer(format, image.shape());
  writer->write_rows(std::as_const(image).view());
  return writer->finish().joined();
}

// Uses runs of one pixel each, the worst case of run lengths.
Bytes run_length_tga(ConstHostPlane rgb) {
  Bytes file;
  const int width = static_cast<int>(rgb.width);
  const int height = static_cast<int>(rgb.height);
  add(file,
      {0, 0, 10, 0, 0, 0, 0, 0, 0, 0, 0, 0, width % 256, width / 256, height % 256, height / 256, 24, 32});
  for (std::int64_t y = 0; y < rgb.height; ++y) {
    for (std::int64_t x = 0; x < rgb.width; ++x) {
      const Sample8* pixel = rgb.row(y) + 3 * x;
      add(file, {0x80, pixel[2], pixel[1], pixel[0]});
    }
  }
  return file;
}

Bytes gif_of(ConstHostPlane rgb) {
  Gif gif;
  gif.width = static_cast<int>(rgb.width);
  gif.height = static_cast<int>(rgb.height);
  Indices pixels;
  for (std::int64_t y = 0; y < rgb.height; ++y) {
    for (std::int64_t x = 0; x < rgb.width; ++x) pixels.push_back(rgb.row(y)[3 * x] / 100);
  }
  return make_gif(gif, pixels, {});
}

Bytes psd_of(ConstHostPlane rgb) {
  Psd psd;
  psd.width = static_cast<int>(rgb.width);
  psd.height = static_cast<int>(rgb.height);
  psd.channels.resize(3);
  for (std::size_t c = 0; c < 3; ++c) {
    for (std::int64_t y = 0; y < rgb.height; ++y) {
      for (std::int64_t x = 0; x < rgb.width; ++x)
        psd.channels[c].push_back(rgb.row(y)[3 * x + static_cast<std::int64_t>(c)]);
    }
  }
  return make_psd(psd);
}

Bytes plain_ppm(ConstHostPlane rgb) {
  std::string text = "P3\n" + std::to_string(rgb.width) + " " + std::to_string(rgb.height) + "\n255\n";
  for (std::int64_t y = 0; y < rgb.height; ++y) {
    for (std::int64_t i = 0; i < rgb.width * 3; ++i)
      text += std::to_string(rgb.row(y)[i]) + (i % 15 == 14 ? "\n" : " ");
  }
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

}  // namespace

std::vector<std::byte> large_file(std::string_view kind, ConstHostPlane rgb) {
  if (kind == "baseline.jpg") return make_jpeg(with(false, 1), rgb);
  if (kind == "progressive.jpg") return make_jpeg(with(true, 1), rgb);
  if (kind == "turned.jpg") return make_jpeg(with(false, 6), rgb);
  if (kind == "turned_progressive.jpg") return make_jpeg(with(true, 6), rgb);
  if (kind == "rgb.png") return written(rgb, Format::png, false);
  if (kind == "grey.png") return written(rgb, Format::png, true);
  if (kind == "interlaced.png") return png_of(rgb, Png::interlaced);
  if (kind == "deep.png") return png_of(rgb, Png::deep);
  if (kind == "palette.png") return png_of(rgb, Png::palette);
  if (kind == "rows.bmp") return written(rgb, Format::bmp, false);
  if (kind == "pixels.tga") return written(rgb, Format::tga, false);
  if (kind == "run_lengths.tga") return run_length_tga(rgb);
  if (kind == "lzw.gif") return gif_of(rgb);
  if (kind == "planes.psd") return psd_of(rgb);
  if (kind == "colors.ppm") return written(rgb, Format::ppm, false);
  if (kind == "greys.pgm") return written(rgb, Format::pgm, true);
  if (kind == "lossless.webp") return make_webp({true, 1}, rgb);
  if (kind == "lossy.webp") return make_webp({false, 2}, rgb);
  if (kind == "text.ppm") return plain_ppm(rgb);
  throw std::invalid_argument(std::string(kind));
}

std::vector<std::string> large_file_kinds() {
  return {"baseline.jpg", "progressive.jpg", "turned.jpg",     "turned_progressive.jpg",
          "rgb.png",      "grey.png",        "interlaced.png", "deep.png",
          "palette.png",  "rows.bmp",        "pixels.tga",     "run_lengths.tga",
          "lzw.gif",      "planes.psd",      "colors.ppm",     "greys.pgm",
          "text.ppm",     "lossless.webp",   "lossy.webp"};
}

}  // namespace imgpipe::test
