#include "images/codecs/tiff/tiff_directory.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <unordered_set>

#include "images/codecs/sniff.h"
#include "images/error.h"

namespace imgpipe {
namespace {

// Returns the size of a value; 0 for types that are not supported.
std::size_t value_bytes(std::uint64_t type) {
  switch (type) {
    case static_cast<std::uint64_t>(TiffType::byte):
    case static_cast<std::uint64_t>(TiffType::ascii):
    case static_cast<std::uint64_t>(TiffType::undefined):
      return 1;
    case static_cast<std::uint64_t>(TiffType::u16):
      return 2;
    case static_cast<std::uint64_t>(TiffType::u32):
      return 4;
    case static_cast<std::uint64_t>(TiffType::u64):
      return 8;
    default:
      return 0;
  }
}

}  // namespace

void fail_tiff(const std::string& reason) {
  throw Error(ErrorKind::input, "TIFF: " + reason);
}

std::uint64_t tiff_number(Bytes bytes, bool big_endian) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    value = (value << 8) | std::to_integer<std::uint64_t>(bytes[big_endian ? i : bytes.size() - 1 - i]);
  return value;
}

bool is_big_endian_tiff(Bytes beginning) {
  return !beginning.empty() && beginning[0] == std::byte{'M'};
}

namespace {

// Whether the first directory's offset (`bytes` long) points past the header.
bool may_have_directory(Bytes beginning, std::size_t bytes) {
  if (beginning.size() < 2 * bytes) return true;  // truncated: the reader reports it
  return tiff_number(beginning.subspan(bytes, bytes), is_big_endian_tiff(beginning)) >= 2 * bytes;
}

}  // namespace

bool is_tiff(Bytes beginning) {
  using namespace std::string_view_literals;
  const bool classic = matches_at(beginning, 0, "II*\0"sv) || matches_at(beginning, 0, "MM\0*"sv);
  const bool big =
      matches_at(beginning, 0, "II+\0\x08\0\0\0"sv) || matches_at(beginning, 0, "MM\0+\0\x08\0\0"sv);
  return (classic && may_have_directory(beginning, 4)) || (big && may_have_directory(beginning, 8));
}

std::uint64_t TiffValues::operator[](std::size_t i) const noexcept {
  return tiff_number(bytes_.subspan(i * value_bytes_, value_bytes_), big_endian_);
}

// Reads a number of `bytes` bytes at `at`, which must be in the file.
std::uint64_t TiffDirectory::number(std::uint64_t at, std::size_t bytes) const {
  return tiff_number(file_.subspan(at, bytes), big_endian_);
}

TiffDirectory::TiffDirectory(Bytes file, std::uint64_t offset)
    : file_(file),
      big_endian_(is_big_endian_tiff(file)),
      big_(file.size() > 3 && (file[2] == std::byte{43} || file[3] == std::byte{43})) {
  const std::size_t count_bytes = big_ ? 8 : 2;
  const std::uint64_t field_bytes = big_ ? 20 : 12;
  if (offset < 8 || offset > file.size() || file.size() - offset < count_bytes)
    fail_tiff("a directory lies outside the file");
  count_ = number(offset, count_bytes);
  if (count_ == 0) fail_tiff("empty directory");
  if (count_ > kMaxTiffFields)
    fail_tiff("more than " + std::to_string(kMaxTiffFields) + " fields in a directory");
  first_ = offset + count_bytes;
  if (file.size() - first_ < count_ * field_bytes) fail_tiff("a directory lies outside the file");
}

std::optional<TiffValues> TiffDirectory::find(TiffTag tag, bool lenient) const {
  const std::size_t count_bytes = big_ ? 8 : 4;  // also the size of an offset
  std::optional<TiffValues> found;
  for (std::uint64_t i = 0; i < count_; ++i) {
    const std::uint64_t at = first_ + i * (big_ ? 20 : 12);
    if (number(at, 2) != static_cast<std::uint64_t>(tag)) continue;
    const std::string name = "field " + std::to_string(static_cast<int>(tag));
    if (found && lenient) continue;
    if (found) fail_tiff("duplicate " + name);
    const std::size_t each = value_bytes(number(at + 2, 2));
    if (each == 0) fail_tiff(name + " has an invalid type");
    const std::uint64_t count = number(at + 4, count_bytes);
    if (count == 0) fail_tiff(name + " has no value");
    if (count > file_.size() / each) fail_tiff("the values of " + name + " lie outside the file");
    const std::uint64_t bytes = count * each;
    const std::uint64_t inside = at + 4 + count_bytes;
    const std::uint64_t start = bytes <= count_bytes ? inside : number(inside, count_bytes);
    if (start > file_.size() || file_.size() - start < bytes)
      fail_tiff("the values of " + name + " lie outside the file");
    found = TiffValues(file_.subspan(start, bytes), each, big_endian_);
  }
  return found;
}

std::optional<TiffRawField> TiffDirectory::find_raw(TiffTag tag) const {
  constexpr std::uint64_t kBytes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8};  // by type
  const std::size_t count_bytes = big_ ? 8 : 4;
  for (std::uint64_t i = 0; i < count_; ++i) {
    const std::uint64_t at = first_ + i * (big_ ? 20 : 12);
    if (number(at, 2) != static_cast<std::uint64_t>(tag)) continue;
    const std::uint64_t type = number(at + 2, 2), count = number(at + 4, count_bytes);
    if (type == 0 || type >= std::size(kBytes) || count == 0 || count > file_.size() / kBytes[type])
      return std::nullopt;
    const std::uint64_t bytes = count * kBytes[type], inside = at + 4 + count_bytes;
    const std::uint64_t start = bytes <= count_bytes ? inside : number(inside, count_bytes);
    if (start > file_.size() || file_.size() - start < bytes) return std::nullopt;
    return TiffRawField{static_cast<std::uint16_t>(type), count, file_.subspan(start, bytes)};
  }
  return std::nullopt;
}

std::vector<std::uint16_t> TiffDirectory::tags() const {
  std::vector<std::uint16_t> tags;
  for (std::uint64_t i = 0; i < count_; ++i)
    tags.push_back(static_cast<std::uint16_t>(number(first_ + i * (big_ ? 20 : 12), 2)));
  return tags;
}

std::uint64_t TiffDirectory::next() const {
  const std::uint64_t at = first_ + count_ * (big_ ? 20 : 12);
  const std::size_t bytes = big_ ? 8 : 4;
  if (file_.size() - at < bytes) fail_tiff("the file is truncated");
  return number(at, bytes);
}

std::optional<std::uint64_t> tiff_directory_offset(Bytes file, std::int64_t page) {
  const bool big_endian = is_big_endian_tiff(file);
  const bool big = file.size() > 3 && (file[2] == std::byte{43} || file[3] == std::byte{43});
  const std::size_t at = big ? 8 : 4;
  if (file.size() < 2 * at) fail_tiff("the file is truncated");
  std::uint64_t offset = tiff_number(file.subspan(at, at), big_endian);
  std::unordered_set<std::uint64_t> seen;
  for (std::int64_t i = 0; offset != 0; ++i) {
    if (i == page) return offset;
    if (i == kMaxTiffPages) fail_tiff("more than " + std::to_string(kMaxTiffPages) + " pages");
    if (!seen.insert(offset).second) fail_tiff("its directories form a loop");
    offset = TiffDirectory(file, offset).next();
  }
  return std::nullopt;
}

}  // namespace imgpipe
