// A plan for a list of stages, as text: the steps, and the values that they produce and read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "pipeline/graph.h"
#include "pipeline/plan.h"

namespace imgpipe::test {

struct PlanRequest {
  std::string_view list;
  Shape input;
  bool fuse = false;
  std::int64_t most_pixels = 0;
  int most_bits = 16;
  Keep keep{};
};

// Returns the text, or "error" with its kind and message.
[[nodiscard]] std::string planner_text(const PlanRequest& request);

// ---- rows, for any planner ------------------------------------------------------------------------------

struct StepRow {
  std::string_view label, stage;
  bool implicit = false;
  FrameType in, out;
  std::optional<std::size_t> counted_by;
};
struct NodeRow {
  std::string_view label, stage;
  std::size_t pixels_in = 0;
  std::optional<std::size_t> alpha_in{}, counts_in{}, pixels_out{}, alpha_out{}, counts_out{};
  std::size_t pixels_after = 0;
  std::optional<std::size_t> alpha_after{};
};
struct ValueRow {
  std::string_view kind;
  FrameType type;
  int planes = 0;
  std::int64_t bytes = 0;
  std::size_t made_at = 0, last_read_at = 0;
};
struct PlanRows {
  std::vector<StepRow> steps;  // a fused step, then its parts
  std::vector<std::string> notes;
  FrameType input, output;
  bool reduced = false;
};
struct ValueRows {
  std::vector<NodeRow> nodes;
  std::vector<ValueRow> values;
  std::size_t result = 0;
  std::vector<std::vector<std::size_t>> places;
};

template <class AnyPlan>
[[nodiscard]] PlanRows rows_of_steps(const AnyPlan& plan) {
  PlanRows rows{{}, plan.notes, frame_type_of(plan.input), frame_type_of(plan.output), plan.reduced};
  const auto add = [&rows](const auto& step) {
    rows.steps.push_back({step.label, step.stage->name, step.implicit, step.in, step.out, step.counted_by});
  };
  for (const auto& step : plan.steps) {
    add(step);
    for (const auto& part : step.parts) add(part);
  }
  return rows;
}

[[nodiscard]] std::string text_of(const PlanRows& plan);
[[nodiscard]] std::string text_of(const ValueRows& values);

}  // namespace imgpipe::test
