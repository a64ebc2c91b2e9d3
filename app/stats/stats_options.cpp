#include "app/stats/stats_options.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "app/log.h"
#include "app/options/coding_options.h"
#include "app/options/option_parser.h"
#include "app/options/range_file.h"
#include "app/options/sizes.h"
#include "images/files/file.h"
#include "images/text.h"
#include "kernels/stage.h"
#include "pipeline/second_images.h"
#include "pipeline/threads/host_threads.h"

namespace imgpipe {
namespace {

constexpr const char* kPercents = "0.1,1,5,25,50,75,95,99,99.9";
constexpr std::size_t kMaxPercents = 100;

std::vector<Percent> parse_percents(std::string_view list) {
  std::vector<Percent> percents;
  while (true) {
    const std::size_t comma = list.find(',');
    const std::string_view text = list.substr(0, comma);
    const std::optional<Percent> percent = parse_decimal(text, kWholePercent);
    if (!percent || *percent > kAll)
      usage("--percentiles: expected 0 to 100 with at most 6 decimals, got '" + printable(text) + "'");
    percents.push_back(*percent);
    if (comma == std::string_view::npos) break;
    list.remove_prefix(comma + 1);
  }
  std::ranges::sort(percents);
  percents.erase(std::unique(percents.begin(), percents.end()), percents.end());
  if (percents.size() > kMaxPercents)
    usage("--percentiles: expected at most " + std::to_string(kMaxPercents) + " values, got " +
          std::to_string(percents.size()));
  return percents;
}

// Parses "MIN:MAX".
FloatBins parse_range(const std::string& text, int bins) {
  const std::size_t colon = text.find(':');
  FloatBins parsed{.bins = bins};
  const auto number = [&](std::string_view part, double& value) {
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), value);
    return error == std::errc() && end == part.data() + part.size() && std::isfinite(value);
  };
  if (colon == std::string::npos || !number(std::string_view(text).substr(0, colon), parsed.least) ||
      !number(std::string_view(text).substr(colon + 1), parsed.most) || parsed.least >= parsed.most ||
      !std::isfinite(parsed.most - parsed.least))
    usage("--range: expected MIN:MAX with MIN below MAX, such as 0:1 or -500:2000, got '" + printable(text) +
          "'");
  return parsed;
}

std::vector<OptionRow> stats_rows() {
  std::vector<OptionRow> rows{
      {"Statistics", "stages", "LIST", nullptr,
       "Steps before counting, as imgpipe --help lists them, such as gray; default: none"},
      {"Statistics", "percentiles", "LIST", kPercents,
       "Percentiles of each channel, in percent: the smallest value that at least this share of the samples "
       "does not exceed"},
      {"Statistics", "range", "MIN:MAX", nullptr, "Range of the histogram of images of floats, for JSON"},
      {"Statistics", "bins", "N", "256", "Number of equal bins of --range, 1..65536"},
      json_row("Results", "Write all of it as JSON, with the histograms"),
      {"Results", "per-image", "FILE", nullptr,
       "Write each image's own statistics, as .csv, .json or .ndjson; -: as NDJSON to stdout"}};
  add_rows(rows, replace_rows(), "Results");
  rows.push_back({"Images", "r,recursive", nullptr, nullptr, "Include subdirectories of INPUT"});
  rows.push_back({"Images", "threads", "N", "0",
                  "Threads shared by the images in progress; 0: one per available processor"});
  rows.push_back({"Images", "pages", "LIST", nullptr,
                  "Pages of a TIFF or frames of an animation, each counted as an image: all, N, A-B, or A- "
                  "to the end; without, the first"});
  add_rows(rows, decoding_rows(), "Images");
  add_rows(rows,
           rows_named(batch_rows(), {"include", "exclude", "files-from", "jobs", "memory", "fail-fast",
                                     "shard", "dry-run"}),
           "Images");
  rows.push_back({"Images", "balance", "HOW", nullptr,
                  "How to balance the parts of --shard: hash (default), count or bytes",
                  choice_names(kBalances)});
  add_rows(rows, logging_rows());
  return rows;
}

}  // namespace

std::string percent_text(Percent percent) {
  std::string text = std::to_string(percent / kWholePercent);
  if (percent % kWholePercent == 0) return text;
  text += "." + std::to_string(kWholePercent + percent % kWholePercent).substr(1);
  return text.erase(text.find_last_not_of('0') + 1);
}

StatsOptions read_stats(const Parser& parser) {
  StatsOptions options;
  options.input = read_input(parser);
  options.execution = read_execution(parser);
  options.shard = read_shard(parser);
  options.dry_run = parser.has("dry-run");
  const std::vector<std::string> paths = parser.positional();
  set_paths(options.input, paths, "INPUT");
  if (std::ranges::find(paths, kStandardStream) != paths.end())
    usage("-: stats does not read an image from stdin; use --files-from - to read names from stdin");
  options.stage_list = parser.text_or_empty("stages");
  if (parser.has("stages")) {
    const RangedList ranged = with_ranges(options.stage_list, {});
    if (!ranged.of_series.empty()) usage("--stages: contrast: range=series is not supported by stats");
    options.stages = parse_stages(ranged.list);
    if (!options.stages.empty() && options.stages.back().stage->tensor != nullptr)
      usage("--stages: stats counts samples of images, but normalize makes a tensor; leave it out");
  }
  if (parser.has("pages")) options.pages = parse_pages(parser.text("pages"));
  options.execution.threads = parser.integer("threads", 0, kMaxThreads);
  options.decode = read_decoding(parser);
  if (options.decode.bands_of_page)
    usage("--bands: stats cannot count all bands separately; choose one, such as --bands 1");
  options.decode.max_bits = 32;
  for (const std::string& damage :
       load_second_images(options.stages, {.decode = options.decode, .threads = options.execution.threads}))
    log_warning(damage);
  options.replace = read_replace(parser);
  options.logging = read_logging(parser);
  options.percents = parse_percents(parser.text("percentiles"));
  constexpr int kMaxBins = 65536;
  const int bins = parser.integer("bins", 1, kMaxBins);
  if (parser.has("range")) options.bins = parse_range(parser.text("range"), bins);
  if (parser.has("bins") && !options.bins) usage("--bins: needs --range MIN:MAX");
  options.json_file = read_json_file(parser);
  if (parser.has("per-image"))
    options.per_image_file = result_file("per-image", parser.text("per-image"), {".csv", ".json", ".ndjson"});
  return options;
}

CommandRow stats_command() {
  return {.name = "stats",
          .summary = "counts, mean, deviation and percentiles over images and directories",
          .description =
              "Counts the samples of images and whole directories: exact mean, deviation and percentiles of "
              "each channel, separately for grey and colour images.",
          .usage = {{"imgpipe stats INPUT... [options]", "directories, patterns and files"},
                    {"imgpipe stats --files-from FILE [options]", "a list of names"}},
          .positional = {"input"},
          .accepts_more_arguments = true,
          .or_options = {"files-from"},
          .rows = stats_rows,
          .read = [](const Parser& parser) { return ready(read_stats(parser), run_stats); }};
}

}  // namespace imgpipe
