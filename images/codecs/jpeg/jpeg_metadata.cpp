// Metadata in a JPEG's segments: JFIF density, EXIF and XMP in APP1, an ICC profile in several APP2 (JFIF
// 1.02; Exif 2.32; XMP Specification Part 3; ICC.1:2010, annex B.4), IPTC among Photoshop's resources in
// APP13, comments (ITU-T T.81, B.2.4.5).
#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "images/codecs/icc.h"
#include "images/codecs/jpeg/jpeg_segments.h"
#include "images/codecs/mark.h"
#include "images/codecs/metadata/iptc.h"
#include "images/codecs/metadata/metadata.h"
#include "images/codecs/metadata/texts.h"
#include "images/codecs/metadata/xmp_appended_files.h"
#include "images/codecs/sniff.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;
using Bytes = std::span<const std::byte>;

constexpr std::string_view kExif = "Exif\0\0"sv, kXmp = "http://ns.adobe.com/xap/1.0/\0"sv,
                           kProfile = "ICC_PROFILE\0"sv, kPhotoshop = "Photoshop 3.0\0"sv;
constexpr std::size_t kMaxSegmentBytes = 65'533;  // without marker and length
constexpr std::size_t kMaxPhotoshopBytes = std::size_t{4} << 20;

class ProfileSegments {
 public:
  // Adds an APP2 segment with a part of the profile: number from 1, count, bytes.
  void add(Bytes payload) {
    seen_ = true;
    const std::size_t number = big_endian(payload, kProfile.size(), 1);
    const std::size_t count = big_endian(payload, kProfile.size() + 1, 1);
    const bool fits = payload.size() > kProfile.size() + 2 && number >= 1 && number <= count &&
                      (count_ == 0 || count == count_) && parts_[number].empty();
    if (!fits) {
      damaged_ = true;
      return;
    }
    count_ = count;
    parts_[number] = payload.subspan(kProfile.size() + 2);
  }

  // Returns the joined profile. If it is incomplete, returns one byte, which is never a valid profile, so
  // that the damage is reported.
  [[nodiscard]] std::vector<std::byte> joined() const {
    std::vector<std::byte> profile;
    if (!seen_) return profile;
    std::size_t bytes = 0;
    for (std::size_t i = 1; i <= count_; ++i) bytes += parts_[i].size();
    const auto last = parts_.begin() + 1 + static_cast<std::ptrdiff_t>(count_);
    const bool whole = !damaged_ && bytes <= kMaxProfileBytes &&
                       std::none_of(parts_.begin() + 1, last, [](Bytes part) { return part.empty(); });
    if (!whole) return {std::byte{0}};
    profile.reserve(bytes);
    for (std::size_t i = 1; i <= count_; ++i)
      profile.insert(profile.end(), parts_[i].begin(), parts_[i].end());
    return profile;
  }

 private:
  std::array<Bytes, 256> parts_{};
  std::size_t count_ = 0;
  bool seen_ = false, damaged_ = false;
};

std::optional<Resolution> density(Bytes jfif) {
  const std::uint32_t unit = big_endian(jfif, 7, 1), x = big_endian(jfif, 8, 2), y = big_endian(jfif, 10, 2);
  if (unit > 2 || x == 0 || y == 0) return std::nullopt;
  if (unit == 0) return Resolution{.x = x, .y = y};
  return Resolution{
      .x = x, .y = y, .unit = unit == 1 ? Resolution::Unit::inch : Resolution::Unit::centimetre};
}

