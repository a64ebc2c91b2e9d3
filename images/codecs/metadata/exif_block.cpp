#include "images/codecs/metadata/exif_block.h"

#include <algorithm>
#include <array>
#include <bit>
#include <string>
#include <utility>

#include "images/codecs/metadata/metadata.h"
#include "images/codecs/sniff.h"
#include "images/error.h"

namespace imgpipe {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::uint16_t kOrientation = 0x0112, kXResolution = 0x011A, kYResolution = 0x011B,
                        kResolutionUnit = 0x0128, kSoftware = 0x0131, kExifPointer = 0x8769,
                        kGpsPointer = 0x8825, kInteroperabilityPointer = 0xA005, kMakerNote = 0x927C,
                        kWidth = 0xA002, kHeight = 0xA003, kXmp = 0x02BC, kIptc = 0x83BB, kProfile = 0x8773;
constexpr std::uint16_t kShort = 3, kLong = 4, kRational = 5;
constexpr std::size_t kHeaderBytes = 8, kEntryBytes = 12;

// Fields that are not preserved: how pixels and thumbnails are stored; XMP and the profile, which are stored
// separately; structures that are not checked (IPTC, Photoshop, private data of DNG and printers);
// directories that are not read; padding.
constexpr std::array<std::uint16_t, 36> kDroppedTags{
    0x00FE, 0x00FF, 0x0100, 0x0101, 0x0102, 0x0103, 0x0106, 0x010A, 0x0111, 0x0115, 0x0116, 0x0117,
    0x011C, 0x0122, 0x0123, 0x013D, 0x0140, 0x0142, 0x0143, 0x0144, 0x0145, 0x014A, 0x0152, 0x0153,
    0x015B, 0x0200, 0x0201, 0x0202, 0x02BC, 0x83BB, 0x8649, 0x8773, 0x927C, 0xEA1C, 0xC634, 0xC4A5};
// The first directory's fields that describe the image rather than the file: description, make, model,
// orientation, dates, artist, host, copyright. The Software field, in which outputs store the mark, is read
// too.
constexpr std::array<std::uint16_t, 8> kImageTags{0x010E, 0x010F, 0x0110, 0x0112,
                                                  0x0132, 0x013B, 0x013C, 0x8298};

std::size_t bytes_of_type(std::uint32_t type) {
  constexpr std::array<std::size_t, 13> kBytes{0, 1, 1, 2, 4, 8, 1, 1, 2, 4, 8, 4, 8};
  return type < kBytes.size() ? kBytes[type] : 0;
}

// Returns the size of the unit that byte order applies to; for fractions, that of each half.
std::size_t unit_of_type(std::uint32_t type) {
  return type == 5 || type == 10 ? 4 : bytes_of_type(type);
}

class ExifParser {
 public:
  ExifParser(Bytes block, bool of_tiff_file) : block_(block), of_tiff_file_(of_tiff_file) {}

  ExifBlock run() {
    using namespace std::string_view_literals;
    ExifBlock made;
    made.big_endian = matches_at(block_, 0, "MM\0*"sv);
    if (!made.big_endian && !matches_at(block_, 0, "II*\0"sv)) fail_damaged("no TIFF header");
    big_endian_ = made.big_endian;
    claim(0, kHeaderBytes, false);
    made.image = directory(number(4, 4));
    made.exif = sub_directory(made.image, kExifPointer);
    made.gps = sub_directory(made.image, kGpsPointer);
    made.interoperability = sub_directory(made.exif, kInteroperabilityPointer);
    for (auto* entries : {&made.image, &made.exif, &made.gps, &made.interoperability}) tidy(*entries);
    made.has_maker_note = had_maker_note_;
    made.had_iptc = had_iptc_;
    made.had_xmp = had_xmp_;
    made.had_profile = had_profile_;
    made.had_thumbnail = !of_tiff_file_ && has_thumbnail();
    check_overlaps();
    return made;
  }

