// Reads JPEG with libjpeg-turbo: baseline, progressive, every subsampling; grey, YCbCr, RGB, CMYK and YCCK.
// Functions that libjpeg jumps back into hold no object with a destructor (jpeg_errors.h).
#include <algorithm>
#include <cstdio>
#include <cstring>
#include <utility>

#include <jpeglib.h>

#include "images/codecs/codec_parts.h"
#include "images/codecs/icc.h"
#include "images/codecs/jpeg/jpeg_codec.h"
#include "images/codecs/jpeg/jpeg_errors.h"
#include "images/codecs/jpeg/jpeg_segments.h"
#include "images/codecs/jpeg/library_jpeg.h"
#include "images/codecs/jpeg/pillow_jpeg.h"
#include "images/codecs/sniff.h"
#include "images/error.h"
#include "images/rounded_up.h"

namespace imgpipe {
namespace {

// A progressive file may require millions of passes over the image; real encoders write about ten scans.
constexpr int kMaxScans = 500;

constexpr int kMaxScale = 8;

// The library's tables and other allocations that do not depend on the image's size; measured: 70 KiB.
constexpr std::int64_t kReaderTableBytes = std::int64_t{128} << 10;
constexpr std::int64_t kRowAlignment = 64;  // libjpeg-turbo rounds the rows of its buffers up to this

void on_progress(j_common_ptr info) {
  auto* decoder = reinterpret_cast<j_decompress_ptr>(info);
  if (decoder->input_scan_number <= kMaxScans) return;
  JpegErrors& errors = errors_of(info);
  std::snprintf(errors.message, sizeof errors.message, "more than %d progressive scans", kMaxScans);
  jump_out(info);
}

// Adobe stores CMYK inverted and writes an APP14 marker; without that marker, 255 is full ink.
void copy_inks(const JSAMPLE* in, Sample8* out, std::int64_t width, bool inverted) {
  const unsigned flip = inverted ? 255U : 0U;
  for (std::int64_t i = 0; i < 4 * width; ++i) out[i] = static_cast<Sample8>(in[i] ^ flip);
}

void cmyk_to_rgb(const JSAMPLE* in, Sample8* out, std::int64_t width, bool inverted) {
  const unsigned flip = inverted ? 0U : 255U;
  for (std::int64_t x = 0; x < width; ++x, in += 4, out += 3) {
    const unsigned not_black = in[3] ^ flip;
    for (int c = 0; c < 3; ++c) {
      out[c] = static_cast<Sample8>(((in[c] ^ flip) * not_black + 127) / 255);
    }
  }
}

class JpegReader final : public LibraryJpeg {
 public:
  // Does not let libjpeg save segments: it would walk all saved segments to add one.
  JpegReader(Bytes bytes, const DecodeOptions& options)
      : bytes_(bytes), facts_(read_jpeg_facts(bytes)), as_pillow_(options.accept == Acceptance::pillow) {
    decoder_.err = error_manager(errors_);
    errors_.strict = options.accept == Acceptance::strict;
    progress_.progress_monitor = on_progress;
    if (as_pillow_) pillow_header_ = read_pillow_jpeg_header(bytes);
    // A constructor that throws runs no destructor, so libjpeg's memory is freed here.
    try {
      if (!try_read_header()) fail();
      read_header_facts(options);
      scale_by(options);
    } catch (...) {
      jpeg_destroy_decompress(&decoder_);
      throw;
    }
  }

