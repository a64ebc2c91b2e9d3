#include "app/process_options/process_options.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <span>
#include <system_error>
#include <utility>

#include "app/options/option_parser.h"
#include "app/options/range_file.h"
#include "app/options/sizes.h"
#include "app/process_options/band_options.h"
#include "app/standard_streams.h"
#include "images/files/file.h"
#include "images/text.h"
#include "kernels/stage.h"
#include "pipeline/color_text.h"
#include "pipeline/device.h"
#include "pipeline/plan.h"
#include "pipeline/threads/host_threads.h"
#include "pipeline/trimmed_steps.h"

namespace imgpipe {
namespace {

// Splits NAME=VALUE at the first "=".
std::pair<std::string, std::string> named_value(const std::string& option, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    usage("--" + option + ": expected NAME=" + (option == "image" ? "FILE" : "STAGES") + ", got '" +
          printable(text) + "'");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

std::vector<NamedImage> read_images(const Parser& parser) {
  std::vector<NamedImage> images;
  for (const std::string& text : parser.texts("image")) {
    auto [name, path] = named_value("image", text);
    if (name.find_first_of(",:") != std::string::npos)
      usage("--image: '" + printable(name) + "': a name contains no comma and no colon");
    images.push_back({std::move(name), std::move(path)});
  }
  for (const std::string& text : parser.texts("image-stages")) {
    auto [name, stages] = named_value("image-stages", text);
    const auto image = std::ranges::find(images, name, &NamedImage::name);
    if (image == images.end())
      usage("--image-stages: no image is named '" + printable(name) + "'; add --image " + name + "=FILE");
    image->stages = std::move(stages);
  }
  return images;
}

bool is_name_of_result(const std::string& name) {
  return std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  });
}

std::vector<AlsoStages> read_also(const Parser& parser, const StagePresets& presets) {
  std::vector<AlsoStages> results;
  for (const std::string& text : parser.texts("also")) {
    auto [name, list] = named_value("also", text);
    const std::string option = "--also " + printable(name);
    if (!is_name_of_result(name)) usage(option + ": a name consists of letters, digits, - and _");
    if (name == kMainResult) usage(option + ": is the name of the result of --stages; use another name");
    if (std::ranges::find(results, name, &AlsoStages::name) != results.end()) usage(option + ": given twice");
    naming(option, [&, &list = list, &name = name] {
      const RangedList ranged = with_ranges(list, presets);
      if (!ranged.of_series.empty()) usage("range=series is only possible in --stages");
      std::vector<StageRequest> steps = parse_stages(ranged.list, presets);
      if (!steps.empty() && steps.back().stage->tensor != nullptr)
        usage(std::string(steps.back().stage->name) + " makes a tensor, which only --stages can");
      results.push_back({std::move(name), std::move(list), std::move(steps)});
    });
  }
  return results;
}

// --split: the last channel is the result of --stages, the others are results like those of --also.
void split_channels(const std::string& channels, StageOptions& stages) {
  const std::string before = stages.steps.empty() ? "" : stages.list + ",";
  std::vector<AlsoStages> made;
  const std::span<const SplitChannel> split = parse_choice("split", channels, kSplits);
  for (const SplitChannel& channel : split) {
    const std::string name(channel.name);
    if (std::ranges::find(stages.also, name, &AlsoStages::name) != stages.also.end())
      usage("--also " + name + ": --split makes a result of this name");
    std::vector<StageRequest> steps = stages.steps;
    if (!steps.empty() && steps.back().stage->tensor != nullptr)
      usage("--split: " + std::string(steps.back().stage->name) +
            " makes a tensor, which has no channels to split");
    steps.push_back(parse_stages(channel.step).front());
    made.push_back({name, before + std::string(channel.step), std::move(steps)});
  }
  stages.name = made.back().name;
  stages.steps = std::move(made.back().steps);
  made.pop_back();
  std::ranges::move(made, std::back_inserter(stages.also));
}

// --merge: the INPUTs after the first are images whose channels are appended to it.
void merge_inputs(std::vector<std::string>& inputs, StageOptions& stages) {
  if (inputs.size() < 2 || inputs.size() > 4)
    usage("--merge: expected 2 to 4 INPUTs and OUTPUT, got " + std::to_string(inputs.size()));
  std::vector<StageRequest> appended;
  for (const std::string& path : std::span(inputs).subspan(1)) {
    StageRequest step = parse_stages("append:x").front();
    SecondImage image;
    image.name = path;
    step.image = std::make_shared<const SecondImage>(std::move(image));
    step.parameters.image = step.image.get();
    step.said = ":" + printable(path);
    appended.push_back(std::move(step));
  }
  inputs.resize(1);
  for (std::size_t& step : stages.series_steps) step += appended.size();
  const auto prepend = [&](std::vector<StageRequest>& steps) {
    steps.insert(steps.begin(), appended.begin(), appended.end());
  };
  prepend(stages.steps);
  for (AlsoStages& also : stages.also) prepend(also.steps);
}

// `name` is stages or then.
StageOptions read_stages(const Parser& parser, const std::string& name, std::string_view preset) {
  StageOptions stages;
  stages.list = parser.has(name) ? parser.text(name) : std::string(preset);
  for (const ParameterOption& option : parameter_options())
    stages.parameter_options.push_back({option.name, parser.text(option.name)});
  const StagePresets presets(stages.parameter_options);
  RangedList ranged = with_ranges(stages.list, presets);
  stages.steps = parse_stages(ranged.list, presets);
  stages.series_steps = std::move(ranged.of_series);
  stages.also = read_also(parser, presets);
  if (parser.has("split")) split_channels(parser.text("split"), stages);
  stages.images = read_images(parser);
  return stages;
}

void read_reports(const Parser& parser, ReportOptions& reports) {
  reports.compare = parser.has("compare");
  reports.repeat = parser.integer("repeat", 0, 1'000'000);
  for (const std::string& path : parser.texts("report"))
    reports.files.push_back(result_file("report", path, {".json", ".csv", ".ndjson", ".html"}));
  if (parser.has("json")) reports.files.push_back(read_json_file(parser));
  reports.hash = parser.has("hash");
  if (reports.hash && reports.files.empty())
    usage("--hash: needs a report; add --report FILE.json, or for a batch FILE.ndjson or FILE.csv");
  if (parser.has("trace")) reports.trace_file = result_file("trace", parser.text("trace"), {".json"});
  if (parser.has("histogram"))
    reports.histogram_file = result_file("histogram", parser.text("histogram"), {".csv", ".json", ".svg"});
  reports.stages_directory = parser.name_or_empty("keep-stages");
}

// Reads --name, after the options that it depends on.
void read_name(const Parser& parser, ProcessOptions& options) {
  if (!parser.has("name")) return;
  options.output.name.emplace(parser.text("name"));
  options.output.name->check_format(options.output.format);
  // The ending selects the format like --format; reports and the digest use it.
  if (!options.output.format) options.output.format = format_by_ending(parser.text("name"));
  if (options.output.name->has("also") && options.stages.also.empty())
    usage("--name: {also} needs --also NAME=STAGES or --split");
  const bool has_page = options.output.name->has(kPageField);
  if (has_page && !options.pages) usage("--name: {page} needs --pages; add --pages all");
  if (options.pages) options.pages->named = has_page && !options.pages->alone;
  if (options.output.name->has("n") && !options.reports.failed_file.empty())
    usage(
        "--name: {n} would number the files listed by --failed-out differently; use --skip-existing to "
        "retry, "
        "or leave out one of them");
}

bool uses_stdout(const ProcessOptions& options) {
  std::vector<std::string> files = options.reports.files;
  files.insert(files.end(), {options.output.path, options.reports.trace_file, options.reports.histogram_file,
                             options.reports.failed_file});
  return std::ranges::any_of(files, is_stdout);
}

// Reads --tensor, after the other options.
void read_tensor(const Parser& parser, ProcessOptions& options) {
  if (!parser.has("tensor")) return;
  constexpr std::pair<const char*, const char*> kRefused[] = {
      {"output", "FILE is the only output"},
      {"name", "FILE is the only output"},
      {"format", "the extension of FILE selects the format"},
      {"also", "FILE is the only output"},
      {"split", "FILE is the only output"},
      {"merge", "FILE holds a tensor for each INPUT"},
      {"update", "FILE is always written whole"},
      {"skip-existing", "FILE is always written whole"},
      {"shard", "give each process a separate FILE and --files-from"}};
  for (const auto& [option, why] : kRefused) {
    if (parser.has_option(option))
      usage("--tensor: cannot be combined with --" + std::string(option) + "; " + why);
  }
  if (options.input.path == kStandardStream) usage("--tensor: INPUT must be files, got stdin");
  options.output.path = file_with_ending("tensor", parser.text("tensor"), {".npy", ".safetensors"});
  options.output.format = format_by_ending(options.output.path);
  options.output.is_tensor = true;
}

std::optional<PresetToWrite> read_preset_to_write(const Parser& parser, const ProcessOptions& options) {
  if (!parser.has("write-preset")) return std::nullopt;
  PresetToWrite preset{.file = parser.text("write-preset"),
                       .text = "",
                       .left_out = parser.given().left_out(),
                       .replace = options.output.replace,
                       .logging = options.logging};
  if (options.dry_run) usage("--dry-run: cannot be combined with --write-preset");
  if (preset.file != kStandardStream) {
    preset.file = file_with_ending("write-preset", preset.file, {".toml"});
  } else if (uses_stdout(options)) {
    usage("--write-preset -: stdout is already used");
  }
  preset.text = parser.given().as_preset(preset.file);
  return preset;
}

void check_update(const ProcessOptions& options) {
  if (!options.output.update) return;
  if (options.output.skip_existing)
    usage("--update: cannot be combined with --skip-existing, which keeps outdated outputs");
  if (options.output.replace == Replace::none)
    usage("--update: cannot be combined with --no-clobber, which replaces nothing");
}

// stdin can only be read once.
void check_stdin(const Parser& parser, const InputOptions& input) {
  const std::vector<std::string> presets = parser.texts("preset");
  const auto of_presets = std::ranges::count(presets, kStandardStream);
  const bool is_input = input.path == kStandardStream || input.files_from == kStandardStream;
  if (of_presets > 1 || (of_presets == 1 && is_input)) usage("--preset -: stdin is already used");
}

// Returns the batch options on the command line, not those of presets, which may serve single images too.
std::vector<std::string> batch_options_on_command_line(const Parser& parser) {
  std::vector<std::string> names;
  for (const OptionRow& row : batch_rows()) {
    const std::string name = option_name(row);
    if (parser.has(name) && !parser.given().is_from_preset(name)) names.push_back("--" + name);
  }
  return names;
}

// INPUT... OUTPUT, or INPUT... with --output or --tensor; INPUT is optional with --files-from.
std::vector<std::string> read_paths(const Parser& parser) {
  std::vector<std::string> paths = parser.positional();
  if (parser.has("tensor") && paths.empty() && !parser.has("files-from"))
    usage("missing INPUT; see imgpipe --help");
  if (parser.has("tensor")) paths.push_back(parser.text("tensor"));
  if (parser.has_option("output")) paths.push_back(parser.text("output"));
  if (paths.empty()) usage("missing OUTPUT; see imgpipe --help");
  if (std::ranges::find(paths, "") != paths.end()) usage("INPUT or OUTPUT: empty name");
  std::error_code ignored;
  if (paths.size() > 1 && find_command(parser.commands(), paths.front()) != nullptr &&
      !std::filesystem::exists(paths.front(), ignored))
    usage("'" + paths.front() + "': is a command and must come first; use imgpipe " + paths.front());
  return paths;
}

// Loads the second images of the steps.
void load_images(ProcessOptions& options) {
  StageOptions& stages = options.stages;
  DecodeOptions decode = options.decode;
  decode.scale = 1;  // second images are read whole
  std::vector<StageBranch> branches{{"", std::move(stages.steps)}};
  for (AlsoStages& also : stages.also) branches.push_back({"--also " + also.name, std::move(also.steps)});
  stages.image_warnings = load_second_images(branches, {.named = stages.images,
                                                        .decode = decode,
                                                        .presets = StagePresets(stages.parameter_options),
                                                        .threads = options.execution.threads});
  stages.steps = std::move(branches.front().steps);
  for (std::size_t i = 0; i < stages.also.size(); ++i)
    stages.also[i].steps = std::move(branches[i + 1].steps);
  if (!options.stack) return;
  std::vector<std::string> warnings =
      load_second_images(options.stack->steps, {.named = stages.images,
                                                .decode = decode,
                                                .presets = StagePresets(stages.parameter_options),
                                                .threads = options.execution.threads});
  for (std::string& warning : warnings) {
    if (std::ranges::find(stages.image_warnings, warning) == stages.image_warnings.end())
      stages.image_warnings.push_back(std::move(warning));
  }
}

// "6x" or "6x4".
Montage parse_montage(const std::string& text) {
  constexpr int kMostCells = 100'000;
  const std::size_t x = text.find('x');
  Montage montage;
  if (x == std::string::npos)
    usage("--montage: expected COLUMNSx or COLUMNSxROWS, such as 6x or 6x4, got '" + printable(text) + "'");
  montage.columns = parse_integer("montage", text.substr(0, x), 1, kMostCells);
  if (x + 1 < text.size()) montage.rows = parse_integer("montage", text.substr(x + 1), 1, kMostCells);
  return montage;
}

// Reads --cell and --background. Each image is fitted into its cell by a last step of its stages.
void read_cells(const Parser& parser, StackOptions& stack) {
  constexpr std::int64_t kMostPixels = 1'000'000;  // as for resize
  if (!parser.has("cell"))
    usage("--montage: needs the size of a cell; add --cell WxH, such as --cell 200x200");
  const Shape cell = parse_size(parser.text("cell"), "cell");
  if (std::max(cell.width, cell.height) > kMostPixels)
    usage("--cell: expected sides of 1 to " + std::to_string(kMostPixels) + " pixels, got '" +
          printable(parser.text("cell")) + "'");
  const std::optional<std::uint32_t> color = parse_color(parser.text("background"));
  if (!color)
    usage("--background: expected a colour such as white, gray, #RRGGBB or #RRGGBBAA, got '" +
          printable(parser.text("background")) + "'");
  stack.montage->background = *color;
  const std::vector<StageRequest> fit =
      parse_stages("resize:" + std::to_string(cell.width) + "x" + std::to_string(cell.height) +
                   ":fit=contain:background=" + parser.text("background"));
  stack.steps.insert(stack.steps.end(), fit.begin(), fit.end());
}

// Reads --stack, --montage and --then. --stages and --pages then apply to the images that become one.
void read_stack(const Parser& parser, ProcessOptions& options) {
  const bool is_montage = parser.has("montage");
  for (const char* option : {"cell", "background"}) {
    if (parser.has_option(option) && !is_montage) usage("--" + std::string(option) + ": needs --montage");
  }
  if (!parser.has("stack") && !is_montage) {
    if (parser.has("then"))
      usage("--then: needs --stack or --montage; use --stages for the stages of each image");
    return;
  }
  if (parser.has("stack") && is_montage) usage("--montage: cannot be combined with --stack");
  const std::string name = is_montage ? "--montage" : "--stack";
  constexpr std::pair<const char*, const char*> kRefused[] = {
      {"tensor", "the output is one image"},
      {"also", "run imgpipe on its output"},
      {"split", "run imgpipe on its output"},
      {"merge", "merge its output"},
      {"failed-out", "one image that fails ends the run"},
      {"fail-fast", "one image that fails ends the run"},
      {"jobs", "use --threads"},
      {"shard", "one process needs all images"}};
  for (const auto& [option, why] : kRefused) {
    if (parser.has_option(option)) usage(name + ": cannot be combined with --" + option + "; " + why);
  }
  StackOptions& stack = options.stack.emplace();
  if (is_montage) {
    stack.montage = parse_montage(parser.text("montage"));
  } else {
    stack.projection = parse_choice("stack", parser.text("stack"), kProjections);
  }
  StageOptions of_items = read_stages(parser, "stages", kNoStages);
  options.stages = read_stages(parser, "then", kNoStages);
  if (!of_items.series_steps.empty() || !options.stages.series_steps.empty())
    usage(name + ": range=series is not supported; run it first, into a stack");
  if (has_trim(of_items.steps) || has_trim(options.stages.steps))
    usage(name + ": trim is not supported; run imgpipe on its output");
  stack.steps = std::move(of_items.steps);
  stack.list = std::move(of_items.list);
  if (is_montage) read_cells(parser, stack);
  if (options.pages) stack.pages = *std::exchange(options.pages, std::nullopt);
}

}  // namespace

