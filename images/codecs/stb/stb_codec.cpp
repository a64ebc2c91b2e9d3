// stb_image and stb_image_write, guarded against damaged files.
//
// stb_image 2.27 predates the security fixes of 2.28 and reads missing bytes of a file as zeros. Precautions:
// - It reads memory only, through callbacks that detect reads past the end.
// - It allocates zeroed memory, within a budget computed from the size in the header.
// - HDR and PIC are compiled out, and its stack variables start as zero (see CMakeLists.txt).
// - The header is checked first, and files that stb is known to decode wrongly are refused (stb_claims.h).
#include "images/codecs/stb/stb_codec.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "images/codecs/metadata/metadata.h"
#include "images/codecs/stb/stb_claims.h"
#include "images/codecs/stb/stb_memory.h"
#include "images/error.h"
#include "images/memory/available_memory.h"

#define STB_IMAGE_IMPLEMENTATION
#define STB_IMAGE_STATIC
#define STBI_NO_STDIO
#define STBI_NO_HDR
#define STBI_NO_LINEAR
#define STBI_NO_PIC
#define STBI_ASSERT(x) ((void)0)
#define STBI_MALLOC(bytes) imgpipe::stb_allocate(bytes)
#define STBI_REALLOC(pointer, bytes) imgpipe::stb_reallocate(pointer, bytes)
#define STBI_FREE(pointer) imgpipe::stb_free(pointer)
#include <stb/stb_image.h>

#define STB_IMAGE_WRITE_IMPLEMENTATION
#define STB_IMAGE_WRITE_STATIC
#define STBI_WRITE_NO_STDIO
#define STBIW_ASSERT(x) ((void)0)
// stb_image_write does not check its allocations; these throw instead of returning nothing.
#define STBIW_MALLOC(bytes) imgpipe::stb_write_allocate(bytes)
#define STBIW_REALLOC(pointer, bytes) imgpipe::stb_write_reallocate(pointer, bytes)
#define STBIW_FREE(pointer) std::free(pointer)
#include <stb/stb_image_write.h>

namespace imgpipe {
namespace {

// The file as stb reads it. A refill of stb's buffer may be short. A short direct read, an empty refill or a
// skip past the end means that the file is shorter than its header says.
struct StbSource {
  Bytes bytes;
  std::size_t position = 0;
  const char* refill_target = nullptr;  // stb's buffer: the target of its first read
  std::byte filler{0};                  // lenient: replaces the missing bytes
  bool lenient = false;
  bool overrun = false;
};

int stb_read(void* user, char* out, int count) {
  auto* source = static_cast<StbSource*>(user);
  if (source->refill_target == nullptr) source->refill_target = out;
  const std::size_t wanted = count > 0 ? static_cast<std::size_t>(count) : 0;
  const std::size_t left = source->bytes.size() - source->position;
  const std::size_t given = wanted < left ? wanted : left;
  if (given > 0) std::memcpy(out, source->bytes.data() + source->position, given);
  source->position += given;
  if (given < wanted && (given == 0 || out != source->refill_target)) {
    source->overrun = true;
    if (source->lenient) {
      std::memset(out + given, std::to_integer<int>(source->filler), wanted - given);
      return count;
    }
  }
  return static_cast<int>(given);
}

void stb_skip(void* user, int count) {
  auto* source = static_cast<StbSource*>(user);
  const std::size_t left = source->bytes.size() - source->position;
  const std::size_t wanted = count > 0 ? static_cast<std::size_t>(count) : 0;
  if (wanted > left) source->overrun = true;
  source->position += wanted < left ? wanted : left;
}

int stb_at_end(void* user) {
  const auto* source = static_cast<StbSource*>(user);
  return source->position >= source->bytes.size() ? 1 : 0;
}

constexpr stbi_io_callbacks kCallbacks{stb_read, stb_skip, stb_at_end};

struct StbPixels {
  Sample8* data = nullptr;
  ~StbPixels() { stb_free(data); }
};

bool all_opaque(const Sample8* rgba, std::int64_t pixels) {
  for (std::int64_t i = 0; i < pixels; ++i) {
    if (rgba[4 * i + 3] != kMaxSample) return false;
  }
  return true;
}

// Rounds 16-bit samples in the host's byte order to 8 bits, in place; stb would truncate them.
void round_to_8_bits(Sample8* samples, std::int64_t count) {
  for (std::int64_t i = 0; i < count; ++i) {
    std::uint16_t value = 0;
    std::memcpy(&value, samples + 2 * i, sizeof value);
    samples[i] = static_cast<Sample8>((std::uint32_t{value} * kMaxSample + 32767) / 65535);
  }
}

// Decodes when opened: only then is it known whether a GIF or PSD has any transparency.
class StbReader final : public WholeImageReader {
 public:
  StbReader(Bytes bytes, Format format, const DecodeOptions& options) : WholeImageReader(options.memory) {
    header_.format = format;
    const StbClaims claims = read_stb_claims(bytes, format, options);
    header_.shape = {claims.width, claims.height, 4};
    header_.bits_per_sample = claims.bits_per_sample;
    // stb holds up to four copies of the pixels at 4 bytes (16-bit or interlaced input), plus the image.
    constexpr std::int64_t kBytesPerPixel = 32;
    check_header(header_.shape, options);
    check_available(claims.bytes_per_pixel * header_.shape.pixels());
    if (bytes.size() > std::numeric_limits<int>::max()) {
      throw Error(ErrorKind::input, "too large: stb_image reads at most 2 GiB");
    }
    check_plausible(claims.raw_bytes, bytes.size(), claims.best_ratio);
    stb_budget_bytes = kBytesPerPixel * (claims.width + 64) * (claims.height + 64) +
                       4 * static_cast<std::int64_t>(bytes.size()) + (std::int64_t{4} << 20);
    load(bytes, claims, options);
  }

