// The options of imgpipe bench, parsed.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "app/bench/bench_rows.h"
#include "app/files/replaceable.h"
#include "app/options/logging_options.h"
#include "app/report/result_table.h"
#include "images/synth.h"
#include "lab/pipeline/lab.h"

namespace imgpipe {

struct BenchOptions {
  std::vector<std::string> arguments;  // all of them, as given
  std::vector<std::string> stages;     // names of ladders; empty: all
  std::vector<std::string> variants;   // empty: all
  std::vector<Shape> sizes;            // empty: the command's defaults, as for patterns
  std::vector<Pattern> patterns;
  std::vector<std::string> inputs;  // files; empty: patterns
  std::string device = "auto";
  int threads = 0;  // 0: all available
  int group = 8;    // images per group, for the codecs' ladders
  LabOptions lab;
  Study study = Study::none;
  bool list = false;
  std::vector<std::string> kernel_files;  // the files of --with
  std::string nvcc_flags;
  int time_limit_s = 60;      // for each image that a kernel of --with runs over; 0: no limit
  std::string show_template;  // a name in lab/bench/kernel_template.h; empty: measure
  TableFormat format = TableFormat::text;
  // "-": stdout; empty: none
  std::string json_file;
  std::string plot_file;
  std::string html_file;
  Replace replace = Replace::own;
  std::int64_t max_pixels = 0;  // of a file
  LoggingOptions logging;
};

// True if a result file is stdout; tables then go to stderr.
[[nodiscard]] bool writes_to_stdout(const BenchOptions& options);

// Throws Error(usage) that states what to change.
[[nodiscard]] BenchOptions read_bench_options(const Parser& parser);

// Throws Error(usage) if --variant names one that no requested ladder has. `own`: the variants of --with.
void check_variants(const BenchOptions& options, const std::vector<std::string>& own);

}  // namespace imgpipe
