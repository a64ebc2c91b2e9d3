#include "images/codecs/netpbm/netpbm_codec.h"

#include <algorithm>
#include <limits>
#include <span>
#include <string_view>

#include "images/codecs/mark.h"
#include "images/codecs/metadata/metadata.h"
#include "images/codecs/sniff.h"

namespace imgpipe {
namespace {

constexpr std::size_t kMaxHeaderBytes = std::size_t{1} << 20;

// Whether the magic number has the digit `plain` or `raw`.
bool is_kind(Bytes beginning, char plain, char raw) {
  if (beginning.size() < 3 || !matches_at(beginning, 0, "P")) return false;
  const auto at = [&](std::size_t i) { return std::to_integer<char>(beginning[i]); };
  const char after = at(2);
  const bool ends = after == ' ' || after == '#' || (after >= '\t' && after <= '\r');
  return ends && (at(1) == plain || at(1) == raw);
}

}  // namespace

bool is_pbm(Bytes beginning) {
  return is_kind(beginning, '1', '4');
}

bool is_pgm(Bytes beginning) {
  return is_kind(beginning, '2', '5');
}

bool is_ppm(Bytes beginning) {
  return is_kind(beginning, '3', '6');
}

// Reads the width and height after the magic number; white space and comments may precede each.
FileClaim netpbm_claim(Bytes beginning) {
  constexpr std::int64_t kPlainBytes = 18;  // three samples of five digits and a space
  const Bytes bytes = beginning.first(std::min(beginning.size(), kMaxHeaderBytes));
  FileClaim claim{.max_pixel_bytes = kPlainBytes};
  std::size_t at = 2;
  for (std::int64_t* side : {&claim.width, &claim.height}) {
    bool comment = false;
    const auto c = [&] { return static_cast<char>(little_endian(bytes, at, 1)); };
    const auto digit = [&] { return c() >= '0' && c() <= '9'; };
    for (; at < bytes.size() && (comment || !digit()); ++at)
      comment = comment ? c() != '\n' && c() != '\r' : c() == '#';
    for (; at < bytes.size() && digit() && *side < std::numeric_limits<std::int32_t>::max(); ++at)
      *side = *side * 10 + (c() - '0');
    if (at == bytes.size()) return {.max_pixel_bytes = kPlainBytes};
  }
  return claim;
}

// Finds the header's comments (netpbm.sourceforge.net/doc/pgm.html) except our mark: one trimmed line each.
FoundMetadata find_netpbm_metadata(std::span<const std::byte> file) {
  const bool bitmap = is_pbm(file);
  const Bytes bytes = file.first(std::min(file.size(), kMaxHeaderBytes));
  FoundMetadata found;
  std::size_t at = 2;
  const auto c = [&] { return static_cast<char>(little_endian(bytes, at, 1)); };
  const auto digit = [&] { return c() >= '0' && c() <= '9'; };
  std::vector<std::byte> comment;
  const auto take_comment = [&] {
    const std::size_t begin = at;
    while (at < bytes.size() && c() != '\n' && c() != '\r') ++at;
    std::string_view line(reinterpret_cast<const char*>(bytes.data()) + begin + 1, at - begin - 1);
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    line = line.substr(0, line.find_last_not_of(" \t") + 1);
    const Bytes text = std::as_bytes(std::span(line));
    if (line.empty() || mark_of(text) != Mark::none) return;
    if (!comment.empty()) comment.push_back(std::byte{'\n'});
    comment.insert(comment.end(), text.begin(), text.end());
  };
  for (int number = 0; number < (bitmap ? 2 : 3); ++number) {
    for (; at < bytes.size() && !digit(); ++at)
      if (c() == '#') take_comment();
    while (at < bytes.size() && digit()) ++at;
  }
  if (at < bytes.size() && c() == '#') take_comment();
  if (at < bytes.size()) found.add_comment(comment);  // else the header is incomplete
  return found;
}

// The writer puts the mark into a comment after the signature (netpbm.sourceforge.net/doc/pgm.html).
Mark find_netpbm_mark(Bytes beginning) {
  constexpr std::string_view kComment = "\n# ";
  if (!matches_at(beginning, 2, kComment)) return Mark::none;
  const Bytes text = beginning.subspan(2 + kComment.size());
  const auto end = std::ranges::find(text, std::byte{'\n'});
  return end == text.end() ? Mark::none : mark_of(Bytes(text.begin(), end));
}

}  // namespace imgpipe