ProcessOptions read_process_options(const Parser& parser) {
  ProcessOptions options;
  std::vector<std::string> paths;
  if (!parser.given().only_writes_preset()) {
    paths = read_paths(parser);
    options.output.path = std::move(paths.back());
    options.output.is_positional = !parser.has_option("output") && !parser.has("tensor");
    paths.pop_back();
  }
  options.decode = read_decoding(parser);
  // The default stages change colours.
  const bool takes_all = parser.has("merge") || parser.has("split") || options.decode.bands_of_page;
  options.stages = read_stages(parser, "stages", takes_all ? kNoStages : kDefaultStages);
  options.input = read_input(parser);
  if (parser.has("merge") && !parser.given().only_writes_preset()) merge_inputs(paths, options.stages);
  set_paths(options.input, paths, "INPUT or OUTPUT");
  options.execution = read_execution(parser);
  options.output.skip_existing = parser.has("skip-existing");
  options.dry_run = parser.has("dry-run");
  options.reports.failed_file = parser.name_or_empty("failed-out");
  options.shard = read_shard(parser);
  options.batch_options = batch_options_on_command_line(parser);
  check_stdin(parser, options.input);
  if (parser.has("pages")) options.pages = parse_pages(parser.text("pages"));
  read_all_bands(parser, options);
  read_stack(parser, options);
  if (!options.stages.series_steps.empty() && !options.pages)
    usage("--stages: contrast: range=series needs several pages; add --pages all or --pages A-B");
  options.execution.device = parser.text("device");
  (void)choose_device(options.execution.device);  // a mistake is reported before any work
  options.execution.threads = parser.integer("threads", 0, kMaxThreads);
  if (parser.has("device-memory"))
    options.device_memory_bytes = parse_memory(parser.text("device-memory"), "device-memory", 1);
  options.fuse = parser.has("fuse");
  read_reports(parser, options.reports);
  options.output.format = read_format(parser);
  options.output.encode = read_encoding(parser);
  options.output.encode.codec = options.decode.codec;
  options.output.keep_metadata = parse_choice("metadata", parser.text("metadata"), kMetadata);
  options.output.replace = read_replace(parser);
  options.output.sync = std::make_shared<OutputSync>(parse_choice("sync", parser.text("sync"), kSync));
  options.logging = read_logging(parser);
  read_name(parser, options);
  options.output.update = parser.has("update");
  check_update(options);
  read_tensor(parser, options);
  options.preset = read_preset_to_write(parser, options);
  if (!parser.given().only_writes_preset()) load_images(options);
  return options;
}

}  // namespace imgpipe
