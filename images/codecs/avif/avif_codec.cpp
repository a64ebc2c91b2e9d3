#include "images/codecs/avif/avif_codec.h"

#include <array>
#include <string_view>

#include "images/codecs/avif/avif_functions.h"
#include "images/codecs/heif/heif_codec.h"
#include "images/late_library.h"

namespace imgpipe {

bool is_avif(Bytes beginning) {
  return has_heif_brand(beginning, "avif") || has_heif_brand(beginning, "avis");
}

FileDetails describe_avif(Bytes file) {
  FileDetails details = describe_heif(read_heif_contents(file, "AVIF"));
  details.compression = "AV1";
  details.decoder = "libavif";
  return details;
}

std::vector<std::string> avif_libraries() {
  return {library_version("libavif", [] {
    std::array<char, 256> codecs{};
    late_avif::avifCodecVersions(codecs.data());
    return std::string(late_avif::avifVersion()) + " (" + codecs.data() + ")";
  })};
}

}  // namespace imgpipe
