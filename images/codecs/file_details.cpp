#include "images/codecs/file_details.h"

#include <array>
#include <utility>

namespace imgpipe {

std::string chroma_sampling(std::int64_t across, std::int64_t down) {
  using Ratio = std::pair<std::int64_t, std::int64_t>;
  constexpr std::array<std::pair<Ratio, const char*>, 7> kNames{{{{1, 1}, "4:4:4"},
                                                                 {{2, 1}, "4:2:2"},
                                                                 {{2, 2}, "4:2:0"},
                                                                 {{1, 2}, "4:4:0"},
                                                                 {{4, 1}, "4:1:1"},
                                                                 {{4, 2}, "4:1:0"},
                                                                 {{1, 4}, "4:4:1"}}};
  for (const auto& [ratio, name] : kNames)
    if (ratio == Ratio{across, down}) return name;
  return "";
}

std::string bits_per_pixel_text(int bits) {
  return std::to_string(bits) + (bits == 1 ? " bit per pixel" : " bits per pixel");
}

}  // namespace imgpipe
