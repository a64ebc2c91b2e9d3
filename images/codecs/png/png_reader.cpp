// Reads PNG with libpng: every colour type and depth, interlaced, tRNS. Leaves the pixels of plain files to
// plain_png_reader.cpp. Samples of 16 bits stay as they are or are scaled to 8.
//
// libpng reports errors by jumping back into the function of this file that called it. Those functions hold
// no object with a destructor.
#include <bit>
#include <csetjmp>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "images/codecs/codec_parts.h"
#include "images/codecs/png/deflate.h"
#include "images/codecs/png/pillow_png.h"
#include "images/codecs/png/plain_png.h"
#include "images/codecs/png/png_chunks.h"
#include "images/codecs/png/png_codec.h"
#include "images/codecs/png/png_functions.h"
#include "images/codecs/png/png_header_facts.h"
#include "images/codecs/png/png_small_idats.h"
#include "images/codecs/sniff.h"
#include "images/error.h"
#include "images/late_library.h"
#include "images/unreachable.h"

namespace imgpipe {
namespace {

using namespace late_png;

// deflate's best compression (RFC 1951: 258 bytes in 2 bits).
constexpr std::int64_t kBestDeflateRatio = 1032;

// zlib's window and state with libpng's read-ahead, or the larger buffers of png_stream_error().
constexpr std::int64_t kInflateBytes = std::int64_t{192} << 10;

// Metadata that changes no pixel. libpng skips these chunks, so they cannot take memory or cause warnings.
constexpr png_byte kSkippedChunks[] =
    "bKGD\0cHRM\0gAMA\0hIST\0iCCP\0iTXt\0oFFs\0pCAL\0pHYs\0sBIT\0sCAL\0sPLT\0sRGB\0tEXt\0tIME\0zTXt";
constexpr int kSkippedChunkCount = static_cast<int>(sizeof kSkippedChunks / 5);

struct PngState {
  Bytes bytes;
  std::size_t position = 0;                // if strict
  std::optional<SmallIdatSource> lenient;  // otherwise, the source of the bytes
  bool strict = true;
  bool no_memory = false;  // an allocation failed, whatever libpng reports
  long warnings = 0;
  std::int64_t rows_arrived = 0;  // counted by count_row()
  char message[160] = {};
  char first_warning[160] = {};
};

PngState* state_of(png_structp png) {
  return static_cast<PngState*>(png_get_error_ptr(png));
}

// Copies libpng's message, which may begin with the name of a chunk. A name unknown to PNG consists of four
// bytes of the file, which an error message must not contain, so it is replaced.
void copy_reason(char* to, std::size_t size, png_const_charp text) {
  constexpr const char* kNames[] = {"IHDR", "PLTE", "IDAT", "IEND", "tRNS", "eXIf", "bKGD", "cHRM",
                                    "gAMA", "hIST", "iCCP", "iTXt", "oFFs", "pCAL", "pHYs", "sBIT",
                                    "sCAL", "sPLT", "sRGB", "tEXt", "tIME", "zTXt"};
  const char* colon = std::strstr(text, ": ");
  bool known = colon == nullptr || std::strchr(text, '[') == nullptr;
  if (colon == text + 4) {
    known = false;
    for (const char* name : kNames) known = known || std::strncmp(text, name, 4) == 0;
  }
  std::snprintf(to, size, "%s%s", known ? "" : "unknown chunk", known ? text : colon);
}

[[noreturn]] void on_error(png_structp png, png_const_charp text) {
  PngState* state = state_of(png);
  copy_reason(state->message, sizeof state->message, text);
  png_longjmp(png, 1);
  unreachable();
}

void on_warning(png_structp png, png_const_charp text) {
  PngState* state = state_of(png);
  if (state->strict) on_error(png, text);
  if (state->warnings++ == 0) copy_reason(state->first_warning, sizeof state->first_warning, text);
}

png_voidp on_allocate(png_structp png, png_alloc_size_t bytes) {
  png_voidp block = std::malloc(bytes);
  if (block == nullptr) static_cast<PngState*>(png_get_mem_ptr(png))->no_memory = true;
  return block;
}

void on_free(png_structp, png_voidp block) {
  std::free(block);
}

void on_read(png_structp png, png_bytep out, png_size_t count) {
  auto* state = static_cast<PngState*>(png_get_io_ptr(png));
  if (state->lenient) {
    if (!state->lenient->read(std::as_writable_bytes(std::span(out, count))))
      on_error(png, "the file is truncated");
    return;
  }
  if (state->bytes.size() - state->position < count) on_error(png, "the file is truncated");
  std::memcpy(out, state->bytes.data() + state->position, count);
  state->position += count;
}

// A libpng row transform that changes nothing. A row that reaches it is decompressed and unfiltered, and will
// be returned to the caller.
void count_row(png_structp png, png_row_infop, png_bytep) {
  ++state_of(png)->rows_arrived;
}

class PngReader final : public WholeImageReader {
 public:
  PngReader(Bytes bytes, const DecodeOptions& options) : WholeImageReader(options.memory), file_(bytes) {
    state_.bytes = bytes;
    if (options.lenient()) state_.lenient.emplace(bytes);
    state_.strict = !options.lenient();
    png_ = png_create_read_struct_2(PNG_LIBPNG_VER_STRING, &state_, on_error, on_warning, &state_,
                                    on_allocate, on_free);
    info_ = png_ == nullptr ? nullptr : png_create_info_struct(png_);
    try {
      if (info_ == nullptr) throw Error(ErrorKind::memory, "not enough memory");
      if (!try_read_header()) fail();
      header_.format = Format::png;
      read_header_facts(options.max_bits);
      check_header(header_.shape, options);
      raw_bytes_ = raw_bytes();
      check_plausible(raw_bytes_, bytes.size(), kBestDeflateRatio);
      read_png_header_facts(bytes, header_, warnings_);
    } catch (...) {
      png_destroy_read_struct(&png_, &info_, nullptr);
      throw;
    }
  }

