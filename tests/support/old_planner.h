// The planner and the buffers before plans became graphs of values, with their own table of stages.
// planner_test compares plans of random chains with theirs while operators, graph and passes change in steps;
// the last of these steps deletes this copy.
#pragma once

#include <string>

#include "tests/support/plan_text.h"

namespace imgpipe::test {

[[nodiscard]] std::string old_planner_text(const PlanRequest& request);

}  // namespace imgpipe::test
