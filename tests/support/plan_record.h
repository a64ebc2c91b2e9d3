// Compares numbers of plans, such as the memory they need, with a recorded file. It has a line for each
// random chain, with a digest of every group of numbers. A failure prints today's numbers;
// IMGPIPE_WRITE_GOLDEN=1 writes the file.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/plan.h"

namespace imgpipe::test {

// `file` is in the checkout. `numbers_of` returns the text of each group.
void expect_recorded(std::string_view file, std::span<const std::string_view> groups,
                     const std::function<std::vector<std::string>(const Plan&)>& numbers_of);

}  // namespace imgpipe::test
