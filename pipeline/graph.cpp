#include "pipeline/graph.h"

#include <algorithm>
#include <utility>

#include "images/unreachable.h"

namespace imgpipe {
namespace {

class Lowering {
 public:
  Lowering(const Plan& plan, const Target& target)
      : target_(target), frames_(plan.steps.size()), counted_by_(plan.steps.size()) {
    constexpr std::size_t kUsualNodes = 8;  // avoids moving nodes when vectors grow
    program_.nodes.reserve(kUsualNodes);
    program_.values.reserve(2 * kUsualNodes);
    program_.lives.reserve(2 * kUsualNodes);
    program_.lives[add(ValueKind::pixels, frame_type_of(plan.input))] = {};
  }

  void add_node(const Step& step, std::size_t index) {
    const Stage& stage = *step.stage;
    frame_ = frame_after(step.reads);
    Node node{
        .stage = &stage, .parameters = {step.parameters}, .in = step.in, .out = step.out, .step = index};
    if (!step.parts.empty()) node.parameters[1] = step.parts[1].parameters;
    const bool moves_alpha = !passes_alpha(stage, step.in, step.out);
    node.inputs.push_back({.value = frame_.value, .alpha = moves_alpha ? frame_.alpha : std::nullopt});
    const Stage* const maker = maker_for(step);
    if (maker != nullptr) {
      node.inputs.push_back({ValueKind::table, add_table(*maker, step, node)});
    } else if (step.counted_by) {
      node.inputs.push_back({ValueKind::counts, counted_by_[*step.counted_by]});
    }
    if (makes_pixels(stage)) {
      frame_.value = add(ValueKind::pixels, step.out);
      if (moves_alpha) frame_.alpha = add_alpha(step.out);
      node.outputs.push_back({.value = frame_.value, .alpha = moves_alpha ? frame_.alpha : std::nullopt});
    }
    if (makes_counts(stage)) {
      counted_by_[index] = add(ValueKind::counts, step.out);
      program_.counts.push_back(counted_by_[index]);
      node.outputs.push_back({ValueKind::counts, counted_by_[index]});
    }
    push(std::move(node));
    frames_[index] = frame_;
  }

  Program finish(const Plan& plan, const Keep& keep) {
    for (const auto& result : plan.results) program_.results.push_back(frame_after(result).value);
    for (ValueId i = 0; i < program_.values.size(); ++i) {
      const bool kept = i == 0 ? keep.source : keep.outputs && program_.values[i].is_image();
      if (kept) program_.lives[i].last_read_at = now();
    }
    for (const ValueId counts : program_.counts) program_.lives[counts].last_read_at = now();
    program_.lives[program_.results.back()].last_read_at = now();
    for (std::size_t i = 0; i + 1 < program_.results.size(); ++i)
      program_.lives[program_.results[i]].last_read_at = now() + 1;
    return std::move(program_);
  }

 private:
  [[nodiscard]] Connection frame_after(const std::optional<std::size_t>& step) const {
    return step ? frames_[*step] : Connection{};
  }

  [[nodiscard]] const Stage* maker_for(const Step& step) const {
    const bool on_host = target_.in_bands && needs_all_rows(*step.stage, step.parameters);
    return table_maker(*step.stage, step.parameters, on_host ? Backend::cpu : target_.backend, step.in.sample,
                       step.out.sample);
  }

  // Adds the table that `reader`, the step's node, reads, and a node that makes it unless it is constant.
  ValueId add_table(const Stage& maker, const Step& step, const Node& reader) {
    const ValueId table = add(ValueKind::table, step.in);
    program_.values[table].table_bytes = maker.table_bytes(step.in, step.parameters);
    program_.values[table].constant = step.table;
    if (step.table) return table;
    Node node = reader;
    node.stage = &maker;
    if (step.counted_by) node.inputs = {{ValueKind::counts, counted_by_[*step.counted_by]}};
    node.outputs = {{ValueKind::table, table}};
    push(std::move(node));
    return table;
  }

  void push(Node&& node) {
    node.after = frame_;
    for (const Connection& read : node.inputs) {
      program_.lives[read.value].last_read_at = now();
      if (read.alpha) program_.lives[*read.alpha].last_read_at = now();
    }
    program_.nodes.push_back(std::move(node));
  }

  // The time of the next node.
  [[nodiscard]] std::size_t now() const { return program_.nodes.size() + 1; }

  ValueId add(ValueKind kind, const FrameType& type) {
    program_.values.push_back({kind, type});
    program_.lives.push_back({now(), now()});
    return program_.values.size() - 1;
  }

  std::optional<ValueId> add_alpha(const FrameType& type) {
    if (!type.alpha || type.layout == Layout::interleaved) return std::nullopt;
    return add(ValueKind::alpha, type);
  }

  const Target target_;
  Program program_;
  Connection frame_;                 // alpha: in a plane of its own
  std::vector<Connection> frames_;   // by step of the plan: the frame after it
  std::vector<ValueId> counted_by_;  // by step of the plan: its counts
};

}  // namespace

int Value::planes() const {
  switch (kind) {
    case ValueKind::pixels:
      return type.layout == Layout::interleaved ? 1 : type.color_channels;
    case ValueKind::alpha:
      return 1;
    case ValueKind::counts:
    case ValueKind::table:
      return 0;
  }
  unreachable();
}

Shape Value::plane() const {
  return {type.width, type.height, type.layout == Layout::interleaved ? type.channels() : 1, type.sample};
}

std::int64_t Value::bytes() const {
  switch (kind) {
    case ValueKind::pixels:
    case ValueKind::alpha:
      return planes() * plane().bytes();
    case ValueKind::counts:
      return static_cast<std::int64_t>(counters(type) * sizeof(std::uint64_t));
    case ValueKind::table:
      return table_bytes;
  }
  unreachable();
}

Program lower(const Plan& plan, const Target& target, const Keep& keep) {
  Lowering lowering(plan, target);
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    if (step.parts.empty() || target.fuses) {
      lowering.add_node(step, i);
    } else {
      for (const Step& part : step.parts) lowering.add_node(part, i);
    }
  }
  return lowering.finish(plan, keep);
}

std::vector<Place> place(const std::vector<Tenant>& tenants, PlaceRule rule) {
  std::vector<Place> places;
  places.reserve(tenants.size());
  for (const Tenant& tenant : tenants) {
    Place* best = nullptr;
    for (Place& place : places) {
      Shape plane = tenant.plane;
      plane.height = place.plane.height;
      // A node must not write what it reads.
      const bool fits =
          place.free_after < tenant.life.made_at && place.plane == plane && place.planes == tenant.planes;
      if (fits && (best == nullptr || (rule == PlaceRule::largest && place.bytes > best->bytes)))
        best = &place;
    }
    if (best == nullptr) best = &places.emplace_back(Place{.plane = tenant.plane, .planes = tenant.planes});
    best->bytes = std::max(best->bytes, tenant.bytes);
    best->plane.height = std::max(best->plane.height, tenant.plane.height);
    best->free_after = tenant.life.last_read_at;
    best->values.push_back(tenant.value);
  }
  return places;
}

}  // namespace imgpipe
