#include "images/codecs/bmp/bmp_codec.h"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <string_view>

#include "images/codecs/mark.h"
#include "images/codecs/sniff.h"
#include "images/error.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;

// The four reserved bytes of the file header, which are the writing program's (BITMAPFILEHEADER).
constexpr std::size_t kReserved = 6;

std::string_view reserved_text(const Mark& mark) {
  return mark.kind == Mark::Kind::result ? "impr"sv : "imps"sv;
}

// As long as its file header says, which must leave room for that header and the smallest one of a picture.
class BmpEnd final : public EndFinder {
 public:
  bool find(Bytes image, bool /*all*/) override {
    constexpr std::size_t kLeastBytes = 26;
    if (image.size() < kLeastBytes) return false;
    const std::size_t bytes = little_endian(image, 2, 4);
    if (bytes < std::max<std::size_t>(kLeastBytes, little_endian(image, 10, 4)))
      throw Error(ErrorKind::input, "bmp: its header says that the file has " + std::to_string(bytes) +
                                        " bytes, which cannot be");
    return ends_at(image, bytes);
  }
};

}  // namespace

std::unique_ptr<EndFinder> find_bmp_end() {
  return std::make_unique<BmpEnd>();
}

bool is_bmp(Bytes beginning) {
  return stands_at(beginning, 0, "BM"sv);
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
    if (stands_at(beginning, kReserved, reserved_text(mark))) return mark;
  return Mark::none;
}

}  // namespace imgpipe
