// The mark of a PNG: a tEXt chunk "Software" after IHDR (PNG specification, third edition, 11.3.3.1).
#pragma once

#include <cstddef>
#include <vector>

#include "images/codecs/codec.h"

namespace imgpipe {

[[nodiscard]] std::vector<std::byte> png_mark(const Mark& mark);

}  // namespace imgpipe
