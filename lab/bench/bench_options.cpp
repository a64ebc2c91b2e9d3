#include "lab/bench/bench_options.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "app/options/coding_options.h"
#include "app/options/option_parser.h"
#include "app/options/sizes.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/names.h"
#include "images/text.h"
#include "lab/bench/bench_rows.h"
#include "lab/kernels/ladders.h"
#include "lab/pipeline/codec_lab.h"
#include "lab/pipeline/lab_transfer.h"
#include "pipeline/device.h"
#include "pipeline/threads/host_threads.h"

namespace imgpipe {
namespace {

// Accepts repeated options and comma-separated lists.
std::vector<std::string> names_of(const Parser& parser, const std::string& option) {
  std::vector<std::string> names;
  for (const std::string& text : parser.texts(option)) {
    std::string_view rest = text;
    for (;;) {
      const std::string_view name = rest.substr(0, rest.find(','));
      if (name.empty()) usage("--" + option + ": empty name");
      const std::string usual = canonical_spelling(name);
      if (std::ranges::find(names, usual) == names.end()) names.push_back(usual);
      if (name.size() == rest.size()) break;
      rest.remove_prefix(name.size() + 1);
    }
  }
  return names;
}

// Returns the names of the requested ladders; empty: all.
std::vector<std::string> stages_of(const Parser& parser) {
  std::vector<std::string> stages = names_of(parser, "stage");
  for (const std::string& name : stages) {
    if (name == "all" || name == kTransferLadder || find_ladder(name) != nullptr || is_codec_stage(name))
      continue;
    usage_of_choice("stage", name, kBenchStages);
  }
  if (std::ranges::find(stages, "all") != stages.end()) stages.clear();
  return stages;
}

void check_user_kernel_options(const Parser& parser, const BenchOptions& options) {
  if (parser.has("template") &&
      std::ranges::find(kBenchTemplates, options.show_template) == kBenchTemplates.end())
    usage_of_choice("template", options.show_template, kBenchTemplates);
  if (parser.has("template") && (options.list || !options.kernel_files.empty()))
    usage("--template: cannot be combined with --list or --with");
  for (const char* option : {"nvcc-flags", "time-limit"}) {
    if (parser.has_option(option) && options.kernel_files.empty())
      usage(std::string("--") + option + ": needs --with");
  }
  if (options.kernel_files.empty()) return;
  if (options.study != Study::none) usage("--with: cannot be combined with --study");
  const std::optional<Backend> device = choose_device(options.device).backend;
  if (device && device != Backend::cuda) usage("--with: needs a CUDA device, got --device " + options.device);
  for (const std::string& stage : options.stages) {
    if (find_ladder(stage) == nullptr) usage("--with: stage " + stage + " does not accept user kernels");
  }
}

void check_together(const Parser& parser, const BenchOptions& options) {
  if (!options.inputs.empty() && (parser.has("size") || parser.has("pattern")))
    usage("--input: cannot be combined with --size or --pattern");
  if (options.study != Study::none && parser.has("stage")) usage("--study: cannot be combined with --stage");
  const bool of_hist = options.study == Study::colors || options.study == Study::contention;
  if (options.study != Study::none && !of_hist && parser.has("variant"))
    usage("--variant: needs --study colors or contention, or no --study");
  if (of_hist && (!options.inputs.empty() || parser.has("pattern")))
    usage("--study: colors and contention cannot be combined with --input or --pattern");
  if (options.study == Study::crossover && !options.inputs.empty())
    usage("--study: crossover cannot be combined with --input");
  if (options.study == Study::crossover && options.patterns.size() > 1)
    usage("--study: crossover needs a single --pattern");
  const bool has_results =
      !options.json_file.empty() || !options.plot_file.empty() || !options.html_file.empty();
  if (options.list && (options.study != Study::none || has_results))
    usage("--list: cannot be combined with --study, --json, --plot or --html");
  const bool is_document = options.format == TableFormat::csv || options.format == TableFormat::json;
  if (is_document && writes_to_stdout(options))
    usage("--format: " + parser.text("format") +
          " is written to stdout, which another option uses; give that option a file");
  if (options.study != Study::none && !options.html_file.empty())
    usage("--html: cannot be combined with --study; use --plot");
}

}  // namespace

bool writes_to_stdout(const BenchOptions& options) {
  return std::ranges::any_of(std::array{&options.json_file, &options.plot_file, &options.html_file},
                             [](const std::string* file) { return *file == kStandardStream; });
}

void check_variants(const BenchOptions& options, const std::vector<std::string>& own) {
  std::vector<std::string_view> known(own.begin(), own.end());
  for (const ListedVariant& each : all_variants(ladder_table())) {
    if (is_requested(options, each.stage)) known.push_back(each.variant->name);
  }
  for (const std::string& variant : options.variants) {
    if (std::ranges::find(known, variant) == known.end()) {
      usage("--variant: " + unknown_name("unknown variant '" + printable(variant) + "'", variant, known,
                                         "see imgpipe bench --list"));
    }
  }
}

BenchOptions read_bench_options(const Parser& parser) {
  BenchOptions options;
  options.arguments = parser.arguments();
  options.stages = stages_of(parser);
  options.variants = names_of(parser, "variant");
  if (parser.has("study")) options.study = parse_choice("study", parser.text("study"), kBenchStudies);
  options.list = parser.has("list");
  options.kernel_files = parser.texts("with");
  if (std::ranges::find(options.kernel_files, "") != options.kernel_files.end()) usage("--with: empty name");
  if (parser.has("nvcc-flags")) options.nvcc_flags = parser.text("nvcc-flags");
  options.time_limit_s = parser.integer("time-limit", 0, 86'400);
  if (parser.has("template")) options.show_template = canonical_spelling(parser.text("template"));
  for (const std::string& text : parser.texts("pattern")) options.patterns.push_back(parse_pattern(text));
  for (const std::string& text : parser.texts("size")) options.sizes.push_back(parse_size(text));
  for (const Shape& size : options.sizes) {
    if (size.pixels() >> 32 != 0)
      usage("--size: expected less than 2^32 pixels, got " + std::to_string(size.width) + "x" +
            std::to_string(size.height));
  }
  options.inputs = parser.texts("input");
  if (std::ranges::find(options.inputs, "") != options.inputs.end()) usage("--input: empty name");
  options.max_pixels = parse_pixels(parser.text("max-pixels"), "max-pixels", (std::int64_t{1} << 32) - 1);
  options.device = parser.text("device");
  if (choose_device(options.device).cuda_devices.size() > 1)
    usage("--device: the lab needs a single device, got " + options.device);
  options.threads = parser.integer("threads", 0, kMaxThreads);
  options.group = parser.integer("group", 1, 1024);
  options.lab.block = parser.integer("block", 0, 1024);
  if (options.lab.block % 32 != 0) usage("--block: must be a multiple of 32, got " + parser.text("block"));
  options.lab.blocks = parser.integer("blocks", 0, 1'000'000);
  options.lab.repeat = parser.integer("repeat", 0, 1'000'000);
  options.format = parse_choice("format", parser.text("format"), kBenchFormats);
  options.json_file = read_json_file(parser);
  if (parser.has("plot")) options.plot_file = result_file("plot", parser.text("plot"), {".svg"});
  if (parser.has("html")) options.html_file = result_file("html", parser.text("html"), {".html"});
  options.replace = read_replace(parser);
  options.logging = read_logging(parser);
  check_user_kernel_options(parser, options);
  // Names from --with are known only once it is compiled.
  if (options.kernel_files.empty()) check_variants(options, {});
  check_together(parser, options);
  return options;
}

}  // namespace imgpipe