  // 16-bit samples were converted to 8 bits in place.
  [[nodiscard]] std::int64_t working_bytes(bool whole) const override {
    const std::int64_t stored = header_.shape.pixels() * stored_channels_;
    return stored * (header_.bits_per_sample == 16 ? 2 : 1) + WholeImageReader::working_bytes(whole);
  }
  [[nodiscard]] std::int64_t library_bytes(bool whole) const override { return working_bytes(whole); }

 protected:
  void decode(HostView view) override {
    const HostPlane whole = view.as<Sample8>();
    const int stored = stored_channels_;
    const Sample8* in = pixels_.data;
    for (std::int64_t y = 0; y < whole.height; ++y) {
      Sample8* out = whole.row(y);
      for (std::int64_t x = 0; x < whole.width; ++x, in += stored, out += whole.channels) {
        for (int c = 0; c < whole.channels; ++c) out[c] = in[c];
      }
    }
    stb_free(std::exchange(pixels_.data, nullptr));
  }

 private:
  void load(Bytes bytes, const StbClaims& claims, const DecodeOptions& options) {
    StbSource source{bytes, 0, nullptr, claims.filler, options.lenient() && claims.fillable, false};
    stb_no_memory = false;
    int width = 0;
    int height = 0;
    if (claims.bits_per_sample == 16) {
      pixels_.data = reinterpret_cast<Sample8*>(
          stbi_load_16_from_callbacks(&kCallbacks, &source, &width, &height, &stored_channels_, 0));
    } else {
      pixels_.data = stbi_load_from_callbacks(&kCallbacks, &source, &width, &height, &stored_channels_, 0);
    }
    const std::string name(format_info(header_.format).name);
    if (pixels_.data == nullptr) {
      if (stb_no_memory) throw Error(ErrorKind::memory, "not enough memory");
      const char* reason = stbi_failure_reason();
      std::string stb_message = reason != nullptr ? reason : "no reason given";
      // The only stb message that quotes the file: it begins with a chunk name of four bytes, which may
      // contain a zero.
      if (stb_message.size() < 4 || stb_message.ends_with("PNG chunk not known"))
        stb_message = "unknown critical chunk";
      throw Error(ErrorKind::input, name + ": " +
                                        (source.overrun ? "the file is truncated"
                                                        : "stb_image cannot read this file: " + stb_message));
    }
    if (width != claims.width || height != claims.height || stored_channels_ < 1 || stored_channels_ > 4) {
      throw Error(ErrorKind::input, name + ": inconsistent header");
    }
    if (source.overrun) {
      const std::string damage = name + ": the file is truncated";
      if (!source.lenient) throw Error(ErrorKind::input, damage);
      warnings_.push_back("damaged " + damage);
    }
    if (claims.bits_per_sample == 16) {
      round_to_8_bits(pixels_.data, header_.shape.pixels() * stored_channels_);
    }
    header_.shape.channels = stored_channels_;
    if (claims.spurious_alpha && stored_channels_ == 4 && all_opaque(pixels_.data, header_.shape.pixels())) {
      header_.shape.channels = 3;
    }
  }

