#include "images/codecs/metadata/metadata.h"

#include <algorithm>
#include <cmath>
#include <new>
#include <optional>
#include <utility>

#include "images/codecs/codec_table.h"
#include "images/codecs/icc.h"
#include "images/codecs/metadata/exif_block.h"
#include "images/codecs/metadata/xmp.h"
#include "images/codecs/tiff/tiff_pages.h"
#include "images/error.h"

namespace imgpipe {
namespace {

// round(value * up / down), if it is from 1 to `most`.
std::optional<std::uint32_t> scaled(std::uint32_t value, std::uint32_t of, std::uint64_t up,
                                    std::uint64_t down, std::uint32_t most) {
  const std::uint64_t divisor = of * down;
  const std::uint64_t whole = (value * up + divisor / 2) / divisor;
  if (whole < 1 || whole > most) return std::nullopt;
  return static_cast<std::uint32_t>(whole);
}

std::string_view text_of(std::span<const std::byte> bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

bool is_ome_xml(std::string_view description) {
  return description.find("<OME") != description.npos || description.find(":OME ") != description.npos;
}

// Whether a description counts the images of a stack: ImageJ's, or OME-XML (Open Microscopy Environment,
// OME-TIFF specification).
bool describes_stack(std::span<const std::byte> description) {
  return imagej_images(description) > 1 || is_ome_xml(text_of(description));
}

// Whether a description says what the written image is not: of another shape OME-XML and what tifffile writes
// ({"shape": [rows, columns]}), by which it reads the pixels; of other pixels ImageJ's, whose unit is theirs.
bool describes_others(std::span<const std::byte> description, const MetadataUse& use) {
  const std::string_view text = text_of(description);
  return (use.reshaped && (is_ome_xml(text) || text.starts_with("{\"shape\""))) ||
         (use.scaled && text.starts_with("ImageJ="));
}

// A description by ImageJ without the lines of its display range, the values that it shows as black and
// white; nothing where it has none.
std::optional<std::vector<std::byte>> without_display_range(std::span<const std::byte> description) {
  const std::string_view text = text_of(description);
  if (!text.starts_with("ImageJ=")) return std::nullopt;
  std::vector<std::byte> kept;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size() - 1) + 1;
    const std::string_view line = text.substr(at, end - at);
    const bool is_range = line.starts_with("min=") || line.starts_with("max=");
    // What is no line any more is the text's end.
    const std::string_view stays =
        is_range ? (line.ends_with('\0') ? line.substr(line.size() - 1) : "") : line;
    for (const char c : stays) kept.push_back(static_cast<std::byte>(c));
    at = end;
  }
  return kept.size() < description.size() ? std::optional(std::move(kept)) : std::nullopt;
}

// Everything goes past this, in the order in which it is told.
class Keeping {
 public:
  Keeping(const Codec& input, const MetadataUse& use, std::span<const std::byte> file)
      : name_(format_info(use.output).name), holds_(codec_of(use.output).holds_metadata), use_(use) {
    found_ = input.find_metadata(file);
    kept_.lost = std::move(found_.lost);
  }

  KeptMetadata run() {
    const auto is_of_stack = [](const TiffMetadataField& field) {
      return field.tag == kDescription && describes_stack(field.data);
    };
    const auto is_of_others = [this](const TiffMetadataField& field) {
      return field.tag == kDescription && describes_others(field.data, use_);
    };
    if (!use_.whole_stack) drop_descriptions(is_of_stack, "of all pages of the stack");
    drop_descriptions(is_of_others, "of the image as it was");
    if (use_.revalued) drop_display_range();
    take_profile();
    take_exif();
    take_xmp();
    take_resolution();
    take_fields();
    if (drops_range_ && (holds_.fields || described_))
      lose("ImageJ's display range", "of the samples as they were");
    if (metadata_.bytes() > 0 || metadata_.resolution)
      kept_.metadata = std::make_shared<const Metadata>(std::move(metadata_));
    return std::move(kept_);
  }

 private:
  void lose(std::string_view what, const std::string& why) {
    kept_.lost.push_back(std::string(what) + " (" + why + ")");
  }
  void drop_descriptions(const auto& which, const std::string& why) {
    if (std::erase_if(found_.fields, which) == 0) return;
    drops_description_ = true;
    lose("description", why);
  }
  void drop_display_range() {
    for (TiffMetadataField& field : found_.fields) {
      if (field.tag != kDescription) continue;
      if (auto kept = without_display_range(field.data)) {
        field.data = std::move(*kept);
        field.count = field.data.size();
        drops_range_ = true;
      }
    }
  }
  [[nodiscard]] std::string holds_none() const { return name_ + " holds none"; }

  void take_profile() {
    if (found_.icc.empty()) return;
    const bool fits = profile_fault(found_.icc).empty() && holds_.icc &&
                      profile_channels(found_.icc) == use_.shape.color_channels();
    if (fits) {
      found_.icc.resize(profile_bytes(found_.icc));
      metadata_.icc = std::move(found_.icc);
    } else {
      kept_.lost_profile = profile_name(found_.icc);
    }
  }

  // The block's text is a part of the file, so that what stays of it is kept here.
  void drop_display_range(ExifBlock& block) {
    const auto text = std::ranges::find(block.image, kDescription, &ExifEntry::tag);
    if (text == block.image.end()) return;
    std::optional<std::vector<std::byte>> kept = without_display_range(text->value);
    if (!kept) return;
    exif_description_ = std::move(*kept);
    text->value = exif_description_;
    text->count = static_cast<std::uint32_t>(exif_description_.size());
    drops_range_ = true;
  }

