#include "images/codecs/jpeg/jpeg_segments.h"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "images/codecs/icc.h"
#include "images/codecs/sniff.h"
#include "images/error.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;
using Bytes = std::span<const std::byte>;

constexpr unsigned kRestartInterval = 0xDD;
constexpr unsigned kApp0 = 0xE0;
constexpr unsigned kApp1 = 0xE1;
constexpr unsigned kApp2 = 0xE2;
constexpr unsigned kApp14 = 0xEE;

// Restart markers, TEM and the start of an image have no length; zero stands for a stuffed 0xFF.
bool stands_alone(unsigned marker) {
  return marker <= 1 || (marker >= 0xD0 && marker <= 0xD8);
}

bool is_frame_header(unsigned marker) {
  return marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC;
}

// The segments of one profile by number, from 1 (ICC.1:2010, annex B.4).
class ProfileParts {
 public:
  void add(Bytes payload) {
    constexpr std::size_t kHeadBytes = 14;
    if (payload.size() < kHeadBytes) return;
    Bytes& part = parts_[std::to_integer<std::size_t>(payload[12])];
    if (part.empty()) part = payload.subspan(kHeadBytes);
    seen_ = true;
  }

  [[nodiscard]] std::optional<std::vector<std::byte>> joined() const {
    if (!seen_) return std::nullopt;
    std::vector<std::byte> profile;
    for (std::size_t i = 1; i < parts_.size() && !parts_[i].empty() && profile.size() < kMaxProfileBytes; ++i)
      profile.insert(profile.end(), parts_[i].begin(), parts_[i].end());
    return profile;
  }

 private:
  std::array<Bytes, 256> parts_{};
  bool seen_ = false;
};

// Returns the next marker's code, or zero, and moves `at` past it. Skips other bytes, as libjpeg does.
unsigned next_marker(Bytes file, std::size_t& at) {
  while (at < file.size() && file[at] != std::byte{0xFF}) ++at;
  while (at < file.size() && file[at] == std::byte{0xFF}) ++at;
  return at < file.size() ? std::to_integer<unsigned>(file[at++]) : 0;
}

void read_segment(unsigned marker, Bytes payload, JpegFacts& facts, ProfileParts& parts) {
  constexpr std::string_view kExif = "Exif\0\0"sv;
  constexpr std::string_view kPictures = "MPF\0"sv;
  if (marker == kApp1 && facts.exif.empty() && matches_at(payload, 0, kExif))
    facts.exif = payload.subspan(kExif.size());
  if (marker == kApp2 && matches_at(payload, 0, "ICC_PROFILE\0"sv)) parts.add(payload);
  if (marker == kApp2 && matches_at(payload, 0, kPictures)) {
    if (!facts.multi_picture) facts.multi_picture_index = payload.subspan(kPictures.size());
    facts.multi_picture = true;
  }
  // As in libjpeg, shorter segments are ignored.
  if (marker == kApp0 && matches_at(payload, 0, "JFIF\0"sv) && payload.size() >= 14) facts.jfif = true;
  if (marker == kApp14 && matches_at(payload, 0, "Adobe"sv) && payload.size() >= 12)
    facts.adobe_transform = big_endian(payload, 11, 1);
  if (marker == kRestartInterval) facts.restart_interval = big_endian(payload, 0, 2);
  if (is_frame_header(marker) && facts.width == 0) {
    facts.frame = payload;
    facts.frame_marker = marker;
    facts.height = big_endian(payload, 1, 2);
    facts.width = big_endian(payload, 3, 2);
  }
}

}  // namespace

JpegFacts read_jpeg_facts(std::span<const std::byte> file) {
  JpegFacts facts;
  ProfileParts parts;
  std::size_t segments = 0;
  for (std::size_t at = 0; at < file.size();) {
    const unsigned marker = next_marker(file, at);
    if (stands_alone(marker)) continue;
    if (marker == kStartOfScan || marker == kEndOfImage) {
      const std::size_t end = marker == kEndOfImage ? at : at + big_endian(file, at, 2);
      if (end <= file.size()) facts.header_end = end;
      break;
    }
    if (++segments > kMaxSegments)
      throw Error(ErrorKind::input, "JPEG: more than " + std::to_string(kMaxSegments) + " header segments");
    const std::size_t length = big_endian(file, at, 2);
    if (length < 2) {  // damaged: libjpeg continues after the length
      at += 2;
      continue;
    }
    if (at > file.size() || length > file.size() - at) break;
    read_segment(marker, file.subspan(at + 2, length - 2), facts, parts);
    at += length;
  }
  facts.profile = parts.joined();
  return facts;
}

std::span<const std::byte> without_padding(std::span<const std::byte> bytes) {
  const auto padding = [&bytes](std::size_t at) {
    const auto c = std::to_integer<unsigned>(bytes[at]);
    if (c == 0xFF) return !matches_at(bytes, at, "\xFF\xD8"sv);  // the start of another image
    return c == 0 || c == ' ' || (c >= '\t' && c <= '\r');
  };
  std::size_t at = 0;
  while (at < bytes.size() && padding(at)) ++at;
  return bytes.subspan(at);
}

bool is_known_trailer(std::span<const std::byte> after, const JpegFacts& facts) {
  constexpr std::string_view kSamsung = "SEFT";
  if (facts.multi_picture) return true;
  if (after.size() >= kSamsung.size() && matches_at(after, after.size() - kSamsung.size(), kSamsung))
    return true;
  // without_padding() may have removed some of the four bytes of the box's length.
  for (std::size_t length_bytes = 0; length_bytes <= 4 && length_bytes < after.size(); ++length_bytes) {
    if (matches_at(after, length_bytes, "ftyp")) return true;
  }
  return false;
}

}  // namespace imgpipe
