#include "tests/support/plan_text.h"

#include <algorithm>

#include "images/error.h"
#include "images/unreachable.h"
#include "kernels/stage.h"

namespace imgpipe::test {
namespace {

std::string text_of(const FrameType& type) {
  return std::to_string(type.width) + "x" + std::to_string(type.height) + " " +
         std::to_string(type.color_channels) + (type.alpha ? "+alpha" : "") +
         (type.layout == Layout::planar ? " planar u" : " interleaved u") +
         std::to_string(8 * bytes_per_sample(type.sample));
}

std::string text_of(const std::optional<std::size_t>& number) {
  return number ? std::to_string(*number) : "-";
}

std::string_view name_of(ValueKind kind) {
  switch (kind) {
    case ValueKind::pixels:
      return "pixels";
    case ValueKind::alpha:
      return "alpha";
    case ValueKind::counts:
      return "counts";
    case ValueKind::table:
      return "table";
  }
  unreachable();
}

// As if the readers of tables read what those are made of: numbers of values and times as without them.
Program without_tables(const Program& all) {
  std::vector<ValueId> now(all.values.size());
  std::vector<std::size_t> time{0};  // of what happens then
  std::size_t tables = 0;
  Program some;
  for (ValueId i = 0; i < all.values.size(); ++i) {
    now[i] = i - tables;
    if (name_of(all.values[i].kind) == "table") {
      ++tables;
    } else {
      some.values.push_back(all.values[i]);
    }
  }
  for (const Node& node : all.nodes) {
    time.push_back(some.nodes.size() + 1);
    if (node.table_out()) continue;
    some.nodes.push_back(node);
    for (auto* connections : {&some.nodes.back().inputs, &some.nodes.back().outputs}) {
      for (Connection& used : *connections) {
        const auto maker = std::ranges::find(all.nodes, std::optional(used.value), &Node::table_out);
        if (maker != all.nodes.end() && maker->counts_in()) used = {ValueKind::counts, *maker->counts_in()};
        used.value = now[used.value];
        if (used.alpha) used.alpha = now[*used.alpha];
      }
    }
    Connection& after = some.nodes.back().after;
    after.value = now[after.value];
    if (after.alpha) after.alpha = now[*after.alpha];
  }
  time.push_back(some.nodes.size() + 1);
  for (ValueId i = 0; i < all.values.size(); ++i) {
    if (name_of(all.values[i].kind) != "table")
      some.lives.push_back({time[all.lives[i].made_at], time[all.lives[i].last_read_at]});
  }
  for (const ValueId result : all.results) some.results.push_back(now[result]);
  return some;
}

ValueRows rows_of(const Plan& plan, const Target& target, const Keep& keep) {
  const Program program = without_tables(lower(plan, target, keep));
  ValueRows rows{.nodes = {}, .values = {}, .result = program.results[0], .places = {}};
  for (const Node& node : program.nodes) {
    NodeRow row{.label = plan.steps[node.step].label, .stage = node.stage->name};
    row.pixels_in = node.pixels_in().value;
    row.alpha_in = node.pixels_in().alpha;
    row.counts_in = node.counts_in();
    if (const Connection* const made = node.pixels_out()) {
      row.pixels_out = made->value;
      row.alpha_out = made->alpha;
    }
    row.counts_out = node.counts_out();
    row.pixels_after = node.after.value;
    row.alpha_after = node.after.alpha;
    rows.nodes.push_back(row);
  }
  std::vector<Tenant> tenants;
  for (ValueId i = 0; i < program.values.size(); ++i) {
    const Value& value = program.values[i];
    rows.values.push_back({name_of(value.kind), value.type, value.planes(), value.bytes(),
                           program.lives[i].made_at, program.lives[i].last_read_at});
    if (i > 0 && value.is_image()) tenants.push_back({i, program.lives[i]});
  }
  for (const Place& shared : place(tenants, PlaceRule::first)) rows.places.push_back(shared.values);
  return rows;
}

}  // namespace

std::string text_of(const PlanRows& plan) {
  std::string text = text_of(plan.input) + " to " + text_of(plan.output);
  text += plan.reduced ? ", reduced\n" : "\n";
  for (const StepRow& step : plan.steps) {
    text += std::string(step.label) + " " + std::string(step.stage) + (step.implicit ? " implicit " : " ") +
            text_of(step.in) + " to " + text_of(step.out) + ", counts of " + text_of(step.counted_by) + "\n";
  }
  for (const std::string& note : plan.notes) text += note + "\n";
  return text;
}

std::string text_of(const ValueRows& rows) {
  std::string text;
  for (const NodeRow& node : rows.nodes) {
    text += std::string(node.label) + " " + std::string(node.stage) + ": pixels " +
            std::to_string(node.pixels_in) + " to " + text_of(node.pixels_out) + ", alpha " +
            text_of(node.alpha_in) + " to " + text_of(node.alpha_out) + ", counts " +
            text_of(node.counts_in) + " to " + text_of(node.counts_out) + "; then " +
            std::to_string(node.pixels_after) + " " + text_of(node.alpha_after) + "\n";
  }
  for (const ValueRow& value : rows.values) {
    text += std::string(value.kind) + " " + text_of(value.type) + " planes " + std::to_string(value.planes) +
            " bytes " + std::to_string(value.bytes) + " lives " + std::to_string(value.made_at) + " to " +
            std::to_string(value.last_read_at) + "\n";
  }
  text += "result " + std::to_string(rows.result) + ", places";
  for (const std::vector<std::size_t>& place : rows.places) {
    text += " of";
    for (const std::size_t value : place) text += " " + std::to_string(value);
  }
  return text + "\n";
}

std::string planner_text(const PlanRequest& request) {
  try {
    const Plan plan = make_plan(parse_stages(request.list), request.input, request.fuse, request.most_pixels,
                                request.most_bits);
    return text_of(rows_of_steps(plan)) + text_of(rows_of(plan, kCudaTarget, request.keep)) +
           text_of(rows_of(plan, kCpuTarget, request.keep));
  } catch (const Error& error) {
    return "error " + std::to_string(static_cast<int>(error.kind())) + ": " + error.what();
  }
}

}  // namespace imgpipe::test