  ~JpegReader() override { jpeg_destroy_decompress(&decoder_); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  [[nodiscard]] std::int64_t working_bytes(bool) const override {
    const std::int64_t coefficients = header_.progressive ? coefficient_bytes() : 0;
    const std::int64_t cmyk_row = decoder_.out_color_space == JCS_CMYK ? 4 * header_.shape.width : 0;
    return coefficients + row_buffer_bytes() + cmyk_row + kReaderTableBytes;
  }
  // The library holds only a few rows, except for the coefficients of a progressive file.
  [[nodiscard]] std::int64_t library_bytes(bool whole) const override {
    return header_.progressive ? working_bytes(whole) : 0;
  }

  [[nodiscard]] std::optional<BaselineScan> baseline() const override;

  // If a scan follows the end marker, the marker is damage. Other bytes do not belong to the image.
  [[nodiscard]] std::string check_data_after_end(Bytes after) const override {
    const Bytes more = without_padding(after);
    if (more.empty() || is_known_trailer(more, facts_)) return "";
    if (errors_.strict && (matches_at(after, 0, "\xFF\xC4") || matches_at(after, 0, "\xFF\xDA")))
      throw Error(ErrorKind::input, "JPEG: end marker before the last scan");
    return following_bytes(after.size(), format_by_content(more).has_value());
  }

 protected:
  void read_next_rows(HostView view) override {
    const HostPlane rows = view.as<Sample8>();
    // Decodes all scans if the file has several.
    if (!started_ && !try_start()) fail();
    started_ = true;
    if (!try_read_rows(rows)) fail();
  }

  void finish() override {
    if (!try_finish()) fail();
    check_following_data();
    if (errors_.base.num_warnings > 0) {
      warnings_.push_back("damaged JPEG: " + std::string(errors_.first_warning) + " (" +
                          std::to_string(errors_.base.num_warnings) + " warnings)");
    }
  }

 private:
  [[noreturn]] void fail() const {
    if (errors_.no_memory) throw Error(ErrorKind::memory, "not enough memory");
    throw Error(ErrorKind::input, "JPEG: " + std::string(errors_.message));
  }

  bool try_read_header() {
    if (setjmp(errors_.jump) != 0) return false;
    jpeg_create_decompress(&decoder_);
    decoder_.progress = &progress_;
    if (!as_pillow_) {
      jpeg_mem_src(&decoder_, reinterpret_cast<const unsigned char*>(bytes_.data()), bytes_.size());
      jpeg_read_header(&decoder_, TRUE);
      return true;
    }
    set_pillow_source(decoder_, pillow_source_, bytes_);
    for (int result = JPEG_SUSPENDED; result != JPEG_HEADER_OK;) {
      if (result == JPEG_SUSPENDED && !has_more_input()) return false;
      result = jpeg_read_header(&decoder_, FALSE);
    }
    return true;
  }

  // Call it after the library has suspended, which only Pillow's source makes it do.
  bool has_more_input() {
    if (as_pillow_ && next_pillow_block(pillow_source_)) return true;
    std::snprintf(errors_.message, sizeof errors_.message, "the file is truncated");
    return false;
  }

  void read_header_facts(const DecodeOptions& options) {
    header_.format = Format::jpeg;
    header_.progressive = jpeg_has_multiple_scans(&decoder_) != 0;
    header_.bits_per_sample = decoder_.data_precision;
    switch (decoder_.jpeg_color_space) {
      case JCS_GRAYSCALE:
        decoder_.out_color_space = JCS_GRAYSCALE;
        break;
      case JCS_YCbCr:
      case JCS_RGB:
        decoder_.out_color_space = JCS_RGB;
        break;
      case JCS_CMYK:
      case JCS_YCCK:
        decoder_.out_color_space = JCS_CMYK;
        break;
      default:
        throw Error(ErrorKind::input, "JPEG: unknown colour space with " +
                                          std::to_string(decoder_.num_components) + " components");
    }
    header_.shape = {decoder_.image_width, decoder_.image_height,
                     decoder_.out_color_space == JCS_GRAYSCALE ? 1 : 3};
    header_.inks = options.inks && decoder_.out_color_space == JCS_CMYK;
    if (header_.inks) header_.shape.channels = 4;
    if (as_pillow_ &&
        (pillow_header_.width != header_.shape.width || pillow_header_.height != header_.shape.height))
      throw Error(ErrorKind::input, "JPEG: contradictory frame headers");
    header_.orientation = as_pillow_ ? pillow_header_.orientation : exif_orientation(facts_.exif);
    if (facts_.profile) header_.profile = profile_name(*facts_.profile);
    facts_.profile.reset();
    check_header(header_.shape, options);
  }

  void scale_by(const DecodeOptions& options) {
    if (options.scale == kAutoScale) {
      Shape upright = header_.shape;
      if (options.orient) upright = oriented_shape(upright, header_.orientation);
      const std::optional<Shape> least = options.least_size ? options.least_size(upright) : std::nullopt;
      for (int scale = kMaxScale; least && scale > 1; scale /= 2) {
        if ((upright.width + scale - 1) / scale >= least->width &&
            (upright.height + scale - 1) / scale >= least->height)
          return set_scale(scale);
      }
    } else if (options.scale > 1) {
      set_scale(options.scale);
    }
  }

  void set_scale(int scale) {
    decoder_.scale_num = 1;
    decoder_.scale_denom = static_cast<unsigned>(scale);
    if (!try_size()) fail();
    if (decoder_.output_width != (header_.shape.width + scale - 1) / scale)
      throw Error(ErrorKind::input, "JPEG: lossless, which cannot be scaled; use --decode-scale 1");
    header_.scale = scale;
    header_.stored_width = std::exchange(header_.shape.width, decoder_.output_width);
    header_.stored_height = std::exchange(header_.shape.height, decoder_.output_height);
  }

  bool try_size() {
    if (setjmp(errors_.jump) != 0) return false;
    jpeg_calc_output_dimensions(&decoder_);
    return true;
  }

  [[nodiscard]] std::span<const jpeg_component_info> components() const {
    return {decoder_.comp_info, static_cast<std::size_t>(decoder_.num_components)};
  }

  // libjpeg keeps all coefficients of a file in several scans: 2 bytes each, every component in whole MCUs,
  // and a pointer for each row of blocks (libjpeg-turbo's jdcoefct.c).
  [[nodiscard]] std::int64_t coefficient_bytes() const {
    std::int64_t bytes = 0;
    for (const jpeg_component_info& component : components()) {
      const std::int64_t across =
          rounded_up(std::int64_t{component.width_in_blocks}, component.h_samp_factor);
      const std::int64_t down = rounded_up(std::int64_t{component.height_in_blocks}, component.v_samp_factor);
      bytes += down * (across * std::int64_t{sizeof(JBLOCK)} + std::int64_t{sizeof(JBLOCKROW)});
    }
    return bytes;
  }

  // The side of a component's blocks after the inverse DCT. Components with fewer samples than others have
  // larger blocks if the image is scaled (jdmaster.c).
  [[nodiscard]] std::int64_t block_side(const jpeg_component_info& component) const {
#if JPEG_LIB_VERSION >= 70
    return component.DCT_v_scaled_size;
#else
    return component.DCT_scaled_size;
#endif
  }

  // Per component, a row of blocks with sample rows above and below (jdmainct.c), and max_v_samp_factor
  // upsampled rows of the image (jdsample.c).
  [[nodiscard]] std::int64_t row_buffer_bytes() const {
    const std::int64_t least_side = DCTSIZE / header_.scale;
    std::int64_t bytes = 0;
    for (const jpeg_component_info& component : components()) {
      const std::int64_t side = block_side(component);
      const std::int64_t columns = rounded_up(component.width_in_blocks * side, kRowAlignment);
      bytes += columns * component.v_samp_factor * (side / least_side) * (least_side + 2);
      bytes += decoder_.max_v_samp_factor * rounded_up(header_.shape.width + kRowAlignment, kRowAlignment);
    }
    return bytes;
  }

  bool try_start() {
    if (setjmp(errors_.jump) != 0) return false;
    decoder_.dct_method = JDCT_ISLOW;
    while (!jpeg_start_decompress(&decoder_)) {
      if (!has_more_input()) return false;
    }
    if (decoder_.out_color_space == JCS_CMYK) {
      // libjpeg frees this row with the decoder.
      cmyk_row_ = static_cast<JSAMPLE*>((*decoder_.mem->alloc_large)(
          reinterpret_cast<j_common_ptr>(&decoder_), JPOOL_IMAGE, std::size_t{decoder_.output_width} * 4));
    }
    return true;
  }

  bool try_read_rows(HostPlane rows) {
    if (setjmp(errors_.jump) != 0) return false;
    for (std::int64_t y = 0; y < rows.height; ++y) {
      JSAMPROW row = cmyk_row_ != nullptr ? cmyk_row_ : rows.row(y);
      while (jpeg_read_scanlines(&decoder_, &row, 1) != 1) {
        if (!has_more_input()) return false;
      }
      if (cmyk_row_ == nullptr) continue;
      const bool inverted = as_pillow_ || decoder_.saw_Adobe_marker != 0;
      (header_.inks ? copy_inks : cmyk_to_rgb)(cmyk_row_, rows.row(y), rows.width, inverted);
    }
    return true;
  }

  bool try_finish() {
    if (setjmp(errors_.jump) != 0) return false;
    is_complete_ = jpeg_finish_decompress(&decoder_) != 0;
    return true;
  }

  [[nodiscard]] std::size_t unread_bytes() const {
    return as_pillow_ ? static_cast<std::size_t>(pillow_source_.end - decoder_.src->next_input_byte)
                      : decoder_.src->bytes_in_buffer;
  }

  // Pillow does not look for the end marker outside the blocks that it needed for the pixels.
  void check_following_data() {
    const auto* next = reinterpret_cast<const std::byte*>(decoder_.src->next_input_byte);
    const std::size_t count = unread_bytes();
    if (bytes_.data() + bytes_.size() != next + count) return;  // libjpeg supplied a missing end marker
    if (!is_complete_) {
      if (!next_pillow_block(pillow_source_)) warnings_.push_back("damaged JPEG: no end marker");
      return;
    }
    std::string warning = check_data_after_end(bytes_.last(count));
    if (!warning.empty()) warnings_.push_back(std::move(warning));
  }

  Bytes bytes_;
  JpegFacts facts_;
  jpeg_decompress_struct decoder_{};
  JpegErrors errors_{};
  jpeg_progress_mgr progress_{};
  bool as_pillow_ = false;
  PillowJpegHeader pillow_header_{};
  PillowJpegSource pillow_source_{};
  JSAMPLE* cmyk_row_ = nullptr;
  bool started_ = false;
  bool is_complete_ = false;  // the library has found the end marker, or has supplied one
};

// Returns the planes' sampling relative to luma; nullopt if the built-in decoder does not support it.
std::optional<Sampling> sampling_of(std::span<const jpeg_component_info> components) {
  if (components.size() == 1) return Sampling::grey;
  const auto is_single = [](const jpeg_component_info& c) {
    return c.h_samp_factor == 1 && c.v_samp_factor == 1;
  };
  if (components.size() != 3 || !is_single(components[1]) || !is_single(components[2])) return std::nullopt;
  const int across = components[0].h_samp_factor;
  const int down = components[0].v_samp_factor;
  if (across == 1 && down == 1) return Sampling::s444;
  if (across == 2 && down == 1) return Sampling::s422;
  if (across == 2 && down == 2) return Sampling::s420;
  if (across == 1 && down == 2) return Sampling::s440;
  return std::nullopt;
}

HuffmanCodes codes_of(const JHUFF_TBL& table) {
  HuffmanCodes codes;
  std::copy_n(table.bits, codes.counts.size(), codes.counts.begin());
  std::copy_n(table.huffval, codes.symbols.size(), codes.symbols.begin());
  return codes;
}

bool has_known_tables(const jpeg_decompress_struct& decoder, const jpeg_component_info& component) {
  const auto known = [](const auto& tables, int number) {
    return number >= 0 && number < NUM_HUFF_TBLS && tables[number] != nullptr;
  };
  return known(decoder.quant_tbl_ptrs, component.quant_tbl_no) &&
         known(decoder.dc_huff_tbl_ptrs, component.dc_tbl_no) &&
         known(decoder.ac_huff_tbl_ptrs, component.ac_tbl_no);
}

ScanComponent scan_component(const jpeg_decompress_struct& decoder, const jpeg_component_info& component) {
  ScanComponent made;
  made.width = component.downsampled_width;
  made.height = component.downsampled_height;
  made.dc_codes = component.dc_tbl_no;
  made.ac_codes = component.ac_tbl_no;
  const JQUANT_TBL& steps = *decoder.quant_tbl_ptrs[component.quant_tbl_no];
  for (std::size_t i = 0; i < made.steps.size(); ++i) made.steps[i] = steps.quantval[kZigzag[i]];
  return made;
}

// Returns whether one scan holds all components, in order, and all bits of their coefficients.
bool is_one_sequential_scan(const jpeg_decompress_struct& decoder) {
  const bool colors = decoder.jpeg_color_space == JCS_GRAYSCALE ? decoder.num_components == 1
                                                                : decoder.jpeg_color_space == JCS_YCbCr;
  bool in_order = decoder.comps_in_scan == decoder.num_components;
  for (int i = 0; in_order && i < decoder.comps_in_scan; ++i)
    in_order = decoder.cur_comp_info[i] == decoder.comp_info + i;
  return colors && in_order && decoder.data_precision == BITS_IN_JSAMPLE && decoder.progressive_mode == 0 &&
         decoder.arith_code == 0 && decoder.Ss == 0 && decoder.Se == DCTSIZE2 - 1 && decoder.Ah == 0 &&
         decoder.Al == 0;
}

void lay_out_mcus(BaselineScan& scan) {
  if (scan.sampling == Sampling::s422 || scan.sampling == Sampling::s420) scan.component[0].across = 2;
  if (scan.sampling == Sampling::s440 || scan.sampling == Sampling::s420) scan.component[0].down = 2;
  scan.mcu_width = kBlockSide * scan.component[0].across;
  scan.mcu_height = kBlockSide * scan.component[0].down;
  scan.mcus_across = (scan.width + scan.mcu_width - 1) / scan.mcu_width;
  scan.mcu_rows = (scan.height + scan.mcu_height - 1) / scan.mcu_height;
  scan.blocks_in_mcu = 0;
  for (int c = 0; c < scan.components; ++c) {
    const ScanComponent& component = scan.component[static_cast<std::size_t>(c)];
    for (int i = 0; i < component.across * component.down; ++i)
      scan.component_of_block[static_cast<std::size_t>(scan.blocks_in_mcu++)] = static_cast<std::uint8_t>(c);
  }
}

std::optional<BaselineScan> JpegReader::baseline() const {
  if (!is_one_sequential_scan(decoder_) || errors_.base.num_warnings > 0) return std::nullopt;
  const std::optional<Sampling> sampling = sampling_of(components());
  if (!sampling) return std::nullopt;
  BaselineScan scan;
  if (header_.scale == kMaxScale && (*sampling == Sampling::s422 || *sampling == Sampling::s440))
    return std::nullopt;  // the library repeats their colours
  scan.width = decoder_.image_width;
  scan.height = decoder_.image_height;
  scan.sampling = *sampling;
  scan.components = decoder_.num_components;
  for (std::size_t c = 0; c < components().size(); ++c) {
    const jpeg_component_info& component = components()[c];
    if (!has_known_tables(decoder_, component)) return std::nullopt;
    scan.component[c] = scan_component(decoder_, component);
    const auto dc = static_cast<std::size_t>(component.dc_tbl_no);
    const auto ac = static_cast<std::size_t>(component.ac_tbl_no);
    scan.dc_codes[dc] = codes_of(*decoder_.dc_huff_tbl_ptrs[dc]);
    scan.ac_codes[ac] = codes_of(*decoder_.ac_huff_tbl_ptrs[ac]);
  }
  scan.restart_interval = decoder_.restart_interval;
  lay_out_mcus(scan);
  scan.scale = header_.scale;
  scan.width = header_.shape.width;
  scan.height = header_.shape.height;
  scan.mcu_width /= scan.scale;
  scan.mcu_height /= scan.scale;
  for (std::size_t c = 0; c < components().size(); ++c)
    scan.component[c].side = static_cast<int>(block_side(components()[c]));
  scan.data = bytes_.last(unread_bytes());
  return scan;
}

}  // namespace

std::unique_ptr<LibraryJpeg> open_library_jpeg(Bytes file, const DecodeOptions& options) {
  return std::make_unique<JpegReader>(file, options);
}

std::vector<std::string> jpeg_libraries() {
  // LIBJPEG_TURBO_VERSION is a bare token such as 2.1.5; two macros make it a string.
#define IMGPIPE_TEXT_OF(x) #x
#define IMGPIPE_TEXT(x) IMGPIPE_TEXT_OF(x)
  return {"libjpeg-turbo " IMGPIPE_TEXT(LIBJPEG_TURBO_VERSION)};
}

}  // namespace imgpipe
