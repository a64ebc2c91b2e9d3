// Whether a user's variant is right: not over one image, but over small ones of every awkward shape and
// content, each in memory full of guards.
#pragma once

#include <functional>
#include <string>

#include "lab/kernels/ladders.h"

namespace imgpipe {

struct OwnVerdict {
  int images = 0;     // that it was right on
  std::string wrong;  // what is wrong with the next one, and its name; "": nothing is wrong
};

// Runs it on the present CUDA device. `begins` hears of each image before it is run: "noise 17x1". Looked
// for: wrong pixels or counts, bytes written outside the output or to the input, work that is not on the
// stream, launches that fail. Throws Error(input), naming the image, when the device's context is lost by it;
// Error(device), Error(memory) for what is not the variant's fault.
[[nodiscard]] OwnVerdict check_own(const Ladder& ladder, const Rung& rung,
                                   const std::function<void(const std::string& image)>& begins);

}  // namespace imgpipe
