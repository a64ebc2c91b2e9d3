#include "images/codecs/jxl/jxl_frames.h"

#include <algorithm>
#include <array>

#include "images/error.h"

namespace imgpipe {
namespace {

[[noreturn]] void fail(const char* reason) {
  throw Error(ErrorKind::input, std::string("JPEG XL: ") + reason);
}

std::int64_t divided_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// Numbers from the lowest bit on (annex B). After the end they are 0, and is_past_end() is set.
class JxlBits {
 public:
  explicit JxlBits(Bytes bytes) : bytes_(bytes) {}

  std::uint64_t next(int bits) {
    std::uint64_t value = 0;
    for (int i = 0; i < bits; ++i, ++at_) {
      const std::size_t byte = at_ / 8;
      if (byte < bytes_.size()) value |= (std::to_integer<std::uint64_t>(bytes_[byte]) >> at_ % 8 & 1) << i;
    }
    return value;
  }
  bool flag() { return next(1) != 0; }

  // One of four ranges: the first value, and the bits of the offset from it.
  struct Range {
    std::uint32_t first = 0;
    int bits = 0;
  };
  std::uint32_t u32(const std::array<Range, 4>& ranges) {
    const Range& range = ranges[next(2)];
    return range.first + static_cast<std::uint32_t>(next(range.bits));
  }

  std::uint64_t u64() {
    const std::uint64_t kind = next(2);
    if (kind == 0) return 0;
    if (kind == 1) return 1 + next(4);
    if (kind == 2) return 17 + next(8);
    std::uint64_t value = next(12);
    for (int shift = 12; flag(); shift += 8) {
      const int bits = shift == 60 ? 4 : 8;
      value |= next(bits) << shift;
      if (shift == 60) break;
    }
    return value;
  }

  void skip(std::uint64_t bits) { at_ += static_cast<std::size_t>(std::min(bits, left())); }
  void align() { at_ = (at_ + 7) / 8 * 8; }
  [[nodiscard]] bool is_past_end() const { return at_ > 8 * bytes_.size(); }
  [[nodiscard]] Bytes rest() const { return bytes_.subspan(std::min(bytes_.size(), at_ / 8)); }

 private:
  [[nodiscard]] std::uint64_t left() const {
    return at_ > 8 * bytes_.size() ? 0 : 8 * bytes_.size() + 8 - at_;
  }

  Bytes bytes_;
  std::size_t at_ = 0;  // bits
};

constexpr std::array<JxlBits::Range, 4> kZeroToThree{{{0, 0}, {1, 0}, {2, 0}, {3, 0}}};
constexpr std::array<JxlBits::Range, 4> kPowersOfTwo{{{1, 0}, {2, 0}, {4, 0}, {8, 0}}};

enum class JxlFrameType : std::uint8_t { regular, dc, reference, skip_progressive };

class JxlFrameHeader {
 public:
  JxlFrameHeader(JxlBits& bits, const JxlImageHeader& image, bool is_preview)
      : image_(image),
        width_(is_preview ? image.preview_width : image.width),
        height_(is_preview ? image.preview_height : image.height) {
    if (bits.flag()) return;  // all defaults
    type_ = static_cast<JxlFrameType>(bits.next(2));
    is_modular_ = bits.flag();
    flags_ = bits.u64();
    if (!image.is_xyb && bits.flag() && !uses_dc_frame()) {  // YCbCr
      for (int i = 0; i < 3; ++i) {
        const std::uint64_t mode = bits.next(2);
        is_halved_across_ = is_halved_across_ || mode == 1 || mode == 2;
        is_halved_down_ = is_halved_down_ || mode == 1 || mode == 3;
      }
    }
    if (!uses_dc_frame()) {
      upsampling_ = bits.u32(kPowersOfTwo);
      for (std::int64_t i = 0; i < image.extra_channels; ++i) (void)bits.u32(kPowersOfTwo);
    }
    if (is_modular_) group_shift_ = bits.next(2);
    if (!is_modular_ && image.is_xyb) bits.skip(6);  // quantisation scales
    if (type_ != JxlFrameType::reference) read_passes(bits);
    const std::uint32_t dc_level = type_ == JxlFrameType::dc ? 1 + bits.u32(kZeroToThree) : 0;
    if (type_ != JxlFrameType::dc) read_crop(bits);
    for (std::uint32_t i = 0; i < dc_level; ++i) {
      width_ = divided_up(width_, 8);
      height_ = divided_up(height_, 8);
    }
    if (is_displayable()) read_blending(bits);
    if (type_ != JxlFrameType::regular) is_last_ = false;
    const std::uint32_t slot = type_ != JxlFrameType::dc && !is_last_ ? bits.u32(kZeroToThree) : 0;
    const bool can_be_referenced = !is_last_ && type_ != JxlFrameType::dc && (duration_ == 0 || slot != 0);
    if ((is_displayable() && can_be_referenced && !is_blended_ && !is_partial_) ||
        type_ == JxlFrameType::reference)
      bits.skip(1);  // saved before the colour transform
    bits.skip(8 * std::uint64_t{bits.u32({{{0, 0}, {0, 4}, {16, 5}, {48, 10}}})});  // name
    read_filter(bits);
    skip_extensions(bits);
  }