 private:
  struct Range {
    std::uint64_t begin = 0, end = 0;
    bool value = false;
    // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 takes the comparisons made of it for pointers
    friend auto operator<=>(const Range&, const Range&) = default;
  };

  [[nodiscard]] std::uint32_t number(std::size_t at, std::size_t count) const {
    return big_endian_ ? big_endian(block_, at, count) : little_endian(block_, at, count);
  }

  // Records the bytes of a directory or value. Throws if they are out of bounds.
  void claim(std::uint64_t begin, std::uint64_t bytes, bool value) {
    if (begin > block_.size() || block_.size() - begin < bytes) fail_damaged("an offset is out of bounds");
    ranges_.push_back({begin, begin + bytes, value});
  }

  // Whether a non-empty directory follows the first one.
  [[nodiscard]] bool has_thumbnail() const {
    const std::uint64_t first = number(4, 4), link = first + 2 + number(first, 2) * kEntryBytes;
    if (link + 4 > block_.size()) return false;
    const std::uint64_t next = number(link, 4);
    return next >= kHeaderBytes && next + 2 <= block_.size() && number(next, 2) > 0;
  }

  std::vector<ExifEntry> directory(std::uint32_t at) {
    if (at < kHeaderBytes) fail_damaged("an offset points into the header");
    if (at > block_.size() || block_.size() - at < 2) fail_damaged("an offset is out of bounds");
    const std::size_t count = number(at, 2);
    if (count == 0 || count > kMaxExifEntries)
      fail_damaged("a directory has " + std::to_string(count) + " entries");
    claim(at, 2 + count * kEntryBytes, false);
    std::vector<ExifEntry> entries;
    for (std::size_t i = 0; i < count; ++i) take_entry(at + 2 + i * kEntryBytes, entries);
    std::ranges::stable_sort(entries, {}, &ExifEntry::tag);
    const auto same = [](const ExifEntry& a, const ExifEntry& b) { return a.tag == b.tag; };
    entries.erase(std::unique(entries.begin(), entries.end(), same), entries.end());
    return entries;
  }

  void take_entry(std::size_t at, std::vector<ExifEntry>& entries) {
    ExifEntry entry{.tag = static_cast<std::uint16_t>(number(at, 2)),
                    .type = static_cast<std::uint16_t>(number(at + 2, 2)),
                    .count = number(at + 4, 4),
                    .value = {}};
    had_maker_note_ = had_maker_note_ || entry.tag == kMakerNote;
    if (depth_ == 0 && !of_tiff_file_ && entry.count > 0) {
      had_iptc_ = had_iptc_ || entry.tag == kIptc;
      had_xmp_ = had_xmp_ || entry.tag == kXmp;
      had_profile_ = had_profile_ || entry.tag == kProfile;
    }
    if (is_dropped(entry)) return;
    const std::uint64_t bytes = std::uint64_t{entry.count} * bytes_of_type(entry.type);
    const std::uint64_t position = bytes <= 4 ? at + 8 : number(at + 8, 4);
    if (bytes > 4) {
      if (position < kHeaderBytes) fail_damaged("an offset points into the header");
      claim(position, bytes, true);
    }
    entry.value = block_.subspan(position, bytes);
    entries.push_back(entry);
  }

  [[nodiscard]] bool is_dropped(const ExifEntry& entry) const {
    if (bytes_of_type(entry.type) == 0 || entry.count == 0) return true;
    const bool pointer = entry.tag == kExifPointer || entry.tag == kGpsPointer;
    if (of_tiff_file_ && depth_ == 0) {
      // Such a long description is a document of its own (OME-XML).
      constexpr std::uint32_t kMaxDescription = 8192;
      if (entry.tag == kImageTags[0] && entry.count > kMaxDescription) return true;
      return !pointer && entry.tag != kSoftware &&
             std::ranges::find(kImageTags, entry.tag) == kImageTags.end();
    }
    return std::ranges::find(kDroppedTags, entry.tag) != kDroppedTags.end();
  }

