// Writes small AVIF, HEIC and JPEG XL files of every layout into a directory, as seeds of fuzz_decode.
#include <cstdio>
#include <string>
#include <utility>

#include "images/synth.h"
#include "tests/support/library_encoders.h"

int main(int count, char** arguments) {
  using namespace imgpipe;
  if (count != 2) return 2;
  for (const Format format : test::library_formats()) {
    for (int channels = 1; channels <= 4; ++channels) {
      if (format == Format::heic && channels == 2) continue;
      for (const bool lossless : {false, true}) {
        const Image image = synthesize(parse_pattern("photo"), {19, 13, channels}, 5);
        const test::Bytes file = test::encode_by_library(format, image.view(), {.lossless = lossless});
        const std::string path = std::string(arguments[1]) + "/" + std::to_string(channels) +
                                 (lossless ? "l." : ".") + std::string(format_info(format).name);
        std::FILE* out = std::fopen(path.c_str(), "wb");
        if (out == nullptr || std::fwrite(file.data(), 1, file.size(), out) != file.size()) return 1;
        if (std::fclose(out) != 0) return 1;
      }
    }
  }
  return 0;
}
