// Makes the arguments of a node's stage from the memory that an engine provides for its values.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/stage_call.h"
#include "pipeline/graph.h"

namespace imgpipe {

// Returns the call of a node. The functions return the memory of values, and are called only for values that
// the node uses:
//   in(value, plane)     a view of the plane's bytes, to read
//   out(value, plane)    the same, to write
//   data(value)          counters or a table, to read or write
template <class Where, class In, class Data, class Out>
[[nodiscard]] StageCall<Where> stage_call(const Program& program, const Node& node, const In& in,
                                          const Data& data, const Out& out) {
  StageCall<Where> call;
  call.parameters = node.parameters;
  call.in.type = node.in;
  call.out.type = node.out;
  if (reads_pixels(*node.stage)) call.in = frame_of<const std::byte, Where>(program, node.pixels_in(), in);
  for (const auto& counts : {node.counts_in(), node.counts_out()}) {
    if (!counts) continue;
    auto* const counters = reinterpret_cast<std::uint64_t*>(data(*counts));
    call.histogram = histogram_view<Where>(counters, program.values[*counts].type);
  }
  for (const auto& table : {node.table_in(), node.table_out()}) {
    if (table) call.table = {data(*table), program.values[*table].bytes()};
  }
  if (node.pixels_out() != nullptr) call.out = frame_of<std::byte, Where>(program, *node.pixels_out(), out);
  if (node.in.layout != call.in.type.layout) {
    call.in = as_one_plane(call.in);
    call.out = as_one_plane(call.out);
  }
  return call;
}

}  // namespace imgpipe
