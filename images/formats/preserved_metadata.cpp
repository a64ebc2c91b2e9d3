#include "images/formats/preserved_metadata.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <new>
#include <optional>
#include <utility>

#include "images/codecs/icc.h"
#include "images/codecs/mark.h"
#include "images/codecs/metadata/description.h"
#include "images/codecs/metadata/exif_block.h"
#include "images/codecs/metadata/iptc.h"
#include "images/codecs/metadata/xmp.h"
#include "images/codecs/tiff/tiff_metadata.h"
#include "images/error.h"
#include "images/formats/codec_table.h"
#include "images/text.h"

namespace imgpipe {
namespace {

// Selects and adapts the metadata. The steps run in the order in which losses are reported.
class MetadataPreserver {
 public:
  MetadataPreserver(const Codec& input, const ImageChanges& use, std::span<const std::byte> file)
      : name_(format_info(use.output).name), holds_(codec_of(use.output).supported_metadata), use_(use) {
    found_ = input.find_metadata(file);
    report_exif_only_metadata(found_);
    kept_.lost = std::move(found_.lost);
  }

  PreservedMetadata run() {
    adapt_description();
    take_profile();
    take_resolution();
    take_exif();
    take_xmp();
    take_iptc();
    take_texts();
    if (!lost_resolution_.empty()) lose("resolution", lost_resolution_);
    take_fields();
    if (holds_.fields || described_)
      kept_.lost.insert(kept_.lost.end(), lost_of_description_.begin(), lost_of_description_.end());
    if (metadata_.bytes() > 0 || metadata_.resolution)
      kept_.metadata = std::make_shared<const Metadata>(std::move(metadata_));
    return std::move(kept_);
  }

 private:
  void lose(std::string_view what, const std::string& why) {
    kept_.lost.push_back(std::string(what) + " (" + why + ")");
  }
  // Parts lost from a preserved description are reported only if the output holds it (see run()).
  std::optional<std::vector<std::byte>> adapted(std::span<const std::byte> description) {
    AdaptedDescription adapted = imgpipe::adapt_description(description, use_);
    std::ranges::move(adapted.lost, std::back_inserter(adapted.text ? lost_of_description_ : kept_.lost));
    return std::move(adapted.text);
  }
  void adapt_description() {
    const auto field = std::ranges::find(found_.fields, kDescription, &TiffMetadataField::tag);
    if (field == found_.fields.end()) return;
    if (auto text = adapted(field->data)) {
      field->data = std::move(*text);
      field->count = field->data.size();
    } else {
      found_.fields.erase(field);
    }
  }
  // The orientation that replaces EXIF's, if any.
  [[nodiscard]] std::optional<Orientation> new_orientation() const {
    if (use_.turned || use_.applied != Orientation::upright) return Orientation::upright;
    return found_.orientation;
  }
  [[nodiscard]] std::string holds_none() const { return name_ + " cannot store it"; }

  void take_profile() {
    if (found_.icc.empty() || use_.to_srgb) return;
    const bool fits = profile_fault(found_.icc).empty() && holds_.icc &&
                      profile_channels(found_.icc) == use_.shape.color_channels();
    if (fits) {
      found_.icc.resize(profile_bytes(found_.icc));
      metadata_.icc = std::move(found_.icc);
    } else {
      kept_.unpreserved_profile = profile_name(found_.icc);
    }
  }

  // Replaces the block's description by its adapted text; in a TIFF, whose description is a field, by the
  // field's text. Removes the description if no text is left.
  void adapt_description(ExifBlock& block) {
    constexpr std::uint16_t kAscii = 2;
    const auto entry = std::ranges::find(block.image, kDescription, &ExifEntry::tag);
    if (entry == block.image.end() || entry->type != kAscii) return;
    const auto field = std::ranges::find(found_.fields, kDescription, &TiffMetadataField::tag);
    std::optional<std::vector<std::byte>> text;
    if (!found_.exif_in_file) text = adapted(entry->value);
    if (found_.exif_in_file && field != found_.fields.end()) text = field->data;
    if (!text) {
      block.image.erase(entry);
      return;
    }
    exif_description_ = std::move(*text);
    entry->value = exif_description_;
    entry->count = static_cast<std::uint32_t>(exif_description_.size());
  }

