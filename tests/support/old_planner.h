// The planner and the buffers as they were before plans became graphs of values, with a table of stages of
// their own. planner_test compares the plans of random chains with theirs while operators, graph and passes
// change in steps; the last of those steps deletes this copy.
#pragma once

#include <string>

#include "tests/support/plan_text.h"

namespace imgpipe::test {

[[nodiscard]] std::string old_planner_text(const PlanRequest& request);

}  // namespace imgpipe::test
