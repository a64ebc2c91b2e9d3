// What a node's stage is called with, from the memory that an engine has for its values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "kernels/stage_call.h"
#include "pipeline/graph.h"

namespace imgpipe {

// The call of a node. The engine says where things lie, of what the node uses only, in this order:
//   in(value, plane)     what it reads, a view of bytes
//   counts(value)        the counters that it reads, or is to count
//   out(value, plane)    where it writes
// The stage's table, if it has one, is the host's.
template <class Where, class In, class Counts, class Out>
[[nodiscard]] StageCall<Where> stage_call(const Program& program, const Node& node, const In& in,
                                          const Counts& counts, const Out& out) {
  StageCall<Where> call;
  call.parameters = node.parameters[0];
  call.second = node.parameters[1];
  if (node.prepared) call.prepared = {node.prepared->data(), std::ssize(*node.prepared)};
  call.in = frame_of<const std::byte, Where>(program, node.pixels_in(), in);
  for (const auto& value : {node.counts_in(), node.counts_out()}) {
    if (!value) continue;
    call.histogram = histogram_view<Where>(counts(*value), program.values[*value].type);
  }
  if (node.pixels_out() != nullptr) call.out = frame_of<std::byte, Where>(program, *node.pixels_out(), out);
  return call;
}

// What a node finds in the counts that it reads, those of the whole image; empty where it looks for nothing.
[[nodiscard]] std::vector<std::byte> found_table(const Node& node, const std::vector<std::uint64_t>& counts);
// The bytes of what a node finds, in counts or in pixels.
[[nodiscard]] std::int64_t found_bytes_of(const Node& node);
// Of the memory that it has for that on a device (StageCall::finds).
[[nodiscard]] std::int64_t finds_bytes_of(const Node& node);

}  // namespace imgpipe
