#include "pipeline/stage_calls.h"

#include "kernels/stage.h"

namespace imgpipe {

std::vector<std::byte> found_table(const Step& step, std::vector<std::uint64_t>& counts) {
  const std::int64_t bytes = step.counted_by ? found_bytes(*step.stage, step.in, step.parameters) : 0;
  std::vector<std::byte> table(static_cast<std::size_t>(bytes));
  if (bytes > 0)
    step.stage->find(step.in, step.parameters, histogram_view<Host>(counts.data(), step.in), table.data());
  return table;
}

}  // namespace imgpipe
