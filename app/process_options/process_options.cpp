#include "app/process_options/process_options.h"

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "app/options/option_parser.h"
#include "app/options/range_file.h"
#include "app/options/sizes.h"
#include "app/standard_streams.h"
#include "images/files/file.h"
#include "pipeline/device.h"
#include "pipeline/plan.h"
#include "pipeline/threads/host_threads.h"

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

StageOptions read_stages(const Parser& parser) {
  StageOptions stages;
  stages.list = parser.has("stages") ? parser.text("stages") : std::string(kDefaultStages);
  for (const ParameterOption& option : parameter_options())
    stages.parameter_options.push_back({option.name, parser.text(option.name)});
  const StagePresets presets(stages.parameter_options);
  RangedList ranged = with_ranges(stages.list, presets);
  stages.steps = parse_stages(ranged.list, presets);
  stages.series_steps = std::move(ranged.of_series);
  stages.images = read_images(parser);
  return stages;
}

void read_reports(const Parser& parser, ReportOptions& reports) {
  reports.compare = parser.has("compare");
  reports.repeat = parser.integer("repeat", 0, 1'000'000);
  for (const std::string& path : parser.texts("report"))
    reports.files.push_back(result_file("report", path, {".json", ".csv", ".ndjson", ".html"}));
  if (parser.has("json")) reports.files.push_back(read_json_file(parser));
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
  stages.image_warnings = load_second_images(stages.steps, {.named = stages.images,
                                                            .decode = decode,
                                                            .presets = StagePresets(stages.parameter_options),
                                                            .threads = options.execution.threads});
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
  options.input = read_input(parser);
  set_paths(options.input, paths, "INPUT or OUTPUT");
  options.execution = read_execution(parser);
  options.output.skip_existing = parser.has("skip-existing");
  options.dry_run = parser.has("dry-run");
  options.reports.failed_file = parser.name_or_empty("failed-out");
  options.shard = read_shard(parser);
  options.batch_options = batch_options_on_command_line(parser);
  check_stdin(parser, options.input);
  options.stages = read_stages(parser);
  if (parser.has("pages")) options.pages = parse_pages(parser.text("pages"));
  if (!options.stages.series_steps.empty() && !options.pages)
    usage("--stages: contrast: range=series needs several pages; add --pages all or --pages A-B");
  options.execution.device = parser.text("device");
  (void)choose_device(options.execution.device);  // a mistake is reported before any work
  options.execution.threads = parser.integer("threads", 0, kMaxThreads);
  if (parser.has("device-memory"))
    options.device_memory_bytes = parse_memory(parser.text("device-memory"), "device-memory", 1);
  options.fuse = parser.has("fuse");
  read_reports(parser, options.reports);
  options.decode = read_decoding(parser);
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
