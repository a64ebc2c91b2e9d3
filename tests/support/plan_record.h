// Numbers of plans, such as the memory that they need, against a recorded file: random chains, and for each a
// line with a digest of every group of numbers. A failure prints the numbers of today; IMGPIPE_WRITE_GOLDEN=1
// writes the file.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/plan.h"

namespace imgpipe::test {

// `file`: of the checkout. `numbers_of` gives the text of each group.
void expect_recorded(std::string_view file, std::span<const std::string_view> groups,
                     const std::function<std::vector<std::string>(const Plan&)>& numbers_of);

}  // namespace imgpipe::test