  [[nodiscard]] std::int64_t width() const { return width_; }
  [[nodiscard]] std::int64_t height() const { return height_; }
  [[nodiscard]] bool is_last() const { return is_last_; }
  [[nodiscard]] bool is_displayed() const { return is_last_ || (is_displayable() && duration_ > 0); }

  // The entries of the table of contents (section E.3.3).
  [[nodiscard]] std::int64_t sections() const {
    const std::int64_t group = std::int64_t{128} << group_shift_;
    const std::int64_t width = divided_up(width_, upsampling_), height = divided_up(height_, upsampling_);
    const std::int64_t groups = divided_up(width, group) * divided_up(height, group);
    if (groups == 1 && passes_ == 1) return 1;
    const auto blocks = [](std::int64_t side, bool is_halved) {
      return is_halved ? 2 * divided_up(side, 16) : divided_up(side, 8);
    };
    const std::int64_t dc_groups = divided_up(blocks(width, is_halved_across_), group) *
                                   divided_up(blocks(height, is_halved_down_), group);
    return 2 + dc_groups + groups * passes_;
  }

 private:
  [[nodiscard]] bool uses_dc_frame() const { return (flags_ & 32) != 0; }
  [[nodiscard]] bool is_displayable() const {
    return type_ == JxlFrameType::regular || type_ == JxlFrameType::skip_progressive;
  }

  void read_passes(JxlBits& bits) {
    passes_ = bits.u32({{{1, 0}, {2, 0}, {3, 0}, {4, 3}}});
    if (passes_ == 1) return;
    const std::uint32_t downsampled = bits.u32({{{0, 0}, {1, 0}, {2, 0}, {3, 1}}});
    bits.skip(2 * static_cast<std::uint64_t>(passes_ - 1));
    for (std::uint32_t i = 0; i < downsampled; ++i) (void)bits.u32(kPowersOfTwo);
    for (std::uint32_t i = 0; i < downsampled; ++i) (void)bits.u32({{{0, 0}, {1, 0}, {2, 0}, {0, 3}}});
  }

  void read_crop(JxlBits& bits) {
    if (!bits.flag()) return;
    constexpr std::array<JxlBits::Range, 4> kSides{{{0, 8}, {256, 11}, {2304, 14}, {18688, 30}}};
    const auto position = [&]() -> std::int64_t {
      const std::uint32_t packed = bits.u32(kSides);
      return packed % 2 == 0 ? packed / 2 : -std::int64_t{packed / 2} - 1;
    };
    const std::int64_t x = is_displayable() ? position() : 0, y = is_displayable() ? position() : 0;
    const std::int64_t image_width = width_, image_height = height_;
    width_ = bits.u32(kSides);
    height_ = bits.u32(kSides);
    is_partial_ =
        is_displayable() && (x > 0 || y > 0 || x + width_ < image_width || y + height_ < image_height);
  }

