// Reads PBM, PGM and PPM, plain (P1-P3) and raw (P4-P6), with any maxval (netpbm.sourceforge.net/doc).
// stb_image 2.27 supports only P5 and P6, swaps the bytes of 16-bit samples and ignores maxval.
#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>

#include "images/codecs/big_endian_rows.h"
#include "images/codecs/codec_parts.h"
#include "images/codecs/netpbm/netpbm_codec.h"
#include "images/error.h"
#include "images/files/input_file.h"

namespace imgpipe {
namespace {

[[noreturn]] void fail(const char* reason) {
  throw Error(ErrorKind::input, std::string("Netpbm: ") + reason);
}

class NetpbmReader final : public Reader {
 public:
  NetpbmReader(Bytes bytes, const DecodeOptions& options, const InputFile* rest)
      : bytes_(bytes),
        rest_(rest),
        file_bytes_(rest != nullptr ? static_cast<std::size_t>(rest->size_bytes()) : bytes.size()),
        lenient_(options.lenient()) {
    kind_ = std::to_integer<unsigned>(bytes[1]) - '0';
    plain_ = kind_ <= 3;
    position_ = 2;
    const bool bitmap = kind_ == 1 || kind_ == 4;
    const bool color = kind_ == 3 || kind_ == 6;
    header_.format = bitmap ? Format::pbm : color ? Format::ppm : Format::pgm;
    header_.shape.width = header_number();
    header_.shape.height = header_number();
    header_.shape.channels = color ? 3 : 1;
    const std::int64_t maxval = bitmap ? 1 : header_number();
    if (maxval < 1 || maxval > 65535) fail("the maximum value must be 1 to 65535");
    maxval_ = static_cast<unsigned>(maxval);
    header_.bits_per_sample = static_cast<int>(std::bit_width(maxval_));
    header_.shape.sample = decoded_sample(header_.bits_per_sample, options.max_bits);
    max_ = static_cast<unsigned>(max_sample(header_.shape.sample));
    reciprocal_ = ((std::uint64_t{1} << kReciprocalBits) + maxval_ - 1) / maxval_;
    // One white-space character ends the header; a comment may precede it.
    if (position_ < bytes_.size() && current() == '#') {
      while (position_ < bytes_.size() && current() != '\n' && current() != '\r') ++position_;
    }
    if (position_ >= bytes_.size() || !is_netpbm_space(current())) fail("the header is truncated or damaged");
    ++position_;
    check_header(header_.shape, options);
    if (!plain_) {
      row_bytes_ = bitmap ? (header_.shape.width + 7) / 8
                          : header_.shape.width * header_.shape.channels * (maxval_ > 255 ? 2 : 1);
    }
    // Plain bitmaps take a byte per pixel, other plain samples two (digit and space), except the last.
    const std::int64_t least = !plain_  ? row_bytes_ * header_.shape.height
                               : bitmap ? header_.shape.samples()
                                        : 2 * header_.shape.samples() - 1;
    if (!lenient_ && static_cast<std::int64_t>(file_bytes_ - position_) < least)
      fail("the file is truncated");
    if (!plain_) check_trailing_bytes(std::min(file_bytes_, position_ + static_cast<std::size_t>(least)));
  }

  [[nodiscard]] std::int64_t working_bytes(bool) const override {
    return rest_ != nullptr ? static_cast<std::int64_t>(window_bytes()) : 0;
  }

 protected:
  void read_next_rows(HostView rows) override {
    if (read_straight(rows)) return;
    visit_sample(rows.sample, [&]<class T>(T) { read_rows_of(rows.as<T>()); });
  }

  void finish() override {
    window_ = std::vector<std::byte>();
    if (plain_) {
      skip_space_and_comments();
      check_trailing_bytes(position_);
    }
    if (missing_ > 0) {
      warnings_.push_back("damaged Netpbm file: " + std::to_string(missing_) + " samples are missing");
    }
  }