  // Returns where the pixels are if open_plain_png() can read them. Call it before the first row.
  [[nodiscard]] std::optional<PlainPng> plain() const {
    constexpr std::size_t kChunkHeaderBytes = 8;  // libpng has read the first IDAT chunk's
    const int color_type = png_get_color_type(png_, info_);
    const bool as_stored = header_.bits_per_sample == 8 * bytes_per_sample(header_.shape.sample);
    if (!state_.strict || header_.progressive || !as_stored || has_tables_) return std::nullopt;
    if (color_type == PNG_COLOR_TYPE_PALETTE) return std::nullopt;
    return plain_png(state_.bytes, state_.position - kChunkHeaderBytes, kSkippedChunks);
  }

  ~PngReader() override { png_destroy_read_struct(&png_, &info_, nullptr); }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  // libpng holds two rows, of up to 16 bits per sample; an interlaced image is decoded at once.
  [[nodiscard]] std::int64_t working_bytes(bool whole) const override {
    const std::int64_t sample_bytes = header_.bits_per_sample == 16 ? 2 : 1;
    const std::int64_t row_bytes = (header_.shape.width + 8) * header_.shape.channels * sample_bytes;
    const std::int64_t image = header_.progressive ? WholeImageReader::working_bytes(whole) : 0;
    return 2 * row_bytes + image + kInflateBytes;
  }

 protected:
  void read_next_rows(HostView view) override {
    if (!started_ && !try_start()) fail();
    started_ = true;
    if (header_.progressive) return WholeImageReader::read_next_rows(view);
    if (damaged_ || !try_read_rows(view)) fill_missing_rows(view);
  }

  // Decodes an interlaced file.
  void decode(HostView whole) override {
    // Under --lenient, a pixel that no pass reaches must be mid-grey.
    if (!state_.strict) fill_missing(whole);
    if (try_read_passes(whole)) return;
    if (state_.strict || state_.no_memory) fail();
    damaged_ = true;
  }

  void finish() override {
    if (!damaged_ && !try_finish()) {
      if (state_.strict) fail();
      damaged_ = true;
    }
    if (state_.no_memory) fail();
    png_destroy_read_struct(&png_, &info_, nullptr);
    if (state_.strict) return;
    const std::int64_t wrong_crcs = count_wrong_idat_crcs(file_);
    if (wrong_crcs > 0)
      warnings_.push_back("damaged PNG: IDAT: CRC error (" + std::to_string(wrong_crcs) + " chunks)");
    if (damaged_) warnings_.push_back("damaged PNG: " + reason());
    if (state_.warnings > 0) warnings_.push_back("damaged PNG: " + std::string(state_.first_warning));
    if (damaged_ || state_.warnings > 0) return;
    const std::string wrong = png_stream_error(file_, raw_bytes_);
    if (!wrong.empty()) warnings_.push_back("damaged PNG: " + wrong);
  }

 private:
  [[nodiscard]] std::string reason() const { return state_.message; }
  [[noreturn]] void fail() const {
    if (state_.no_memory) throw Error(ErrorKind::memory, "not enough memory");
    throw Error(ErrorKind::input, "PNG: " + reason());
  }

  bool try_read_header() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_set_read_fn(png_, &state_, on_read);
    png_set_user_limits(png_, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // --max-pixels is the limit
    png_set_chunk_malloc_max(png_, 8'000'000);
    png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, kSkippedChunks, kSkippedChunkCount);
    png_read_info(png_, info_);
    return true;
  }

