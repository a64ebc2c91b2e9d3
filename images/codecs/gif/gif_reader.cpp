// Reads the first frame of a GIF (Graphics Interchange Format, Version 89a, CompuServe 1990). stb_image 2.27
// rejects data that does not begin with a clear code and paints outside the frame.
//
// The image has the size of the logical screen. Pixels outside the frame are transparent: like browsers, the
// reader ignores the standard's background colour (section 18). The trailer after the frame may be missing.
#include <algorithm>
#include <array>
#include <cstring>

#include "images/codecs/codec_parts.h"
#include "images/codecs/file_details.h"
#include "images/codecs/gif/gif_blocks.h"
#include "images/codecs/gif/gif_codec.h"
#include "images/codecs/sniff.h"
#include "images/error.h"

namespace imgpipe {
namespace {

[[noreturn]] void fail(const std::string& reason) {
  throw Error(ErrorKind::input, "gif: " + reason);
}

void require(bool condition, const char* reason) {
  if (!condition) fail(reason);
}

// Reads codes from a chain of sub-blocks, least significant bit first (section 15, appendix F).
class CodeSource {
 public:
  CodeSource(Bytes file, std::size_t at) : file_(file), at_(at) {}

  // Returns the next code; -1 at the end of the chain or file.
  int next(int width) {
    while (bit_count_ < width) {
      if (block_left_ == 0) {
        block_left_ = little_endian(file_, at_, 1);
        if (block_left_ == 0) return -1;
        ++at_;
      }
      if (at_ >= file_.size()) return -1;
      bits_ |= little_endian(file_, at_++, 1) << bit_count_;
      --block_left_;
      bit_count_ += 8;
    }
    const auto code = static_cast<int>(bits_ & ((1U << width) - 1));
    bits_ >>= width;
    bit_count_ -= width;
    return code;
  }

  // Returns the offset just past the chain's terminator; beyond the file if it is truncated.
  [[nodiscard]] std::size_t end() const { return skip_gif_sub_blocks(file_, at_ + block_left_); }

 private:
  Bytes file_;
  std::size_t at_;
  std::size_t block_left_ = 0;
  std::uint32_t bits_ = 0;
  int bit_count_ = 0;
};

// The variable-length-code LZW of appendix F. Accepts data without an initial clear code. When all 4096 codes
// are assigned, it keeps them until the next clear code.
class LzwDecoder {
 public:
  explicit LzwDecoder(int minimum_bits) : minimum_bits_(minimum_bits) {
    const int clear = 1 << minimum_bits;
    for (int i = 0; i < clear; ++i) {
      const auto literal = static_cast<Sample8>(i);
      entries_[static_cast<std::size_t>(i)] = {0, 1, literal, literal};
    }
  }

  // Passes codes to `take` until it returns false or the data ends. Returns false for an invalid code.
  template <class Take>
  bool decode(CodeSource& source, const Take& take) {
    const int clear = 1 << minimum_bits_;
    int width = minimum_bits_ + 1;
    int next = clear + 2;
    int previous = -1;
    for (int code = source.next(width); code >= 0 && code != clear + 1; code = source.next(width)) {
      if (code == clear) {
        width = minimum_bits_ + 1;
        next = clear + 2;
        previous = -1;
        continue;
      }
      if (previous < 0 ? code > clear : code > next) return false;
      if (previous >= 0 && next < kCodes) {
        const Entry& prefix = entry(previous);
        entries_[static_cast<std::size_t>(next)] = {
            static_cast<std::uint16_t>(previous), static_cast<std::uint16_t>(prefix.length + 1),
            entry(code == next ? previous : code).first, prefix.first};
        ++next;
        if (next == 1 << width && next < kCodes) ++width;
      }
      if (!take(code)) return true;
      previous = code;
    }
    return true;
  }

  [[nodiscard]] std::size_t pixels_of(int code) const { return entry(code).length; }

