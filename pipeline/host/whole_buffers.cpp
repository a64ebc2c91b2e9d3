#include "pipeline/host/whole_buffers.h"

#include <algorithm>
#include <utility>

#include "pipeline/engine.h"

namespace imgpipe {

void WholeBuffers::make(ValueId value) {
  if (holds(value)) return;
  const Value& wanted = program_.values[value];
  const bool is_result = std::ranges::find(program_.results, value) != program_.results.end();
  for (int i = 0; i < wanted.planes(); ++i) {
    held_[value].images[static_cast<std::size_t>(i)] =
        Image(wanted.plane(), is_result ? std::pmr::new_delete_resource() : memory_);
  }
  held_[value].table.resize(static_cast<std::size_t>(wanted.table_bytes));
}

void WholeBuffers::use_memory_of(const Job& job) {
  const bool keeps_target = program_.results.back() == 0 && job.keep_source;  // Engine::run() copies it
  if (!job.target.empty() && !keeps_target) held_[program_.results.back()].target = job.target;
  if (job.source.empty()) return;
  const bool is_result = std::ranges::find(program_.results, ValueId{0}) != program_.results.end();
  if (!is_result && !job.keep_source) {
    set_view(0, job.source);
  } else {
    make(0);
    copy_pixels(job.source, plane(0, 0));
  }
}

bool WholeBuffers::holds(ValueId value) const {
  const Held& held = held_[value];
  return !held.images[0].empty() || !held.foreign.empty() || !held.target.empty();
}

HostView WholeBuffers::plane(ValueId value, int i) {
  Held& held = held_[value];
  return held.target.empty() ? held.images[static_cast<std::size_t>(i)].untyped_view() : held.target;
}

ConstHostView WholeBuffers::plane(ValueId value, int i) const {
  const Held& held = held_[value];
  if (!held.foreign.empty()) return held.foreign;
  return held.target.empty() ? held.images[static_cast<std::size_t>(i)].untyped_view() : held.target;
}

std::byte* WholeBuffers::data(ValueId value) {
  const auto& constant = program_.values[value].constant;
  if (constant) return const_cast<std::byte*>(constant->data());
  if (!held_[value].table.empty()) return held_[value].table.data();
  return reinterpret_cast<std::byte*>(counts(value).data());
}

void WholeBuffers::give_to(Outcome& outcome, const Keep& keep) {
  const auto plane_of = [this](ValueId value, int i) { return std::as_const(*this).plane(value, i); };
  if (keep.outputs) outcome.outputs.resize(outcome.plan.steps.size());
  for (const Node& node : program_.nodes) {
    if (keep.outputs && node.pixels_out() != nullptr)
      outcome.outputs[node.step] = frame_of<const std::byte, Host>(program_, node.after, plane_of);
  }
  for (const ValueId result : program_.results) outcome.results.push_back(plane_of(result, 0));
  outcome.pixels = outcome.results.back();
  if (keep.source || program_.results.back() == 0) outcome.source = std::move(held_[0].images[0]);
  outcome.memory = take_images();
}

std::vector<Image> WholeBuffers::take_images() {
  std::vector<Image> all;
  for (Held& held : held_) {
    for (Image& image : held.images) {
      if (!image.empty()) all.push_back(std::move(image));
    }
  }
  return all;
}

}  // namespace imgpipe
