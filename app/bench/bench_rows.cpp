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
       "Run only this variant; may be repeated (--list prints the names)"},
      {"Measurements", "study", "NAME", nullptr,
       "colors, contention (hist when its counters collide), crossover (the image size from which a GPU is "
       "faster), pipeline (per stage: sequential, CPU, GPU)",
       choice_names(kBenchStudies)},
      {"Measurements", "list", nullptr, nullptr,
       "List every variant, its idea and its origin, and measure nothing"},
      {"User kernels", "with", "FILE", nullptr,
       "Compile a user-provided .cu file with nvcc, check its variants, time them alongside the others; may "
       "be repeated"},
      {"User kernels", "template", "NAME", nullptr,
       "Write an example of such a file for a stage to stdout; header: the file it includes; measure nothing",
       strings(kBenchTemplates)},
      {"User kernels", "nvcc-flags", "FLAGS", nullptr,
       "More options for nvcc: '-DTILE=32 -maxrregcount=40'; quoted like in a shell"},
      {"User kernels", "time-limit", "SECONDS", "60",
       "End the program if a user kernel takes longer than this on one image; 0: never"},
      {"Images", "pattern", "P", nullptr, pattern_help() + " Default: photo; may be repeated",
       pattern_values()},
      {"Images", "size", "WxH", nullptr,
       "Size of the patterns; default: 8773x5352, of jpeg and png 3264x2448; may be repeated"},
      {"Images", "input", "FILE", nullptr, "An image file instead of a pattern; may be repeated"},
      {"Images", "group", "N", "8", "Number of identical images at once, for jpeg and png"},
      {"Images", "max-pixels", "N", "268435456", "Reject larger files"},
      {"Execution", "d,device", "NAME", "auto",
       "auto (everything available), cuda, cuda:N, cpu (sequential and threads) or reference (sequential)",
       device_values()},
      {"Execution", "threads", "N", "0", "Threads on the CPU; 0: one per processor"},
      {"Execution", "block", "N", "0",
       "Threads per block, a multiple of 32 up to 1024, if a variant allows it; 0: its default"},
      {"Execution", "blocks", "N", "0", "Blocks, if a variant allows it; 0: its default"},
      {"Execution", "repeat", "N", "0", "Timed runs of each variant; 0: as many as fit into half a second"},
      {"Output", "format", "NAME", "table", "table, csv, json or markdown", choice_names(kBenchFormats)},
      json_row("Output", "Write the tables as JSON"),
      {"Output", "plot", "FILE", nullptr, "Draw the results, as .svg; -: to stdout"},
      {"Output", "html", "FILE", nullptr,
       "Write the ladders as one .html file with ideas, code, plots and tables; -: to stdout"},
  };
  add_rows(rows, replace_rows());
  add_rows(rows, logging_rows());
  return rows;
}

}  // namespace imgpipe
