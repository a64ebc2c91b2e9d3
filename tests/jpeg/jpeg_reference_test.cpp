// Compares the reference decoder with libjpeg-turbo: equal pixels for valid data, nothing for invalid data.
#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/baseline_reference.h"
#include "tests/support/images.h"
#include "tests/support/jpeg_file.h"

namespace imgpipe::test::jpeg_reference_test {
namespace {

using File = std::vector<std::byte>;

// ---- libjpeg ----------------------------------------------------------------------------------------

struct Decoder : jpeg_decompress_struct {
  jpeg_error_mgr errors{};

  explicit Decoder(const File& file) : jpeg_decompress_struct{} {
    err = jpeg_std_error(&errors);
    jpeg_create_decompress(this);
    jpeg_mem_src(this, reinterpret_cast<const unsigned char*>(file.data()), file.size());
    jpeg_read_header(this, TRUE);
  }
  ~Decoder() { jpeg_destroy_decompress(this); }
  Decoder(const Decoder&) = delete;
  Decoder& operator=(const Decoder&) = delete;
};

std::vector<Sample8> decode_with_libjpeg(const File& file) {
  Decoder decoder(file);
  jpeg_start_decompress(&decoder);
  const std::size_t row_bytes =
      static_cast<std::size_t>(decoder.output_width) * static_cast<std::size_t>(decoder.output_components);
  std::vector<Sample8> pixels(row_bytes * decoder.output_height);
  while (decoder.output_scanline < decoder.output_height) {
    JSAMPROW row = pixels.data() + row_bytes * decoder.output_scanline;
    jpeg_read_scanlines(&decoder, &row, 1);
  }
  jpeg_finish_decompress(&decoder);
  EXPECT_EQ(decoder.errors.num_warnings, 0);
  return pixels;
}

HuffmanCodes codes_of(const JHUFF_TBL* table) {
  HuffmanCodes codes;
  if (table == nullptr) return codes;
  std::copy(std::begin(table->bits), std::end(table->bits), codes.counts.begin());
  std::copy(std::begin(table->huffval), std::end(table->huffval), codes.symbols.begin());
  return codes;
}

Sampling sampling_of(const jpeg_decompress_struct& header) {
  if (header.num_components == 1) return Sampling::grey;
  if (header.max_h_samp_factor == 2) return header.max_v_samp_factor == 2 ? Sampling::s420 : Sampling::s422;
  return header.max_v_samp_factor == 2 ? Sampling::s440 : Sampling::s444;
}

// Returns the header as read by libjpeg.
BaselineScan scan_of(const File& file) {
  const Decoder header(file);
  BaselineScan scan;
  scan.width = header.image_width;
  scan.height = header.image_height;
  scan.sampling = sampling_of(header);
  scan.components = header.num_components;
  const int max_across = header.max_h_samp_factor;
  const int max_down = header.max_v_samp_factor;
  for (std::size_t c = 0; c < static_cast<std::size_t>(scan.components); ++c) {
    const jpeg_component_info& info = header.comp_info[c];
    ScanComponent& component = scan.component[c];
    component.across = info.h_samp_factor;
    component.down = info.v_samp_factor;
    component.width = (scan.width * component.across + max_across - 1) / max_across;
    component.height = (scan.height * component.down + max_down - 1) / max_down;
    for (std::size_t i = 0; i < kBlockSamples; ++i) {
      component.steps[i] = header.quant_tbl_ptrs[info.quant_tbl_no]->quantval[kZigzag[i]];
    }
    component.dc_codes = info.dc_tbl_no;
    component.ac_codes = info.ac_tbl_no;
  }
  for (std::size_t i = 0; i < NUM_HUFF_TBLS; ++i) {
    scan.dc_codes[i] = codes_of(header.dc_huff_tbl_ptrs[i]);
    scan.ac_codes[i] = codes_of(header.ac_huff_tbl_ptrs[i]);
  }
  scan.restart_interval = header.restart_interval;
  scan.mcu_width = kBlockSide * max_across;
  scan.mcu_height = kBlockSide * max_down;
  scan.mcus_across = (scan.width + scan.mcu_width - 1) / scan.mcu_width;
  scan.mcu_rows = (scan.height + scan.mcu_height - 1) / scan.mcu_height;
  const auto after = static_cast<std::size_t>(header.src->next_input_byte -
                                              reinterpret_cast<const unsigned char*>(file.data()));
  scan.data = std::span(file).subspan(after);
  return scan;
}

// ---- files ------------------------------------------------------------------------------------------

struct Factors {
  int h = 1, v = 1;
  int components = 3;
};
constexpr std::array<Factors, 5> kFactors{{{1, 1, 1}, {1, 1, 3}, {2, 1, 3}, {2, 2, 3}, {1, 2, 3}}};

File make_picture(const Factors& factors, Size size, const std::string& content, int quality,
                  int restart_rows, std::uint64_t seed) {
  JpegKind kind;
  if (factors.components == 1) kind.in = kind.stored = JCS_GRAYSCALE;
  kind.h = factors.h;
  kind.v = factors.v;
  kind.quality = quality;
  kind.restart_rows = restart_rows;
  std::vector<Sample8> pixels(static_cast<std::size_t>(size.width * size.height * factors.components));
  std::size_t i = 0;
  for (std::int64_t y = 0; y < size.height; ++y) {
    for (std::int64_t x = 0; x < size.width; ++x) {
      for (int c = 0; c < factors.components; ++c) pixels[i++] = content_sample(content, x, y, c, seed);
    }
  }
  return make_jpeg(
      kind, {pixels.data(), size.width, size.height, size.width * factors.components, factors.components});
}

// Makes the coefficients of an unnatural block, with all sizes that can be coded.
void make_wild_block(JCOEF* block, std::mt19937_64& random) {
  const std::uint64_t kind = random() % 4;  // constant, flat columns, few, dense
  block[0] = static_cast<JCOEF>(random() % 2048 - 1024);
  for (int k = 1; k < kBlockSamples; ++k) {
    const bool used = kind == 3 || (kind == 2 && random() % 10 == 0) || (kind == 1 && k < kBlockSide);
    block[k] = used ? static_cast<JCOEF>(random() % 2047 - 1023) : JCOEF{0};
  }
}

void set_up_wild(jpeg_compress_struct& encoder, const Factors& factors, Size size, unsigned restart_interval,
                 std::mt19937_64& random) {
  encoder.image_width = static_cast<JDIMENSION>(size.width);
  encoder.image_height = static_cast<JDIMENSION>(size.height);
  encoder.input_components = factors.components;
  encoder.in_color_space = factors.components == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&encoder);
  encoder.comp_info[0].h_samp_factor = factors.h;
  encoder.comp_info[0].v_samp_factor = factors.v;
  encoder.restart_interval = restart_interval;
  encoder.optimize_coding = random() % 2 == 0 ? TRUE : FALSE;
  const std::uint64_t most = random() % 2 == 0 ? 65535 : 300;
  std::array<unsigned, kBlockSamples> steps{};
  for (int table = 0; table < 2; ++table) {
    for (unsigned& step : steps) step = static_cast<unsigned>(1 + random() % most);
    jpeg_add_quant_table(&encoder, table, steps.data(), 100, FALSE);
  }
}

// Makes a file of such blocks, with steps of up to 16 bits, so that products and sums overflow.
File make_wild(const Factors& factors, Size size, unsigned restart_interval, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  jpeg_compress_struct encoder{};
  jpeg_error_mgr errors{};
  encoder.err = jpeg_std_error(&errors);
  errors.emit_message = [](j_common_ptr, int) {};  // libjpeg warns about steps of 16 bits
  jpeg_create_compress(&encoder);
  auto* const common = reinterpret_cast<j_common_ptr>(&encoder);
  unsigned char* memory = nullptr;
  unsigned long bytes = 0;
  jpeg_mem_dest(&encoder, &memory, &bytes);
  set_up_wild(encoder, factors, size, restart_interval, random);
  const auto mcus_across = static_cast<JDIMENSION>((size.width + 8 * factors.h - 1) / (8 * factors.h));
  const auto mcu_rows = static_cast<JDIMENSION>((size.height + 8 * factors.v - 1) / (8 * factors.v));
  std::array<jvirt_barray_ptr, 3> arrays{};
  for (std::size_t c = 0; c < static_cast<std::size_t>(factors.components); ++c) {
    const auto across = static_cast<JDIMENSION>(encoder.comp_info[c].h_samp_factor);
    const auto down = static_cast<JDIMENSION>(encoder.comp_info[c].v_samp_factor);
    arrays[c] = encoder.mem->request_virt_barray(common, JPOOL_IMAGE, TRUE, mcus_across * across,
                                                 mcu_rows * down, down);
  }
#if JPEG_LIB_VERSION >= 70  // an API with scaling, as on Ubuntu
  encoder.jpeg_width = encoder.image_width;
  encoder.jpeg_height = encoder.image_height;
#endif
  jpeg_write_coefficients(&encoder, arrays.data());
  for (std::size_t c = 0; c < static_cast<std::size_t>(factors.components); ++c) {
    const auto across = static_cast<JDIMENSION>(encoder.comp_info[c].h_samp_factor);
    const auto down = static_cast<JDIMENSION>(encoder.comp_info[c].v_samp_factor);
    for (JDIMENSION y = 0; y < mcu_rows * down; y += down) {
      JBLOCKARRAY rows = encoder.mem->access_virt_barray(common, arrays[c], y, down, TRUE);
      for (JDIMENSION row = 0; row < down; ++row) {
        for (JDIMENSION x = 0; x < mcus_across * across; ++x) make_wild_block(rows[row][x], random);
      }
    }
  }
  jpeg_finish_compress(&encoder);
  jpeg_destroy_compress(&encoder);
  const auto all = std::as_bytes(std::span(memory, bytes));
  File file(all.begin(), all.end());
  std::free(memory);
  return file;
}

void expect_equal(const File& file, const std::string& what) {
  const std::vector<Sample8> expected = decode_with_libjpeg(file);
  const std::optional<Image> got = decode_baseline_reference(scan_of(file));
  ASSERT_TRUE(got.has_value()) << what;
  const ConstHostPlane plane = got->view();
  const ConstHostPlane held{expected.data(), plane.width, plane.height, plane.width * plane.channels,
                            plane.channels};
  ASSERT_EQ(first_difference(held, plane), "") << what;
}

std::string name_of(const Factors& factors, Size size, std::uint64_t seed) {
  return std::to_string(factors.components) + " components, " + std::to_string(factors.h) + "x" +
         std::to_string(factors.v) + ", " + std::to_string(size.width) + "x" + std::to_string(size.height) +
         ", seed " + std::to_string(seed);
}

TEST(JpegReference, EqualsLibjpegOnImages) {
  std::uint64_t seed = 0;
  for (const Factors& factors : kFactors) {
    for (std::int64_t width = 1; width <= 40; ++width) {
      for (const std::int64_t height :
           {std::int64_t{1}, std::int64_t{2}, std::int64_t{3}, 41 - width, width}) {
        const Size size{width, height};
        const auto quality = static_cast<int>(1 + ++seed * 37 % 100);
        const std::string& content = contents()[seed % contents().size()];
        expect_equal(make_picture(factors, size, content, quality, static_cast<int>(seed % 3), seed),
                     name_of(factors, size, seed) + ", " + content);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// Out of range, libjpeg-turbo's SIMD code wraps and saturates at points that depend on the processor.
#if defined(__x86_64__)
TEST(JpegReference, EqualsLibjpegOutOfRange) {
  std::uint64_t seed = 0;
  for (const Factors& factors : kFactors) {
    for (const Size size : {Size{8, 8}, Size{40, 24}, Size{33, 17}, Size{3, 50}, Size{70, 70}}) {
      for (int i = 0; i < 8; ++i) {
        ++seed;
        expect_equal(make_wild(factors, size, static_cast<unsigned>(seed % 5), seed),
                     name_of(factors, size, seed));
        if (HasFatalFailure()) return;
      }
    }
  }
}
#endif

// ---- invalid data -----------------------------------------------------------------------------------

// Decodes the scan of `file` with other data.
bool is_taken(const File& file, std::vector<std::byte> data) {
  BaselineScan scan = scan_of(file);
  scan.data = data;
  return decode_baseline_reference(scan).has_value();
}

std::vector<std::byte> data_of(const File& file) {
  const auto data = scan_of(file).data;
  return {data.begin(), data.end()};
}

TEST(JpegReference, RejectsTruncatedData) {
  const File file = make_picture(kFactors[3], {40, 40}, "noise", 60, 1, 5);
  const std::vector<std::byte> data = data_of(file);
  ASSERT_TRUE(is_taken(file, data));
  for (std::size_t size = 0; size < data.size(); ++size) {
    ASSERT_FALSE(is_taken(file, {data.begin(), data.begin() + static_cast<std::ptrdiff_t>(size)})) << size;
  }
}

TEST(JpegReference, RejectsExtraBytes) {
  const File file = make_picture(kFactors[0], {40, 40}, "noise", 60, 1, 5);
  const std::vector<std::byte> data = data_of(file);
  for (std::size_t i = 0; i + 1 < data.size(); ++i) {
    if (data[i] != std::byte{0xFF} || data[i + 1] == std::byte{0}) continue;
    std::vector<std::byte> longer = data;
    longer.insert(longer.begin() + static_cast<std::ptrdiff_t>(i), std::byte{0x5A});
    EXPECT_FALSE(is_taken(file, longer)) << i;
    longer[i] = std::byte{0xFF};  // may stand before a marker
    EXPECT_TRUE(is_taken(file, longer)) << i;
  }
}

TEST(JpegReference, RejectsWrongRestartMarkers) {
  const File file = make_picture(kFactors[0], {8, 100}, "noise", 60, 1, 5);
  const std::vector<std::byte> data = data_of(file);
  int markers = 0;
  for (std::size_t i = 0; i + 1 < data.size(); ++i) {
    if (data[i] != std::byte{0xFF} || data[i + 1] == std::byte{0}) continue;
    ++markers;
    for (unsigned code = 1; code < 256; ++code) {
      std::vector<std::byte> other = data;
      other[i + 1] = static_cast<std::byte>(code);
      // If `code` is 0xFF, it is one more fill byte, and the marker is missing.
      EXPECT_EQ(is_taken(file, other), other == data) << "marker " << markers << " as " << code;
    }
  }
  EXPECT_EQ(markers, 13);
}

// Decodes a scan of one grey block from its bits. DC: 0 is size 0. AC: 00 is the end of the block, 01 is 16
// zeros, 10 is 15 zeros and a coefficient of 1 bit.
bool takes_bits(const std::string& bits) {
  BaselineScan scan;
  scan.width = scan.height = 8;
  scan.component[0].width = scan.component[0].height = 8;
  scan.component[0].steps.fill(1);
  scan.mcus_across = scan.mcu_rows = 1;
  scan.dc_codes[0].counts[1] = 1;
  scan.ac_codes[0].counts[2] = 3;
  scan.ac_codes[0].symbols = {0x00, 0xF0, 0xF1};
  std::vector<std::byte> data;
  for (std::size_t i = 0; i < bits.size(); i += 8) {
    std::string byte = bits.substr(i, 8);
    byte.resize(8, '1');
    data.push_back(static_cast<std::byte>(std::stoi(byte, nullptr, 2)));
    if (data.back() == std::byte{0xFF}) data.push_back(std::byte{0});
  }
  data.push_back(std::byte{0xFF});
  data.push_back(std::byte{0xD9});
  scan.data = data;
  return decode_baseline_reference(scan).has_value();
}

TEST(JpegReference, RejectsInvalidCodes) {
  EXPECT_TRUE(
      takes_bits("0"
                 "00"));
  EXPECT_FALSE(
      takes_bits("1"
                 "00"));
  EXPECT_FALSE(
      takes_bits("0"
                 "11"));
}

TEST(JpegReference, RejectsCoefficientsBeyondTheLast) {
  EXPECT_TRUE(
      takes_bits("0"
                 "01"
                 "01"
                 "01"
                 "00"));  // 48 zeros and the end of the block
  EXPECT_TRUE(
      takes_bits("0"
                 "101"
                 "101"
                 "101"
                 "00"));  // positions 16, 32, 48
  EXPECT_FALSE(
      takes_bits("0"
                 "101"
                 "101"
                 "101"
                 "101"
                 "00"));  // 64
  EXPECT_FALSE(
      takes_bits("0"
                 "01"
                 "01"
                 "01"
                 "101"
                 "00"));  // 64
  EXPECT_FALSE(
      takes_bits("0"
                 "01"
                 "01"
                 "01"
                 "01"
                 "00"));  // zeros to position 64
}

}  // namespace
}  // namespace imgpipe::test::jpeg_reference_test