  std::vector<ExifEntry> sub_directory(const std::vector<ExifEntry>& of, std::uint16_t tag) {
    const auto entry = std::ranges::find(of, tag, &ExifEntry::tag);
    if (entry == of.end()) return {};
    if (entry->type != kLong || entry->count != 1) fail_damaged("an offset has the wrong type or count");
    ++depth_;
    return directory(big_endian_ ? big_endian(entry->value, 0, 4) : little_endian(entry->value, 0, 4));
  }

  // Removes pointers to directories; the output gets new ones.
  static void tidy(std::vector<ExifEntry>& entries) {
    std::erase_if(entries, [](const ExifEntry& e) {
      return e.tag == kExifPointer || e.tag == kGpsPointer || e.tag == kInteroperabilityPointer;
    });
  }

  void check_overlaps() {
    std::ranges::sort(ranges_);
    for (std::size_t i = 1; i < ranges_.size(); ++i) {
      const bool same = ranges_[i] == ranges_[i - 1] && ranges_[i].value;
      if (ranges_[i].begin < ranges_[i - 1].end && !same) fail_damaged("overlapping parts");
    }
  }

  Bytes block_;
  bool of_tiff_file_;
  bool big_endian_ = false;
  bool had_maker_note_ = false, had_iptc_ = false, had_xmp_ = false, had_profile_ = false;
  int depth_ = 0;  // 0: in the first directory
  std::vector<Range> ranges_;
};

// Writes directories one after the other.
class ExifBuilder {
 public:
  ExifBuilder(bool from_big_endian, bool to_big_endian, std::uint32_t position)
      : from_big_(from_big_endian), to_big_(to_big_endian), place_(position) {}

  // Writes a directory followed by its values.
  void add(const std::vector<ExifEntry>& entries) {
    append(entries.size(), 2);
    std::size_t outside = place_ + out_.size() + entries.size() * kEntryBytes + 4;
    for (const ExifEntry& entry : entries) {
      append(entry.tag, 2);
      append(entry.number ? kLong : entry.type, 2);
      append(entry.number ? 1 : entry.count, 4);
      if (entry.number) {
        append(*entry.number, 4);
      } else if (entry.value.size() <= 4) {
        append_value(entry);
        out_.resize(out_.size() + 4 - entry.value.size());
      } else {
        append(outside, 4);
        outside += outside_bytes(entry);
      }
    }
    append(0, 4);  // no further directory
    for (const ExifEntry& entry : entries) {
      if (outside_bytes(entry) == 0) continue;
      append_value(entry);
      out_.resize(out_.size() + outside_bytes(entry) - entry.value.size());
    }
  }

  void append_header() {
    append_text(out_, to_big_ ? "MM" : "II");
    append(42, 2);
    append(kHeaderBytes, 4);
  }

  [[nodiscard]] static std::size_t outside_bytes(const ExifEntry& entry) {
    return entry.number || entry.value.size() <= 4 ? 0 : (entry.value.size() + 1) / 2 * 2;
  }
  // Returns the size of a directory with its values; 0 if it is empty and not written.
  [[nodiscard]] static std::size_t bytes_of(const std::vector<ExifEntry>& entries) {
    if (entries.empty()) return 0;
    std::size_t bytes = 2 + entries.size() * kEntryBytes + 4;
    for (const ExifEntry& entry : entries) bytes += outside_bytes(entry);
    return bytes;
  }

  void append_value(const ExifEntry& entry) {
    const std::size_t unit = std::max<std::size_t>(1, unit_of_type(entry.type));
    for (std::size_t i = 0; i < entry.value.size(); ++i) {
      const std::size_t at = i / unit * unit + (from_big_ == to_big_ ? i % unit : unit - 1 - i % unit);
      out_.push_back(entry.value[at]);
    }
  }

