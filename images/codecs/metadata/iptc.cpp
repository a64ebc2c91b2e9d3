#include "images/codecs/metadata/iptc.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "images/codecs/metadata/metadata.h"
#include "images/codecs/sniff.h"
#include "images/error.h"

namespace imgpipe {
namespace {

using Bytes = std::span<const std::byte>;

constexpr std::uint32_t kIptcResource = 1028;

// Whether a resource begins at `at`, with "8BIM" or the signature that another program uses for the same
// structure.
bool begins_resource(Bytes block, std::size_t at) {
  constexpr std::array<std::string_view, 5> kSignatures{"8BIM", "PHUT", "DCSR", "AgHg", "MeSa"};
  return std::ranges::any_of(kSignatures, [&](std::string_view name) { return matches_at(block, at, name); });
}

// Returns the name of image information that is lost; empty for editor settings and copies of other metadata.
std::string_view name_of(std::uint32_t id, Bytes data) {
  constexpr std::uint32_t kThumbnail4 = 1033, kCopyrightFlag = 1034, kUrl = 1035, kThumbnail = 1036;
  if (id >= 2000 && id <= 2998) return "Photoshop paths";
  if (id == kThumbnail4 || id == kThumbnail) return "Photoshop thumbnail";
  const bool set = std::ranges::any_of(data, [](std::byte byte) { return byte != std::byte{0}; });
  if (id == kCopyrightFlag && set) return "Photoshop copyright flag";
  if (id == kUrl && set) return "Photoshop URL";
  return "";
}

}  // namespace

bool for_each_photoshop_resource(std::span<const std::byte> block,
                                 const std::function<void(std::uint32_t, std::span<const std::byte>)>& use) {
  std::size_t at = 0;
  while (begins_resource(block, at)) {
    const std::uint32_t id = big_endian(block, at + 4, 2);
    at += 6 + (big_endian(block, at + 6, 1) + 2) / 2 * 2;  // the name is padded to an even length
    const std::size_t length = big_endian(block, at, 4);
    at += 4;
    if (at > block.size() || length > block.size() - at) return false;
    use(id, block.subspan(at, length));
    at += length;
    // Some writers omit the padding byte.
    if (length % 2 != 0 && !begins_resource(block, at)) ++at;
  }
  return std::ranges::all_of(block.subspan(std::min(at, block.size())),
                             [](std::byte byte) { return byte == std::byte{0}; });
}

void find_photoshop_metadata(std::span<const std::byte> block, FoundMetadata& found) {
  const bool whole = for_each_photoshop_resource(block, [&](std::uint32_t id, Bytes data) {
    if (id != kIptcResource) {
      if (const std::string_view name = name_of(id, data); !name.empty()) found.lose(std::string(name));
    } else if (data.size() > kMaxIptcBytes) {
      found.lose("IPTC (too long)");
    } else if (found.iptc.empty()) {
      found.iptc.assign(data.begin(), data.end());
    }
  });
  if (!whole)
    found.lose(found.iptc.empty() ? "IPTC and Photoshop resources (damaged)"
                                  : "Photoshop resources (damaged)");
}

std::span<const std::byte> checked_iptc(std::span<const std::byte> datasets) {
  constexpr std::size_t kHeadBytes = 5, kMaxLengthBytes = 4;
  std::size_t at = 0;
  while (at < datasets.size() && datasets[at] == std::byte{0x1C}) {
    if (datasets.size() - at < kHeadBytes) fail_damaged("a dataset is truncated");
    std::size_t length = big_endian(datasets, at + 3, 2);
    std::size_t head = kHeadBytes;
    if (length >= 0x8000) {  // an extended dataset: the size of its length field
      const std::size_t length_bytes = length & 0x7FFF;
      if (length_bytes == 0 || length_bytes > kMaxLengthBytes) fail_damaged("a dataset has no length");
      length = big_endian(datasets, at + head, length_bytes);
      head += length_bytes;
    }
    if (head > datasets.size() - at || length > datasets.size() - at - head)
      fail_damaged("a dataset is truncated");
    at += head + length;
  }
  if (at == 0) fail_damaged("no datasets");
  const auto is_zero = [](std::byte byte) { return byte == std::byte{0}; };
  if (!std::ranges::all_of(datasets.subspan(at), is_zero))
    fail_damaged("unexpected bytes among the datasets");
  return datasets.first(at);
}

std::vector<std::byte> iptc_resource(std::span<const std::byte> datasets) {
  using namespace std::string_view_literals;
  std::vector<std::byte> resource;
  append_text(resource, "8BIM\x04\x04\0\0"sv);  // IPTC-NAA (1028), with an empty name
  append_big_endian(resource, datasets.size(), 4);
  resource.insert(resource.end(), datasets.begin(), datasets.end());
  if (datasets.size() % 2 != 0) resource.push_back(std::byte{0});
  return resource;
}

}  // namespace imgpipe