  // Returns whether the channels are replaced.
  bool read_blend_mode(JxlBits& bits) const {
    constexpr std::uint32_t kReplace = 0, kBlend = 2, kWeightedAdd = 3, kMultiply = 4;
    const std::uint32_t mode = bits.u32({{{0, 0}, {1, 0}, {2, 0}, {3, 2}}});
    const bool by_alpha = image_.extra_channels > 0 && (mode == kBlend || mode == kWeightedAdd);
    if (by_alpha) (void)bits.u32({{{0, 0}, {1, 0}, {2, 0}, {3, 3}}});
    if (by_alpha || mode == kMultiply) bits.skip(1);  // clamped
    if (mode != kReplace || is_partial_) (void)bits.u32(kZeroToThree);
    return mode == kReplace;
  }

  void read_blending(JxlBits& bits) {
    is_blended_ = !read_blend_mode(bits);
    for (std::int64_t i = 0; i < image_.extra_channels; ++i) (void)read_blend_mode(bits);
    if (image_.has_animation) {
      duration_ = bits.u32({{{0, 0}, {1, 0}, {0, 8}, {0, 32}}});
      if (image_.has_timecodes) bits.skip(32);
    }
    is_last_ = bits.flag();
  }

  // Gaborish and the edge-preserving filter (annex J).
  void read_filter(JxlBits& bits) const {
    constexpr std::uint64_t kWeightBits = 16;
    if (bits.flag()) return;
    if (bits.flag() && bits.flag()) bits.skip(6 * kWeightBits);
    if (bits.next(2) > 0) {
      if (!is_modular_ && bits.flag()) bits.skip(8 * kWeightBits);
      if (bits.flag()) bits.skip(5 * kWeightBits);
      if (bits.flag()) bits.skip((is_modular_ ? 3 : 4) * kWeightBits);
      if (is_modular_) bits.skip(kWeightBits);
    }
    skip_extensions(bits);
  }

  static void skip_extensions(JxlBits& bits) {
    std::uint64_t total = 0;
    for (std::uint64_t present = bits.u64(); present != 0; present &= present - 1)
      total += std::min<std::uint64_t>(bits.u64(), std::uint64_t{1} << 40);
    bits.skip(total);
  }

  const JxlImageHeader& image_;
  JxlFrameType type_ = JxlFrameType::regular;
  bool is_modular_ = false, is_last_ = true, is_blended_ = false, is_partial_ = false;
  bool is_halved_across_ = false, is_halved_down_ = false;
  std::uint64_t flags_ = 0, group_shift_ = 1;
  std::int64_t width_, height_, upsampling_ = 1, passes_ = 1;
  std::uint32_t duration_ = 0;
};

// Skips a frame's data by its table of contents.
Bytes after_frame(JxlBits& bits, std::int64_t sections) {
  // libjxl 0.7 rejects more.
  constexpr std::int64_t kMaxSections = 65'536;
  if (sections > kMaxSections) fail("a frame has too many sections");
  if (bits.flag()) fail("frames in an order of sections that imgpipe does not support");
  bits.align();
  std::uint64_t total = 0;
  for (std::int64_t i = 0; i < sections; ++i)
    total += bits.u32({{{0, 10}, {1024, 14}, {17408, 22}, {4211712, 30}}});
  bits.align();
  if (bits.is_past_end()) fail("the file is truncated");
  const Bytes rest = bits.rest();
  return rest.subspan(static_cast<std::size_t>(std::min<std::uint64_t>(total, rest.size())));
}

}  // namespace

JxlFrames read_jxl_frames(Bytes frames, const JxlImageHeader& image, const DecodeOptions& options) {
  constexpr std::int64_t kMostImages = 8, kMinPixels = 1 << 20;
  const std::int64_t most = kMostImages * std::max(image.width * image.height, kMinPixels);
  JxlFrames found;
  bool is_preview = image.preview_width > 0;
  while (true) {
    JxlBits bits(frames);
    const JxlFrameHeader frame(bits, image, is_preview);
    if (bits.is_past_end()) fail("the file is truncated");
    check_header({frame.width(), frame.height(), 1}, options);
    found.pixels += frame.width() * frame.height();
    if (found.pixels > most) fail("the frames are much larger than the image");
    found.more_follow = !frame.is_last();
    if (frame.is_displayed() && !is_preview) return found;
    frames = after_frame(bits, frame.sections());
    is_preview = false;
  }
}

}  // namespace imgpipe
