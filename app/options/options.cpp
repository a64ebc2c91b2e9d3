#include "app/options/options.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

#include "app/batch/shard.h"
#include "app/options/command_line.h"
#include "app/options/command_table.h"
#include "app/options/given_names.h"
#include "app/options/option_parser.h"
#include "app/options/option_table.h"
#include "app/options/option_values.h"
#include "app/options/presets.h"
#include "app/options/range_file.h"
#include "app/options/sizes.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/names.h"
#include "images/text.h"
#include "pipeline/device.h"
#include "pipeline/plan.h"
#include "pipeline/threads/host_threads.h"

namespace imgpipe {
namespace {

std::optional<Format> format_of(const Parser& parser) {
  if (!parser.has("format")) return std::nullopt;
  const std::optional<Format> format = format_by_name(parser.text("format"));
  if (!format || !format_info(*format).writable) {
    usage_of_choice("format", parser.text("format"), writable_formats());
  }
  return format;
}

EncodeOptions encode_of(const Parser& parser) {
  EncodeOptions options;
  options.quality = static_cast<int>(parser.integer("quality", 1, 100));
  options.png_level = static_cast<int>(parser.integer("png-level", 0, 9));
  options.webp = parse_choice("webp", parser.text("webp"), kWebpCodings);
  options.webp_level = static_cast<int>(parser.integer("webp-level", 0, 9));
  options.tiff_packing = parse_choice("tiff-compression", parser.text("tiff-compression"), kTiffPackings);
  options.tiff_tile = static_cast<int>(parser.integer("tiff-tile", 0, 4096));
  if (options.tiff_tile % 16 != 0) usage("--tiff-tile: a multiple of 16, or 0 for strips");
  options.mark = Mark::result;
  return options;
}

// INPUT... OUTPUT, or INPUT... and -o OUTPUT; with --files-from INPUT may be left out.
void take_paths(const Parser& parser, ProcessOptions& options) {
  std::vector<std::string> paths;
  if (parser.has("input")) paths.push_back(parser.text("input"));
  if (parser.has("output")) paths.push_back(parser.text("output"));
  // Those behind OUTPUT are INPUTs, and the last is OUTPUT, where that is no option.
  const bool by_option = parser.has_option("output");
  paths.insert(paths.end() - (by_option ? 1 : 0), parser.more().begin(), parser.more().end());
  if (paths.empty()) usage("OUTPUT is missing; see imgpipe --help");
  if (std::ranges::find(paths, "") != paths.end()) usage("an empty name among INPUT and OUTPUT");
  std::error_code ignored;
  if (paths.size() > 1 && find_command(paths.front()) != nullptr &&
      !std::filesystem::exists(paths.front(), ignored))
    usage("'" + paths.front() + "' is a command, which comes before its options: imgpipe " + paths.front());
  options.output = paths.back();
  options.output_is_listed = !by_option;
  paths.pop_back();
  set_inputs(std::move(paths), options);
}

// INPUT and OUTPUT, and options that there are: false when `answer` is all that was asked for. Of what the
// options take nothing is read yet.
bool read_paths(Parser& parser, const GivenOptions& run, PrintText& answer, ProcessOptions& options) {
  parser.allow_more();
  parser.need_fewer_with("files-from");
  if (run.only_writes_preset()) parser.allow_fewer();
  parser.set_help_table(stage_help());
  if (!parser.parse(run.arguments(), answer)) return false;
  if (!run.only_writes_preset()) take_paths(parser, options);
  return true;
}

// --name, behind the options that it depends on.
void take_name(const Parser& parser, ProcessOptions& options) {
  if (!parser.has("name")) return;
  options.name.emplace(parser.text("name"));
  options.name->check_format(options.format);
  // An ending says it as --format does: reports and the digest have it from there.
  if (!options.format) options.format = format_by_ending(parser.text("name"));
  const bool has_page = options.name->has(kPageField);
  if (has_page && !options.pages) usage("--name: {page} is the number of a page: add --pages all");
  if (options.pages) options.pages->named = has_page && !options.pages->alone;
  if (options.name->has("n") && !options.batch.failed_file.empty())
    usage(
        "--name: {n} would count the names of --failed-out anew, and name other files; do what has failed "
        "again by --skip-existing, or leave out one of them");
}

std::optional<PresetToWrite> preset_of(const Parser& parser, const GivenOptions& run,
                                       const ProcessOptions& options) {
  if (!parser.has("write-preset")) return std::nullopt;
  PresetToWrite preset{.file = parser.text("write-preset"),
                       .text = "",
                       .left_out = run.left_out(),
                       .replace = options.replace,
                       .talk = options.talk};
  if (options.batch.dry_run) usage("--dry-run writes nothing: leave it out, or --write-preset");
  if (preset.file != kStandardStream) {
    preset.file = file_with_ending("write-preset", preset.file, {".toml"});
  } else if (options.output == kStandardStream ||
             std::ranges::find(options.report_files, kStandardStream) != options.report_files.end()) {
    usage("--write-preset -: something else is for stdout already");
  }
  preset.text = run.as_preset(preset.file);
  return preset;
}

void check_update(const ProcessOptions& options) {
  if (!options.update) return;
  if (options.batch.skip_existing)
    usage(
        "--update and --skip-existing exclude each other: one makes anew what is not up to date, the other "
        "leaves it");
  if (options.replace == Replace::none)
    usage(
        "--update and --no-clobber exclude each other: one replaces what is not up to date, the other "
        "nothing");
}

// Who comes second would find stdin empty.
void check_stdin(const Parser& parser, const ProcessOptions& options) {
  const std::vector<std::string> presets = parser.texts("preset");
  const auto of_presets = std::ranges::count(presets, kStandardStream);
  const bool is_input = options.input == kStandardStream || options.batch.files_from == kStandardStream;
  if (of_presets > 1 || (of_presets == 1 && is_input)) usage("--preset -: something else reads stdin, too");
}

ProcessOptions with_values(const Parser& parser, const GivenOptions& run, ProcessOptions options) {
  std::vector<std::string> more_inputs = std::move(options.batch.more_inputs);
  options.batch = batch_of(parser);
  options.batch.more_inputs = std::move(more_inputs);
  check_stdin(parser, options);
  // A preset may be for batches as well as for single images.
  std::erase_if(options.batch.given,
                [&](const std::string& given) { return run.is_of_preset(given.substr(2)); });
  options.stage_list = parser.has("stages") ? parser.text("stages") : std::string(kDefaultStages);
  for (const ParameterOption& option : parameter_options())
    options.stage_options.push_back({option.name, parser.text(option.name)});
  const StagePresets presets(options.stage_options);
  const RangedList ranged = with_ranges(options.stage_list, presets);
  options.stages = parse_stages(ranged.list, presets);
  options.series_steps = ranged.of_series;
  if (parser.has("pages")) options.pages = parse_pages(parser.text("pages"));
  if (!options.series_steps.empty() && !options.pages)
    usage("--stages: contrast: range=series is for several pages: add --pages all, or --pages A-B");
  options.device = parser.text("device");
  (void)choose_device(options.device);  // a mistake is told before any work, and where nothing is to be done
  options.threads = static_cast<int>(parser.integer("threads", 0, kMostThreads));
  if (parser.has("device-memory"))
    options.device_memory_bytes = parse_memory(parser.text("device-memory"), "device-memory", 1);
  options.compare = parser.has("compare");
  options.fuse = parser.has("fuse");
  options.repeat = static_cast<int>(parser.integer("repeat", 0, 1'000'000));
  for (const std::string& path : parser.texts("report"))
    options.report_files.push_back(
        path == kStandardStream ? path
                                : file_with_ending("report", path, {".json", ".csv", ".ndjson", ".html"}));
  if (parser.has("trace")) options.trace_file = file_with_ending("trace", parser.text("trace"), {".json"});
  if (parser.has("histogram")) {
    options.histogram_file =
        file_with_ending("histogram", parser.text("histogram"), {".csv", ".json", ".svg"});
  }
  options.keep_stages_folder = parser.text_or_empty("keep-stages");
  if (parser.has("keep-stages") && options.keep_stages_folder.empty()) usage("--keep-stages: an empty name");
  options.decode = decode_of(parser);
  options.format = format_of(parser);
  options.encode = encode_of(parser);
  options.encode.codec = options.decode.codec;
  options.keep_metadata = parse_choice("metadata", parser.text("metadata"), kMetadata);
  options.replace = replace_of(parser);
  options.sync = std::make_shared<OutputSync>(parse_choice("sync", parser.text("sync"), kSync));
  options.talk = talk_of(parser);
  take_name(parser, options);
  options.update = parser.has("update");
  check_update(options);
  options.preset = preset_of(parser, run, options);
  return options;
}

}  // namespace

Command parse_process(const std::vector<std::string>& arguments) {
  const CommandRow& command = *find_command("");
  const std::vector<OptionRow> rows = command.rows();
  const GivenOptions run(arguments, rows, full_name(command));
  Parser parser(command);
  PrintText answer;
  ProcessOptions options;
  try {
    if (!read_paths(parser, run, answer, options)) return answer;
    options = with_values(parser, run, std::move(options));
  } catch (const Error& error) {
    throw Error(error.kind(), run.with_place(error.what()));
  }
  if (run.only_writes_preset()) return *std::move(options.preset);
  return options;
}

Command parse_synth(const std::vector<std::string>& arguments) {
  Parser parser(*find_command("synth"));
  PrintText answer;
  if (!parser.parse(arguments, answer)) return answer;
  SynthOptions options;
  options.output = parser.text("output");
  if (options.output.empty()) usage("OUTPUT is an empty name");
  if (!parser.has("pattern")) usage("--pattern is missing; see imgpipe synth --help");
  if (!parser.has("size")) usage("--size is missing; see imgpipe synth --help");
  options.shape = parse_size(parser.text("size"));
  options.shape.sample = parse_choice("depth", parser.text("depth"), kDepths);
  options.pattern = parse_pattern(parser.text("pattern"), options.shape.sample);
  if (parser.has("channels")) options.channels = static_cast<int>(parser.integer("channels", 1, 4));
  options.seed =
      static_cast<std::uint64_t>(parser.integer("seed", 0, std::numeric_limits<std::int64_t>::max()));
  options.format = format_of(parser);
  options.encode = encode_of(parser);
  options.encode.mark = Mark::synthetic;
  options.replace = replace_of(parser);
  options.talk = talk_of(parser);
  return options;
}

Command parse_devices(const std::vector<std::string>& arguments) {
  Parser parser(*find_command("devices"));
  PrintText answer;
  if (!parser.parse(arguments, answer)) return answer;
  return DevicesOptions{parser.has("json"), parser.has("calibrate"), talk_of(parser)};
}

std::string json_file_of(const Parser& parser) {
  const std::string path = parser.text_or_empty("json");
  return parser.has("json") && path != kStandardStream ? file_with_ending("json", path, {".json"}) : path;
}

std::vector<std::string> given_inputs(const Parser& parser, const std::string& what) {
  std::vector<std::string> paths;
  if (parser.has("input")) paths.push_back(parser.text("input"));
  paths.insert(paths.end(), parser.more().begin(), parser.more().end());
  if (std::ranges::find(paths, "") != paths.end()) usage("an empty name among the " + what);
  return paths;
}

void set_inputs(std::vector<std::string> paths, ProcessOptions& options) {
  if (paths.empty()) return;
  options.input = std::move(paths.front());
  paths.erase(paths.begin());
  options.batch.more_inputs = std::move(paths);
}

BatchOptions batch_of(const Parser& parser) {
  BatchOptions batch;
  batch.files_from = parser.text_or_empty("files-from");
  if (parser.has("files-from") && batch.files_from.empty()) usage("--files-from: an empty name");
  batch.recursive = parser.has("recursive");
  batch.include = parser.texts("include");
  batch.exclude = parser.texts("exclude");
  if (parser.knows("jobs")) batch.jobs = static_cast<int>(parser.integer("jobs", 0, kMostThreads));
  if (parser.has("memory")) batch.memory_bytes = parse_memory(parser.text("memory"));
  batch.skip_existing = parser.has("skip-existing");
  batch.fail_fast = parser.has("fail-fast");
  batch.dry_run = parser.has("dry-run");
  batch.failed_file = parser.text_or_empty("failed-out");
  if (parser.has("failed-out") && batch.failed_file.empty()) usage("--failed-out: an empty name");
  if (parser.has("shard"))
    batch.shard = parse_shard(parser.text("shard"), [](const char* name) {
      const char* value = std::getenv(name);
      return value == nullptr ? std::string() : std::string(value);
    });
  if (parser.has("balance")) {
    if (!batch.shard) usage("--balance is for the parts of --shard");
    batch.shard->balance = parse_balance(parser.text("balance"));
  }
  for (const OptionRow& row : batch_rows()) {
    const std::string name = option_name(row);
    if (parser.has(name)) batch.given.push_back("--" + name);
  }
  return batch;
}

namespace {

// "color", or one or three numbers: "4,3,2".
void parse_bands(const std::string& text, DecodeOptions& decode) {
  constexpr std::int64_t kMostBands = 64;
  if (text == kColorBands) {
    decode.colors_only = true;
    return;
  }
  for (std::string_view rest = text;;) {
    const std::size_t comma = rest.find(',');
    decode.bands.push_back(static_cast<int>(parse_integer("bands", rest.substr(0, comma), 1, kMostBands)));
    if (comma == std::string_view::npos) break;
    rest.remove_prefix(comma + 1);
  }
  if (decode.bands.size() != 1 && decode.bands.size() != 3)
    usage("--bands: expected one band, three bands or " + std::string(kColorBands) + ", got '" +
          printable(text) + "'");
}

}  // namespace

DecodeOptions decode_of(const Parser& parser) {
  DecodeOptions decode;
  if (parser.knows("max-pixels"))
    decode.max_pixels = parse_pixels(parser.text("max-pixels"), "max-pixels", std::int64_t{1} << 34);
  if (parser.has("bands")) parse_bands(parser.text("bands"), decode);
  decode.lenient = parser.has("lenient");
  decode.orient = !parser.has("no-orient");
  if (parser.knows("codec")) decode.codec = parse_choice("codec", parser.text("codec"), kCodecs);
  return decode;
}

std::string_view codec_name(CodecChoice codec) {
  return std::ranges::find(kCodecs, codec, &std::pair<std::string_view, CodecChoice>::second)->first;
}

Shape parse_size(const std::string& text) {
  const std::size_t cross = text.find('x');
  if (cross == std::string::npos) usage("--size: '" + printable(text) + "' is not of the form 640x480");
  return {parse_integer("size", std::string_view(text).substr(0, cross), 1, kMostSide),
          parse_integer("size", std::string_view(text).substr(cross + 1), 1, kMostSide), 3};
}

namespace {

// What other programs call their commands.
constexpr std::string_view kForeignCommands[] = {"convert", "compare", "diff", "identify", "mogrify"};

// Whether a first argument that is no command, and that is neither an option nor there as a file, is nearly a
// command. What has the marks of a path or of a pattern is none.
bool may_be_command(const std::string& argument) {
  std::error_code ignored;
  return !argument.starts_with('-') && argument.find_first_of("./*?[{") == std::string::npos &&
         (!nearest_name(argument, command_names()).empty() || stage_meant(argument) != nullptr ||
          std::ranges::find(kForeignCommands, argument) != std::end(kForeignCommands)) &&
         !std::filesystem::exists(argument, ignored);
}

// Arguments whose first one may be a command: an option of the main job that is there, but has a value that
// it does not take, is named first.
[[noreturn]] void refuse_command(const std::vector<std::string>& arguments) {
  Parser parser(*find_command(""));
  const std::vector<OptionRow> rows = process_rows();
  PrintText answer;
  ProcessOptions options;
  std::optional<GivenOptions> run;
  bool fits = false;
  try {
    run.emplace(arguments, rows, full_name(*find_command("")));
    fits = read_paths(parser, *run, answer, options);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage) throw;
  }
  if (fits) static_cast<void>(with_values(parser, *run, std::move(options)));
  const std::string name = printable(arguments.front());
  const std::string problem = "unknown command '" + name + "'; ";
  if (const Stage* const stage = stage_meant(arguments.front()))
    usage(problem + stage_hint(*stage) + " after INPUT and OUTPUT");
  if (name == "convert" || name == "mogrify") usage(problem + "imgpipe INPUT OUTPUT --stages none converts");
  if (name == "identify") usage(problem + "see imgpipe info");
  usage(unknown_name(
      "unknown command '" + name + "'", arguments.front(), command_names(),
      "the commands are " + joined(command_names()) + "; a file or folder of that name is ./" + name));
}

}  // namespace

Command parse_command(const std::vector<std::string>& arguments) {
  if (arguments.empty()) return parse_process(arguments);
  const CommandRow* command = find_command(arguments.front());
  if (command != nullptr && !command->name.empty())
    return command->parse(std::vector<std::string>(arguments.begin() + 1, arguments.end()));
  if (may_be_command(arguments.front())) refuse_command(arguments);
  return parse_process(arguments);
}

}  // namespace imgpipe
