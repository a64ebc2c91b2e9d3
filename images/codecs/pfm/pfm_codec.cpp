#include "images/codecs/pfm/pfm_codec.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "images/codecs/file_details.h"
#include "images/codecs/netpbm/netpbm_codec.h"
#include "images/codecs/raw_reader.h"
#include "images/codecs/sniff.h"
#include "images/error.h"
#include "images/files/input_file.h"

namespace imgpipe {
namespace {

static_assert(std::endian::native == std::endian::little, "the writer stores samples as they are in memory");

// Both are the factor 1, little-endian. Readers know no comments, so unusual zeros are the (plain) mark.
constexpr std::string_view kScale = "-1.0", kMarkedScale = "-0001.0000";
constexpr std::size_t kMaxHeaderBytes = 4096;

[[noreturn]] void fail(const std::string& reason) {
  throw Error(ErrorKind::input, "PFM: " + reason);
}

// Splits the header into words; white space of any length separates them, one character ends the last.
class Words {
 public:
  explicit Words(Bytes bytes)
      : text_(reinterpret_cast<const char*>(bytes.data()), std::min(bytes.size(), kMaxHeaderBytes)) {}

  std::string_view next() {
    while (at_ < text_.size() && is_space(at_)) ++at_;
    const std::size_t begin = at_;
    while (at_ < text_.size() && !is_space(at_)) ++at_;
    if (begin == at_ || at_ == text_.size()) fail("the header is truncated or damaged");
    return text_.substr(begin, at_ - begin);
  }
  // Returns the offset after the word's white space.
  [[nodiscard]] std::size_t end() const { return at_ + 1; }

 private:
  [[nodiscard]] bool is_space(std::size_t at) const {
    return is_netpbm_space(static_cast<unsigned char>(text_[at]));
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

template <class T>
T number(std::string_view word, const char* what) {
  T value{};
  const char* const end = word.data() + word.size();
  const auto [stop, error] = std::from_chars(word.data(), end, value);
  if (error != std::errc() || stop != end)
    fail(std::string("the ") + what + " is not a number, or out of range");
  return value;
}

RawLayout read_header(Bytes bytes) {
  Words words(bytes);
  RawLayout layout{.name = "PFM", .format = Format::pfm, .type = StoredType::f32, .from_bottom = true};
  layout.channels = words.next() == "PF" ? 3 : 1;
  layout.width = number<std::int64_t>(words.next(), "width");
  layout.height = number<std::int64_t>(words.next(), "height");
  const auto scale = number<double>(words.next(), "scale factor");
  if (scale == 0 || !std::isfinite(scale)) fail("the scale factor must not be 0 or infinite");
  layout.big_endian = scale > 0;
  layout.data_at = words.end();
  if (std::abs(scale) != 1) {
    std::string text = std::to_string(std::abs(scale));
    layout.warnings.push_back("the scale factor " + text + " of the PFM is not applied");
  }
  return layout;
}

// Holds the file, because the bottom row is stored first.
class PfmWriter final : public Writer {
 public:
  PfmWriter(Shape shape, std::string head) : shape_(shape), head_(std::move(head)) {}

  void write_rows(ConstHostView rows) override {
    if (rows.sample != shape_.sample)
      throw Error(ErrorKind::usage, "write_rows: the rows differ in sample type from the writer");
    if (file_.empty()) {
      file_.resize(static_cast<std::size_t>(working_bytes()));
      std::ranges::copy(std::as_bytes(std::span(head_)), file_.begin());
    }
    for (std::int64_t y = 0; y < rows.height; ++y, ++next_row_) {
      const std::int64_t at = (shape_.height - 1 - next_row_) * shape_.row_bytes();
      std::memcpy(file_.data() + head_.size() + at, rows.row(y),
                  static_cast<std::size_t>(shape_.row_bytes()));
    }
  }

  [[nodiscard]] std::int64_t working_bytes() const override {
    return static_cast<std::int64_t>(head_.size()) + shape_.bytes();
  }

  EncodedFile finish() override {
    EncodedFile encoded;
    encoded.parts.push_back(std::move(file_));
    return encoded;
  }

 private:
  Shape shape_;
  std::string head_;
  std::vector<std::byte> file_;
  std::int64_t next_row_ = 0;
};

}  // namespace

bool is_pfm(Bytes beginning) {
  return (matches_at(beginning, 0, "PF") || matches_at(beginning, 0, "Pf")) &&
         netpbm_spaces(beginning.subspan(2)) > 0;
}

FileClaim pfm_claim(Bytes beginning) {
  try {
    return raw_claim(read_header(beginning));
  } catch (const Error&) {
    return {};  // the reader reports it
  }
}

std::unique_ptr<Reader> open_pfm(Bytes file, const DecodeOptions& options) {
  return make_raw_reader(read_header(file), file, nullptr, options);
}

bool is_readable_pfm(Bytes beginning, const DecodeOptions&) {
  return pfm_claim(beginning).width > 0;
}

std::unique_ptr<Reader> open_pfm_rows(const InputFile& file, const DecodeOptions& options) {
  return make_raw_reader(read_header(file.bytes()), file.bytes(), &file, options);
}

std::unique_ptr<Writer> make_pfm_writer(Shape shape, const EncodeOptions& options) {
  const std::string_view scale = options.mark == Mark::none ? kScale : kMarkedScale;
  return std::make_unique<PfmWriter>(
      shape, std::string(shape.channels == 3 ? "PF\n" : "Pf\n") + std::to_string(shape.width) + " " +
                 std::to_string(shape.height) + "\n" + std::string(scale) + "\n");
}

Mark find_pfm_mark(Bytes beginning) {
  try {
    Words words(beginning);
    for (int i = 0; i < 3; ++i) (void)words.next();
    return words.next() == kMarkedScale ? Mark::result : Mark::none;
  } catch (const Error&) {
    return Mark::none;
  }
}

FileDetails describe_pfm(Bytes file) {
  const RawLayout layout = read_header(file);
  FileDetails details{.compression = "none", .decoder = "imgpipe"};
  details.color = layout.channels == 3 ? "RGB" : "grey";
  details.channels = layout.channels;
  details.layout = "bottom row first";
  details.variant = layout.big_endian ? "big-endian" : "little-endian";
  return details;
}

}  // namespace imgpipe
