#include "app/options/options.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <utility>

#include "app/batch/shard.h"
#include "app/options/command_line.h"
#include "app/options/option_parser.h"
#include "app/options/option_table.h"
#include "app/options/range_file.h"
#include "images/error.h"
#include "images/text.h"
#include "pipeline/host/host_threads.h"
#include "pipeline/plan.h"

namespace imgpipe {
namespace {

constexpr std::array<std::pair<std::string_view, CodecChoice>, 3> kCodecs{
    {{"auto", CodecChoice::automatic}, {"turbo", CodecChoice::turbo}, {"stb", CodecChoice::stb}}};
constexpr std::array<std::pair<std::string_view, SampleType>, 2> kDepths{
    {{"8", SampleType::u8}, {"16", SampleType::u16}}};

constexpr std::array<std::pair<std::string_view, WebpCoding>, 2> kWebpCodings{
    {{"lossless", WebpCoding::lossless}, {"lossy", WebpCoding::lossy}}};

constexpr std::array<std::pair<std::string_view, TiffPacking>, 5> kTiffPackings{
    {{"none", TiffPacking::none},
     {"deflate", TiffPacking::deflate},
     {"lzw", TiffPacking::lzw},
     {"packbits", TiffPacking::packbits},
     {"zstd", TiffPacking::zstd}}};

constexpr std::array<std::pair<std::string_view, bool>, 2> kMetadata{{{"keep", true}, {"strip", false}}};

std::optional<Format> format_of(const Parser& parser) {
  if (!parser.has("format")) return std::nullopt;
  const std::optional<Format> format = format_by_name(parser.text("format"));
  if (!format || !format_info(*format).writable) {
    usage("--format: '" + printable(parser.text("format")) + "' is none of " + writable_formats());
  }
  return format;
}

TiffPacking tiff_packing_of(const std::string& name) {
  for (const auto& [known, packing] : kTiffPackings)
    if (name == known) return packing;
  usage("--tiff-compression: '" + printable(name) + "' is none of none, deflate, lzw, packbits, zstd");
}

EncodeOptions encode_of(const Parser& parser) {
  EncodeOptions options;
  options.quality = static_cast<int>(parser.integer("quality", 1, 100));
  options.png_level = static_cast<int>(parser.integer("png-level", 0, 9));
  options.webp = parse_choice("webp", parser.text("webp"), kWebpCodings);
  options.webp_level = static_cast<int>(parser.integer("webp-level", 0, 9));
  options.tiff_packing = tiff_packing_of(parser.text("tiff-compression"));
  options.tiff_tile = static_cast<int>(parser.integer("tiff-tile", 0, 4096));
  if (options.tiff_tile % 16 != 0) usage("--tiff-tile: a multiple of 16, or 0 for strips");
  options.mark = Mark::result;
  return options;
}

// INPUT... OUTPUT; with --files-from INPUT may be left out.
void take_paths(const Parser& parser, ProcessOptions& options) {
  std::vector<std::string> paths;
  for (const char* name : {"input", "output"}) {
    if (parser.has(name)) paths.push_back(parser.text(name));
  }
  paths.insert(paths.end(), parser.more().begin(), parser.more().end());
  if (paths.empty()) usage("OUTPUT is missing; see --help");
  if (std::ranges::find(paths, "") != paths.end()) usage("an empty name among INPUT and OUTPUT");
  options.output = paths.back();
  paths.pop_back();
  if (!paths.empty()) options.input = paths.front();
  if (paths.size() > 1) options.batch.more_inputs.assign(paths.begin() + 1, paths.end());
}

Command parse_process(const std::vector<std::string>& arguments) {
  Parser parser("imgpipe",
                "Grayscale, histogram, contrast, smoothing, threshold, resizing and more, exact to the byte.",
                process_rows(), {"input", "output"});
  parser.set_usage(
      {{"imgpipe INPUT OUTPUT [options]",
        "one image; \"-\" is stdin or stdout; OUTPUT may be a folder, which is made where it ends with /"},
       {"imgpipe INPUT... FOLDER [options]", "a batch: folders, patterns, files, or a list by --files-from"},
       {"imgpipe bench [options]", "the kernel lab: every variant checked, then timed"},
       {"imgpipe synth OUTPUT [options]", "test images of known statistics"},
       {"imgpipe stats INPUT... [options]",
        "counts, mean, deviation and percentiles over images and folders"},
       {"imgpipe devices [--json]", "what this machine offers"}});
  parser.allow_more();
  parser.need_fewer_with("files-from");
  parser.set_help_table(stage_help());
  PrintText answer;
  if (!parser.parse(arguments, answer)) return answer;
  ProcessOptions options;
  options.batch = batch_of(parser);
  take_paths(parser, options);
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
  options.threads = static_cast<int>(parser.integer("threads", 0, kMostThreads));
  if (parser.has("device-memory"))
    options.device_memory_bytes = parse_memory(parser.text("device-memory"), "device-memory", 1);
  options.compare = parser.has("cpu");
  options.fuse = parser.has("fuse");
  options.repeat = static_cast<int>(parser.integer("repeat", 0, 1'000'000));
  for (const std::string& path : parser.texts("report"))
    options.report_files.push_back(file_with_ending("report", path, {".json", ".csv", ".ndjson", ".html"}));
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
  options.talk = talk_of(parser);
  return options;
}

Command parse_synth(const std::vector<std::string>& arguments) {
  Parser parser("imgpipe synth", "Writes a test image of known statistics.", synth_rows(), {"output"});
  parser.set_usage({{"imgpipe synth OUTPUT --pattern P --size WxH [options]", ""}});
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
  Parser parser("imgpipe devices", "Lists what this machine offers and what --device auto would pick.",
                devices_rows(), {});
  parser.set_usage({{"imgpipe devices [--json]", ""}});
  PrintText answer;
  if (!parser.parse(arguments, answer)) return answer;
  return DevicesOptions{parser.has("json"), parser.has("calibrate")};
}

}  // namespace

BatchOptions batch_of(const Parser& parser) {
  BatchOptions batch;
  batch.files_from = parser.text_or_empty("files-from");
  if (parser.has("files-from") && batch.files_from.empty()) usage("--files-from: an empty name");
  batch.recursive = parser.has("recursive");
  batch.include = parser.texts("include");
  batch.exclude = parser.texts("exclude");
  batch.jobs = static_cast<int>(parser.integer("jobs", 0, kMostThreads));
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
    if (parser.has(row.flags)) batch.given.push_back(std::string("--") + row.flags);
  }
  return batch;
}

