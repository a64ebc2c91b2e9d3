#include "pipeline/graph.h"

#include <algorithm>
#include <utility>

#include "images/unreachable.h"

namespace imgpipe {
namespace {

class Lowering {
 public:
  Lowering(const Plan& plan, const Target& target)
      : target_(target), frames_(plan.operations.size()), counted_by_(plan.operations.size()) {
    constexpr std::size_t kUsualNodes = 8;  // avoids moving nodes when vectors grow
    program_.nodes.reserve(kUsualNodes);
    program_.values.reserve(2 * kUsualNodes);
    program_.lives.reserve(2 * kUsualNodes);
    const FrameType decoded = target.grey_rows ? plan.operations.front().out : frame_type_of(plan.input);
    program_.lives[add(ValueKind::pixels, decoded)] = {};
  }

  // Adds a node for operations `first` to `first` + `count` - 1 of the plan.
  void add_node(const Operation& operation, std::size_t first, std::size_t count, bool by_decoder) {
    const Stage& stage = *operation.stage;
    const std::size_t last = first + count - 1;
    frame_ = frame_after(operation.reads);
    Node node{operation};
    if (is_one_plane(stage, operation.in, operation.parameters)) {
      node.in = as_one_plane(operation.in);
      node.out = as_one_plane(operation.out);
    }
    node.by_decoder = by_decoder;
    const bool moves_alpha = !passes_alpha(stage, operation.in, operation.out);
    node.inputs.push_back({.value = frame_.value, .alpha = moves_alpha ? frame_.alpha : std::nullopt});
    const Stage* const maker = maker_for(operation);
    if (maker != nullptr) {
      node.inputs.push_back({ValueKind::table, add_table(*maker, node)});
    } else if (operation.counted_by) {
      node.inputs.push_back({ValueKind::counts, counted_by_[*operation.counted_by]});
    }
    if (makes_pixels(stage)) {
      frame_.value = add(ValueKind::pixels, operation.out);
      if (moves_alpha) frame_.alpha = add_alpha(operation.out);
      node.outputs.push_back({.value = frame_.value, .alpha = moves_alpha ? frame_.alpha : std::nullopt});
    }
    if (makes_counts(stage)) {
      counted_by_[last] = add(ValueKind::counts, node.out);
      program_.counts.push_back(counted_by_[last]);
      node.outputs.push_back({ValueKind::counts, counted_by_[last]});
    }
    push(std::move(node));
    std::fill_n(frames_.begin() + static_cast<std::ptrdiff_t>(first), count, frame_);
  }

  // Adds no node for operation i, which then has the frame that it reads.
  void pass(const Operation& operation, std::size_t i) { frames_[i] = frame_after(operation.reads); }

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
  [[nodiscard]] Connection frame_after(const std::optional<std::size_t>& operation) const {
    return operation ? frames_[*operation] : Connection{};
  }

  [[nodiscard]] const Stage* maker_for(const Operation& of) const {
    const bool on_host = target_.in_bands && needs_all_rows(*of.stage, of.parameters);
    return table_maker(*of.stage, of.parameters, on_host ? Backend::cpu : target_.backend, of.in.sample,
                       of.out.sample);
  }

  // Adds the table that `node` reads, and a node that makes it unless it is constant.
  ValueId add_table(const Stage& maker, Node node) {
    const ValueId table = add(ValueKind::table, node.in);
    program_.values[table].table_bytes = maker.table_bytes(node.in, node.parameters);
    program_.values[table].constant = node.table;
    if (node.table) return table;
    node.stage = &maker;
    if (node.counted_by) node.inputs = {{ValueKind::counts, counted_by_[*node.counted_by]}};
    node.outputs = {{ValueKind::table, table}};
    push(std::move(node));
    return table;
  }

  void push(Node&& node) {
    node.after = frame_;
    for (const Connection& read : node.inputs) {
      if (node.by_decoder) break;
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
  Connection frame_;                 // its alpha is set only if alpha has its own plane
  std::vector<Connection> frames_;   // by operation of the plan: the frame after it
  std::vector<ValueId> counted_by_;  // by operation of the plan: its counts
};

// Returns the operation that runs instead of the parts.
Operation fused(std::span<const Operation> parts) {
  Operation whole = parts.front();
  whole.stage = find_fusion(parts, false)->as;
  whole.out = parts.back().out;
  std::size_t count = 0;
  for (const Operation& part : parts) {
    for (std::size_t i = 0; i < part.stage->parameters.size(); ++i)
      whole.parameters.values.at(count++) = part.parameters[i];
  }
  return whole;
}

// Returns the end of the operations from a split*, operation i, to its merge* if all in between process
// interleaved RGB and have no other readers; 0 otherwise.
std::size_t end_of_interleaved(const Plan& plan, std::size_t i) {
  const auto is_read_by_next_only = [&plan](std::size_t at) {
    const auto reads = [at](const Operation& one) { return one.reads == at; };
    return at + 1 < plan.operations.size() && reads(plan.operations[at + 1]) &&
           std::ranges::count_if(plan.operations, reads) == 1 &&
           std::ranges::find(plan.results, std::optional(at)) == plan.results.end();
  };
  const Operation& split = plan.operations[i];
  if (split.stage->effect != Effect::layout || split.in.layout != Layout::interleaved) return 0;
  while (is_read_by_next_only(i)) {
    const Operation& next = plan.operations[++i];
    if (next.stage->effect == Effect::layout) return i + 1;
    if (!is_interleaved_on_cpu(*next.stage, next.in, next.parameters)) return 0;
  }
  return 0;
}

Operation interleaved(Operation operation) {
  operation.in.layout = operation.out.layout = Layout::interleaved;
  return operation;
}

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
  const Fusion* const decoding = target.decodes ? find_fusion(plan.operations, true) : nullptr;
  const std::size_t decoded = decoding == nullptr ? 0 : decoding->stages.size();
  Lowering lowering(plan, target);
  std::size_t index = target.grey_rows ? 1 : 0;  // of the operation
  std::size_t interleaved_end = 0;               // of the operations that process interleaved RGB
  for (std::size_t i = index; i < plan.steps.size(); ++i) {
    const auto parts = plan.parts(i);
    const bool by_decoder = index < decoded;
    if (parts.size() > 1 && target.fuses) {
      lowering.add_node(fused(parts), index, parts.size(), by_decoder);
      index += parts.size();
    } else {
      for (const Operation& part : parts) {
        if (target.interleaved && index >= interleaved_end) interleaved_end = end_of_interleaved(plan, index);
        if (index >= interleaved_end) {
          lowering.add_node(part, index, 1, by_decoder);
        } else if (part.stage->effect == Effect::layout) {
          lowering.pass(part, index);
        } else {
          lowering.add_node(interleaved(part), index, 1, false);
        }
        ++index;
      }
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
      // A node must not overwrite a value that it reads.
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
