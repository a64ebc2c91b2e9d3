// --cpu: an image against the sequential reference.
#pragma once

#include <optional>
#include <vector>

#include "app/process_options/process_options.h"
#include "pipeline/compare.h"
#include "pipeline/engine.h"
#include "pipeline/jobs/image_job.h"

namespace imgpipe {

struct Comparison {
  Outcome reference;
  std::vector<Difference> differences{};
  std::optional<Difference> decoded{};  // against the format's library
  double library_decode_ms = 0;
};

// The sequential reference over the same decoded image, of a job with Job::keep_source and Job::keep_outputs.
// Its times are medians of at most 3 passes. Where another decoder than the format's library may have made
// the decoded image, that is compared too.
[[nodiscard]] Comparison compare_with_reference(const ProcessOptions& options, const ImageJob& image,
                                                const Outcome& outcome);

}  // namespace imgpipe
