#include "images/codecs/heic/heic_codec.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "images/codecs/heic/heif_functions.h"
#include "images/codecs/heif/heif_codec.h"
#include "images/late_library.h"

namespace imgpipe {

// The brands of HEVC images, and the general brand of HEIF unless the file is an AVIF.
bool is_heic(Bytes beginning) {
  constexpr std::array<std::string_view, 5> kBrands{"heic", "heix", "heim", "heis", "mif1"};
  const auto has = [&](std::string_view brand) { return has_heif_brand(beginning, brand); };
  return std::ranges::any_of(kBrands, has) && !has("avif") && !has("avis");
}

FileDetails describe_heic(Bytes file) {
  FileDetails details = describe_heif(read_heif_contents(file, "HEIC"));
  details.compression = "HEVC";
  details.decoder = "libheif";
  return details;
}

std::vector<std::string> heic_libraries() {
  return {library_version("libheif", [] { return late_heif::heif_get_version(); })};
}

}  // namespace imgpipe