DecodeOptions decode_of(const Parser& parser) {
  DecodeOptions decode;
  decode.max_pixels = parser.integer("max-pixels", 1, std::int64_t{1} << 34);
  decode.lenient = parser.has("lenient");
  decode.orient = !parser.has("no-orient");
  decode.codec = parse_choice("codec", parser.text("codec"), kCodecs);
  return decode;
}

std::string_view codec_name(CodecChoice codec) {
  return std::ranges::find(kCodecs, codec, &std::pair<std::string_view, CodecChoice>::second)->first;
}

std::int64_t parse_memory(const std::string& text, const std::string& option, std::int64_t least_megabytes) {
  constexpr std::string_view kUnits = "KMGT";
  std::string_view digits = text;
  int shift = 0;
  if (!digits.empty()) {
    const std::size_t unit = kUnits.find(digits.back());
    if (unit != std::string_view::npos) {
      shift = 10 * static_cast<int>(unit + 1);
      digits.remove_suffix(1);
    }
  }
  constexpr std::int64_t kMost = std::int64_t{1} << 50;
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  const std::string given = "--" + option + ": '" + printable(text) + "' is ";
  const bool too_long = error == std::errc::result_out_of_range;
  if ((error != std::errc{} && !too_long) || end != digits.data() + digits.size() || digits.starts_with('-'))
    usage(given + "no whole number with nothing, K, M, G or T behind it, such as 1536M or 8G");
  if (too_long || value > (kMost >> shift)) usage(given + "more than 1024T");
  if ((value << shift) < least_megabytes << 20)
    usage(given + "less than " + std::to_string(least_megabytes) + "M");
  return value << shift;
}

Shape parse_size(const std::string& text) {
  const std::size_t cross = text.find('x');
  if (cross == std::string::npos) usage("--size: '" + printable(text) + "' is not of the form 640x480");
  return {parse_integer("size", std::string_view(text).substr(0, cross), 1, kMostSide),
          parse_integer("size", std::string_view(text).substr(cross + 1), 1, kMostSide), 3};
}

Command parse_command(const std::vector<std::string>& arguments) {
  if (!arguments.empty()) {
    const std::vector<std::string> rest(arguments.begin() + 1, arguments.end());
    if (arguments.front() == "synth") return parse_synth(rest);
    if (arguments.front() == "devices") return parse_devices(rest);
    if (arguments.front() == "bench") return parse_bench(rest);
    if (arguments.front() == "stats") return parse_stats(rest);
  }
  return parse_process(arguments);
}

}  // namespace imgpipe
