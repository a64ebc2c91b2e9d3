// What a work's step is called with, from the memory that an engine has for its buffers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/stage_call.h"
#include "pipeline/buffers.h"

namespace imgpipe {

// The call of work i. The engine says where things lie, of what the work uses only, in this order:
//   in(buffer, plane)     what it reads, a view of bytes
//   counts(step)          the counters of the histogram that a step of the plan has counted, or is to count
//   out(buffer, plane)    where it writes
// `prepared`: where the step's table lies, if it has one.
template <class Where, class In, class Counts, class Out>
[[nodiscard]] StageCall<Where> stage_call(const std::vector<Work>& works, const Buffers& buffers,
                                          std::size_t i, const void* prepared, const In& in,
                                          const Counts& counts, const Out& out) {
  const Step& step = *works[i].step;
  const WorkBuffers& uses = buffers.works[i];
  StageCall<Where> call;
  call.parameters = step.parameters;
  if (!step.parts.empty()) call.second = step.parts[1].parameters;
  if (step.prepared) {
    call.prepared = {static_cast<const std::byte*>(prepared),
                     static_cast<std::int64_t>(step.prepared->size())};
  }
  call.in = frame_of<const std::byte, Where>(buffers, uses.pixels_in, uses.alpha_in, in);
  if (uses.counts_in)
    call.histogram = histogram_view<Where>(counts(*step.counted_by), buffers[*uses.counts_in].type);
  if (uses.counts_out)
    call.histogram = histogram_view<Where>(counts(works[i].index), buffers[*uses.counts_out].type);
  if (uses.pixels_out) call.out = frame_of<std::byte, Where>(buffers, *uses.pixels_out, uses.alpha_out, out);
  return call;
}

// What a step finds in the counts that it reads, those of the whole image; empty where it looks for nothing.
[[nodiscard]] std::vector<std::byte> found_table(const Step& step, const std::vector<std::uint64_t>& counts);
// The bytes of what a step finds, in counts or in pixels.
[[nodiscard]] std::int64_t found_bytes_of(const Step& step);
// Of the memory that it has for that on a device (StageCall::finds).
[[nodiscard]] std::int64_t finds_bytes_of(const Step& step);

// Where a step's table lies on the host; nullptr without one.
[[nodiscard]] inline const std::byte* host_table(const Step& step) {
  return step.prepared ? step.prepared->data() : nullptr;
}

}  // namespace imgpipe
