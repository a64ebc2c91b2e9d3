// Where a result first differs from the expected one, for users who look for their mistake.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/pipeline/lab.h"

namespace imgpipe {

// Returns "first at x 3, y 0: 17 is right, got 0" or "first in bin 17: 4 is right, got 0"; "" if equal.
[[nodiscard]] std::string first_difference(const LabSubject& subject, const ConstHostView& out,
                                           const std::vector<std::uint64_t>& counts);

}  // namespace imgpipe
