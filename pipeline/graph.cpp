#include "pipeline/graph.h"

#include <algorithm>
#include <utility>

#include "images/unreachable.h"

namespace imgpipe {
namespace {

class Lowering {
 public:
  explicit Lowering(const Plan& plan) : counted_by_(plan.steps.size()) {
    constexpr std::size_t kUsualNodes = 8;  // growing moves them
    program_.nodes.reserve(kUsualNodes);
    program_.values.reserve(2 * kUsualNodes);
    program_.lives.reserve(2 * kUsualNodes);
    frame_.value = add(ValueKind::pixels, frame_type_of(plan.input));
  }

  void add_node(const Step& step, std::size_t index) {
    const Stage& stage = *step.stage;
    Node node{.stage = &stage,
              .parameters = {step.parameters},
              .prepared = step.prepared,
              .in = step.in,
              .out = step.out,
              .step = index};
    if (!step.parts.empty()) node.parameters[1] = step.parts[1].parameters;
    ++time_;
    const bool moves_alpha = !passes_alpha(stage, step.in, step.out);
    node.inputs.push_back({frame_.value, moves_alpha ? frame_.alpha : std::nullopt});
    if (step.counted_by) node.inputs.push_back({counted_by_[*step.counted_by]});
    if (makes_pixels(stage)) {
      frame_.value = add(ValueKind::pixels, step.out);
      if (moves_alpha) frame_.alpha = add_alpha(step.out);
      node.outputs.push_back({frame_.value, moves_alpha ? frame_.alpha : std::nullopt});
    }
    if (makes_counts(stage)) {
      counted_by_[index] = add(ValueKind::counts, step.out);
      program_.results.push_back(counted_by_[index]);
      node.outputs.push_back({counted_by_[index]});
    }
    node.after = frame_;
    for (const Connection& read : node.inputs) {
      program_.lives[read.value].last_read_at = time_;
      if (read.alpha) program_.lives[*read.alpha].last_read_at = time_;
    }
    program_.nodes.push_back(std::move(node));
  }

  Program finish(const Keep& keep) {
    program_.results.insert(program_.results.begin(), frame_.value);
    for (ValueId i = 0; i < program_.values.size(); ++i) {
      if (i == 0 ? keep.source : keep.outputs) program_.lives[i].last_read_at = time_ + 1;
    }
    for (const ValueId result : program_.results) program_.lives[result].last_read_at = time_ + 1;
    return std::move(program_);
  }

 private:
  ValueId add(ValueKind kind, const FrameType& type) {
    program_.values.push_back({kind, type});
    program_.lives.push_back({time_, time_});
    return program_.values.size() - 1;
  }

  std::optional<ValueId> add_alpha(const FrameType& type) {
    if (!type.alpha || type.layout == Layout::interleaved) return std::nullopt;
    return add(ValueKind::alpha, type);
  }

  Program program_;
  std::size_t time_ = 0;
  Connection frame_;                 // alpha: in a plane of its own
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
      return 0;
  }
  unreachable();
}

Shape Value::plane() const {
  return {type.width, type.height, type.layout == Layout::interleaved ? type.channels() : 1, type.sample};
}

std::int64_t Value::bytes() const {
  if (!is_image()) return static_cast<std::int64_t>(counters(type) * sizeof(std::uint64_t));
  return planes() * plane().bytes();
}

Program lower(const Plan& plan, FusedSteps fused, const Keep& keep) {
  Lowering lowering(plan);
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    if (step.parts.empty() || fused == FusedSteps::as_one) {
      lowering.add_node(step, i);
    } else {
      for (const Step& part : step.parts) lowering.add_node(part, i);
    }
  }
  return lowering.finish(keep);
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
