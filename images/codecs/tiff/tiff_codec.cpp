#include "images/codecs/tiff/tiff_codec.h"

#include <algorithm>

#include "images/codecs/mark.h"
#include "images/codecs/tiff/tiff_library.h"
#include "images/codecs/tiff/zstd_functions.h"
#include "images/error.h"
#include "images/late_library.h"

namespace imgpipe {
namespace {

std::optional<TiffDirectory> first_directory(Bytes beginning) {
  const std::optional<std::uint64_t> offset = tiff_directory_offset(beginning, 0);
  return offset ? std::optional(TiffDirectory(beginning, *offset)) : std::nullopt;
}

std::int64_t number(const TiffDirectory& directory, TiffTag tag) {
  const std::optional<TiffValues> values = directory.find(tag, true);
  return values ? static_cast<std::int64_t>(std::min<std::uint64_t>((*values)[0], std::uint64_t{1} << 32))
                : 0;
}

}  // namespace

// The directory may be anywhere, and more pages may follow.
FileClaim tiff_claim(Bytes beginning) {
  try {
    if (const std::optional<TiffDirectory> directory = first_directory(beginning)) {
      const std::int64_t samples = std::clamp<std::int64_t>(number(*directory, TiffTag::samples), 4, 64);
      FileClaim claim{.width = number(*directory, TiffTag::width),
                      .height = number(*directory, TiffTag::height),
                      .max_pixel_bytes = (number(*directory, TiffTag::bits) > 16 ? 4 : 2) * samples};
      if (directory->next() != 0 || directory->find(TiffTag::sub_directories, true))
        claim.other_bytes = kEndless;
      return claim;
    }
  } catch (const Error&) {
    // The directory is not in these bytes, or is damaged; the reader determines which.
  }
  return {.other_bytes = kEndless};
}

// The mark is in the field Software of the first directory, which our own files have at the front.
Mark find_tiff_mark(Bytes beginning) {
  try {
    const std::optional<TiffDirectory> directory = first_directory(beginning);
    if (!directory) return Mark::none;
    const std::optional<TiffValues> text = directory->find(TiffTag::software);
    if (!text || text->bytes().back() != std::byte{0}) return Mark::none;
    return mark_of(text->bytes().first(text->bytes().size() - 1));
  } catch (const Error&) {
    return Mark::none;
  }
}

std::vector<std::string> tiff_libraries() {
  return {libtiff_version(), library_version("zstd", [] { return late_zstd::ZSTD_versionString(); })};
}

}  // namespace imgpipe