  void take_exif() {
    ExifBlock block = parsed_exif();
    const ExifBlock without_texts = block;
    if (!holds_.texts && holds_.exif) add_texts(block);
    if (block.empty()) return;
    if (!holds_.exif) return lose("EXIF", holds_none());
    for (const ExifBlock* one : {&std::as_const(block), &without_texts}) {
      try {
        metadata_.exif = build_exif(*one, kMaxExifBytes);
        described_ = std::ranges::find(one->image, kDescription, &ExifEntry::tag) != one->image.end();
        return;
      } catch (const Error& error) {
        if (error.kind() == ErrorKind::memory) throw;
        if (exif_texts_.empty() || one == &without_texts) return lose("EXIF", error.what());
        exif_texts_.clear();  // they do not fit into the block
      }
    }
  }

  ExifBlock parsed_exif() {
    if (found_.exif.empty()) return {};
    try {
      ExifBlock block = parse_exif(found_.exif, found_.exif_in_file);
      adapt_description(block);
      if (block.had_thumbnail) kept_.lost.emplace_back("EXIF thumbnail");
      if (block.has_maker_note) lose("maker note", "unknown format");
      adapt_exif(block, new_orientation(), use_.shape.width, use_.shape.height);
      set_resolution(block);
      if (use_.to_srgb) remove_color_space(block);
      take_software(block);
      return block;
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::memory) throw;
      lose("EXIF", error.what());
      return {};
    }
  }

  // Readers take EXIF without a colour space as sRGB. Cameras' Adobe RGB is "uncalibrated" with the
  // interoperability index R03.
  static void remove_color_space(ExifBlock& block) {
    constexpr std::uint16_t kColorSpace = 0xA001;
    std::erase_if(block.exif, [](const ExifEntry& entry) { return entry.tag == kColorSpace; });
    block.interoperability.clear();
  }

  // Sets EXIF's resolution to the result's, which WebP can store only there.
  void set_resolution(ExifBlock& block) {
    if (use_.scaled || !lost_resolution_.empty()) {
      set_exif_resolution(block, std::nullopt, exif_resolution_bytes_);
    } else if (resolution_ && exif_has_resolution_) {
      set_exif_resolution(block, resolution_, exif_resolution_bytes_);
    }
  }

  // Preserves the software of a camera, except in TIFF, whose Software field holds our mark. In a TIFF
  // without a maker the field names the program that wrote the file.
  void take_software(ExifBlock& block) {
    const auto entry = std::ranges::find(block.image, kSoftware, &ExifEntry::tag);
    if (entry == block.image.end()) return;
    const bool has_make = std::ranges::find(block.image, kMake, &ExifEntry::tag) != block.image.end();
    const bool is_mark = mark_of(entry->value.first(entry->value.size() - 1)) != Mark::none;
    const bool of_camera = (has_make || !found_.exif_in_file) && !is_mark;
    if (of_camera && use_.output != Format::tiff) return;
    if (of_camera) lose("Software", "imgpipe's mark replaces it");
    block.image.erase(entry);
  }

  // Returns the EXIF tag for a text's keyword, or 0 (PNG specification, 3rd ed., 11.3.3.1; Exif 2.32, 4.6.4).
  [[nodiscard]] std::uint16_t exif_tag_of(const MetadataText& text) const {
    constexpr std::array<std::pair<std::string_view, std::uint16_t>, 4> kTags{
        {{"Description", kDescription}, {"Author", 0x013B}, {"Copyright", 0x8298}, {"Software", kSoftware}}};
    const auto found = std::ranges::find(kTags, text.keyword, &decltype(kTags)::value_type::first);
    const bool is_mark = found != kTags.end() && found->second == kSoftware && use_.output == Format::tiff;
    return found == kTags.end() || is_mark ? 0 : found->second;
  }

