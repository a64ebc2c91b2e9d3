// imgpipe stats: its options and its command row.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/files/replaceable.h"
#include "app/options/batch_options.h"
#include "app/options/command_row.h"
#include "images/codecs/codec.h"
#include "pipeline/jobs/page_selection.h"
#include "pipeline/stage_list.h"
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
  std::vector<Percent> percents;  // ascending, without duplicates
  std::optional<FloatBins> bins;  // of floats, by --range and --bins
  std::string json_file;          // "-": stdout; empty: none
  std::string per_image_file;
  Replace replace = Replace::own;
  LoggingOptions logging;
};

class Parser;
[[nodiscard]] StatsOptions read_stats(const Parser& parser);
// Throws Error or returns an exit code.
[[nodiscard]] int run_stats(const StatsOptions& options);
[[nodiscard]] CommandRow stats_command();

// "99.9"
[[nodiscard]] std::string percent_text(Percent percent);

}  // namespace imgpipe