  // Passes each pixel of a code, with its index in the code, to `put`, the last pixel first.
  template <class Put>
  void each_pixel(int code, const Put& put) const {
    for (std::size_t at = pixels_of(code); at-- > 0; code = entry(code).prefix) put(at, entry(code).last);
  }

 private:
  static constexpr int kCodes = 4096;
  struct Entry {
    std::uint16_t prefix, length;
    Sample8 last, first;
  };

  [[nodiscard]] const Entry& entry(int code) const { return entries_[static_cast<std::size_t>(code)]; }

  int minimum_bits_;
  std::array<Entry, kCodes> entries_{};
};

// Returns the stored position of row `y` of an interlaced frame (appendix E): every 8th row from 0, every 8th
// from 4, every 4th from 2, every 2nd from 1.
std::int64_t interlaced_row(std::int64_t y, std::int64_t height) {
  const auto rows = [&](std::int64_t step) { return (height + step - 1) / step; };
  if (y % 8 == 0) return y / 8;
  if (y % 8 == 4) return rows(8) + y / 8;
  if (y % 4 == 2) return rows(4) + y / 4;
  return rows(2) + y / 2;
}

bool covers(const GifFrame& frame, const Shape& screen) {
  return frame.width == screen.width && frame.height == screen.height;
}

class GifReader final : public Reader {
 public:
  // Reads the first frame, on the logical screen.
  GifReader(Bytes file, const DecodeOptions& options)
      : GifReader(file, options, first_gif_frame(file), gif_screen(file)) {
    const GifBlocks later = walk_gif_blocks(file, skip_gif_sub_blocks(file, frame_.data + 1));
    header_.more_images = later.images > 0;
    warn_of_following_bytes(file, later.end, warnings_);
    const bool clear = !covers(frame_, header_.shape) || transparent_is_used();
    header_.shape.channels = clear ? 4 : 3;
  }

  // Reads a frame on a canvas of `shape`.
  GifReader(Bytes file, const DecodeOptions& options, const GifFrame& frame, const Shape& shape)
      : file_(file), lenient_(options.lenient()), memory_(options.memory), frame_(frame) {
    header_.format = Format::gif;
    header_.shape = shape;
    constexpr std::int64_t kBestRatio = 4096 * 8 / 12 + 1;  // a code of w bits yields fewer than 2^w pixels
    check_header(header_.shape, options);
    check_plausible(frame_.width * frame_.height, file.size(), kBestRatio);
    minimum_bits_ = static_cast<int>(little_endian(file, frame_.data, 1));
    require(minimum_bits_ >= 1 && minimum_bits_ <= 8, "the minimum code size must be 1 to 8");
    read_colors();
  }

  [[nodiscard]] std::int64_t working_bytes(bool) const override { return indices_shape().bytes(); }

 protected:
  void read_next_rows(HostView view) override {
    const HostPlane rows = view.as<Sample8>();
    if (indices_.empty()) read_indices();
    for (std::int64_t y = 0; y < rows.height; ++y, ++next_row_) {
      std::fill_n(rows.row(y), rows.row_samples(), Sample8{0});
      if (next_row_ >= frame_.y && next_row_ < frame_.y + frame_.height) {
        give_row(next_row_ - frame_.y, rows.row(y) + frame_.x * rows.channels, rows.channels);
      }
    }
  }

  void finish() override { indices_ = Image(); }

 private:
  // Reports a defect that loses pixels.
  void damage(const char* what) {
    if (!lenient_) fail(what);
    warnings_.push_back(std::string("damaged gif: ") + what);
  }

  // Returns whether any pixel is transparent. Decodes without storing pixels, because the number of channels
  // must be known first.
  [[nodiscard]] bool transparent_is_used() const {
    const auto all = static_cast<std::size_t>(frame_.width * frame_.height);
    CodeSource source(file_, frame_.data + 1);
    LzwDecoder decoder(minimum_bits_);
    std::size_t pixels = 0;
    bool used = false;
    const auto look = [&](int code) {
      decoder.each_pixel(code, [&](std::size_t at, Sample8 index) {
        used = used || (index == frame_.transparent && pixels + at < all);
      });
      pixels += decoder.pixels_of(code);
      return !used && pixels < all;
    };
    if (frame_.transparent >= 0) decoder.decode(source, look);
    return used;
  }