  // Adds texts to EXIF fields that are not set.
  void add_texts(ExifBlock& block) {
    for (const MetadataText& text : found_.texts) {
      const std::uint16_t tag = exif_tag_of(text);
      if (tag == 0 || text.text.empty()) continue;
      const std::span<const std::byte> value =
          std::as_bytes(std::span(text.text.c_str(), text.text.size() + 1));
      const auto at = std::ranges::lower_bound(block.image, tag, {}, &ExifEntry::tag);
      if (at == block.image.end() || at->tag != tag) {
        block.image.insert(
            at, {.tag = tag, .type = 2, .count = static_cast<std::uint32_t>(value.size()), .value = value});
      } else if (!std::ranges::equal(at->value, value)) {
        continue;
      }
      exif_texts_.push_back(&text);
    }
  }

  void take_xmp() {
    if (found_.xmp.empty()) return;
    try {
      std::vector<std::string> appended;
      metadata_.xmp = checked_xmp(found_.xmp, new_orientation() == Orientation::upright, &appended);
      const bool removed = resolution_is_wrong_ && remove_xmp_resolution(metadata_.xmp);
      if (removed && !resolution_) lost_resolution_ = use_.scaled ? "resized" : "the image was rotated";
      for (const std::string& name : appended)
        if (std::ranges::find(kept_.lost, name) == kept_.lost.end()) kept_.lost.push_back(name);
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::memory) throw;
      return lose("XMP", error.what());
    }
    const std::size_t most = use_.output == Format::jpeg ? kMaxJpegXmpBytes : kMaxXmpBytes;
    const std::string why = !holds_.xmp                   ? holds_none()
                            : is_extended_xmp(found_.xmp) ? "extended XMP in several parts"
                            : metadata_.xmp.size() > most ? "longer than " + std::to_string(most) + " bytes"
                                                          : "";
    if (why.empty()) return;
    metadata_.xmp = {};
    lose("XMP", why);
  }

  void take_iptc() {
    if (found_.iptc.empty()) return;
    try {
      const std::span<const std::byte> datasets = checked_iptc(found_.iptc);
      if (!holds_.iptc) return lose("IPTC", holds_none());
      metadata_.iptc.assign(datasets.begin(), datasets.end());
    } catch (const Error& error) {
      if (error.kind() == ErrorKind::memory) throw;
      lose("IPTC", error.what());
    }
  }

  void take_texts() {
    std::size_t lost_comments = 0;
    std::vector<std::string> lost_texts;
    for (MetadataText& text : found_.texts) {
      const bool in_exif = std::ranges::find(exif_texts_, &text) != exif_texts_.end();
      if (in_exif) continue;
      if (use_.output == Format::jpeg && text.is_comment() && !is_jpeg_comment(text)) continue;
      if (holds_.texts || (holds_.comments && text.is_comment())) {
        metadata_.texts.push_back(std::move(text));
      } else if (text.is_comment()) {
        ++lost_comments;
      } else {
        lost_texts.push_back("\"" + printable(text.keyword) + "\"");
      }
    }
    if (lost_comments > 0) lose(lost_comments == 1 ? "comment" : "comments", holds_none());
    if (!lost_texts.empty()) lose("text " + shortened(lost_texts), holds_none());
  }

  // Whether a JPEG can hold the comment; reports the loss if not.
  bool is_jpeg_comment(const MetadataText& text) {
    if (text.text.size() > kMaxJpegCommentBytes) {
      lose("comment", "longer than " + std::to_string(kMaxJpegCommentBytes) + " bytes");
    } else if (mark_of(std::as_bytes(std::span(text.text))) != Mark::none) {
      lose("comment", "looks like imgpipe's mark");
    } else {
      return true;
    }
    return false;
  }

  // "a, b, c and 4 more".
  static std::string shortened(const std::vector<std::string>& names) {
    constexpr std::size_t kMost = 3;
    std::string text;
    for (std::size_t i = 0; i < std::min(names.size(), kMost); ++i) text += (i == 0 ? "" : ", ") + names[i];
    if (names.size() > kMost) text += " and " + std::to_string(names.size() - kMost) + " more";
    return text;
  }