// Returns the name of a segment that is not read; empty if it does not concern the image.
std::string unread_segment(std::uint32_t marker, Bytes payload) {
  struct Kind {
    std::uint32_t marker;
    std::string_view begin, name;
  };
  static constexpr std::array kKinds{
      Kind{0xE0, "JFXX\0"sv, "JFXX thumbnail"},
      Kind{0xE1, "Exif\0\0"sv, "second EXIF block"},
      Kind{0xE1, "http://ns.adobe.com/xap/1.0/\0"sv, "second XMP packet"},
      Kind{0xE1, "http://ns.adobe.com/xmp/extension/\0"sv, ""},  // the XMP packet announces it
      Kind{0xE1, "FLIR\0"sv, "FLIR thermal data"},
      Kind{0xE2, "FPXR\0"sv, "FlashPix"},
      Kind{0xE3, "_JPSJPS_"sv, "JPS stereo information"},
      Kind{0xEB, "JP"sv, "JUMBF (C2PA)"},
      Kind{0xEC, "Ducky"sv, ""},
      Kind{0xED, "Adobe_"sv, ""},
      Kind{0xEE, "Adobe"sv, ""},
      Kind{0xEF, "Q "sv, ""},
  };
  if (marker < 0xE0 || marker > 0xEF) return "";
  for (const Kind& kind : kKinds)
    if (kind.marker == marker && matches_at(payload, 0, kind.begin)) return std::string(kind.name);
  const bool empty = std::ranges::all_of(payload, [](std::byte byte) { return byte == std::byte{0}; });
  return empty ? "" : "APP" + std::to_string(marker - 0xE0) + " segment";
}

class SegmentCollector {
 public:
  explicit SegmentCollector(FoundMetadata& found) : found_(found) {}

  void take(std::uint32_t marker, Bytes payload) {
    if (take_known(marker, payload)) return;
    if (std::string name = unread_segment(marker, payload); !name.empty()) found_.lose(std::move(name));
  }

  void finish() {
    found_.icc = profile_.joined();
    if (photoshop_.size() > kMaxPhotoshopBytes) {
      found_.lose("IPTC and Photoshop resources (too long)");
    } else if (!photoshop_.empty()) {
      find_photoshop_metadata(photoshop_, found_);
    }
    const std::string_view xmp(reinterpret_cast<const char*>(found_.xmp.data()), found_.xmp.size());
    const auto announces = [&](std::string_view what) { return xmp.find(what) != xmp.npos; };
    if (gain_map_ || announces("http://ns.adobe.com/hdr-gain-map/1.0/") || announces("GainMap")) {
      found_.lose(kGainMapName);
    } else if (pictures_) {
      found_.lose("MPF images");
    }
  }

 private:
  bool take_known(std::uint32_t marker, Bytes payload) {
    const auto begins = [&](std::uint32_t of, std::string_view name) {
      return marker == of && matches_at(payload, 0, name);
    };
    if (marker == 0xFE) {
      if (mark_of(payload) == Mark::none) found_.add_comment(payload);
      return true;
    }
    if (begins(0xE0, "JFIF\0"sv)) {
      if (!found_.resolution) found_.resolution = density(payload);
      const bool thumbnail = big_endian(payload, 12, 1) > 0 && big_endian(payload, 13, 1) > 0;
      if (thumbnail) found_.lose("JFIF thumbnail");
      return true;
    }
    if (begins(0xE1, kExif) && found_.exif.empty()) {
      found_.exif = payload.subspan(kExif.size());
      return true;
    }
    if (begins(0xE1, kXmp) && found_.xmp.empty()) {
      found_.xmp.assign(payload.begin() + kXmp.size(), payload.end());
      return true;
    }
    if (begins(0xE2, kProfile)) return profile_.add(payload), true;
    if (begins(0xE2, "MPF\0"sv)) return pictures_ = true;
    if (begins(0xE2, "urn:iso:std:iso:ts:21496:-1\0"sv)) return gain_map_ = true;
    if (!begins(0xED, kPhotoshop)) return false;
    const Bytes resources = payload.subspan(kPhotoshop.size());
    if (photoshop_.size() <= kMaxPhotoshopBytes)
      photoshop_.insert(photoshop_.end(), resources.begin(), resources.end());
    return true;
  }

  FoundMetadata& found_;
  ProfileSegments profile_;
  std::vector<std::byte> photoshop_;  // joined: a resource may span segments
  bool gain_map_ = false, pictures_ = false;
};

void append_segment(std::vector<std::byte>& out, int marker, std::string_view name, Bytes bytes) {
  append_big_endian(out, static_cast<std::size_t>(0xFF00 + marker), 2);
  append_big_endian(out, 2 + name.size() + bytes.size(), 2);
  append_text(out, name);
  out.insert(out.end(), bytes.begin(), bytes.end());
}

}  // namespace

