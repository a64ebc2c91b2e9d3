#include "images/codecs/icc.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string_view>

#include "images/codecs/icc_curves.h"
#include "images/codecs/sniff.h"
#include "images/text.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;
using Bytes = std::span<const std::byte>;

constexpr std::size_t kHeaderBytes = 128;
constexpr std::size_t kMaxNameCharacters = 80;
constexpr const char* kUnnamed = "unnamed";

// ---- the name ---------------------------------------------------------------------------------------

void append_utf8(std::string& out, std::uint32_t c) {
  const auto put = [&out](std::uint32_t byte) { out += static_cast<char>(byte); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0 | c >> 6);
    put(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    put(0xE0 | c >> 12);
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  } else {
    put(0xF0 | c >> 18);
    put(0x80 | (c >> 12 & 0x3F));
    put(0x80 | (c >> 6 & 0x3F));
    put(0x80 | (c & 0x3F));
  }
}

std::string from_utf16(Bytes text) {
  std::string out;
  for (std::size_t i = 0, count = 0; i + 1 < text.size() && count < kMaxNameCharacters; i += 2, ++count) {
    std::uint32_t c = big_endian(text, i, 2);
    const std::uint32_t low = big_endian(text, i + 2, 2);
    if (c == 0) break;
    if (c >= 0xD800 && c < 0xDC00 && low >= 0xDC00 && low < 0xE000) {
      c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
      i += 2;
    }
    append_utf8(out, c);  // unpaired surrogates stay; printable() escapes them
  }
  return out;
}

// multiLocalizedUnicodeType: returns the English name, else the first.
std::string localized(Bytes tag) {
  constexpr std::size_t kRecords = 16;
  const std::uint32_t count = std::min(big_endian(tag, 8, 4), kMaxIccTags);
  const std::size_t record_bytes = big_endian(tag, 12, 4);
  std::size_t record = kRecords;
  if (record_bytes < 12 || record_bytes > tag.size()) return "";
  for (std::size_t i = count; i-- > 0;) {
    if (matches_at(tag, kRecords + i * record_bytes, "en")) record = kRecords + i * record_bytes;
  }
  const std::size_t offset = big_endian(tag, record + 8, 4);
  if (offset >= tag.size()) return "";
  return from_utf16(
      tag.subspan(offset, std::min<std::size_t>(big_endian(tag, record + 4, 4), tag.size() - offset)));
}

// textDescriptionType, and textType, which some programs write instead.
std::string plain_text(Bytes tag, std::size_t at) {
  std::string out;
  for (std::size_t i = at; i < tag.size() && tag[i] != std::byte{0} && out.size() < kMaxNameCharacters; ++i)
    out += static_cast<char>(tag[i]);
  return out;
}

std::string description(Bytes profile) {
  const Bytes tag = icc_tag(profile, "desc");
  std::string name;
  if (matches_at(tag, 0, "desc")) name = plain_text(tag, 12);
  if (matches_at(tag, 0, "mluc")) name = localized(tag);
  if (matches_at(tag, 0, "text")) name = plain_text(tag, 8);
  const auto space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!name.empty() && space(name.back())) name.pop_back();
  return name;
}

bool called_srgb(std::string_view name) {
  constexpr std::string_view kName = "srgb";
  return name.size() >= kName.size() &&
         std::equal(kName.begin(), kName.end(), name.begin(),
                    [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); });
}

// ---- the curves -------------------------------------------------------------------------------------

// IEC 61966-2-1. A plain gamma of 2.2 deviates by up to 0.008, the shortest tables in use by less than 0.003.
bool is_srgb_curve(Bytes tag) {
  constexpr double kNear = 0.004;
  constexpr int kSteps = 64;
  for (int i = 0; i <= kSteps; ++i) {
    const double x = i / double{kSteps};
    const double wanted = x <= 0.04045 ? x / 12.92 : exact_power((x + 0.055) / 1.055, 2.4);
    const std::optional<double> y = icc_curve_value(tag, x);
    if (!y || !(std::abs(*y - wanted) <= kNear)) return false;
  }
  return true;
}

// Compares with sRGB's primaries, adapted to D50 as profiles store them.
bool has_srgb_primaries(Bytes profile) {
  constexpr double kNear = 0.002;
  constexpr std::array kPrimaries{std::array{0.43607, 0.22249, 0.01392},
                                  std::array{0.38515, 0.71687, 0.09708},
                                  std::array{0.14307, 0.06061, 0.71410}};
  constexpr std::array kTags{"rXYZ"sv, "gXYZ"sv, "bXYZ"sv};
  for (std::size_t i = 0; i < kTags.size(); ++i) {
    const Bytes tag = icc_tag(profile, kTags[i]);
    if (tag.size() < 20) return false;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (std::abs(icc_number(tag, 8 + 4 * axis) - kPrimaries[i][axis]) > kNear) return false;
    }
  }
  return true;
}

bool is_srgb(Bytes profile, std::string_view name) {
  if (matches_at(profile, 16, "GRAY")) return is_srgb_curve(icc_tag(profile, "kTRC"));
  if (!matches_at(profile, 16, "RGB ")) return false;
  if (icc_tag(profile, "rXYZ").empty()) return called_srgb(name);  // tables instead of a matrix
  return has_srgb_primaries(profile) && is_srgb_curve(icc_tag(profile, "rTRC")) &&
         is_srgb_curve(icc_tag(profile, "gTRC")) && is_srgb_curve(icc_tag(profile, "bTRC"));
}

}  // namespace

namespace {

// Truncates to kMaxNameCharacters bytes without splitting a character.
std::string shortened(std::string text) {
  if (text.size() <= kMaxNameCharacters) return text;
  std::size_t end = kMaxNameCharacters;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  text.resize(end);
  return text;
}

}  // namespace

std::string profile_name(std::span<const std::byte> profile) {
  if (!matches_at(profile, 36, "acsp")) return kUnnamed;
  const std::string name = description(profile);
  if (is_srgb(profile, name)) return "";
  return name.empty() ? kUnnamed : shortened(printable(name));
}

std::string_view profile_fault(std::span<const std::byte> profile) {
  constexpr std::size_t kEntryBytes = 12;
  const std::size_t bytes = profile_bytes(profile);
  if (!matches_at(profile, 36, "acsp") || bytes < kHeaderBytes + 4) return "not an ICC profile";
  if (bytes > profile.size()) return "truncated";
  if (bytes > kMaxProfileBytes) return "too long";
  const std::uint32_t tags = big_endian(profile, kHeaderBytes, 4);
  if (tags == 0 || tags > kMaxIccTags) return "no tag table";
  const std::size_t table_end = kHeaderBytes + 4 + tags * kEntryBytes;
  if (table_end > bytes) return "truncated";
  for (std::size_t entry = kHeaderBytes + 4; entry < table_end; entry += kEntryBytes) {
    const std::size_t offset = big_endian(profile, entry + 4, 4);
    const std::size_t size = big_endian(profile, entry + 8, 4);
    if (offset < table_end || offset > bytes || size > bytes - offset)
      return "a tag lies outside the profile";
  }
  return "";
}

std::size_t profile_bytes(std::span<const std::byte> profile) {
  return big_endian(profile, 0, 4);
}

int profile_channels(std::span<const std::byte> profile) {
  if (matches_at(profile, 16, "RGB ")) return 3;
  if (matches_at(profile, 16, "CMYK")) return 4;
  return matches_at(profile, 16, "GRAY") ? 1 : 0;
}

}  // namespace imgpipe
