#include "tests/support/made_jpegs.h"

#include <algorithm>
#include <cstdlib>
#include <ostream>
#include <random>
#include <span>

#include "images/image.h"
#include "images/synth.h"

namespace imgpipe::test {
namespace {

using Factors = std::array<JpegFactors, 4>;

constexpr std::array kPlainSamplings{Factors{{{1, 1}, {1, 1}, {1, 1}}}, Factors{{{2, 1}, {1, 1}, {1, 1}}},
                                     Factors{{{2, 2}, {1, 1}, {1, 1}}}, Factors{{{1, 2}, {1, 1}, {1, 1}}}};

// Includes unusual encodings of common samplings.
constexpr std::array kOddSamplings{
    Factors{{{4, 1}, {1, 1}, {1, 1}}}, Factors{{{4, 2}, {1, 1}, {1, 1}}}, Factors{{{2, 2}, {2, 1}, {1, 1}}},
    Factors{{{1, 1}, {2, 2}, {1, 1}}}, Factors{{{1, 2}, {1, 1}, {1, 2}}}, Factors{{{2, 2}, {1, 2}, {1, 2}}},
    Factors{{{2, 2}, {2, 1}, {2, 1}}}, Factors{{{3, 1}, {1, 1}, {1, 1}}}, Factors{{{1, 2}, {1, 2}, {1, 2}}},
    Factors{{{2, 1}, {2, 1}, {2, 1}}}, Factors{{{1, 4}, {1, 1}, {1, 1}}}, Factors{{{2, 1}, {1, 1}, {2, 1}}}};

constexpr std::array<jpeg_scan_info, 4> kScanEach{
    {{1, {0}, 0, 63, 0, 0}, {1, {1}, 0, 63, 0, 0}, {1, {2}, 0, 63, 0, 0}, {1, {3}, 0, 63, 0, 0}}};

bool of_coefficients(JpegContent content) {
  return content >= JpegContent::extreme;
}

// ---- pixels -----------------------------------------------------------------------------------------

Sample8 sample_of(JpegContent content, std::int64_t x, std::int64_t y, int channel,
                  std::span<const Sample8> noise) {
  const auto at = [&](std::int64_t row, std::int64_t column) {
    return noise[static_cast<std::size_t>((row * 16 + column) * 4 + channel)];
  };
  if (content == JpegContent::constant) return at(0, 0);
  if (content == JpegContent::gradient) return static_cast<Sample8>((x * 3 + y * 2 + channel * 40) / 2);
  return at(y % 16, x % 16);
}

Image pixels_of(const MadeJpeg& jpeg) {
  const Shape shape{jpeg.width, jpeg.height, jpeg.components()};
  if (jpeg.content == JpegContent::photo) return synthesize(parse_pattern("photo"), shape, jpeg.seed);
  std::mt19937 random(static_cast<std::uint32_t>(jpeg.seed));
  Image image(shape);
  const HostPlane plane = image.view();
  if (jpeg.content == JpegContent::noise || jpeg.content == JpegContent::saturated) {
    const bool two = jpeg.content == JpegContent::saturated;
    std::generate_n(plane.data, shape.samples(), [&] {
      const auto value = static_cast<Sample8>(random() >> 24);
      return static_cast<Sample8>(two ? (value & 1) * 255 : value);
    });
    return image;
  }
  std::vector<Sample8> noise(16 * 16 * 4);
  std::ranges::generate(noise, [&] { return static_cast<Sample8>(random() >> 24); });
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t i = 0; i < shape.width * shape.channels; ++i) {
      const auto channel = static_cast<int>(i % shape.channels);
      plane.row(y)[i] = sample_of(jpeg.content, i / shape.channels, y, channel, noise);
    }
  }
  return image;
}

void write_pixels(jpeg_compress_struct& encoder, const MadeJpeg& jpeg) {
  Image image = pixels_of(jpeg);
  jpeg_start_compress(&encoder, TRUE);
  while (encoder.next_scanline < encoder.image_height) {
    Sample8* row = image.view().row(encoder.next_scanline);
    jpeg_write_scanlines(&encoder, &row, 1);
  }
}

// ---- coefficients -----------------------------------------------------------------------------------

constexpr int kMaxAc = 1023, kMaxDc = 1023;  // limits of libjpeg's encoder

void fill_block(JBLOCK& block, JpegContent content, std::mt19937& random) {
  std::ranges::fill(block, JCOEF{0});
  const auto sign = [&] { return random() % 2 == 0 ? 1 : -1; };
  const auto set = [&](std::size_t position, int value) { block[position] = static_cast<JCOEF>(value); };
  if (content == JpegContent::extreme) {
    const unsigned share = 1 + random() % 16;
    for (std::size_t position = 0; position < DCTSIZE2; ++position)
      if (random() % share == 0) set(position, sign() * (kMaxAc - static_cast<int>(random() % 3)));
  } else if (content == JpegContent::dense) {
    for (std::size_t position = 1; position < DCTSIZE2; ++position) set(position, kMaxAc);
    set(0, random() % 8 == 0 ? -kMaxDc : kMaxDc);
  } else if (random() % 5 == 0) {
    set(random() % 3 == 0 ? DCTSIZE2 - 1 : random() % DCTSIZE2, sign() * static_cast<int>(1 + random() % 40));
  }
}

