#include "images/codecs/jpeg/library_check.h"

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include <jpeglib.h>

#include "images/codecs/jpeg/baseline_reader.h"
#include "images/codecs/jpeg/jpeg_errors.h"
#include "images/image.h"

namespace imgpipe {
namespace {

constexpr JDIMENSION kCheckWidth = 37, kCheckHeight = 21;  // several MCUs, partial ones at the edges
constexpr UINT16 kLargeStep = 4099;

// Memory for an encoded file; libjpeg allocates its own if this is too small.
using FileBuffer = std::array<unsigned char, std::size_t{1} << 16>;

std::uint32_t next_noise(std::uint32_t& noise) {
  noise = noise * 1664525 + 1013904223;  // Numerical Recipes
  return noise >> 16;
}

// Half of the blocks are dense: their samples are noise. The others have few coefficients, many of which
// exceed 16 bits when dequantised.
void fill_block(JBLOCK& block, bool is_dense, const JQUANT_TBL& steps, std::uint32_t& noise) {
  if (!is_dense) {
    for (int i = 0; i < 10; ++i)
      block[next_noise(noise) % DCTSIZE2] =
          static_cast<JCOEF>(static_cast<int>(next_noise(noise)) % 1001 - 500);
    return;
  }
  for (std::size_t i = 0; i < DCTSIZE2; ++i) {
    const int most = i == 0 ? 15 : 60;
    if (steps.quantval[i] != kLargeStep)
      block[i] = static_cast<JCOEF>(static_cast<int>(next_noise(noise)) % (2 * most + 1) - most);
  }
}

void write_file(jpeg_compress_struct& encoder) {
  std::uint32_t noise = 1;
  for (JQUANT_TBL* table : {encoder.quant_tbl_ptrs[0], encoder.quant_tbl_ptrs[1]}) {
    for (UINT16& step : table->quantval) step = next_noise(noise) % 2 == 0 ? kLargeStep : 3;
    table->quantval[0] = 70;  // 15 of them shift a block by about half the range, 500 of them exceed 16 bits
  }
#if JPEG_LIB_VERSION >= 70  // these versions can scale
  encoder.jpeg_width = kCheckWidth;
  encoder.jpeg_height = kCheckHeight;
#endif
  constexpr JDIMENSION kBlocks = 8;  // at least each plane's blocks across and down, in whole MCUs
  jvirt_barray_ptr planes[3] = {};
  for (int c = 0; c < encoder.num_components; ++c) {
    planes[c] = encoder.mem->request_virt_barray(reinterpret_cast<j_common_ptr>(&encoder), JPOOL_IMAGE, TRUE,
                                                 kBlocks, kBlocks, kBlocks);
  }
  jpeg_write_coefficients(&encoder, planes);  // keeps a pointer to `planes`
  for (int c = 0; c < encoder.num_components; ++c) {
    const JQUANT_TBL& steps = *encoder.quant_tbl_ptrs[encoder.comp_info[c].quant_tbl_no];
    JBLOCKARRAY rows = encoder.mem->access_virt_barray(reinterpret_cast<j_common_ptr>(&encoder), planes[c], 0,
                                                       kBlocks, TRUE);
    for (std::size_t block = 0; block < std::size_t{kBlocks} * kBlocks; ++block)
      fill_block(rows[block / kBlocks][block % kBlocks], next_noise(noise) % 2 == 0, steps, noise);
  }
  jpeg_finish_compress(&encoder);
}

// Holds no object with a destructor: libjpeg may jump back into this function.
bool try_encode(Sampling sampling, jpeg_compress_struct& encoder, JpegErrors& errors, unsigned char*& bytes,
                unsigned long& size) {
  if (setjmp(errors.jump) != 0) return false;
  jpeg_create_compress(&encoder);
  jpeg_mem_dest(&encoder, &bytes, &size);
  encoder.image_width = kCheckWidth;
  encoder.image_height = kCheckHeight;
  encoder.input_components = sampling == Sampling::grey ? 1 : 3;
  encoder.in_color_space = sampling == Sampling::grey ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&encoder);
  const bool half_width = sampling == Sampling::s422 || sampling == Sampling::s420;
  const bool half_height = sampling == Sampling::s440 || sampling == Sampling::s420;
  encoder.comp_info[0].h_samp_factor = half_width ? 2 : 1;
  encoder.comp_info[0].v_samp_factor = half_height ? 2 : 1;
  write_file(encoder);
  return true;
}

// Returns the file in `buffer`; empty if it does not fit or encoding fails.
Bytes encoded(Sampling sampling, FileBuffer& buffer) {
  jpeg_compress_struct encoder{};
  JpegErrors errors{};
  encoder.err = error_manager(errors);
  unsigned char* bytes = buffer.data();
  unsigned long size = buffer.size();
  const bool made = try_encode(sampling, encoder, errors, bytes, size);
  jpeg_destroy_compress(&encoder);
  if (bytes == buffer.data()) return made ? std::as_bytes(std::span(buffer).first(size)) : Bytes();
  if (made) std::free(bytes);
  return {};
}

Image decoded(Reader& reader) {
  Image image(reader.header().shape);
  reader.read_rows(image.untyped_view());
  return image;
}

bool is_equal(Bytes file, int scale) {
  const DecodeOptions options{.scale = scale};
  const Image theirs = decoded(*open_library_jpeg(file, options));
  const std::unique_ptr<Reader> reader =
      make_baseline_reader(open_library_jpeg(file, options), kScanChunkBytes);
  const Image ours = decoded(*reader);
  return reader->has_bands() && std::memcmp(ours.view().data, theirs.view().data, ours.size_bytes()) == 0;
}

bool check(Sampling sampling, int scale) {
  try {
    const auto buffer = std::make_unique_for_overwrite<FileBuffer>();
    const Bytes file = encoded(sampling, *buffer);
    return !file.empty() && is_equal(file, scale);
  } catch (const std::exception&) {
    return false;  // fall back to the library
  }
}

}  // namespace

bool library_decodes_identically(Sampling sampling, int scale) {
  struct CheckResult {
    std::once_flag asked;
    bool agrees = false;
  };
  static std::array<std::array<CheckResult, 5>, 4> answers;
  const auto of_scale = static_cast<std::size_t>(std::countr_zero(static_cast<unsigned>(scale)));
  CheckResult& answer = answers[of_scale][static_cast<std::size_t>(sampling)];
  std::call_once(answer.asked, [&] { answer.agrees = check(sampling, scale); });
  return answer.agrees;
}

}  // namespace imgpipe