  [[nodiscard]] std::vector<std::byte> take() { return std::move(out_); }

 private:
  void append(std::size_t value, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t shift = 8 * (to_big_ ? count - 1 - i : i);
      out_.push_back(static_cast<std::byte>(value >> shift));
    }
  }

  bool from_big_, to_big_;
  std::size_t place_;
  std::vector<std::byte> out_;
};

void insert_pointer(std::vector<ExifEntry>& entries, std::uint16_t tag, std::size_t position) {
  ExifEntry entry;
  entry.tag = tag;
  entry.number = static_cast<std::uint32_t>(position);
  entries.insert(std::ranges::upper_bound(entries, tag, {}, &ExifEntry::tag), entry);
}

void append_number(std::vector<std::byte>& out, std::uint32_t value, std::size_t bytes, bool big_endian) {
  for (std::size_t i = 0; i < bytes; ++i)
    out.push_back(static_cast<std::byte>(value >> 8 * (big_endian ? bytes - 1 - i : i)));
}

void set_number(std::vector<ExifEntry>& entries, std::uint16_t tag, std::uint32_t value) {
  const auto entry = std::ranges::find(entries, tag, &ExifEntry::tag);
  if (entry != entries.end()) entry->number = value;
}

// Whether the entry is an invalid orientation. Readers ignore invalid orientations, but some report them.
bool is_invalid_orientation(const ExifEntry& entry, const ExifBlock& block) {
  if (entry.tag != kOrientation) return false;
  if (entry.type != kShort || entry.count != 1) return true;
  const std::uint32_t value =
      block.big_endian ? big_endian(entry.value, 0, 2) : little_endian(entry.value, 0, 2);
  return value < 1 || value > 8;
}

}  // namespace

bool ExifBlock::empty() const {
  return image.empty() && exif.empty() && interoperability.empty() && gps.empty();
}

ExifBlock parse_exif(std::span<const std::byte> block, bool of_tiff_file) {
  return ExifParser(block, of_tiff_file).run();
}

bool states_orientation(std::span<const std::byte> block) {
  if (block.empty()) return false;
  try {
    const ExifBlock parsed = parse_exif(block);
    return std::ranges::find(parsed.image, kOrientation, &ExifEntry::tag) != parsed.image.end();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::memory) throw;
    return false;
  }
}

void adapt_exif(ExifBlock& block, std::optional<Orientation> orientation, std::int64_t width,
                std::int64_t height) {
  // The values 1 to 8 in two bytes, the size that EXIF readers expect; little-endian from the second byte.
  static constexpr std::array kValues = [] {
    std::array<std::byte, 17> bytes{};
    for (std::size_t value = 1; value <= 8; ++value) bytes[2 * value - 1] = static_cast<std::byte>(value);
    return bytes;
  }();
  if (!orientation)
    std::erase_if(block.image, [&](const ExifEntry& e) { return is_invalid_orientation(e, block); });
  const auto entry = std::ranges::find(block.image, kOrientation, &ExifEntry::tag);
  if (orientation && entry != block.image.end()) {
    const std::size_t last = 2 * static_cast<std::size_t>(*orientation) - 1;
    *entry = {.tag = kOrientation,
              .type = kShort,
              .count = 1,
              .value = Bytes(kValues).subspan(block.big_endian ? last - 1 : last, 2)};
  }
  set_number(block.exif, kWidth, static_cast<std::uint32_t>(width));
  set_number(block.exif, kHeight, static_cast<std::uint32_t>(height));
}