  void read_header_facts(int max_bits) {
    const bool palette = png_get_color_type(png_, info_) == PNG_COLOR_TYPE_PALETTE;
    header_.bits_per_sample = palette ? 8 : png_get_bit_depth(png_, info_);
    header_.progressive = png_get_interlace_type(png_, info_) != PNG_INTERLACE_NONE;
    has_tables_ = png_get_valid(png_, info_, PNG_INFO_tRNS | PNG_INFO_PLTE) != 0;
    const bool transparent = png_get_valid(png_, info_, PNG_INFO_tRNS) != 0;
    header_.shape = {png_get_image_width(png_, info_), png_get_image_height(png_, info_),
                     (palette ? 3 : png_get_channels(png_, info_)) + (transparent ? 1 : 0),
                     decoded_sample(header_.bits_per_sample, max_bits)};
  }

  // Sets the format of rows; libpng allocates its row buffers.
  bool try_start() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    if (!is_wide(header_.shape.sample)) {
      png_set_scale_16(png_);  // (v*255 + 32895) >> 16, which is v*255/65535 rounded
    } else if (std::endian::native == std::endian::little) {
      png_set_swap(png_);
    }
    png_set_expand(png_);  // palette to RGB, fewer bits to 8, tRNS to alpha
    if (header_.progressive) png_set_interlace_handling(png_);
    if (!state_.strict) {
#ifdef PNG_IGNORE_ADLER32  // libpng 1.6.38
      // Otherwise, a wrong Adler-32 would lose the row that is decompressed last. finish() reports the error.
      png_set_option(png_, PNG_IGNORE_ADLER32, PNG_OPTION_ON);
#endif
      png_set_read_user_transform_fn(png_, count_row);
    }
    png_read_update_info(png_, info_);
    if (png_get_channels(png_, info_) != header_.shape.channels)
      png_error(png_, "contradictory transparency");
    return true;
  }

  bool try_read_rows(const HostView& rows) {
    state_.rows_arrived = 0;
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    for (std::int64_t y = 0; y < rows.height; ++y) png_read_row(png_, row_of(rows, y), nullptr);
    return true;
  }

  // Under --lenient, fills rows that could not be read completely with mid-grey.
  void fill_missing_rows(const HostView& rows) {
    if (state_.strict || state_.no_memory) fail();
    const std::int64_t first = damaged_ ? 0 : state_.rows_arrived;
    damaged_ = true;
    fill_missing(rows.rows(first, rows.height - first));
  }

  bool try_read_passes(const HostView& whole) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    for (int pass = 0; pass < PNG_INTERLACE_ADAM7_PASSES; ++pass) {
      for (std::int64_t y = 0; y < whole.height; ++y) png_read_row(png_, row_of(whole, y), nullptr);
    }
    return true;
  }

  bool try_finish() {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    png_read_end(png_, nullptr);
    return true;
  }

  static png_bytep row_of(const HostView& rows, std::int64_t y) {
    return reinterpret_cast<png_bytep>(rows.row(y));
  }

  // Returns the size of the uncompressed image data, including the filter type bytes.
  [[nodiscard]] std::int64_t raw_bytes() const {
    const std::int64_t bits = std::int64_t{png_get_channels(png_, info_)} * png_get_bit_depth(png_, info_);
    const std::int64_t width = png_get_image_width(png_, info_);
    const std::int64_t height = png_get_image_height(png_, info_);
    const auto of_rows = [&](std::int64_t columns, std::int64_t rows) {
      return columns > 0 ? rows * (1 + (columns * bits + 7) / 8) : 0;
    };
    if (png_get_interlace_type(png_, info_) == PNG_INTERLACE_NONE) return of_rows(width, height);
    std::int64_t bytes = 0;
    for (int pass = 0; pass < PNG_INTERLACE_ADAM7_PASSES; ++pass)
      bytes += of_rows(PNG_PASS_COLS(width, pass), PNG_PASS_ROWS(height, pass));
    return bytes;
  }

  Bytes file_;
  std::int64_t raw_bytes_ = 0;
  PngState state_;
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
  bool started_ = false;
  bool damaged_ = false;
  bool has_tables_ = false;  // a palette or transparent colours
};

}  // namespace

std::unique_ptr<Reader> open_png(Bytes bytes, const DecodeOptions& options) {
  if (options.accept == Acceptance::pillow) return open_pillow_png(bytes, options);
  auto reader = std::make_unique<PngReader>(bytes, options);
  if (const std::optional<PlainPng> plain = reader->plain())
    return open_plain_png(bytes, *plain, std::move(reader));
  return reader;
}

std::vector<std::string> png_libraries() {
  return {library_version("libpng", [] { return png_get_libpng_ver(nullptr); }), deflate_versions()};
}

}  // namespace imgpipe
