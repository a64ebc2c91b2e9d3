// Tables of stages that depend only on type and parameters.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "kernels/stage.h"

namespace imgpipe {

using ConstantTable = std::shared_ptr<const std::vector<std::byte>>;

// Returns the table that the stage's kernels read; nullptr if they read none or it depends on pixels. Plans
// that exist at the same time share equal tables. Thread-safe. Throws Error(memory): the table of a filter
// has up to 48 bytes for each column and row of the input.
[[nodiscard]] ConstantTable constant_table(const Stage& stage, const Parameters& parameters,
                                           const FrameType& in, const FrameType& out);

}  // namespace imgpipe
