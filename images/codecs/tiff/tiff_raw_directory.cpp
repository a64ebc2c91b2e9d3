#include "images/codecs/tiff/tiff_raw_directory.h"

#include <algorithm>
#include <iterator>
#include <string>

#include "images/error.h"
#include "images/files/input_file.h"
#include "images/memory/available_memory.h"

namespace imgpipe {

std::uint64_t TiffLayout::number(Bytes bytes) const {
  return tiff_number(bytes, big_endian);
}

void TiffLayout::put(std::uint64_t value, std::size_t bytes, std::byte* to) const {
  for (std::size_t i = 0; i < bytes; ++i)
    to[big_endian ? bytes - 1 - i : i] = static_cast<std::byte>(value >> (8 * i));
}

const TiffFieldEntry* TiffDirectoryEntries::find(TiffTag tag) const {
  const auto found = std::ranges::find(fields, static_cast<std::uint16_t>(tag), &TiffFieldEntry::tag);
  return found == fields.end() ? nullptr : &*found;
}

std::size_t tiff_type_bytes(std::uint64_t type) {
  // TIFF 6.0, section 2; 13: TIFF Technical Note 1; 16 to 18: BigTIFF.
  constexpr std::size_t kBytes[] = {0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8, 4, 0, 0, 8, 8, 8};
  return type < std::size(kBytes) ? kBytes[type] : 0;
}

std::vector<std::byte> read_tiff_bytes(const InputFile& file, std::uint64_t at, std::size_t bytes) {
  const auto size = static_cast<std::uint64_t>(file.size_bytes());
  if (at > size || size - at < bytes) throw Error(ErrorKind::input, "TIFF: the file is truncated");
  std::vector<std::byte> read(bytes);
  if (file.read_at(static_cast<std::int64_t>(at), read) < bytes)
    throw Error(ErrorKind::input, "TIFF: the file is truncated");
  return read;
}

TiffDirectoryEntries read_tiff_directory(const InputFile& file, const TiffLayout& layout,
                                         std::uint64_t offset) {
  // Most directories need only one read.
  constexpr std::size_t kInitialBytes = 1024;
  const auto size = static_cast<std::uint64_t>(file.size_bytes());
  const auto outside = [] { return Error(ErrorKind::input, "TIFF: a directory lies outside the file"); };
  if (offset < 8 || offset > size || size - offset < layout.count_bytes()) throw outside();
  std::vector<std::byte> bytes =
      read_tiff_bytes(file, offset, std::min<std::uint64_t>(kInitialBytes, size - offset));
  const std::uint64_t count = layout.number(Bytes(bytes).first(layout.count_bytes()));
  if (count == 0) throw Error(ErrorKind::input, "TIFF: empty directory");
  if (count > kMaxTiffFields)
    throw Error(ErrorKind::input,
                "TIFF: more than " + std::to_string(kMaxTiffFields) + " fields in a directory");
  const std::size_t needed = layout.directory_bytes(count);
  if (needed > size - offset) throw outside();
  if (bytes.size() < needed) bytes = read_tiff_bytes(file, offset, needed);
  TiffDirectoryEntries directory;
  directory.fields.reserve(count);
  Bytes at = Bytes(bytes).subspan(layout.count_bytes());
  for (std::uint64_t i = 0; i < count; ++i, at = at.subspan(layout.field_bytes())) {
    TiffFieldEntry field{.tag = static_cast<std::uint16_t>(layout.number(at.first(2))),
                         .type = static_cast<std::uint16_t>(layout.number(at.subspan(2, 2))),
                         .count = layout.number(at.subspan(4, layout.offset_bytes()))};
    std::ranges::copy(at.subspan(4 + layout.offset_bytes(), layout.offset_bytes()), field.position.begin());
    // Clamps the count: values longer than the file are out of bounds anyway.
    const std::size_t each = tiff_type_bytes(field.type);
    field.bytes = each == 0 ? 0 : std::min(field.count, size + 1) * each;
    directory.fields.push_back(field);
  }
  directory.next = layout.number(at.first(layout.offset_bytes()));
  return directory;
}

std::vector<std::uint64_t> read_tiff_numbers(const InputFile& file, const TiffLayout& layout,
                                             const TiffFieldEntry* field, std::uint64_t most) {
  if (field == nullptr || field->count == 0) return {};
  const std::size_t each = tiff_type_bytes(field->type);
  // Each byte of texts and raw bytes counts as a number, like in TiffDirectory::find().
  const bool is_number = field->type == 1 || field->type == 2 || field->type == 3 || field->type == 4 ||
                         field->type == 7 || field->type == 16;
  if (!is_number) return {};
  const auto size = static_cast<std::uint64_t>(file.size_bytes());
  std::vector<std::byte> read;
  Bytes values = Bytes(field->position).first(std::min<std::uint64_t>(field->bytes, layout.offset_bytes()));
  if (!field->is_inside(layout)) {
    const std::uint64_t at = field->offset(layout);
    if (at > size || size - at < field->bytes) return {};
    const std::uint64_t count = std::min(field->count, most);
    check_available(static_cast<std::int64_t>(2 * count * sizeof(std::uint64_t)));
    read = read_tiff_bytes(file, at, count * each);
    values = read;
  }
  std::vector<std::uint64_t> numbers;
  numbers.reserve(values.size() / each);
  for (std::size_t i = 0; i + each <= values.size() && numbers.size() < most; i += each)
    numbers.push_back(layout.number(values.subspan(i, each)));
  return numbers;
}

std::uint64_t read_tiff_number(const InputFile& file, const TiffLayout& layout,
                               const TiffDirectoryEntries& directory, TiffTag tag, std::uint64_t otherwise) {
  const std::vector<std::uint64_t> values = read_tiff_numbers(file, layout, directory.find(tag), 1);
  return values.empty() ? otherwise : values.front();
}

}  // namespace imgpipe
