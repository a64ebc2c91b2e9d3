#include "images/codecs/heif/heif_container.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "images/codecs/heif/heif_items.h"
#include "images/codecs/sniff.h"
#include "images/error.h"
#include "images/text.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;
// ---- properties -------------------------------------------------------------------------------------

std::optional<HeifSides> sides_of(const HeifItem& item) {
  for (const Box& property : item.properties) {
    if (property.type != "ispe"sv || property.payload.size() < 12) continue;
    return HeifSides{big_endian(property.payload, 4, 4), big_endian(property.payload, 8, 4)};
  }
  return std::nullopt;
}

// AV1 Codec ISO Media File Format Binding, section 2.3; ISO/IEC 14496-15, section 8.3.3.
HeifCoding coding_of(const HeifItem& item) {
  HeifCoding coding;
  for (const Box& property : item.properties) {
    const Bytes bytes = property.payload;
    if (property.type == "av1C"sv && bytes.size() >= 4) {
      const std::uint32_t flags = big_endian(bytes, 2, 1);
      coding.bits = (flags & 0x40) == 0 ? 8 : (flags & 0x20) == 0 ? 10 : 12;
      coding.is_grey = (flags & 0x10) != 0;
      coding.chroma_across = 1 + static_cast<int>(flags >> 3 & 1);
      coding.chroma_down = 1 + static_cast<int>(flags >> 2 & 1);
    }
    if (property.type == "hvcC"sv && bytes.size() >= 23) {
      const std::uint32_t chroma = big_endian(bytes, 16, 1) & 3;
      coding.bits = 8 + static_cast<int>(big_endian(bytes, 17, 1) & 7);
      coding.is_grey = chroma == 0;
      coding.chroma_across = chroma == 1 || chroma == 2 ? 2 : 1;
      coding.chroma_down = chroma == 1 ? 2 : 1;
    }
  }
  return coding;
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0);
}

// Returns the first sample of the displayed part along one side, from the fractions of a clap property:
// its length, and the offset of its centre from the image's. nullopt if it is empty or exceeds the side.
std::optional<std::pair<std::int64_t, std::int64_t>> cropped_side(BoxNumbers lengths, BoxNumbers offsets,
                                                                  std::int64_t side) {
  const auto length_n = static_cast<std::int64_t>(lengths.next(4));
  const auto length_d = static_cast<std::int64_t>(lengths.next(4));
  const std::int64_t offset_n = static_cast<std::int32_t>(offsets.next(4));
  const auto offset_d = static_cast<std::int64_t>(offsets.next(4));
  if (length_d == 0 || offset_d == 0) return std::nullopt;
  const std::int64_t length = length_n / length_d;
  const std::int64_t first = floor_div(side - length + floor_div(2 * offset_n, offset_d), 2);
  if (length < 1 || first < 0 || first + length > side) return std::nullopt;
  return std::pair(first, length);
}

// Applies irot (counterclockwise quarter turns) and imir (ISO/IEC 23008-12, sections 6.5.10 and 6.5.12).
Orientation orientation_of(const HeifItem& item) {
  using enum Orientation;
  constexpr Orientation kClockwise[2][4]{{upright, rotate_90, rotate_180, rotate_270},
                                         {mirror_horizontal, transverse, mirror_vertical, transpose}};
  bool is_mirrored = false;  // left to right, before the clockwise quarter turns
  std::uint32_t turns = 0;
  for (const Box& property : item.properties) {
    const std::uint32_t value = big_endian(property.payload, 0, 1);
    if (property.type == "irot"sv) turns = (turns - value) & 3;
    if (property.type != "imir"sv) continue;
    is_mirrored = !is_mirrored;
    turns = ((value & 1) == 0 ? 2 - turns : 0 - turns) & 3;
  }
  return kClockwise[is_mirrored ? 1 : 0][turns];
}