 private:
  // Reports bytes after the image. White space is ignored; further images are legal, but not decoded.
  void check_trailing_bytes(std::size_t end) {
    constexpr std::size_t kReadBytes = std::size_t{1} << 16;
    const std::size_t count = file_bytes_ - end;
    std::vector<std::byte> chunk;
    Bytes after = bytes_.subspan(std::min(end, bytes_.size()));
    for (;;) {
      if (rest_ != nullptr && end < file_bytes_) {
        chunk.resize(std::min(kReadBytes, file_bytes_ - end));
        after = Bytes(chunk).first(rest_->read_at(static_cast<std::int64_t>(end), chunk));
      }
      const std::size_t spaces = netpbm_spaces(after);
      end += spaces;
      if (after.size() == spaces && (rest_ == nullptr || spaces == 0 || end >= file_bytes_)) return;
      if (rest_ == nullptr || spaces == 0) {
        after = after.subspan(spaces);
        break;
      }
    }
    warnings_.push_back(following_bytes(count, format_by_content(after).has_value()));
  }

  // Reads all rows at once if the file is on disk and its rows are stored exactly as requested.
  bool read_straight(const HostView& rows) {
    const bool as_stored = kind_ > 4 && maxval_ == max_ && rows.stride_bytes == rows.row_bytes();
    if (rest_ == nullptr || !as_stored) return false;
    const auto count = static_cast<std::size_t>(rows.bytes());
    if (rest_->read_at(static_cast<std::int64_t>(position_), std::span(rows.data, count)) < count)
      return false;
    from_big_endian(rows);
    position_ += count;
    return true;
  }

  template <class T>
  void read_rows_of(const Plane<T, Host>& rows) {
    for (std::int64_t y = 0; y < rows.height; ++y) {
      if (plain_) {
        read_plain_row(rows.row(y), rows.row_samples());
      } else {
        read_raw_row(rows.row(y), rows.row_samples());
      }
    }
  }

  // Returns the size of the read buffer, which holds whole stored rows.
  [[nodiscard]] std::size_t window_bytes() const {
    constexpr std::int64_t kWindowBytes = std::int64_t{1} << 18;
    return static_cast<std::size_t>(std::max<std::int64_t>(1, kWindowBytes / row_bytes_) * row_bytes_);
  }

  // Returns the available stored bytes of the next row.
  Bytes take_stored_row() {
    const auto row_bytes = static_cast<std::size_t>(row_bytes_);
    if (rest_ == nullptr) {
      const Bytes row = bytes_.subspan(position_, std::min(row_bytes, bytes_.size() - position_));
      position_ += row.size();
      return row;
    }
    if (window_left_.size() < row_bytes) {
      window_.resize(window_bytes());
      window_left_ = Bytes(window_).first(rest_->read_at(static_cast<std::int64_t>(position_), window_));
      // Fewer bytes mean that the file was longer when it was opened.
      if (window_left_.size() < row_bytes && !lenient_) fail("the file is truncated");
    }
    const Bytes row = window_left_.first(std::min(row_bytes, window_left_.size()));
    window_left_ = window_left_.subspan(row.size());
    position_ += row.size();
    return row;
  }

  [[nodiscard]] unsigned current() const { return std::to_integer<unsigned>(bytes_[position_]); }

  void skip_space_and_comments() {
    while (position_ < bytes_.size() && (is_netpbm_space(current()) || current() == '#')) {
      if (current() == '#') {
        while (position_ < bytes_.size() && current() != '\n' && current() != '\r') ++position_;
      } else {
        ++position_;
      }
    }
  }

  // Parses a decimal number within 0..2^31-1 at the current position; -1 if there is none.
  std::int64_t number() {
    constexpr std::int64_t kMax = 0x7FFFFFFF;
    std::int64_t value = -1;
    while (position_ < bytes_.size() && current() >= '0' && current() <= '9') {
      value = (value < 0 ? 0 : value) * 10 + (current() - '0');
      if (value > kMax) fail("a number is out of range");
      ++position_;
    }
    return value;
  }

  std::int64_t header_number() {
    skip_space_and_comments();
    const std::int64_t value = number();
    if (value < 0) fail("the header is truncated or damaged");
    return value;
  }

  // Returns (value * most + maxval / 2) / maxval for value <= maxval. The dividend n is below 2^32, and r is
  // 2^48 / maxval rounded up, so (r * maxval - 2^48) * n < 2^48 and n * r >> 48 is n / maxval; n * r < 2^64.
  template <class T>
  [[nodiscard]] T scaled(unsigned value) const {
    const std::uint32_t dividend = value * max_ + maxval_ / 2;
    return static_cast<T>((dividend * reciprocal_) >> kReciprocalBits);
  }

