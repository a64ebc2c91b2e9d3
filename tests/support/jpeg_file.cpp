#include "tests/support/jpeg_file.h"

#include <array>
#include <cstdlib>
#include <span>

namespace imgpipe::test {
namespace {

// The payload of an Exif segment with only an orientation.
std::vector<JOCTET> exif_payload(int orientation) {
  return {'E', 'x', 'i', 'f', 0,  0, 'M', 'M', 0, 42, 0, 0, 0,
          8,   0,   1,   1,   18, 0, 3,   0,   0, 0,  1, 0, static_cast<JOCTET>(orientation),
          0,   0,   0,   0,   0,  0};
}

constexpr std::array<jpeg_scan_info, 3> kScanEach{
    {{1, {0}, 0, 63, 0, 0}, {1, {1}, 0, 63, 0, 0}, {1, {2}, 0, 63, 0, 0}}};

void set_up(jpeg_compress_struct& encoder, const JpegKind& kind) {
  jpeg_set_defaults(&encoder);
  jpeg_set_colorspace(&encoder, kind.stored);
  jpeg_set_quality(&encoder, kind.quality, TRUE);
  encoder.comp_info[0].h_samp_factor = kind.h;
  encoder.comp_info[0].v_samp_factor = kind.v;
  if (!kind.adobe) encoder.write_Adobe_marker = FALSE;
  encoder.restart_in_rows = kind.restart_rows;
  if (kind.progressive) jpeg_simple_progression(&encoder);
  if (!kind.scan_each) return;
  encoder.scan_info = kScanEach.data();
  encoder.num_scans = static_cast<int>(kScanEach.size());
}

}  // namespace

int channels_of(const JpegKind& kind) {
  return kind.in == JCS_GRAYSCALE ? 1 : kind.in == JCS_CMYK ? 4 : 3;
}

std::vector<std::byte> make_jpeg(const JpegKind& kind, ConstHostPlane pixels) {
  jpeg_compress_struct encoder{};
  jpeg_error_mgr errors{};
  encoder.err = jpeg_std_error(&errors);
  jpeg_create_compress(&encoder);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&encoder, &memory, &size);
  encoder.image_width = static_cast<JDIMENSION>(pixels.width);
  encoder.image_height = static_cast<JDIMENSION>(pixels.height);
  encoder.in_color_space = kind.in;
  encoder.input_components = channels_of(kind);
  set_up(encoder, kind);
  jpeg_start_compress(&encoder, TRUE);
  if (kind.orientation != 1) {
    const std::vector<JOCTET> exif = exif_payload(kind.orientation);
    jpeg_write_marker(&encoder, JPEG_APP0 + 1, exif.data(), static_cast<unsigned>(exif.size()));
  }
  while (encoder.next_scanline < encoder.image_height) {
    auto* row = const_cast<Sample8*>(pixels.row(encoder.next_scanline));
    jpeg_write_scanlines(&encoder, &row, 1);
  }
  jpeg_finish_compress(&encoder);
  jpeg_destroy_compress(&encoder);
  const auto bytes = std::as_bytes(std::span(memory, size));
  std::vector<std::byte> file(bytes.begin(), bytes.end());
  std::free(memory);
  return file;
}

}  // namespace imgpipe::test
