#include "images/codecs/tiff/tiff_metadata.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "images/codecs/icc.h"
#include "images/codecs/metadata/exif_block.h"
#include "images/codecs/metadata/iptc.h"
#include "images/codecs/sniff.h"
#include "images/error.h"

namespace imgpipe {
namespace {

constexpr std::uint16_t kAscii = 2, kU16 = 3, kU32 = 4, kRational = 5, kDouble = 12;

// Fields that are not read here, with the name to report. Fields with an empty name are read elsewhere or
// describe how pixels are stored.
struct OtherField {
  std::uint16_t tag;
  std::string_view name;
};
constexpr std::array<OtherField, 38> kOtherFields{{{269, "DocumentName"},
                                                   {285, "PageName"},
                                                   {33'628, "MetaMorph metadata"},
                                                   {34'118, "Zeiss SEM metadata"},
                                                   {34'412, "Zeiss LSM metadata"},
                                                   {34'680, "FEI SEM metadata"},
                                                   {34'682, "FEI Titan metadata"},
                                                   {33'560, "Olympus SIS metadata"},
                                                   {37'724, "Photoshop layers"},
                                                   {42'112, "GDAL metadata"},
                                                   {42'113, "GDAL NoData"},
                                                   {50'838, "ImageJ metadata"},
                                                   {50'839, "ImageJ metadata"},
                                                   {51'123, "Micro-Manager metadata"},
                                                   {32'781, "ImageID"},
                                                   {32'932, "Wang annotation"},
                                                   {33'432, ""},
                                                   {32'995, ""},
                                                   {32'996, ""},
                                                   {32'997, ""},
                                                   {32'998, ""},
                                                   {33'421, ""},
                                                   {33'422, ""},
                                                   {33'550, ""},
                                                   {33'723, ""},
                                                   {33'922, ""},
                                                   {34'264, ""},
                                                   {34'377, ""},
                                                   {34'665, ""},
                                                   {34'675, ""},
                                                   {34'735, ""},
                                                   {34'736, ""},
                                                   {34'737, ""},
                                                   {34'853, ""},
                                                   {37'439, ""},
                                                   {50'341, ""},
                                                   {50'831, ""},
                                                   {59'932, ""}}};

class TiffMetadataFinder {
 public:
  TiffMetadataFinder(Bytes file, FoundMetadata& found)
      : file_(file),
        found_(found),
        directory_(file, tiff_directory_offset(file, 0).value_or(0)),
        big_endian_(is_big_endian_tiff(file)) {}

  void run() {
    take_bytes(TiffTag::profile, kMaxProfileBytes, found_.icc, "");
    take_bytes(TiffTag::xmp, kMaxXmpBytes, found_.xmp, "XMP (too long)");
    found_.resolution = tiff_resolution(directory_, big_endian_);
    take_exif();
    take_field(TiffTag::description, kAscii, 1);
    take_geography();
    take_iptc();
    report_unread_fields();
  }

 private:
  void take_bytes(TiffTag tag, std::size_t most, std::vector<std::byte>& into, const char* too_long) {
    const std::optional<TiffRawField> field = directory_.find_raw(tag);
    if (!field) return;
    const bool fits = field->bytes.size() <= most;
    if (!fits && *too_long != 0) {
      found_.lost.emplace_back(too_long);
      return;
    }
    const Bytes bytes = field->bytes.first(std::min(field->bytes.size(), most));
    into.assign(bytes.begin(), bytes.end());
  }

  void take_exif() {
    const bool big = tiff_number(file_.subspan(2, 2), big_endian_) == 43;
    if (!big) {
      found_.exif = file_;
      found_.exif_in_file = true;
    } else if (directory_.find_raw(TiffTag::exif) || directory_.find_raw(TiffTag::gps)) {
      found_.lost.emplace_back("EXIF (not supported in BigTIFF)");
    }
  }

  // IPTC is a separate field or a Photoshop resource. A field of 32-bit numbers may have been byte-swapped.
  void take_iptc() {
    if (const std::optional<TiffRawField> field = directory_.find_raw(TiffTag::iptc)) {
      std::vector<std::byte> iptc;
      take_bytes(TiffTag::iptc, kMaxIptcBytes, iptc, "IPTC (too long)");
      const bool swapped = field->type == kU32 && iptc.size() % 4 == 0 && !matches_at(iptc, 0, "\x1C") &&
                           matches_at(iptc, 3, "\x1C");
      for (std::size_t at = 0; swapped && at < iptc.size(); at += 4)
        std::reverse(iptc.begin() + static_cast<std::ptrdiff_t>(at),
                     iptc.begin() + static_cast<std::ptrdiff_t>(at + 4));
      found_.iptc = std::move(iptc);
    }
    if (const auto field = directory_.find_raw(TiffTag::photoshop))
      find_photoshop_metadata(field->bytes, found_);
  }

  // Reports unread fields that describe the image as lost. Private tags begin at 32768.
  void report_unread_fields() {
    for (const std::uint16_t tag : directory_.tags()) {
      const auto known = std::ranges::find(kOtherFields, tag, &OtherField::tag);
      const bool dng = tag >= 50'706 && tag < 51'123;
      if (known != kOtherFields.end()) {
        if (!known->name.empty()) found_.lose(std::string(known->name));
      } else if (tag >= 32'768 && !dng) {
        found_.lose("TIFF field " + std::to_string(tag));
      } else if (tag == static_cast<std::uint16_t>(TiffTag::dng_version)) {
        found_.lose("DNG fields");
      }
    }
  }

  // Returns nullptr for a field that is missing, too long, of another type, or with a wrong count.
  const TiffMetadataField* take_field(TiffTag tag, std::uint16_t type, std::uint64_t step) {
    const std::optional<TiffRawField> field = directory_.find_raw(tag);
    if (!field) return nullptr;
    if (field->type != type || field->count % step != 0 || field->bytes.size() > kMaxTiffFieldBytes) {
      damaged_ = damaged_ || tag != TiffTag::description;
      if (tag == TiffTag::description) found_.lost.emplace_back("description (damaged or too long)");
      return nullptr;
    }
    TiffMetadataField made{static_cast<std::uint16_t>(tag), type, field->count, {}};
    made.data.assign(field->bytes.begin(), field->bytes.end());
    const std::size_t unit = type == kDouble ? 8 : type == kU16 ? 2 : 1;
    if (big_endian_ != (std::endian::native == std::endian::big))
      for (auto at = made.data.begin(); at != made.data.end(); at += static_cast<std::ptrdiff_t>(unit))
        std::reverse(at, at + static_cast<std::ptrdiff_t>(unit));
    if (type == kAscii && made.data.back() != std::byte{0}) {
      made.data.push_back(std::byte{0});
      ++made.count;
    }
    found_.fields.push_back(std::move(made));
    return &found_.fields.back();
  }

  // Takes all GeoTIFF fields, or none if any is damaged.
  void take_geography() {
    const std::size_t before = found_.fields.size();
    found_.fields.reserve(before + 6);  // keeps pointers to elements valid
    take_field(TiffTag::pixel_scale, kDouble, 3);
    take_field(TiffTag::tie_points, kDouble, 6);
    take_field(TiffTag::transformation, kDouble, 16);
    const TiffMetadataField* const keys = take_field(TiffTag::geo_keys, kU16, 4);
    const TiffMetadataField* const numbers = take_field(TiffTag::geo_numbers, kDouble, 1);
    const TiffMetadataField* const texts = take_field(TiffTag::geo_texts, kAscii, 1);
    const bool is_valid = !damaged_ && (keys == nullptr || keys_fit(*keys, numbers, texts));
    if (is_valid) return;
    found_.fields.resize(before);
    found_.lost.emplace_back("GeoTIFF (damaged)");
  }

  // Checks the version and the key count, and that each key is a number or lies in one of the three fields
  // (section 7.1).
  static bool keys_fit(const TiffMetadataField& keys, const TiffMetadataField* numbers,
                       const TiffMetadataField* texts) {
    std::vector<std::uint16_t> values(keys.data.size() / 2);
    std::memcpy(values.data(), keys.data.data(), keys.data.size());
    if (values.size() < 4 || values[0] != 1 || values.size() < 4 + std::size_t{4} * values[3]) return false;
    for (std::size_t key = 4; key < 4 + std::size_t{4} * values[3]; key += 4) {
      const std::uint64_t position = values[key + 1], end = std::uint64_t{values[key + 2]} + values[key + 3];
      const std::uint64_t capacity =
          position == static_cast<std::uint64_t>(TiffTag::geo_keys)      ? values.size()
          : position == static_cast<std::uint64_t>(TiffTag::geo_numbers) ? count_of(numbers)
          : position == static_cast<std::uint64_t>(TiffTag::geo_texts)   ? count_of(texts)
                                                                         : 0;
      if (position != 0 && end > capacity) return false;
    }
    return true;
  }
  static std::uint64_t count_of(const TiffMetadataField* field) {
    return field == nullptr ? 0 : field->count;
  }

  Bytes file_;
  FoundMetadata& found_;
  TiffDirectory directory_;
  bool big_endian_;
  bool damaged_ = false;
};

std::vector<std::byte> number_bytes(std::uint32_t value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  return bytes;
}

}  // namespace

std::optional<Resolution> tiff_resolution(const TiffDirectory& directory, bool big_endian) {
  const auto x = directory.find_raw(TiffTag::x_resolution), y = directory.find_raw(TiffTag::y_resolution);
  const auto unit = directory.find_raw(TiffTag::resolution_unit);
  constexpr std::size_t kRationalBytes = 8;
  if (!x || !y || x->type != kRational || y->type != kRational || x->bytes.size() < kRationalBytes ||
      y->bytes.size() < kRationalBytes)
    return std::nullopt;
  const auto number = [&](const TiffRawField& field, std::size_t at, std::size_t bytes) {
    return static_cast<std::uint32_t>(tiff_number(field.bytes.subspan(at, bytes), big_endian));
  };
  const std::uint32_t unit_number = unit && unit->type == kU16 && unit->count > 0 ? number(*unit, 0, 2) : 2;
  const Resolution made{number(*x, 0, 4), number(*x, 4, 4), number(*y, 0, 4), number(*y, 4, 4),
                        static_cast<Resolution::Unit>(unit_number - 1)};
  if (unit_number < 1 || unit_number > 3 || made.x == 0 || made.x_of == 0 || made.y == 0 || made.y_of == 0)
    return std::nullopt;
  return made;
}

std::optional<Resolution> exif_resolution(std::span<const std::byte> exif) {
  if (!is_tiff(exif)) return std::nullopt;
  try {
    const std::optional<std::uint64_t> offset = tiff_directory_offset(exif, 0);
    return offset ? tiff_resolution(TiffDirectory(exif, *offset), is_big_endian_tiff(exif)) : std::nullopt;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::memory) throw;
    return std::nullopt;
  }
}

FoundMetadata find_tiff_metadata(std::span<const std::byte> file) {
  FoundMetadata found;
  try {
    TiffMetadataFinder(file, found).run();
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::memory) throw;
    found = {};  // no directory: the reader reports it
  }
  return found;
}

void add_tiff_metadata(TiffFields& fields, const Metadata& metadata, bool big) {
  constexpr std::uint16_t kByte = 1, kUndefined = 7;
  if (!metadata.icc.empty()) fields.add_raw(TiffTag::profile, kUndefined, metadata.icc.size(), metadata.icc);
  if (!metadata.xmp.empty()) fields.add_raw(TiffTag::xmp, kByte, metadata.xmp.size(), metadata.xmp);
  if (!metadata.iptc.empty()) {
    // Stored as 32-bit numbers, as by Photoshop: libtiff 4.5 reads no other type.
    std::vector<std::byte> iptc = metadata.iptc;
    iptc.resize((iptc.size() + 3) / 4 * 4);
    const std::size_t count = iptc.size() / 4;
    fields.add_raw(TiffTag::iptc, kU32, count, std::move(iptc));
  }
  for (const TiffMetadataField& field : metadata.fields)
    fields.add_raw(static_cast<TiffTag>(field.tag), field.type, field.count, field.data);
  if (metadata.exif.empty()) return fields.sort();
  const ExifBlock block = parse_exif(metadata.exif);
  for (TiffMetadataField& field : exif_image_fields(block))
    fields.add_raw(static_cast<TiffTag>(field.tag), field.type, field.count, std::move(field.data));
  const bool has_exif = !big && (!block.exif.empty() || !block.interoperability.empty());
  const bool has_gps = !big && !block.gps.empty();
  // The pointers are part of the directory, so their presence determines the offsets they hold.
  TiffFields without = fields;
  if (has_exif) without.add_raw(TiffTag::exif, kU32, 1, number_bytes(0));
  if (has_gps) without.add_raw(TiffTag::gps, kU32, 1, number_bytes(0));
  ExifDirectories made;
  if (!big) made = build_exif_directories(block, static_cast<std::uint32_t>(without.end()));
  if (has_exif) fields.add_raw(TiffTag::exif, kU32, 1, number_bytes(made.exif));
  if (has_gps) fields.add_raw(TiffTag::gps, kU32, 1, number_bytes(made.gps));
  fields.set_tail(std::move(made.bytes));
  fields.sort();
}

}  // namespace imgpipe
