// The options of imgpipe bench.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/options/option_table.h"
#include "app/options/option_values.h"
#include "app/options/options.h"
#include "app/report/result_table.h"
#include "lab/pipeline/lab.h"

namespace imgpipe {

enum class Study { none, colors, contention, crossover, pipeline };

struct BenchOptions {
  std::vector<std::string> stages;    // names of ladders; empty: all
  std::vector<std::string> variants;  // empty: all
  std::vector<Shape> sizes;           // empty: the command's own; so are those below
  std::vector<Pattern> patterns;
  std::vector<std::string> inputs;  // files; none: patterns
  std::string device = "auto";
  int threads = 0;  // 0: as many as there are
  int group = 8;    // images at once, of the codecs' ladders
  LabOptions lab;
  Study study = Study::none;
  bool list = false;
  std::vector<std::string> own_files;  // of --with
  std::string nvcc_flags;
  int time_limit_s = 60;      // for each image that a kernel of those runs over; 0: none
  std::string show_template;  // a name of lab/bench/own_template.h; empty: measure
  TableFormat format = TableFormat::text;
  std::string plot_file;
  std::string html_file;
  Replace replace = Replace::own;
  std::int64_t max_pixels = 0;  // of a file
  TalkOptions talk;
};

inline constexpr Choices<TableFormat, 4> kBenchFormats{{{"table", TableFormat::text},
                                                        {"csv", TableFormat::csv},
                                                        {"json", TableFormat::json},
                                                        {"markdown", TableFormat::markdown}}};
inline constexpr Choices<Study, 4> kBenchStudies{{{"colors", Study::colors},
                                                  {"contention", Study::contention},
                                                  {"crossover", Study::crossover},
                                                  {"pipeline", Study::pipeline}}};

// What --stage takes: all, and every ladder.
[[nodiscard]] std::vector<std::string> bench_stages();

// Throws Error(usage) where --variant names one that no ladder that was asked for has; `own`: those of
// --with.
void check_variants(const BenchOptions& options, const std::vector<std::string>& own);

// Its rows (bench_option_table.cpp).
[[nodiscard]] std::vector<OptionRow> bench_rows();

}  // namespace imgpipe
