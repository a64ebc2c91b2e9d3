#include "pipeline/stage_calls.h"

#include "kernels/stage.h"

namespace imgpipe {

std::int64_t found_bytes_of(const Node& node) {
  const bool finds = node.counts_in() || node.stage->find_part != nullptr;
  return finds ? found_bytes(*node.stage, node.in, node.parameters[0]) : 0;
}

std::int64_t finds_bytes_of(const Node& node) {
  return found_bytes_of(node) == 0 ? 0 : finds_bytes(*node.stage, node.in, node.parameters[0]);
}

std::vector<std::byte> found_table(const Node& node, const std::vector<std::uint64_t>& counts) {
  std::vector<std::byte> table(static_cast<std::size_t>(found_bytes_of(node)));
  if (table.empty()) return table;
  // A histogram's view is one for writers too; find() only reads.
  auto* const read_only = const_cast<std::uint64_t*>(counts.data());
  node.stage->find(node.in, node.parameters[0], histogram_view<Host>(read_only, node.in), table.data());
  return table;
}

}  // namespace imgpipe
