#include "pipeline/host/whole_buffers.h"

#include <utility>

#include "kernels/stage.h"
#include "pipeline/engine.h"

namespace imgpipe {

void WholeBuffers::make(std::size_t buffer) {
  if (holds(buffer)) return;
  const Buffer& wanted = buffers_[buffer];
  for (int i = 0; i < wanted.planes(); ++i)
    held_[buffer].images[static_cast<std::size_t>(i)] = Image(wanted.plane());
}

bool WholeBuffers::holds(std::size_t buffer) const {
  return !held_[buffer].images[0].empty() || !held_[buffer].foreign.empty();
}

HostView WholeBuffers::plane(std::size_t buffer, int i) {
  return held_[buffer].images[static_cast<std::size_t>(i)].untyped_view();
}

ConstHostView WholeBuffers::plane(std::size_t buffer, int i) const {
  const Held& held = held_[buffer];
  return held.foreign.empty() ? held.images[static_cast<std::size_t>(i)].untyped_view() : held.foreign;
}

Frame<const std::byte, Host> WholeBuffers::frame(const WorkBuffers& uses) const {
  return frame_of<const std::byte, Host>(buffers_, uses.pixels, uses.alpha,
                                         [this](std::size_t buffer, int i) { return plane(buffer, i); });
}

void WholeBuffers::give_to(Outcome& outcome, const std::vector<Work>& works, const Keep& keep) {
  for (std::size_t i = 0; keep.outputs && i < works.size(); ++i) {
    const Work& work = works[i];
    outcome.outputs.resize(work.index + 1);
    if (work.step->stage->writes_pixels) outcome.outputs[work.index] = frame(buffers_.works[i]);
  }
  outcome.pixels = std::as_const(*this).plane(buffers_.result, 0);
  if (keep.source || buffers_.result == 0) outcome.source = std::move(held_[0].images[0]);
  outcome.memory = take_all();
}

std::vector<Image> WholeBuffers::take_all() {
  std::vector<Image> all;
  for (Held& held : held_) {
    for (Image& image : held.images) {
      if (!image.empty()) all.push_back(std::move(image));
    }
  }
  return all;
}

}  // namespace imgpipe