  void take_exif() {
    if (found_.exif.empty()) return;
    try {
      ExifBlock block = parse_exif(found_.exif, found_.exif_in_file);
      if (drops_description_)
        std::erase_if(block.image, [](const ExifEntry& e) { return e.tag == kDescription; });
      if (use_.revalued) drop_display_range(block);
      if (block.had_maker_note) lose("maker note", "not understood");
      adapt_exif(block, use_.applied != Orientation::upright, use_.shape.width, use_.shape.height);
      if (block.empty()) return;
      if (!holds_.exif) return lose("EXIF", holds_none());
      metadata_.exif = build_exif(block, kMostExifBytes);
      described_ = std::ranges::find(block.image, kDescription, &ExifEntry::tag) != block.image.end();
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::memory) throw;
      lose("EXIF", error.what());
    }
  }

  void take_xmp() {
    if (found_.xmp.empty()) return;
    if (!holds_.xmp) return lose("XMP", holds_none());
    try {
      const std::size_t most = use_.output == Format::jpeg ? kMostJpegXmpBytes : kMostXmpBytes;
      if (is_extended_xmp(found_.xmp)) return lose("XMP", "extended, of several parts");
      metadata_.xmp = checked_xmp(found_.xmp, use_.applied != Orientation::upright);
      if (metadata_.xmp.size() <= most) return;
      metadata_.xmp = {};
      lose("XMP", "longer than " + std::to_string(most) + " bytes");
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::memory) throw;
      lose("XMP", error.what());
    }
  }

  void take_resolution() {
    if (!found_.resolution) return;
    Resolution resolution = *found_.resolution;
    // Pixels to no unit, which the description of a TIFF may name.
    const bool counts = holds_.fields && (resolution.x != resolution.x_of || resolution.y != resolution.y_of);
    if (resolution.empty() && !counts) return;
    if (oriented_shape({1, 2, 1}, use_.applied).width == 2) {
      std::swap(resolution.x, resolution.y);
      std::swap(resolution.x_of, resolution.y_of);
    }
    const bool square =
        std::uint64_t{resolution.x} * resolution.y_of == std::uint64_t{resolution.y} * resolution.x_of;
    if (use_.scaled) return lose("resolution", "resized");
    if (use_.moved && !square) return lose("resolution", "of pixels that are not square and were moved");
    if (!holds_.resolution) return lose("resolution", holds_none());
    metadata_.resolution = resolution;
  }

  void take_fields() {
    bool lost_description = false, lost_place = false;
    const bool moved = use_.moved || use_.scaled || use_.applied != Orientation::upright;
    for (TiffMetadataField& field : found_.fields) {
      const bool places = field.tag != kDescription;
      if (holds_.fields && !(places && moved)) {
        metadata_.fields.push_back(std::move(field));
      } else {
        (places ? lost_place : lost_description) = true;
      }
    }
    if (lost_description && !described_) lose("description", holds_none());
    if (lost_place) lose("GeoTIFF", holds_.fields ? "the image was moved, turned or resized" : holds_none());
  }

  static constexpr std::uint16_t kDescription = 270;

  std::string name_;
  HeldMetadata holds_;
  const MetadataUse& use_;
  FoundMetadata found_;
  Metadata metadata_;
  KeptMetadata kept_;
  std::vector<std::byte> exif_description_;
  bool described_ = false;          // EXIF has the description too
  bool drops_range_ = false;        // lines of a description
  bool drops_description_ = false;  // which would not be true of what is written
};

}  // namespace

bool Resolution::empty() const {
  return unit == Unit::none && std::uint64_t{x} * y_of == std::uint64_t{y} * x_of;
}

std::optional<Resolution::Whole> Resolution::per_inch(std::uint32_t most) const {
  if (unit == Unit::none) return std::nullopt;
  const std::uint64_t up = unit == Unit::inch ? 1 : 254, down = unit == Unit::inch ? 1 : 100;
  const auto across = scaled(x, x_of, up, down, most), along = scaled(y, y_of, up, down, most);
  return across && along ? std::optional(Whole{*across, *along}) : std::nullopt;
}

std::optional<Resolution::Whole> Resolution::per_metre(std::uint32_t most) const {
  if (unit == Unit::none) return std::nullopt;
  const std::uint64_t up = unit == Unit::inch ? 10'000 : 100, down = unit == Unit::inch ? 254 : 1;
  const auto across = scaled(x, x_of, up, down, most), along = scaled(y, y_of, up, down, most);
  return across && along ? std::optional(Whole{*across, *along}) : std::nullopt;
}

std::int64_t Metadata::bytes() const {
  std::size_t bytes = icc.size() + exif.size() + xmp.size();
  for (const TiffMetadataField& field : fields) bytes += field.data.size();
  return static_cast<std::int64_t>(bytes);
}

KeptMetadata keep_metadata(std::span<const std::byte> file, const MetadataUse& use) {
  const Codec* const input = codec_by_content(file);
  if (input == nullptr || input->find_metadata == nullptr) return {};
  return Keeping(*input, use, file).run();
}

std::string lost_metadata_text(const std::vector<std::string>& lost) {
  std::string text;
  for (const std::string& one : lost) text += (text.empty() ? "" : ", ") + one;
  return text;
}

}  // namespace imgpipe