FoundMetadata find_jpeg_metadata(std::span<const std::byte> file) {
  FoundMetadata found;
  SegmentCollector taken(found);
  std::size_t at = 2;
  for (std::size_t segments = 0; segments < kMaxSegments; ++segments) {
    if (at >= file.size() || file[at] != std::byte{0xFF}) break;
    while (at < file.size() && file[at] == std::byte{0xFF}) ++at;
    const std::uint32_t marker = big_endian(file, at++, 1);
    const std::size_t length = big_endian(file, at, 2);
    const bool ends = marker == 0xDA || marker == 0xD9 || marker <= 1 || (marker >= 0xD0 && marker <= 0xD8);
    if (ends || length < 2 || at > file.size() || length > file.size() - at) break;
    taken.take(marker, file.subspan(at + 2, length - 2));
    at += length;
  }
  taken.finish();
  return found;
}

std::optional<JfifDensity> jfif_density(const Metadata& metadata) {
  constexpr std::uint32_t kMost = 65'535;
  if (!metadata.resolution) return std::nullopt;
  const Resolution& resolution = *metadata.resolution;
  const auto made = [](int unit, std::uint32_t x, std::uint32_t y) {
    return JfifDensity{unit, static_cast<std::uint16_t>(x), static_cast<std::uint16_t>(y)};
  };
  if (const std::optional<Resolution::Whole> whole = resolution.per_inch(kMost))
    return made(1, whole->x, whole->y);
  const bool ratio = resolution.unit == Resolution::Unit::none && resolution.x_of == 1 &&
                     resolution.y_of == 1 && resolution.x <= kMost && resolution.y <= kMost;
  return ratio ? std::optional(made(0, resolution.x, resolution.y)) : std::nullopt;
}

void add_jpeg_metadata(std::vector<std::byte>& file, const Metadata& metadata) {
  constexpr std::size_t kJfifHead = 20, kDensity = 13;  // bytes of SOI and APP0; offset of unit and densities
  if (const std::optional<JfifDensity> density = jfif_density(metadata)) {
    std::vector<std::byte> bytes{static_cast<std::byte>(density->unit)};
    append_big_endian(bytes, density->x, 2);
    append_big_endian(bytes, density->y, 2);
    std::ranges::copy(bytes, file.begin() + kDensity);
  }
  insert_bytes(file, kJfifHead, jpeg_metadata_segments(metadata));
}

std::vector<std::byte> jpeg_metadata_segments(const Metadata& metadata) {
  std::vector<std::byte> out;
  if (!metadata.exif.empty()) append_segment(out, 0xE1, kExif, metadata.exif);
  if (!metadata.xmp.empty()) append_segment(out, 0xE1, kXmp, metadata.xmp);
  const std::vector<std::byte> iptc =
      metadata.iptc.empty() ? std::vector<std::byte>() : iptc_resource(metadata.iptc);
  constexpr std::size_t kIptcPart = kMaxSegmentBytes - kPhotoshop.size();
  for (std::size_t at = 0; at < iptc.size(); at += kIptcPart)
    append_segment(out, 0xED, kPhotoshop, Bytes(iptc).subspan(at, std::min(kIptcPart, iptc.size() - at)));
  for (const MetadataText& text : metadata.texts)
    append_segment(out, 0xFE, text.latin1 ? latin1_of_utf8(text.text).value_or(text.text) : text.text, {});
  constexpr std::size_t kPart = kMaxSegmentBytes - kProfile.size() - 2;
  const Bytes profile = metadata.icc;
  const std::size_t parts = (profile.size() + kPart - 1) / kPart;
  for (std::size_t i = 0; i < parts; ++i) {
    std::string name(kProfile);
    name += static_cast<char>(i + 1);
    name += static_cast<char>(parts);
    append_segment(out, 0xE2, name, profile.subspan(i * kPart, std::min(kPart, profile.size() - i * kPart)));
  }
  return out;
}

}  // namespace imgpipe