  StbPixels pixels_;
  int stored_channels_ = 0;
};

void append_bytes(void* user, void* data, int count) {
  auto* file = static_cast<std::vector<std::byte>*>(user);
  const auto* first = static_cast<const std::byte*>(data);
  file->insert(file->end(), first, first + count);
}

// stb's level limits the length of its hash chains: 5 is its minimum, and it has no faster mode.
int write_png(std::vector<std::byte>& file, ConstHostPlane image, const EncodeOptions& options) {
  stbi_write_png_compression_level = options.png_level < 5 ? 5 : options.png_level + 3;
  return stbi_write_png_to_func(append_bytes, &file, static_cast<int>(image.width),
                                static_cast<int>(image.height), image.channels, image.data,
                                static_cast<int>(image.stride));
}

int write_jpeg(std::vector<std::byte>& file, ConstHostPlane image, const EncodeOptions& options) {
  return stbi_write_jpg_to_func(append_bytes, &file, static_cast<int>(image.width),
                                static_cast<int>(image.height), image.channels, image.data, options.quality);
}

int write_bmp(std::vector<std::byte>& file, ConstHostPlane image, const EncodeOptions&) {
  return stbi_write_bmp_to_func(append_bytes, &file, static_cast<int>(image.width),
                                static_cast<int>(image.height), image.channels, image.data);
}

int write_tga(std::vector<std::byte>& file, ConstHostPlane image, const EncodeOptions&) {
  return stbi_write_tga_to_func(append_bytes, &file, static_cast<int>(image.width),
                                static_cast<int>(image.height), image.channels, image.data);
}

// Memory for the file as the library writes it, in a vector whose capacity doubles as it grows.
std::int64_t doubling_bytes(const Shape& shape, std::int64_t file_bytes) {
  return 3 * (file_bytes + 4 * shape.height);
}
// All filtered rows and a hash table, in addition to a stream whose capacity doubles too.
std::int64_t png_bytes(const Shape& shape) {
  return 5 * shape.bytes() + 6 * shape.height;
}
// Up to 9 bytes for 4 samples, as with libjpeg.
std::int64_t jpeg_bytes(const Shape& shape) {
  return 3 * std::max(shape.bytes(), 3 * shape.pixels()) * 9 / 4;
}
std::int64_t bmp_bytes(const Shape& shape) {
  return doubling_bytes(shape, shape.pixels() * (shape.has_alpha() ? 4 : 3));
}
std::int64_t tga_bytes(const Shape& shape) {
  return doubling_bytes(shape, shape.pixels() * (1 + shape.channels));
}

struct StbEncoder {
  Format format;
  std::int64_t max_side;                              // limit of the format or the library
  std::int64_t (*working_bytes)(const Shape& shape);  // in addition to the image
  int (*write)(std::vector<std::byte>& file, ConstHostPlane image,
               const EncodeOptions& options);  // 0: failed
};
constexpr std::int64_t kMaxInt = std::numeric_limits<int>::max();
constexpr std::array kEncoders{
    StbEncoder{.format = Format::jpeg, .max_side = 65535, .working_bytes = jpeg_bytes, .write = write_jpeg},
    StbEncoder{.format = Format::png, .max_side = kMaxInt, .working_bytes = png_bytes, .write = write_png},
    StbEncoder{.format = Format::bmp, .max_side = kMaxInt, .working_bytes = bmp_bytes, .write = write_bmp},
    StbEncoder{.format = Format::tga, .max_side = 65535, .working_bytes = tga_bytes, .write = write_tga},
};

const StbEncoder& encoder_of(Format format) {
  return *std::ranges::find(kEncoders, format, &StbEncoder::format);
}

// stb_image_write takes whole images, so the rows are gathered first.
class StbWriter final : public Writer {
 public:
  StbWriter(Format format, Shape shape, const EncodeOptions& options, FileEdit insert_metadata)
      : encoder_(encoder_of(format)),
        options_(options),
        insert_metadata_(std::move(insert_metadata)),
        shape_(shape) {}

  void write_rows(ConstHostView rows) override {
    if (image_.empty()) image_ = Image(shape_);
    copy_pixels(as_8_bit(rows), image_.view().rows(next_row_, rows.height));
    next_row_ += rows.height;
  }

  [[nodiscard]] std::int64_t working_bytes() const override {
    constexpr std::int64_t kTableBytes = std::int64_t{4} << 20;
    const std::int64_t metadata = options_.metadata ? options_.metadata->bytes() : 0;
    return shape_.bytes() + encoder_.working_bytes(shape_) + kTableBytes + 4 * metadata;
  }
  [[nodiscard]] std::int64_t library_bytes() const override { return working_bytes(); }

  EncodedFile finish() override {
    if (image_.empty()) throw Error(ErrorKind::usage, "finish: rows of the image are missing");
    std::vector<std::byte> file;
    if (encoder_.write(file, std::as_const(image_).view(), options_) == 0)
      throw Error(ErrorKind::memory, "the encoder failed");
    insert_metadata_(file);
    EncodedFile encoded;
    encoded.parts.push_back(std::move(file));
    return encoded;
  }

 private:
  const StbEncoder& encoder_;
  EncodeOptions options_;
  FileEdit insert_metadata_;
  Shape shape_;
  Image image_;
  std::int64_t next_row_ = 0;
};

}  // namespace

std::unique_ptr<Reader> open_stb(Bytes bytes, Format format, const DecodeOptions& options) {
  return std::make_unique<StbReader>(bytes, format, options);
}

bool stb_writes(Format format) {
  return std::ranges::find(kEncoders, format, &StbEncoder::format) != kEncoders.end();
}

std::unique_ptr<Writer> make_stb_writer(Format format, Shape shape, const EncodeOptions& options,
                                        FileEdit insert_metadata) {
  check_storable_size(format, shape, encoder_of(format).max_side);
  return std::make_unique<StbWriter>(format, shape, options, std::move(insert_metadata));
}

std::string stb_version() {
  return "stb_image " IMGPIPE_STB_IMAGE_VERSION
         " (built with stb_image_write " IMGPIPE_STB_IMAGE_WRITE_VERSION ")";
}

}  // namespace imgpipe