void write_coefficients(jpeg_compress_struct& encoder, const MadeJpeg& jpeg) {
  int max_across = 1;
  int max_down = 1;
  for (int c = 0; c < encoder.num_components; ++c) {
    max_across = std::max(max_across, encoder.comp_info[c].h_samp_factor);
    max_down = std::max(max_down, encoder.comp_info[c].v_samp_factor);
  }
  const auto common = reinterpret_cast<j_common_ptr>(&encoder);
  const auto blocks = [](std::int64_t pixels, int factor, int most) {
    const std::int64_t mcus = (pixels + std::int64_t{8} * most - 1) / (std::int64_t{8} * most);
    return static_cast<JDIMENSION>(mcus * factor);
  };
  std::array<jvirt_barray_ptr, MAX_COMPONENTS> arrays{};
  std::array<std::pair<JDIMENSION, JDIMENSION>, MAX_COMPONENTS> sizes{};
  for (std::size_t c = 0; c < static_cast<std::size_t>(encoder.num_components); ++c) {
    const jpeg_component_info& component = encoder.comp_info[c];
    sizes[c] = {blocks(jpeg.width, component.h_samp_factor, max_across),
                blocks(jpeg.height, component.v_samp_factor, max_down)};
    arrays[c] =
        (*encoder.mem->request_virt_barray)(common, JPOOL_IMAGE, TRUE, sizes[c].first, sizes[c].second,
                                            static_cast<JDIMENSION>(component.v_samp_factor));
  }
#if JPEG_LIB_VERSION >= 70  // the library can scale, as Ubuntu's does
  encoder.jpeg_width = encoder.image_width;
  encoder.jpeg_height = encoder.image_height;
#endif
  jpeg_write_coefficients(&encoder, arrays.data());
  std::mt19937 random(static_cast<std::uint32_t>(jpeg.seed));
  for (std::size_t c = 0; c < static_cast<std::size_t>(encoder.num_components); ++c) {
    for (JDIMENSION y = 0; y < sizes[c].second; ++y) {
      JBLOCKARRAY rows = (*encoder.mem->access_virt_barray)(common, arrays[c], y, 1, TRUE);
      for (JDIMENSION x = 0; x < sizes[c].first; ++x) fill_block(rows[0][x], jpeg.content, random);
    }
  }
}

// ---- the encoder ------------------------------------------------------------------------------------

void set_up(jpeg_compress_struct& encoder, const MadeJpeg& jpeg) {
  encoder.image_width = static_cast<JDIMENSION>(jpeg.width);
  encoder.image_height = static_cast<JDIMENSION>(jpeg.height);
  encoder.input_components = jpeg.components();
  encoder.in_color_space = jpeg.components() == 1   ? JCS_GRAYSCALE
                           : jpeg.components() == 4 ? JCS_CMYK
                                                    : JCS_RGB;
  jpeg_set_defaults(&encoder);
  jpeg_set_colorspace(&encoder, jpeg.stored);
  jpeg_set_quality(&encoder, jpeg.quality, FALSE);
  if (jpeg.step_percent > 0) jpeg_set_linear_quality(&encoder, jpeg.step_percent, FALSE);
  for (int c = 0; c < encoder.num_components; ++c) {
    jpeg_component_info& component = encoder.comp_info[c];
    component.h_samp_factor = jpeg.factors[static_cast<std::size_t>(c)].across;
    component.v_samp_factor = jpeg.factors[static_cast<std::size_t>(c)].down;
    if (jpeg.one_table) component.dc_tbl_no = component.ac_tbl_no = component.quant_tbl_no = 0;
  }
  encoder.restart_interval = static_cast<unsigned>(jpeg.restart_mcus);
  encoder.restart_in_rows = jpeg.restart_rows;
  encoder.arith_code = jpeg.coding == JpegCoding::arithmetic ? TRUE : FALSE;
  encoder.optimize_coding = jpeg.optimised && !encoder.arith_code ? TRUE : FALSE;
  if (jpeg.coding == JpegCoding::progressive) jpeg_simple_progression(&encoder);
  if (!jpeg.scan_each) return;
  encoder.scan_info = kScanEach.data();
  encoder.num_scans = encoder.num_components;
}

}  // namespace

int MadeJpeg::components() const {
  return stored == JCS_GRAYSCALE ? 1 : stored == JCS_CMYK || stored == JCS_YCCK ? 4 : 3;
}

