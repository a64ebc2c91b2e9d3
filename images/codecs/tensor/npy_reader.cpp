#include "images/codecs/tensor/npy_reader.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "images/codecs/file_details.h"
#include "images/codecs/raw_reader.h"
#include "images/codecs/sniff.h"
#include "images/error.h"
#include "images/files/input_file.h"
#include "images/text.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr std::size_t kVersionAt = 6, kLengthAt = 8;
constexpr std::size_t kMaxHeaderBytes = std::size_t{1} << 16;

[[noreturn]] void fail(const std::string& reason) {
  throw Error(ErrorKind::input, "NumPy: " + reason);
}

struct Header {
  std::string_view type;  // such as "<f4"
  bool fortran_order = false;
  std::vector<std::int64_t> shape;
};

// Parses the header's text, a literal of a Python dictionary.
class HeaderParser {
 public:
  explicit HeaderParser(std::string_view text) : text_(text) {}

  Header parse() {
    Header header;
    bool has_type = false, has_order = false, has_shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string_view key = string();
      expect(':');
      if (key == "descr" && !std::exchange(has_type, true)) {
        if (peek() == '[') fail("structured arrays are not supported");
        header.type = string();
      } else if (key == "fortran_order" && !std::exchange(has_order, true)) {
        header.fortran_order = boolean();
      } else if (key == "shape" && !std::exchange(has_shape, true)) {
        header.shape = tuple();
      } else {
        fail_damaged();
      }
      if (accept(',')) continue;
      expect('}');
      break;
    }
    skip_spaces();
    if (at_ < text_.size() || !has_type || !has_order || !has_shape) fail_damaged();
    return header;
  }

 private:
  [[noreturn]] static void fail_damaged() { fail("the header is damaged"); }

  void skip_spaces() {
    while (at_ < text_.size() && " \t\n\r"sv.find(text_[at_]) != std::string_view::npos) ++at_;
  }
  char peek() {
    skip_spaces();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c || c == '\0') return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail_damaged();
  }
  std::string_view string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail_damaged();
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail_damaged();
    const std::string_view text = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return text;
  }
  bool boolean() {
    skip_spaces();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return value;
    }
    fail_damaged();
  }
  std::vector<std::int64_t> tuple() {
    std::vector<std::int64_t> numbers;
    expect('(');
    while (!accept(')')) {
      numbers.push_back(number());
      if (accept(',')) continue;
      expect(')');
      break;
    }
    return numbers;
  }
  std::int64_t number() {
    skip_spaces();
    std::int64_t value = 0;
    const char* const end = text_.data() + text_.size();
    const auto [stop, error] = std::from_chars(text_.data() + at_, end, value);
    if (error == std::errc::result_out_of_range || value < 0) fail("a dimension is out of range");
    if (error != std::errc()) fail_damaged();
    at_ = static_cast<std::size_t>(stop - text_.data());
    accept('L');  // Python 2
    return value;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

StoredType stored_type(std::string_view type) {
  constexpr std::pair<std::string_view, StoredType> kTypes[] = {
      {"u1", StoredType::u8},  {"u2", StoredType::u16}, {"u4", StoredType::u32}, {"i1", StoredType::i8},
      {"i2", StoredType::i16}, {"i4", StoredType::i32}, {"f2", StoredType::f16}, {"f4", StoredType::f32}};
  const bool has_order = !type.empty() && "<>|="sv.find(type.front()) != std::string_view::npos;
  for (const auto& [name, stored] : kTypes)
    if (has_order && type.substr(1) == name) return stored;
  fail("elements of type '" + printable(type) +
       "' are not supported; expected uint8, uint16, uint32, int8, int16, int32, float16 or float32");
}

RawLayout read_header(Bytes bytes) {
  const std::uint32_t major = little_endian(bytes, kVersionAt, 1),
                      minor = little_endian(bytes, kVersionAt + 1, 1);
  if (major < 1 || major > 3 || minor != 0)
    fail("version " + std::to_string(major) + "." + std::to_string(minor) +
         " is not supported; expected 1.0, 2.0 or 3.0");
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t at = kLengthAt + length_bytes, length = little_endian(bytes, kLengthAt, length_bytes);
  if (length > kMaxHeaderBytes) fail("the header is too long");
  const Bytes text = bytes_at(bytes, at, length);
  if (text.empty()) fail("the header is truncated");
  const Header header = HeaderParser({reinterpret_cast<const char*>(text.data()), text.size()}).parse();
  const std::vector<std::int64_t>& shape = header.shape;
  const bool fits = shape.size() == 2 || (shape.size() == 3 && shape[2] >= 1 && shape[2] <= 4);
  if (!fits)
    fail("expected the shape (height, width) or (height, width, channels) with 1 to 4 channels, got (" +
         joined_numbers(std::span(shape).first(std::min<std::size_t>(shape.size(), 8)), ", ") +
         (shape.size() > 8 ? ", ..." : "") + ")");
  if (header.fortran_order) fail("Fortran order is not supported; save numpy.ascontiguousarray(array)");
  return {.name = "NumPy",
          .format = Format::npy,
          .width = shape[1],
          .height = shape[0],
          .channels = shape.size() == 3 ? static_cast<int>(shape[2]) : 1,
          .type = stored_type(header.type),
          .big_endian = header.type.front() == '>',
          .data_at = at + length};
}

}  // namespace

bool is_npy(Bytes beginning) {
  return matches_at(beginning, 0, kMagic);
}

FileClaim npy_claim(Bytes beginning) {
  try {
    return raw_claim(read_header(beginning));
  } catch (const Error&) {
    return {};  // the reader reports it
  }
}

std::unique_ptr<Reader> open_npy(Bytes file, const DecodeOptions& options) {
  return make_raw_reader(read_header(file), file, nullptr, options);
}

bool is_readable_npy(Bytes beginning, const DecodeOptions&) {
  return npy_claim(beginning).width > 0;
}

std::unique_ptr<Reader> open_npy_rows(const InputFile& file, const DecodeOptions& options) {
  return make_raw_reader(read_header(file.bytes()), file.bytes(), &file, options);
}

FileDetails describe_npy(Bytes file) {
  const RawLayout layout = read_header(file);
  FileDetails details{.compression = "none", .decoder = "imgpipe"};
  details.color = layout.channels >= 3 ? "RGB" : "grey";
  details.channels = layout.channels;
  details.layout = "C order";
  details.variant = "version " + std::to_string(little_endian(file, kVersionAt, 1)) + ".0" +
                    (stored_bytes(layout.type) == 1 ? ""
                     : layout.big_endian            ? ", big-endian"
                                                    : ", little-endian");
  return details;
}

}  // namespace imgpipe
