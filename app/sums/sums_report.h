// What the reports of batches come to: a table for people, JSON for programs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/sums/batch_sums.h"

namespace imgpipe {

[[nodiscard]] std::string sums_table(const BatchSums& sums, std::size_t files);
// `files`: the names of the reports, printable.
[[nodiscard]] std::string sums_json(const BatchSums& sums, const std::vector<std::string>& files);
[[nodiscard]] std::string sums_schema();

}  // namespace imgpipe