  void take_resolution() {
    exif_has_resolution_ = !found_.exif_in_file && exif_resolution(found_.exif).has_value();
    const std::optional<Resolution> found = resolution_of(found_);
    const bool transposed = oriented_shape({1, 2, 1}, use_.applied).width == 2;
    resolution_is_wrong_ = use_.scaled || transposed;
    if (!found) return;
    Resolution resolution = *found;
    // The resolution has no unit; a TIFF's description may name one.
    const bool counts = holds_.fields && (resolution.x != resolution.x_of || resolution.y != resolution.y_of);
    if (resolution.empty() && !counts) return;
    if (transposed) {
      std::swap(resolution.x, resolution.y);
      std::swap(resolution.x_of, resolution.y_of);
    }
    const bool square =
        std::uint64_t{resolution.x} * resolution.y_of == std::uint64_t{resolution.y} * resolution.x_of;
    resolution_is_wrong_ = use_.scaled || ((transposed || use_.moved) && !square);
    if (use_.scaled) {
      lost_resolution_ = "resized";
    } else if (use_.moved && !square) {
      lost_resolution_ = "the pixels are not square and were moved";
    } else if (holds_.resolution) {
      metadata_.resolution = resolution;
    } else if (!holds_.exif || !exif_has_resolution_) {
      lost_resolution_ = holds_none();
    }
    resolution_ = resolution;
  }

  void take_fields() {
    bool lost_place = false;
    const bool moved = use_.moved || use_.scaled || use_.applied != Orientation::upright;
    for (TiffMetadataField& field : found_.fields) {
      const bool positions = field.tag != kDescription;
      if (holds_.fields && !(positions && moved)) {
        metadata_.fields.push_back(std::move(field));
      } else {
        lost_place = lost_place || positions;
        if (!positions && !described_) lose(description_name(field.data), holds_none());
      }
    }
    if (lost_place) lose("GeoTIFF", holds_.fields ? "the image was moved, rotated or resized" : holds_none());
  }

  static constexpr std::uint16_t kDescription = 270, kMake = 271, kSoftware = 305;

  std::string name_;
  SupportedMetadata holds_;
  const ImageChanges& use_;
  FoundMetadata found_;
  Metadata metadata_;
  PreservedMetadata kept_;
  std::vector<std::byte> exif_description_;  // referenced by the block
  std::optional<Resolution> resolution_;     // of the result
  bool exif_has_resolution_ = false;
  bool resolution_is_wrong_ = false;              // whether the resolution in XMP no longer applies
  std::string lost_resolution_;                   // the reason; empty: not lost
  std::vector<std::byte> exif_resolution_bytes_;  // referenced by the block
  std::vector<const MetadataText*> exif_texts_;   // in `found_`: texts stored in EXIF
  std::vector<std::string> lost_of_description_;  // parts of a preserved description
  bool described_ = false;                        // EXIF holds the description too
};

}  // namespace

std::optional<Resolution> resolution_of(const FoundMetadata& found) {
  const std::optional<Resolution>& own = found.resolution;
  std::optional<Resolution> exif;
  if (!found.exif_in_file) exif = exif_resolution(found.exif);
  if (!exif || !own || own->empty()) return exif ? exif : own;
  if (exif->unit == Resolution::Unit::none) return own;
  constexpr std::uint32_t kMost = 65'535;
  const auto a = own->per_inch(kMost), b = exif->per_inch(kMost);
  const bool same = a && b && a->x == b->x && a->y == b->y;
  return own->unit == Resolution::Unit::none || same ? exif : own;
}

std::string_view reshape_reason(const Shape& before, const Shape& after, bool turned) {
  if (before.width != after.width || before.height != after.height) return "image size changed";
  if (before.channels != after.channels) return "channels changed";
  if (before.sample != after.sample) return "bits per sample changed";
  return turned ? "image was rotated or mirrored upright" : "";
}

PreservedMetadata keep_metadata(std::span<const std::byte> file, const ImageChanges& use) {
  const Codec* const input = codec_by_content(file);
  if (input == nullptr || input->find_metadata == nullptr) return {};
  return MetadataPreserver(*input, use, file).run();
}

std::string lost_metadata_text(const std::vector<std::string>& lost) {
  std::string text;
  for (const std::string& one : lost) text += (text.empty() ? "" : ", ") + one;
  return text;
}

}  // namespace imgpipe
