// The options of imgpipe stats.
#pragma once

#include <string>
#include <vector>

#include "app/options/option_table.h"
#include "app/process_options/process_options.h"
#include "pipeline/statistics/image_statistics.h"

namespace imgpipe {

struct StatsOptions {
  InputOptions input;
  std::optional<PageSelection> pages;
  DecodeOptions decode;
  std::vector<StageRequest> stages;
  std::string stage_list;  // as given
  ExecutionOptions execution;
  std::optional<Shard> shard;
  bool dry_run = false;
  std::vector<Percent> percents;  // rising, each once
  std::string json_file;          // "-": stdout; empty: none
  std::string per_image_file;
  Replace replace = Replace::own;
  LoggingOptions logging;
};

// Its rows.
[[nodiscard]] std::vector<OptionRow> stats_rows();

// "99.9"
[[nodiscard]] std::string percent_text(Percent percent);

}  // namespace imgpipe