  template <class T>
  T checked(unsigned value) {
    if (value > maxval_) {
      if (!lenient_) fail("a sample is larger than the maximum value");
      ++missing_;
      return missing_sample(sample_type_of<T>);
    }
    return scaled<T>(value);
  }

  template <class T>
  void read_plain_row(T* out, std::int64_t count) {
    constexpr T kMissing = missing_sample(sample_type_of<T>);
    for (std::int64_t i = 0; i < count; ++i) {
      skip_space_and_comments();
      std::int64_t value = -1;
      if (kind_ == 1) {  // bits need no separator
        if (position_ < bytes_.size() && (current() == '0' || current() == '1')) {
          value = current() == '0' ? 1 : 0;  // 1 is black
          ++position_;
        }
      } else {
        value = number();
      }
      if (value < 0) {
        if (!lenient_) fail(position_ < bytes_.size() ? "a sample is not a number" : "the file is truncated");
        std::fill_n(out + i, count - i, kMissing);
        missing_ += count - i;
        position_ = bytes_.size();
        return;
      }
      out[i] = value > maxval_ ? checked<T>(65536) : scaled<T>(static_cast<unsigned>(value));
    }
  }

  template <class T>
  void read_raw_row(T* out, std::int64_t count) {
    constexpr T kMissing = missing_sample(sample_type_of<T>);
    constexpr T kWhite = static_cast<T>(kLargest<T>);
    const Bytes row = take_stored_row();
    const std::size_t have = row.size();
    const auto* in = reinterpret_cast<const unsigned char*>(row.data());
    const auto have_samples = static_cast<std::int64_t>(kind_ == 4      ? have * 8
                                                        : maxval_ > 255 ? have / 2
                                                                        : have);
    const std::int64_t whole = std::min(count, have_samples);
    if (kind_ == 4) {
      for (std::int64_t x = 0; x < whole; ++x) {
        out[x] = (in[x >> 3] >> (7 - (x & 7)) & 1) != 0 ? T{0} : kWhite;
      }
    } else if (maxval_ == max_ && kIsWide<T>) {
      copy_big_endian(row.data(), static_cast<std::size_t>(whole), reinterpret_cast<std::byte*>(out));
    } else if (maxval_ == max_) {
      std::memcpy(out, in, static_cast<std::size_t>(whole));
    } else if (maxval_ < 255) {
      for (std::int64_t x = 0; x < whole; ++x) out[x] = checked<T>(in[x]);
    } else {
      for (std::int64_t x = 0; x < whole; ++x)
        out[x] = checked<T>((unsigned{in[2 * x]} << 8) | in[2 * x + 1]);
    }
    if (whole < count) {
      std::fill_n(out + whole, count - whole, kMissing);
      missing_ += count - whole;
    }
  }

  Bytes bytes_;  // the whole file, or its beginning
  const InputFile* rest_;
  std::size_t file_bytes_;
  bool lenient_;
  std::vector<std::byte> window_;  // buffer of the rest of the file; window_left_: its unread part
  Bytes window_left_;
  unsigned kind_ = 0;  // the digit of P1..P6
  bool plain_ = false;
  unsigned maxval_ = 1;
  unsigned max_ = 255;  // maximum of the decoded samples
  static constexpr int kReciprocalBits = 48;
  std::uint64_t reciprocal_ = 0;
  std::int64_t row_bytes_ = 0;
  std::size_t position_ = 0;
  std::int64_t missing_ = 0;
};

}  // namespace

std::unique_ptr<Reader> open_netpbm(Bytes file, const DecodeOptions& options) {
  return std::make_unique<NetpbmReader>(file, options, nullptr);
}

std::unique_ptr<Reader> open_netpbm_rows(const InputFile& file, const DecodeOptions& options) {
  return std::make_unique<NetpbmReader>(file.bytes(), options, &file);
}

bool is_raw_netpbm(Bytes beginning, const DecodeOptions& options) {
  if (std::to_integer<char>(beginning[1]) < '4') return false;
  DecodeOptions header_only = options;
  header_only.accept = Acceptance::lenient;  // the pixels are not in `beginning`
  try {
    const NetpbmReader reader(beginning, header_only, nullptr);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace imgpipe
