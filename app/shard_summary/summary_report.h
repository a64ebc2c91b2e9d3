// The summary of batch reports: a table for people, JSON for programs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/shard_summary/shard_summary.h"

namespace imgpipe {

[[nodiscard]] std::string summary_table(const ShardSummary& summary, std::size_t files);
// `files` are the printable names of the reports.
[[nodiscard]] std::string summary_json(const ShardSummary& summary, const std::vector<std::string>& files);
[[nodiscard]] std::string summary_schema();

}  // namespace imgpipe
