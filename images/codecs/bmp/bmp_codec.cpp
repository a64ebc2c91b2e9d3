#include "images/codecs/bmp/bmp_codec.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "images/codecs/bmp/bmp_header.h"
#include "images/codecs/icc.h"
#include "images/codecs/mark.h"
#include "images/codecs/metadata/metadata.h"
#include "images/codecs/sniff.h"
#include "images/error.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;

// The four reserved bytes of the file header, free for the writing program (BITMAPFILEHEADER).
constexpr std::size_t kReserved = 6;

std::string_view reserved_text(const Mark& mark) {
  return mark.kind == Mark::Kind::result ? "impr"sv : "imps"sv;
}

// Takes the length from the file header; it must cover that header and the smallest image header.
class BmpEnd final : public EndFinder {
 public:
  bool find(Bytes image, bool /*all*/) override {
    constexpr std::size_t kMinBytes = 26;
    if (image.size() < kMinBytes) return false;
    const std::size_t bytes = little_endian(image, 2, 4);
    if (bytes < std::max<std::size_t>(kMinBytes, little_endian(image, 10, 4)))
      throw Error(ErrorKind::input,
                  "bmp: invalid file size in the header: " + std::to_string(bytes) + " bytes");
    return ends_at(image, bytes);
  }
};

}  // namespace

std::unique_ptr<EndFinder> find_bmp_end() {
  return std::make_unique<BmpEnd>();
}

bool is_bmp(Bytes beginning) {
  return matches_at(beginning, 0, "BM"sv);
}

FileClaim bmp_claim(Bytes beginning) {
  if (little_endian(beginning, 14, 4) == 12)
    return {.width = little_endian(beginning, 18, 2), .height = little_endian(beginning, 20, 2)};
  const auto side = [&](std::size_t at) {
    return std::abs(std::int64_t{static_cast<std::int32_t>(little_endian(beginning, at, 4))});
  };
  return {.width = side(18), .height = side(22)};
}

void add_bmp_mark(std::vector<std::byte>& file, const Mark& mark) {
  if (mark == Mark::none) return;
  std::ranges::copy(std::as_bytes(std::span(reserved_text(mark))), file.begin() + kReserved);
}

Mark find_bmp_mark(Bytes beginning) {
  for (const Mark& mark : {Mark::result, Mark::synthetic})
    if (matches_at(beginning, kReserved, reserved_text(mark))) return mark;
  return Mark::none;
}

FoundMetadata find_bmp_metadata(std::span<const std::byte> file) {
  constexpr std::uint32_t kMost = std::numeric_limits<std::int32_t>::max();
  FoundMetadata found;
  try {
    const BmpHeader header = read_bmp_header(file, true);
    const std::uint32_t x = header.x_resolution, y = header.y_resolution;
    if (x > 0 && y > 0 && x <= kMost && y <= kMost)
      found.resolution =
          Resolution{.x = x, .x_of = 100, .y = y, .y_of = 100, .unit = Resolution::Unit::centimetre};
    const Bytes profile = bytes_at(file, header.profile_at, header.profile_bytes);
    if (header.profile_is_linked) {
      found.lose("ICC profile (in another file)");
    } else if (header.profile_bytes > 0 && (profile.empty() || profile.size() > kMaxProfileBytes)) {
      found.lose("ICC profile (damaged or too long)");
    } else {
      found.icc.assign(profile.begin(), profile.end());
    }
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::memory) throw;  // the reader reports it
  }
  return found;
}

void add_bmp_metadata(std::vector<std::byte>& file, const Metadata& metadata) {
  constexpr std::uint32_t kMost = std::numeric_limits<std::int32_t>::max();
  constexpr std::size_t kResolutionAt = 38;
  const auto whole = metadata.resolution ? metadata.resolution->per_metre(kMost) : std::nullopt;
  if (!whole) return;
  for (std::size_t i = 0; i < 4; ++i) {
    file[kResolutionAt + i] = static_cast<std::byte>(whole->x >> 8 * i);
    file[kResolutionAt + 4 + i] = static_cast<std::byte>(whole->y >> 8 * i);
  }
}

}  // namespace imgpipe