bool MadeJpeg::is_plain() const {
  if (coding != JpegCoding::huffman) return false;
  if (stored == JCS_GRAYSCALE) return factors[0] == JpegFactors{};
  return stored == JCS_YCbCr && !scan_each &&
         std::ranges::find(kPlainSamplings, factors) != kPlainSamplings.end();
}

MadeJpeg random_jpeg(std::uint64_t seed) {
  std::mt19937 random(static_cast<std::uint32_t>(seed * 2 + 1));
  const auto below = [&](std::size_t count) { return static_cast<int>(random() % count); };
  MadeJpeg jpeg;
  jpeg.width = 1 + below(70);
  jpeg.height = 1 + below(70);
  jpeg.quality = 1 + below(100);
  jpeg.content =
      static_cast<JpegContent>(below(std::size_t{static_cast<std::size_t>(JpegContent::dense)} + 1));
  if (below(10) == 0) jpeg.step_percent = 100 << below(of_coefficients(jpeg.content) ? 14 : 6);
  jpeg.optimised = below(2) == 0;
  jpeg.one_table = below(4) == 0;
  jpeg.seed = random();
  const int restarts = below(6);
  if (restarts == 0) jpeg.restart_rows = 1 + below(3);
  if (restarts == 1) jpeg.restart_mcus = 1 + below(12);
  if (restarts == 2) jpeg.restart_mcus = 1;
  jpeg.factors = kPlainSamplings[random() % kPlainSamplings.size()];
  const int kind = below(20);
  if (kind < 3) {
    jpeg.stored = JCS_GRAYSCALE;
    jpeg.factors = {};
  } else if (kind == 3) {
    jpeg.stored = std::array{JCS_RGB, JCS_CMYK, JCS_YCCK}[random() % 3];
    if (jpeg.stored != JCS_YCCK) jpeg.factors = {};
  } else if (kind == 4) {
    jpeg.coding = JpegCoding::progressive;
  } else if (kind == 5) {
#ifdef C_ARITH_CODING_SUPPORTED
    jpeg.coding = JpegCoding::arithmetic;
#endif
  } else if (kind == 6) {
    jpeg.scan_each = true;
  } else if (kind < 9) {
    jpeg.factors = kOddSamplings[random() % kOddSamplings.size()];
  }
  return jpeg;
}

std::vector<std::byte> make_jpeg(const MadeJpeg& jpeg) {
  jpeg_compress_struct encoder{};
  jpeg_error_mgr errors{};
  encoder.err = jpeg_std_error(&errors);
  errors.emit_message = [](j_common_ptr, int) {};
  jpeg_create_compress(&encoder);
  unsigned char* memory = nullptr;
  unsigned long size = 0;
  jpeg_mem_dest(&encoder, &memory, &size);
  set_up(encoder, jpeg);
  of_coefficients(jpeg.content) ? write_coefficients(encoder, jpeg) : write_pixels(encoder, jpeg);
  jpeg_finish_compress(&encoder);
  jpeg_destroy_compress(&encoder);
  const auto bytes = std::as_bytes(std::span(memory, size));
  std::vector<std::byte> file(bytes.begin(), bytes.end());
  std::free(memory);
  return file;
}

std::string description(const MadeJpeg& jpeg) {
  constexpr std::array kContents{"photo", "noise",   "saturated", "constant", "gradient",
                                 "tiles", "extreme", "sparse",    "dense"};
  constexpr std::array kCodings{"huffman", "progressive", "arithmetic"};
  std::string text = std::to_string(jpeg.width) + "x" + std::to_string(jpeg.height) + " " +
                     kContents[static_cast<std::size_t>(jpeg.content)] + " " +
                     kCodings[static_cast<std::size_t>(jpeg.coding)] + " space " +
                     std::to_string(jpeg.stored);
  for (int c = 0; c < jpeg.components(); ++c) {
    const JpegFactors& factors = jpeg.factors[static_cast<std::size_t>(c)];
    text += " " + std::to_string(factors.across) + "x" + std::to_string(factors.down);
  }
  text += " quality " + std::to_string(jpeg.quality);
  if (jpeg.step_percent > 0) text += " steps " + std::to_string(jpeg.step_percent) + " %";
  if (jpeg.restart_mcus > 0) text += " restart every " + std::to_string(jpeg.restart_mcus) + " MCUs";
  if (jpeg.restart_rows > 0) text += " restart every " + std::to_string(jpeg.restart_rows) + " rows";
  if (jpeg.optimised) text += " optimised";
  if (jpeg.one_table) text += " one table";
  if (jpeg.scan_each) text += " a scan each";
  return text + " seed " + std::to_string(jpeg.seed);
}

void PrintTo(const MadeJpeg& jpeg, std::ostream* out) {
  *out << description(jpeg);
}

}  // namespace imgpipe::test