void set_exif_resolution(ExifBlock& block, const std::optional<Resolution>& resolution,
                         std::vector<std::byte>& storage) {
  const auto removed = std::erase_if(block.image, [](const ExifEntry& e) {
    return e.tag == kXResolution || e.tag == kYResolution || e.tag == kResolutionUnit;
  });
  if (removed == 0 || !resolution) return;
  storage.clear();
  for (const std::uint32_t value : {resolution->x, resolution->x_of, resolution->y, resolution->y_of})
    append_number(storage, value, 4, block.big_endian);
  append_number(storage, 1 + static_cast<std::uint32_t>(resolution->unit), 2, block.big_endian);
  const Bytes bytes = storage;
  block.image.push_back({.tag = kXResolution, .type = kRational, .count = 1, .value = bytes.first(8)});
  block.image.push_back({.tag = kYResolution, .type = kRational, .count = 1, .value = bytes.subspan(8, 8)});
  block.image.push_back({.tag = kResolutionUnit, .type = kShort, .count = 1, .value = bytes.last(2)});
  std::ranges::sort(block.image, {}, &ExifEntry::tag);
}

std::vector<std::byte> build_exif(const ExifBlock& block, std::size_t max_bytes) {
  std::vector<ExifEntry> image = block.image, exif = block.exif;
  const bool has_exif = !exif.empty() || !block.interoperability.empty();
  if (!block.interoperability.empty()) insert_pointer(exif, kInteroperabilityPointer, 0);
  if (has_exif) insert_pointer(image, kExifPointer, 0);
  if (!block.gps.empty()) insert_pointer(image, kGpsPointer, 0);
  const std::size_t exif_at = kHeaderBytes + ExifBuilder::bytes_of(image);
  const std::size_t interoperability_at = exif_at + ExifBuilder::bytes_of(exif);
  const std::size_t gps_at = interoperability_at + ExifBuilder::bytes_of(block.interoperability);
  const std::size_t end = gps_at + ExifBuilder::bytes_of(block.gps);
  if (end > max_bytes) throw Error(ErrorKind::input, "longer than " + std::to_string(max_bytes) + " bytes");
  set_number(image, kExifPointer, static_cast<std::uint32_t>(exif_at));
  set_number(image, kGpsPointer, static_cast<std::uint32_t>(gps_at));
  set_number(exif, kInteroperabilityPointer, static_cast<std::uint32_t>(interoperability_at));
  ExifBuilder building(block.big_endian, block.big_endian, 0);
  building.append_header();
  for (const auto* entries :
       {&std::as_const(image), &std::as_const(exif), &block.interoperability, &block.gps})
    if (!entries->empty()) building.add(*entries);
  return building.take();
}

std::vector<TiffMetadataField> exif_image_fields(const ExifBlock& block) {
  std::vector<TiffMetadataField> fields;
  for (const ExifEntry& entry : block.image) {
    if (entry.number || std::ranges::find(kImageTags, entry.tag) == kImageTags.end()) continue;
    ExifBuilder building(block.big_endian, std::endian::native == std::endian::big, 0);
    building.append_value(entry);
    fields.push_back({entry.tag, entry.type, entry.count, building.take()});
  }
  return fields;
}

ExifDirectories build_exif_directories(const ExifBlock& block, std::uint32_t position) {
  std::vector<ExifEntry> exif = block.exif;
  if (!block.interoperability.empty()) insert_pointer(exif, kInteroperabilityPointer, 0);
  const std::size_t interoperability_at = position + ExifBuilder::bytes_of(exif);
  const std::size_t gps_at = interoperability_at + ExifBuilder::bytes_of(block.interoperability);
  set_number(exif, kInteroperabilityPointer, static_cast<std::uint32_t>(interoperability_at));
  ExifBuilder building(block.big_endian, std::endian::native == std::endian::big, position);
  for (const auto* entries : {&std::as_const(exif), &block.interoperability, &block.gps})
    if (!entries->empty()) building.add(*entries);
  return {building.take(), exif.empty() ? 0 : position,
          block.gps.empty() ? 0 : static_cast<std::uint32_t>(gps_at)};
}

}  // namespace imgpipe
