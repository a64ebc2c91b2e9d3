// The options of imgpipe stats.
#pragma once

#include <string>
#include <vector>

#include "app/options/option_table.h"
#include "app/process_options/process_options.h"
#include "pipeline/statistics/image_statistics.h"

namespace imgpipe {

struct StatsOptions {
  ProcessOptions process;  // without OUTPUT: inputs, batch, decoding, stages, threads, talk, what is replaced
  std::vector<Percent> percents;  // rising, each once
  std::string json_file;          // "-": stdout; empty: none
  std::string per_image_file;
};

// Its rows.
[[nodiscard]] std::vector<OptionRow> stats_rows();

// "99.9"
[[nodiscard]] std::string percent_text(Percent percent);

}  // namespace imgpipe
