#include "images/codecs/netpbm/netpbm_codec.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "images/codecs/mark.h"
#include "images/codecs/sniff.h"

namespace imgpipe {
namespace {

// Of the kinds P1 to P6: whether it is that one, plain or raw.
bool is_kind(Bytes beginning, char plain, char raw) {
  if (beginning.size() < 3 || !stands_at(beginning, 0, "P")) return false;
  const auto at = [&](std::size_t i) { return std::to_integer<char>(beginning[i]); };
  const char behind = at(2);
  const bool ends = behind == ' ' || behind == '#' || (behind >= '\t' && behind <= '\r');
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

// The two numbers behind the magic; white space and comments may stand before each.
FileClaim netpbm_claim(Bytes beginning) {
  constexpr std::size_t kMostHeaderBytes = std::size_t{1} << 20;
  constexpr std::int64_t kPlainBytes = 18;  // three samples of five digits and a space
  const Bytes bytes = beginning.first(std::min(beginning.size(), kMostHeaderBytes));
  FileClaim claim{.bytes_a_pixel = kPlainBytes};
  std::size_t at = 2;
  for (std::int64_t* side : {&claim.width, &claim.height}) {
    bool comment = false;
    const auto c = [&] { return static_cast<char>(little_endian(bytes, at, 1)); };
    const auto digit = [&] { return c() >= '0' && c() <= '9'; };
    for (; at < bytes.size() && (comment || !digit()); ++at)
      comment = comment ? c() != '\n' && c() != '\r' : c() == '#';
    for (; at < bytes.size() && digit() && *side < std::numeric_limits<std::int32_t>::max(); ++at)
      *side = *side * 10 + (c() - '0');
    if (at == bytes.size()) return {.bytes_a_pixel = kPlainBytes};
  }
  return claim;
}

// A comment behind the signature (netpbm.sourceforge.net/doc/pgm.html), which the writer makes.
Mark find_netpbm_mark(Bytes beginning) {
  constexpr std::string_view kComment = "\n# ";
  if (!stands_at(beginning, 2, kComment)) return Mark::none;
  const Bytes text = beginning.subspan(2 + kComment.size());
  const auto end = std::ranges::find(text, std::byte{'\n'});
  return end == text.end() ? Mark::none : mark_of(Bytes(text.begin(), end));
}

}  // namespace imgpipe