// Reads the colour properties (ISO/IEC 14496-12, section 12.1.5).
void read_color(const HeifItem& item, HeifContents& contents) {
  constexpr std::uint64_t kBt709 = 1, kUnspecified = 2, kSrgb = 13;
  for (const Box& property : item.properties) {
    if (property.type != "colr"sv) continue;
    if (matches_at(property.payload, 0, "prof"sv) || matches_at(property.payload, 0, "rICC"sv)) {
      if (contents.profile.empty()) contents.profile = property.payload.subspan(4);
    } else if (matches_at(property.payload, 0, "nclx"sv)) {
      BoxNumbers numbers(property.payload.subspan(4));
      const std::uint64_t primaries = numbers.next(2), transfer = numbers.next(2);
      contents.is_rgb = numbers.next(2) == 0;  // the identity matrix
      const bool is_srgb = (primaries == kBt709 || primaries == kUnspecified) &&
                           (transfer == kSrgb || transfer == kUnspecified || transfer == kBt709);
      if (!is_srgb)
        contents.color_space =
            "CICP primaries " + std::to_string(primaries) + ", transfer " + std::to_string(transfer);
    }
  }
  if (!contents.profile.empty()) contents.color_space.clear();
}

bool is_alpha(const HeifItem& item) {
  constexpr std::array kTypes{"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha"sv,
                              "urn:mpeg:hevc:2015:auxid:1"sv};
  return std::ranges::any_of(item.properties, [&](const Box& property) {
    return property.type == "auxC"sv && std::ranges::any_of(kTypes, [&](std::string_view type) {
             return matches_at(property.payload, 4, type);
           });
  });
}

// ---- the file ---------------------------------------------------------------------------------------

void read_metadata(const HeifItem& item, HeifContents& contents) {
  const bool is_exif = item.type == "Exif"sv;
  const bool is_xmp = item.type == "mime"sv && item.content_type == "application/rdf+xml"sv;
  const std::string name = is_exif ? "EXIF" : is_xmp ? "XMP" : printable(item.type) + " item";
  constexpr std::size_t kMaxUnread = 16;
  if (item.data.size() != 1 || item.parts != 1 || !(is_exif || is_xmp)) {
    if (contents.unread.size() < kMaxUnread)
      contents.unread.push_back(is_exif || is_xmp ? name + " (in several parts, or damaged)" : name);
  } else if (is_xmp) {
    contents.xmp = item.data.front();
  } else {
    // The offset of the TIFF header from the byte after this number (ISO/IEC 23008-12, annex A.2.1).
    const Bytes data = item.data.front();
    const std::size_t start = 4 + std::size_t{big_endian(data, 0, 4)};
    if (start < data.size()) contents.exif = data.subspan(start);
  }
}

// Counts the frames of the first track (ISO/IEC 14496-12, section 8.7.3).
std::int64_t frames_of(Bytes movie) {
  Bytes boxes = movie;
  for (const std::string_view type : {"trak"sv, "mdia"sv, "minf"sv, "stbl"sv, "stsz"sv})
    boxes = find_box(boxes, type);
  return big_endian(boxes, 8, 4);
}

void read_relations(const HeifItems& items, HeifContents& contents) {
  std::set<ItemId> parts;  // of other images: tiles, thumbnails, alpha
  const HeifItem* tile = nullptr;
  for (const ItemReference& reference : items.references()) {
    const HeifItem* from = items.find(reference.from);
    const bool to_primary = std::ranges::find(reference.to, items.primary_id()) != reference.to.end();
    if (reference.type == "dimg"sv) parts.insert(reference.to.begin(), reference.to.end());
    if (reference.type == "thmb"sv || reference.type == "auxl"sv) parts.insert(reference.from);
    if (reference.type == "dimg"sv && reference.from == items.primary_id() && !reference.to.empty())
      tile = items.find(reference.to.front());
    if (from == nullptr || !to_primary) continue;
    if (reference.type == "auxl"sv && is_alpha(*from)) contents.has_alpha = true;
    if (reference.type == "cdsc"sv) read_metadata(*from, contents);
  }
  if (!contents.coding.known() && tile != nullptr) contents.coding = coding_of(*tile);
  constexpr std::array kImages{"av01"sv, "hvc1"sv, "grid"sv, "iovl"sv, "iden"sv};
  for (const auto& [id, item] : items.all()) {
    const std::optional<HeifSides> sides = sides_of(item);
    if (sides && sides->pixels() > contents.largest.pixels()) contents.largest = *sides;
    const bool is_image = std::ranges::find(kImages, item.type) != kImages.end();
    if (is_image && id != items.primary_id() && !parts.contains(id)) ++contents.images;
  }
}

