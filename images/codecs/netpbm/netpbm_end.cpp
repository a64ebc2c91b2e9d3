// Finds the end of a plain or raw PBM, PGM or PPM: a file may contain several raw ones
// (netpbm.sourceforge.net/doc). Parses headers like netpbm_reader.cpp, which validates them.
#include <array>
#include <cstdint>
#include <limits>

#include "images/codecs/netpbm/netpbm_codec.h"
#include "images/error.h"

namespace imgpipe {
namespace {

bool is_space(char c) {
  return is_netpbm_space(static_cast<unsigned char>(c));
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

[[noreturn]] void fail_at_end(const char* reason) {
  throw Error(ErrorKind::input, std::string("Netpbm: ") + reason);
}

class NetpbmEnd final : public EndFinder {
 public:
  bool find(Bytes image, bool all) override {
    if (image.size() < 2) return false;
    if (at_ == 0) begin(std::to_integer<int>(image[1]) - '0');
    if (!header_read_ && !read_header(image)) return false;
    if (kind_ > 3) return ends_at(image, at_ + raster_bytes());
    if (!count_samples(image)) {
      // The last number may end with the file, without white space after it.
      if (!all || left_ != 1 || !in_sample_) return false;
    }
    return ends_at(image, at_);
  }

  std::size_t padding(Bytes after) const override { return netpbm_spaces(after); }

 private:
  void begin(int kind) {
    kind_ = kind;
    at_ = 2;
    wanted_ = is_bitmap() ? 2 : 3;
  }
  [[nodiscard]] bool is_bitmap() const { return kind_ == 1 || kind_ == 4; }
  [[nodiscard]] bool is_color() const { return kind_ == 3 || kind_ == 6; }

  bool read_header(Bytes image) {
    while (!header_read_) {
      if (at_ >= image.size()) return false;
      const char c = std::to_integer<char>(image[at_]);
      if (comment_) {
        // The line end is not skipped here: it also serves as white space.
        comment_ = c != '\n' && c != '\r';
        if (comment_) ++at_;
      } else if (numbers_ < wanted_ && is_digit(c)) {
        add_digit(c - '0');
        ++at_;
      } else if (value_ >= 0) {
        number_[static_cast<std::size_t>(numbers_++)] = value_;
        value_ = -1;
      } else if (c == '#') {
        comment_ = true;
      } else if (is_space(c)) {
        ++at_;
        header_read_ = numbers_ == wanted_;
      } else {
        fail_at_end("the header is truncated or damaged");
      }
    }
    check_header_numbers();
    return true;
  }

  void add_digit(int digit) {
    value_ = (value_ < 0 ? 0 : value_) * 10 + digit;
    if (value_ > std::numeric_limits<std::int32_t>::max()) fail_at_end("a number is out of range");
  }

  void check_header_numbers() {
    constexpr std::int64_t kMaxPixels = std::int64_t{1} << 40;  // more than --max-pixels allows
    const auto [width, height, maxval] = number_;
    if (height > 0 && width > kMaxPixels / height) fail_at_end("the image is too large");
    if (!is_bitmap() && (maxval < 1 || maxval > 65535)) fail_at_end("the maximum value must be 1 to 65535");
    left_ = width * height * (is_color() ? 3 : 1);
  }

  [[nodiscard]] std::size_t raster_bytes() const {
    const auto [width, height, maxval] = number_;
    return static_cast<std::size_t>(is_bitmap() ? (width + 7) / 8 * height : left_ * (maxval > 255 ? 2 : 1));
  }

  // Returns whether all samples of a plain image are present.
  bool count_samples(Bytes image) {
    for (; left_ > 0 && at_ < image.size(); ++at_) {
      const char c = std::to_integer<char>(image[at_]);
      if (comment_) {
        comment_ = c != '\n' && c != '\r';
      } else if (kind_ == 1 && (c == '0' || c == '1')) {  // bits need no separator
        --left_;
      } else if (kind_ != 1 && is_digit(c)) {
        in_sample_ = true;
      } else if (is_space(c) || c == '#') {
        left_ -= in_sample_ ? 1 : 0;
        in_sample_ = false;
        if (left_ == 0) break;  // the rest is padding
        comment_ = c == '#';
      } else {
        fail_at_end("a sample is not a number");
      }
    }
    return left_ == 0;
  }

  int kind_ = 0;  // the digit of P1..P6
  std::size_t at_ = 0;
  bool header_read_ = false, comment_ = false;
  int wanted_ = 3, numbers_ = 0;
  std::array<std::int64_t, 3> number_{};  // width, height, maximum value
  std::int64_t value_ = -1;               // of the current number; -1: none
  std::int64_t left_ = 0;                 // samples
  bool in_sample_ = false;
};

}  // namespace

std::unique_ptr<EndFinder> find_netpbm_end() {
  return std::make_unique<NetpbmEnd>();
}

}  // namespace imgpipe