  // One index per pixel of the frame.
  [[nodiscard]] Shape indices_shape() const { return {frame_.width, frame_.height, 1}; }

  // Decodes the frame; drops surplus pixels at the end of the data.
  void read_indices() {
    indices_ = Image(indices_shape(), memory_);
    const std::span<Sample8> out(indices_.view().data, indices_.size_bytes());
    CodeSource source(file_, frame_.data + 1);
    LzwDecoder decoder(minimum_bits_);
    const bool sound = decoder.decode(source, [&](int code) {
      if (pixels_ == out.size()) return true;
      decoder.each_pixel(code, [&](std::size_t at, Sample8 index) {
        if (pixels_ + at < out.size()) out[pixels_ + at] = index;
      });
      pixels_ = std::min(pixels_ + decoder.pixels_of(code), out.size());
      return true;
    });
    if (source.end() > file_.size()) {
      damage("the file is truncated");
    } else if (!sound) {
      damage("invalid LZW code");
    } else if (pixels_ < out.size()) {
      damage("pixels are missing");
    }
    check_colors(out.first(pixels_));
  }

  void read_colors() {
    for (std::uint32_t i = 0; i < frame_.table.colors; ++i) {
      for (std::uint32_t c = 0; c < 3; ++c) {
        colors_[i][c] =
            static_cast<Sample8>(little_endian(file_, frame_.table.at + std::size_t{3} * i + c, 1));
      }
      colors_[i][3] = kMaxSample;
    }
    for (std::size_t i = frame_.table.colors; i < colors_.size(); ++i) colors_[i] = kMissing;
    if (frame_.transparent >= 0) colors_[static_cast<std::size_t>(frame_.transparent)] = {};
  }

  void check_colors(std::span<const Sample8> indices) {
    if (frame_.table.colors == colors_.size()) return;
    const bool unknown = std::ranges::any_of(indices, [this](Sample8 index) {
      return index >= frame_.table.colors && index != frame_.transparent;  // transparent: needs no colour
    });
    if (unknown) damage("a pixel's colour is not in the colour table");
  }

  void give_row(std::int64_t y, Sample8* out, int channels) const {
    const std::int64_t row = frame_.interlaced ? interlaced_row(y, frame_.height) : y;
    const auto first = static_cast<std::size_t>(row * frame_.width);
    const Sample8* indices = indices_.view().data + first;
    for (std::int64_t x = 0; x < frame_.width; ++x, out += channels) {
      const bool missing = first + static_cast<std::size_t>(x) >= pixels_;
      const Color& color = missing ? kMissing : colors_[indices[x]];
      for (int c = 0; c < channels; ++c) out[c] = color[static_cast<std::size_t>(c)];
    }
  }

  using Color = std::array<Sample8, 4>;
  static constexpr Color kMissing{kMissingSample, kMissingSample, kMissingSample, kMaxSample};

  Bytes file_;
  bool lenient_;
  std::pmr::memory_resource* memory_;
  GifFrame frame_;
  int minimum_bits_ = 0;
  Image indices_;  // one per pixel, in stored order
  std::size_t pixels_ = 0;
  std::array<Color, 256> colors_{};
  std::int64_t next_row_ = 0;
};

}  // namespace

bool gif_frame_covers_screen(Bytes bytes) {
  return covers(first_gif_frame(bytes), gif_screen(bytes));
}

std::unique_ptr<Reader> open_gif(Bytes bytes, const DecodeOptions& options) {
  return std::make_unique<GifReader>(bytes, options);
}

std::unique_ptr<Reader> open_gif_frame(Bytes file, GifFrame frame, const DecodeOptions& options) {
  frame.x = frame.y = 0;
  return std::make_unique<GifReader>(file, options, frame, Shape{frame.width, frame.height, 4});
}

}  // namespace imgpipe
