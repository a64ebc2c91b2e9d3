// Where an answer first differs from the right one, for people who look for their mistake.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/pipeline/lab.h"

namespace imgpipe {

// "first at x 3, y 0: 17 is right, got 0", or of stages that count "bin 17: 4 is right, got 0"; "" where
// there is no difference.
[[nodiscard]] std::string first_difference(const LabSubject& subject, const ConstHostView& out,
                                           const std::vector<std::uint64_t>& counts);

}  // namespace imgpipe
