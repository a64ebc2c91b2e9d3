// The size of the HEVC images in a file, read before a decoder allocates them.
#pragma once

#include <cstdint>

#include "images/codecs/heif/heif_items.h"

namespace imgpipe {

// Returns the most luma samples that a sequence parameter set of any HEVC image in the file declares, in its
// configuration or among its data (ITU-T H.265, section 7.3.2.2.1); 0 if there is none.
[[nodiscard]] std::int64_t most_hevc_samples(const HeifItems& items);

}  // namespace imgpipe
