#include "pipeline/stage_calls.h"

#include "kernels/stage.h"

namespace imgpipe {

std::int64_t found_bytes_of(const Step& step) {
  const bool finds = step.counted_by || step.stage->find_part != nullptr;
  return finds ? found_bytes(*step.stage, step.in, step.parameters) : 0;
}

std::int64_t finds_bytes_of(const Step& step) {
  return found_bytes_of(step) == 0 ? 0 : finds_bytes(*step.stage, step.in, step.parameters);
}

std::vector<std::byte> found_table(const Step& step, const std::vector<std::uint64_t>& counts) {
  std::vector<std::byte> table(static_cast<std::size_t>(found_bytes_of(step)));
  if (table.empty()) return table;
  // A histogram's view is one for writers too; find() only reads.
  auto* const read_only = const_cast<std::uint64_t*>(counts.data());
  step.stage->find(step.in, step.parameters, histogram_view<Host>(read_only, step.in), table.data());
  return table;
}

}  // namespace imgpipe
