// Checks a user's variant on small images of awkward shapes and contents, in memory with guard bytes.
#pragma once

#include <functional>
#include <string>

#include "lab/kernels/ladders.h"

namespace imgpipe {

struct UserCheckResult {
  int images = 0;     // on which it was right
  std::string wrong;  // the first failure, with the image's name; "" if there is none
};

// Runs the variant on the current CUDA device; calls `begins` before each image, for example with "noise
// 17x1". Detects wrong pixels or counts, writes outside the output or to the input, work on other streams,
// and failed launches. Throws Error(input), naming the image, if the variant destroys the device's context.
// Throws Error(device) or Error(memory) for failures that it did not cause.
[[nodiscard]] UserCheckResult check_user_kernel(const Ladder& ladder, const StageVariant& variant,
                                                const std::function<void(const std::string& image)>& begins);

}  // namespace imgpipe
