// Any text as a stage list; the first bytes choose the image's shape.
#include <string_view>

#include "images/error.h"
#include "pipeline/plan.h"
#include "tests/fuzz/fuzz_target.h"

IMGPIPE_FUZZ_TARGET(fuzz_plan) {
  using namespace imgpipe;
  if (size < 3) return 0;
  const Shape shape{data[0] + 1, data[1] + 1, data[2] % 4 + 1};
  try {
    const auto stages = parse_stages({reinterpret_cast<const char*>(data) + 3, size - 3});
    const Plan plan = make_plan(stages, shape);
    FrameType type = frame_type_of(shape);
    for (const Step& step : plan.steps) {
      if (step.in != type) __builtin_trap();
      type = step.out;
    }
    if (plan.output.channels != type.channels()) __builtin_trap();
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) __builtin_trap();
  }
  return 0;
}
