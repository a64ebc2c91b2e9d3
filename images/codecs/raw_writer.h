// Writes files that are a header followed by the samples: Netpbm and tensors.
#pragma once

#include <memory>
#include <string>

#include "images/codecs/codec.h"

namespace imgpipe {

// `swap`: stores 16-bit samples in big-endian order, otherwise all samples are in the host's byte order.
[[nodiscard]] std::unique_ptr<Writer> make_raw_writer(std::string header, const Shape& shape, bool swap);

}  // namespace imgpipe
