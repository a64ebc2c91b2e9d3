#include "app/bench/bench_rows.h"

#include <span>

#include "app/options/batch_options.h"
#include "app/options/coding_options.h"
#include "app/options/logging_options.h"
#include "app/options/sizes.h"

namespace imgpipe {
namespace {

std::string stage_names() {
  std::string names;
  for (const std::string_view name : std::span(kBenchStages).subspan(1)) {
    names += (names.empty() ? "" : ", ") + std::string(name);
    if (name == "jpeg") names += " (decoding and encoding)";
  }
  return names;
}

}  // namespace

std::vector<OptionRow> bench_rows() {
  std::vector<OptionRow> rows{
      {"Measurements", "stage", "NAME", nullptr,
       "all or " + stage_names() + "; may be repeated. Default: all", strings(kBenchStages)},
      {"Measurements", "variant", "NAME", nullptr,
       "Only these of their variants; may be repeated (--list names them)"},
      {"Measurements", "study", "NAME", nullptr,
       "colors, contention (hist and what its counters collide on), crossover (from which size a GPU pays), "
       "pipeline (per stage: sequential, CPU, GPU)",
       choice_names(kBenchStudies)},
      {"Measurements", "list", nullptr, nullptr,
       "Name every variant, its idea and its origin, and measure nothing"},
      {"User kernels", "with", "FILE", nullptr,
       "Compile a .cu file of your own with nvcc, check its variants, time them beside the others; may be "
       "repeated"},
      {"User kernels", "template", "NAME", nullptr,
       "Write such a file for a stage to stdout, to begin with; header: what it includes, and measure "
       "nothing",
       strings(kBenchTemplates)},
      {"User kernels", "nvcc-flags", "FLAGS", nullptr,
       "More for nvcc: '-DTILE=32 -maxrregcount=40'; words as a shell has them"},
      {"User kernels", "time-limit", "SECONDS", "60",
       "End the program when one of them takes longer over one image; 0: never"},
      {"Images", "pattern", "P", nullptr, pattern_help() + " Default: photo; may be repeated",
       pattern_values()},
      {"Images", "size", "WxH", nullptr,
       "Size of the patterns; default: 8773x5352, of jpeg and png 3264x2448; may be repeated"},
      {"Images", "input", "FILE", nullptr, "An image file in place of a pattern; may be repeated"},
      {"Images", "group", "N", "8", "Images at once, all the same: of jpeg and png"},
      {"Images", "max-pixels", "N", "268435456", "Refuse larger files"},
      {"Execution", "d,device", "NAME", "auto",
       "auto (everything there is), cuda, cuda:N, cpu (sequential and threads) or reference (sequential)",
       device_values()},
      {"Execution", "threads", "N", "0", "Threads on the CPU; 0: as many as there are"},
      {"Execution", "block", "N", "0",
       "Threads a block, a multiple of 32 up to 1024, where a variant leaves that free; 0: its own"},
      {"Execution", "blocks", "N", "0", "Blocks, where a variant leaves that free; 0: its own"},
      {"Execution", "repeat", "N", "0",
       "Timed runs of each variant; 0: as many as fit into half a second or less"},
      {"Output", "format", "NAME", "table", "table, csv, json or markdown", choice_names(kBenchFormats)},
      json_row("Output", "Write the tables as JSON"),
      {"Output", "plot", "FILE", nullptr, "Draw the results, as .svg; -: to stdout"},
      {"Output", "html", "FILE", nullptr,
       "A page of the ladders, as .html: ideas, code, plots and tables, all in one file; -: to stdout"},
  };
  add_rows(rows, replace_rows());
  add_rows(rows, logging_rows());
  return rows;
}

}  // namespace imgpipe
