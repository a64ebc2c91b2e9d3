// A writer that counts an image's samples instead of encoding it. Several threads can count it band by band,
// and it is never held whole.
#pragma once

#include <memory>

#include "images/codecs/codec.h"
#include "pipeline/statistics/sample_counts.h"

namespace imgpipe {

// Takes rows of this shape. finish() stores the counts in `counts` and returns an empty file; it throws
// Error(usage) if rows are missing.
[[nodiscard]] std::unique_ptr<Writer> make_counting_writer(const Shape& shape,
                                                           std::shared_ptr<SampleCounts> counts);

}  // namespace imgpipe