void read_primary(const HeifItems& items, const std::string& name, HeifContents& contents) {
  const HeifItem* const item = items.find(items.primary_id());
  const std::optional<HeifSides> sides = item == nullptr ? std::nullopt : sides_of(*item);
  if (!sides || item->type.empty()) throw Error(ErrorKind::input, name + ": no primary image with a size");
  contents.item_type = printable(item->type);
  contents.width = sides->width;
  contents.height = sides->height;
  contents.crop = {0, 0, sides->width, sides->height};
  contents.orientation = orientation_of(*item);
  contents.coding = coding_of(*item);
  read_color(*item, contents);
  for (const Box& property : item->properties) {
    if (property.type != "clap"sv) continue;
    const Bytes bytes = property.payload;
    const auto numbers = [&](std::size_t at) { return BoxNumbers(bytes_at(bytes, at, 8)); };
    const auto across = cropped_side(numbers(0), numbers(16), sides->width);
    const auto down = cropped_side(numbers(8), numbers(24), sides->height);
    if (!across || !down) throw Error(ErrorKind::input, name + ": the clean aperture exceeds the image");
    contents.crop = {across->first, down->first, across->second, down->second};
  }
}

}  // namespace

bool has_heif_brand(Bytes beginning, std::string_view brand) {
  const std::optional<Box> box = next_box(beginning);
  if (!box || box->type != "ftyp"sv) return false;
  for (std::size_t at = 0; at + 4 <= box->payload.size(); at += 4)
    if (at != 4 && matches_at(box->payload, at, brand)) return true;  // at 4: the version
  return false;
}

HeifItems read_heif_items(Bytes file) {
  const Bytes meta = find_box(file, "meta");
  return {file, meta.subspan(std::min<std::size_t>(meta.size(), 4))};
}

HeifContents read_heif_contents(Bytes file, const std::string& name) {
  HeifContents contents;
  Bytes rest = file, meta, movie;
  while (const std::optional<Box> box = next_box(rest)) {
    contents.is_truncated = contents.is_truncated || box->is_truncated;
    if (box->type == "ftyp"sv && contents.brand.empty())
      contents.brand = printable({reinterpret_cast<const char*>(box->payload.data()),
                                  std::min<std::size_t>(box->payload.size(), 4)});
    if (box->type == "meta"sv && meta.empty()) meta = box->payload;
    if (box->type == "moov"sv) movie = box->payload;
  }
  contents.is_truncated = contents.is_truncated || !rest.empty();
  if (meta.size() <= 4)
    throw Error(ErrorKind::input,
                name + ": " +
                    (contents.is_truncated ? "the file is truncated"
                     : movie.empty()       ? "no image in the file"
                                           : "image sequences without a still image are not supported"));
  const HeifItems items = read_heif_items(file);
  read_primary(items, name, contents);
  read_relations(items, contents);
  if (!movie.empty()) contents.images = std::max(contents.images, frames_of(movie));
  return contents;
}

FileClaim heif_claim(Bytes beginning) {
  FileClaim claim{.other_bytes = kEndless};
  try {
    const HeifContents contents = read_heif_contents(beginning, "");
    claim.width = contents.width;
    claim.height = contents.height;
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::memory) throw;  // otherwise the properties follow later
  }
  return claim;
}

}  // namespace imgpipe
