// A writer that counts an image's samples, in bands on several threads, without encoding or holding it.
#pragma once

#include <memory>
#include <optional>

#include "images/codecs/codec.h"
#include "pipeline/statistics/float_counts.h"
#include "pipeline/statistics/sample_counts.h"

namespace imgpipe {

// finish() stores the counts and returns an empty file; it throws Error(usage) if rows are missing.
[[nodiscard]] std::unique_ptr<Writer> make_counting_writer(const Shape& shape,
                                                           std::shared_ptr<SampleCounts> counts);
// The same for float samples.
[[nodiscard]] std::unique_ptr<Writer> make_counting_writer(const Shape& shape,
                                                           std::shared_ptr<FloatCounts> counts,
                                                           const std::optional<FloatBins>& bins);

}  // namespace imgpipe
