// Facts of a PNG that libpng does not report, or reports only after the pixels.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "images/codecs/codec.h"

namespace imgpipe {

// Sets the header's orientation, profile and further images. Warns of bytes that follow the image.
void read_png_header_facts(std::span<const std::byte> file, ImageHeader& header,
                           std::vector<std::string>& warnings);

}  // namespace imgpipe
