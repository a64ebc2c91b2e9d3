// A writer that counts an image's samples and makes no file: it stands where an encoder would, so that an
// image is counted band by band on several threads and is never held whole.
#pragma once

#include <memory>

#include "images/codecs/codec.h"
#include "pipeline/statistics/sample_counts.h"

namespace imgpipe {

// Takes rows of this shape. With finish(), which throws Error(usage) before all rows are there, the counts
// are in `counts`; the file is empty.
[[nodiscard]] std::unique_ptr<Writer> make_counting_writer(const Shape& shape,
                                                           std::shared_ptr<SampleCounts> counts);

}  // namespace imgpipe
