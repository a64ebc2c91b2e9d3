#include "tests/support/exif_maker.h"

#include <stdexcept>

namespace imgpipe::test {
namespace {

std::size_t unit_bytes(int type) {
  switch (type) {
    case 3:
    case 8:
      return 2;
    case 4:
    case 5:
    case 9:
    case 10:
      return 4;
    default:
      return 1;
  }
}

std::uint32_t numbers_a_value(int type) {
  return type == 5 || type == 10 ? 2 : 1;
}

void put_number(std::vector<std::byte>& out, std::size_t at, std::uint32_t value, std::size_t bytes,
                bool big) {
  if (out.size() < at + bytes) out.resize(at + bytes);
  for (std::size_t i = 0; i < bytes; ++i)
    out[at + i] = static_cast<std::byte>(value >> (8 * (big ? bytes - 1 - i : i)));
}

// Returns the directory's offset. `next`: the first directory's link, to the thumbnail's.
std::size_t put_directory(std::vector<std::byte>& out, const ExifFields& fields, bool big) {
  const std::size_t begin = (out.size() + 1) / 2 * 2;
  put_number(out, begin, static_cast<std::uint32_t>(fields.size()), 2, big);
  std::size_t at = begin + 2;
  put_number(out, at + fields.size() * 12, 0, 4, big);
  for (const auto& [tag, field] : fields) {
    const std::size_t unit = unit_bytes(field.type), bytes = unit * field.values.size();
    const auto count = static_cast<std::uint32_t>(field.values.size()) / numbers_a_value(field.type);
    put_number(out, at, static_cast<std::uint32_t>(tag), 2, big);
    put_number(out, at + 2, static_cast<std::uint32_t>(field.type), 2, big);
    put_number(out, at + 4, field.count > 0 ? field.count : count, 4, big);
    std::size_t position = at + 8;
    if (bytes > 4) {
      position = (out.size() + 1) / 2 * 2;
      put_number(out, at + 8, static_cast<std::uint32_t>(position), 4, big);
    }
    for (const std::uint32_t value : field.values) {
      put_number(out, position, value, unit, big);
      position += unit;
    }
    at += 12;
  }
  return begin;
}

class ExifReading {
 public:
  explicit ExifReading(std::span<const std::byte> block) : block_(block), used_(block.size()) {}

  ExifParts run() {
    if (block_.size() < 8) throw std::runtime_error("no header");
    parts_.big_endian = block_[0] == std::byte{'M'};
    if (number(2, 2) != 42) throw std::runtime_error("no 42");
    use(0, 8);
    parts_.image = directory(number(4, 4), true);
    parts_.exif = below(parts_.image, 0x8769);
    parts_.gps = below(parts_.image, 0x8825);
    parts_.interoperability = below(parts_.exif, 0xA005);
    return parts_;
  }

 private:
  std::uint32_t number(std::size_t at, std::size_t bytes) const {
    if (at + bytes > block_.size()) throw std::runtime_error("outside");
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i)
      value =
          value << 8 | std::to_integer<std::uint32_t>(block_[at + (parts_.big_endian ? i : bytes - 1 - i)]);
    return value;
  }

  void use(std::size_t at, std::size_t bytes) {
    if (at + bytes > block_.size()) throw std::runtime_error("outside");
    for (std::size_t i = at; i < at + bytes; ++i) {
      if (used_[i]) throw std::runtime_error("used twice");
      used_[i] = true;
    }
  }

  ExifFields below(ExifFields& of, int tag) {
    const auto found = of.find(tag);
    if (found == of.end()) return {};
    const std::uint32_t position = found->second.values.at(0);
    of.erase(found);
    return directory(position, false);
  }

  ExifFields directory(std::size_t begin, bool first) {
    ExifFields fields;
    const std::size_t count = number(begin, 2);
    use(begin, 2 + count * 12 + 4);
    int last = -1;
    for (std::size_t at = begin + 2; at < begin + 2 + count * 12; at += 12) {
      const int tag = static_cast<int>(number(at, 2));
      if (tag <= last) throw std::runtime_error("not ascending");
      last = tag;
      ExifField field{.type = static_cast<int>(number(at + 2, 2)), .values = {}, .count = number(at + 4, 4)};
      const std::size_t unit = unit_bytes(field.type);
      const std::size_t numbers = std::size_t{field.count} * numbers_a_value(field.type);
      std::size_t position = at + 8;
      if (unit * numbers > 4) {
        position = number(at + 8, 4);
        use(position, unit * numbers);
      }
      for (std::size_t i = 0; i < numbers; ++i) field.values.push_back(number(position + i * unit, unit));
      field.count = 0;
      fields[tag] = field;
    }
    const std::uint32_t next = number(begin + 2 + count * 12, 4);
    if (next != 0 && !first) throw std::runtime_error("a directory after a lower one");
    if (next != 0) parts_.thumbnail = directory(next, false);
    return fields;
  }

  std::span<const std::byte> block_;
  std::vector<bool> used_;
  ExifParts parts_;
};

}  // namespace

std::vector<std::byte> ExifParts::build() const {
  std::vector<std::byte> out;
  put_number(out, 0, big_endian ? 0x4D4D : 0x4949, 2, true);
  put_number(out, 2, 42, 2, big_endian);
  put_number(out, 4, 0, 4, big_endian);
  ExifFields first = image, second = exif;
  if (!interoperability.empty())
    second[0xA005] = {4, {static_cast<std::uint32_t>(put_directory(out, interoperability, big_endian))}};
  if (!second.empty())
    first[0x8769] = {4, {static_cast<std::uint32_t>(put_directory(out, second, big_endian))}};
  if (!gps.empty()) first[0x8825] = {4, {static_cast<std::uint32_t>(put_directory(out, gps, big_endian))}};
  const std::size_t begin = put_directory(out, first, big_endian);
  put_number(out, 4, static_cast<std::uint32_t>(begin), 4, big_endian);
  if (!thumbnail.empty()) {
    const std::size_t position = put_directory(out, thumbnail, big_endian);
    put_number(out, begin + 2 + first.size() * 12, static_cast<std::uint32_t>(position), 4, big_endian);
  }
  return out;
}

ExifParts camera_exif(int orientation, bool big_endian) {
  ExifParts parts;
  parts.big_endian = big_endian;
  parts.image = {{0x010F, exif_text("Maker")},
                 {0x0110, exif_text("M1")},
                 {0x0112, {3, {static_cast<std::uint32_t>(orientation)}}},
                 {0x011A, {5, {72, 1}}},
                 {0x8298, exif_text("A Person")}};
  parts.exif = {{0x829A, {5, {1, 250}}},         {0x9000, {7, {'0', '2', '3', '2'}}},
                {0x9204, {10, {0xFFFFFFFF, 3}}}, {0x927C, {7, std::vector<std::uint32_t>(300, 7)}},
                {0xA002, {4, {9999}}},           {0xA003, {3, {8888}}}};
  parts.gps = {{0x0000, {1, {2, 3, 0, 0}}}, {0x0001, exif_text("N")}, {0x0002, {5, {48, 1, 8, 1, 3, 2}}}};
  parts.interoperability = {{0x0001, exif_text("R98")}};
  parts.thumbnail = {{0x0103, {3, {6}}}, {0x0201, {4, {8}}}, {0x0202, {4, {100}}}};
  return parts;
}

ExifParts read_exif(std::span<const std::byte> block) {
  return ExifReading(block).run();
}

}  // namespace imgpipe::test
