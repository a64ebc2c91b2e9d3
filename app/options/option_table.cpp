#include "app/options/option_table.h"

#include <algorithm>
#include <utility>

#include "app/files/name_template.h"
#include "app/options/option_values.h"
#include "app/options/range_file.h"
#include "app/shard/shard.h"
#include "images/codecs/codec.h"
#include "images/names.h"
#include "images/synth.h"
#include "kernels/stage.h"
#include "pipeline/plan.h"
#include "pipeline/stage_list.h"

namespace imgpipe {
namespace {

constexpr const char* kBatchGroup = "Batch";

// What no preset holds: a new option is in presets unless it is named here.
constexpr std::string_view kNotInPresets[] = {
    "preset",      "write-preset", "output", "files-from", "report",  "trace",   "histogram",
    "keep-stages", "failed-out",   "shard",  "balance",    "dry-run", "version", "help"};
constexpr std::string_view kRepeated[] = {"preset", "report", "include", "exclude"};

// Their names.
template <class Condition>
std::vector<std::string_view> formats_that(const Condition& condition) {
  std::vector<std::string_view> names;
  for (const FormatInfo& info : format_table()) {
    if (condition(info)) names.push_back(info.name);
  }
  return names;
}

std::string formats_of_16_bits() {
  return joined(
      formats_that([](const FormatInfo& info) { return info.writable && info.written_bits == 16; }));
}

std::vector<OptionRow> encode_rows() {
  std::vector<OptionRow> rows{
      {"Output", "format", "NAME", nullptr,
       "Output format, where OUTPUT's ending does not say it: " + joined(writable_formats()) +
           ". An ending that says another one is an error; without an ending, OUTPUT is a file unless a "
           "folder of that name is there. A batch gives its outputs this ending",
       strings(writable_formats())},
      {"Output", "quality", "N", "90", "Quality of JPEG and of lossy WebP, 1..100"},
      {"Output", "png-level", "N", "1",
       "PNG compression, 0..9. Photographs: 1, the fastest and within 1 % of the smallest. Drawings and "
       "text: 2, often smaller than 1 in the same time; 6 and 9, smaller still and many times slower. 1 uses "
       "Huffman codes, and matches only where they pay; 0, 2 and 3 use ISA-L, 4..9 zlib"},
      {"Output", "webp", "NAME", "lossless", "WebP: lossless, or lossy with --quality",
       choice_names(kWebpCodings)},
      {"Output", "webp-level", "N", "1", "WebP compression: 0 fastest, 9 smallest"},
      {"Output", "tiff-compression", "NAME", "deflate",
       "How strips and tiles of a TIFF are packed: none, deflate (by --png-level), lzw, packbits, zstd",
       choice_names(kTiffPackings)},
      {"Output", "tiff-tile", "N", "0", "TIFF in tiles of N times N pixels, a multiple of 16; 0: in strips"}};
  for (OptionRow& row : replace_rows()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace

std::string pattern_help() {
  std::string patterns = "Pattern:";
  for (const PatternInfo& info : pattern_table()) {
    patterns += " " + std::string(info.name) +
                (info.argument.empty() ? "" : ":" + std::string(info.argument)) + " (" +
                std::string(info.summary) + "),";
  }
  patterns.back() = '.';
  return patterns;
}

bool in_presets(const OptionRow& row) {
  return std::ranges::find(kNotInPresets, option_name(row)) == std::end(kNotInPresets);
}

bool is_repeated(const OptionRow& row) {
  return std::ranges::find(kRepeated, option_name(row)) != std::end(kRepeated);
}

std::span<const ExcludingOptions> excluding_options() {
  static constexpr ExcludingOptions kPairs[] = {{"quiet", "verbose"},
                                                {"overwrite", "no-clobber"},
                                                {"update", "no-clobber"},
                                                {"update", "skip-existing"}};
  return kPairs;
}

std::vector<OptionRow> talk_rows() {
  return {{"Talk", "q,quiet", nullptr, nullptr, "No tables; errors and warnings only"},
          {"Talk", "v,verbose", nullptr, nullptr, "Say what is done and why"},
          {"Talk", "no-color", nullptr, nullptr, "No colour (NO_COLOR does the same)"},
          {"Talk", "log-format", "NAME", "text",
           "What stderr gets: text, or json, an object a line for programs, and no tables",
           choice_names(kLogFormats)},
          {"Talk", "version", nullptr, nullptr, "Version, commit, compiler, libraries"},
          {"Talk", "h,help", nullptr, nullptr, "This text"}};
}

std::vector<OptionRow> shared_rows(std::span<const std::string_view> names) {
  std::vector<OptionRow> rows = process_rows();
  std::erase_if(rows, [&](const OptionRow& row) {
    return std::ranges::find(names, std::string_view(option_name(row))) == names.end();
  });
  return rows;
}

void add_rows(std::vector<OptionRow>& rows, std::vector<OptionRow> more, const char* group) {
  for (OptionRow& row : more) {
    if (group != nullptr) row.group = group;
    rows.push_back(std::move(row));
  }
}

std::vector<OptionRow> replace_rows() {
  return {{"Output", "overwrite", nullptr, nullptr,
           "Replace files that imgpipe did not write as well; without, it replaces its own only, which carry "
           "a mark"},
          {"Output", "no-clobber", nullptr, nullptr, "Replace no file at all"}};
}

namespace {

std::vector<ParameterOption> make_parameter_options() {
  std::vector<ParameterOption> options;
  for (const Stage& stage : stage_table()) {
    const Parameters preset = presets(stage.parameters);
    for (std::size_t i = 0; i < stage.parameters.size(); ++i) {
      const Parameter& row = stage.parameters[i];
      if (row.like_previous && !options.empty() && i > 0 && !stage.parameters[i - 1].option.empty()) {
        options.back().value += "[,N]";
        options.back().preset += "," + value_text(row, preset[i]);
        options.back().help += "; behind a comma: " + std::string(row.help);
      }
      if (row.option.empty()) continue;
      options.push_back({.name = std::string(row.option),
                         .value = row.kind == Parameter::Kind::choice ? "NAME" : "N",
                         .preset = value_text(row, preset[i]),
                         .help = std::string(row.help),
                         .values = strings(row.words)});
    }
  }
  return options;
}

}  // namespace

HelpTable stage_help() {
  HelpTable table{"Stages, with their parameters", {}};
  for (const Stage& stage : stage_table()) {
    if (!stage.selectable) continue;
    std::string call(stage.name);
    if (stage.takes_rectangle) call += ":WxH+X+Y, or " + call;
    for (const Parameter& parameter : stage.parameters) call += ":" + std::string(parameter.name);
    table.rows.push_back({call, std::string(stage.summary)});
    for (const Parameter& parameter : stage.parameters) {
      const bool told = !parameter.option.empty();
      table.rows.push_back({"  " + std::string(parameter.name),
                            told ? "as --" + std::string(parameter.option) + ", for this step"
                                 : std::string(parameter.help) + " [" + allowed_values(parameter) + "]"});
    }
    if (stage.name == kRangedStage) table.rows.push_back({"  range", std::string(kRangeHelp)});
  }
  return table;
}

const std::vector<ParameterOption>& parameter_options() {
  static const std::vector<ParameterOption> options = make_parameter_options();
  return options;
}

std::vector<std::string_view> writable_formats() {
  return formats_that([](const FormatInfo& info) { return info.writable; });
}

std::vector<std::string> pattern_values() {
  std::vector<std::string> values;
  for (const PatternInfo& info : pattern_table())
    values.push_back(std::string(info.name) + (info.argument.empty() ? "" : ":"));
  return values;
}

std::vector<std::string> device_values() {
  return {"auto", "cuda", "cuda:", "cpu", "reference"};
}

std::vector<std::string> spelled_flags(const OptionRow& row) {
  std::vector<std::string> flags;
  std::string_view rest = row.flags;
  while (!rest.empty()) {
    const std::string_view flag = rest.substr(0, rest.find(','));
    flags.push_back((flag.size() == 1 ? "-" : "--") + std::string(flag));
    rest.remove_prefix(std::min(rest.size(), flag.size() + 1));
  }
  return flags;
}

std::string option_name(const OptionRow& row) {
  return spelled_flags(row)[option_letter(row) == 0 ? 0 : 1].substr(2);
}

char option_letter(const OptionRow& row) {
  return row.flags[0] != '\0' && row.flags[1] == ',' ? row.flags[0] : '\0';
}

std::vector<OptionRow> batch_rows() {
  return {
      {kBatchGroup, "r,recursive", nullptr, nullptr, "Folders below INPUT too; OUTPUT gets the same tree"},
      {kBatchGroup, "include", "GLOB", nullptr,
       "Only files like this (instead of those with an image's ending), or with / at its end the images in "
       "folders like this; may be repeated. Of patterns, here and as INPUT: * ? [a-z] [!a-z] {a,b}, ** for "
       "any folders, \\x for x itself. Without / a name in any folder; with / the path below INPUT, ./x or "
       "/x at its top. Endings match in either case"},
      {kBatchGroup, "exclude", "GLOB", nullptr,
       "No files and no folders like this, nor what lies in them; with / at its end folders only; may be "
       "repeated"},
      {kBatchGroup, "files-from", "FILE", nullptr,
       "Take the inputs' names from FILE (- is stdin), one a line or each ended by NUL: below INPUT where "
       "that is a folder; of several INPUTs or a pattern the files with these paths"},
      {kBatchGroup, "j,jobs", "N", "0", "Images at a time; 0: as many as threads"},
      {kBatchGroup, "memory", "SIZE", nullptr,
       "Memory for images, such as 500M, 1.5G or 64MiB; default: half of what is available"},
      {kBatchGroup, "skip-existing", nullptr, nullptr,
       "Leave images whose output is there already; a .ndjson report goes on too"},
      {kBatchGroup, "fail-fast", nullptr, nullptr, "End with the first image that fails"},
      {kBatchGroup, "failed-out", "FILE", nullptr,
       "Write the names of the images that failed; the same command with --files-from FILE does them again"},
      {kBatchGroup, "shard", "I/N", nullptr,
       "Only part I (from 1) of N; stderr says which, with -q too. auto: as srun, mpirun or a job array "
       "says; auto/N where the array does not say how many parts there are, or when only some of its tasks "
       "are done again"},
      {kBatchGroup, "balance", "HOW", nullptr,
       "What makes the parts of --shard even: hash (default; a file's part depends on its name alone), "
       "count (files), bytes (the largest first, each to the part that has least). count and bytes need "
       "the same files and sizes in all processes, until all have ended; do their failures (--failed-out) "
       "again without --shard",
       choice_names(kBalances)},
      {kBatchGroup, "n,dry-run", nullptr, nullptr, "Print what would be done"},
  };
}

std::vector<OptionRow> process_rows() {
  std::vector<OptionRow> rows{
      {"What to do", "stages", "LIST", kDefaultStages.data(),
       "Steps in order, repeats allowed: NAME, NAME:VALUE or NAME:PARAMETER=VALUE:... A value "
       "without a name is that of the first parameter, or of the next"}};
  for (const ParameterOption& option : parameter_options())
    rows.push_back({"What to do", option.name.c_str(), option.value.c_str(), option.preset.c_str(),
                    option.help, option.values});
  rows.push_back(
      {"What to do", "preset", "FILE", nullptr,
       "Take options from FILE.toml: stages = [\"gray\", \"smooth:gauss\"], quality = 85, lenient = "
       "true and so on; what stands on the command line wins. May be repeated: the later one wins"});
  rows.push_back({"What to do", "write-preset", "FILE", nullptr,
                  "Write the options of this run, those of presets too, as FILE.toml; -: to stdout. Without "
                  "INPUT and OUTPUT nothing else is done"});
  const std::vector<OptionRow> others{
      {"Where", "d,device", "NAME", "auto",
       "auto, cuda (a batch takes as many as it needs), cuda:N, cuda:N,M (a batch), cpu or reference",
       device_values()},
      {"Where", "fuse", nullptr, nullptr,
       "gray+hist and contrast+smooth in one pass each, where they are neighbours; the same bytes"},
      {"Where", "threads", "N", "0",
       "Threads on the CPU: stages on cpu, encoding everywhere; 0: as many as there are processors to be had "
       "(affinity, a container's quota: imgpipe devices tells)"},
      {"Where", "device-memory", "SIZE", nullptr,
       "What one image may take of a CUDA device, such as 500M or 1.5G; a larger one goes through it in "
       "bands of rows; default: what is free"},
      {"Compare and report", "compare,cpu", nullptr, nullptr,
       "Run the sequential reference too and compare every stage byte for byte (exit 5 on a difference)"},
      {"Compare and report", "report", "FILE", nullptr,
       "Write the report as .json, .csv or .html (a page with pictures and plots); of a batch: .json "
       "(totals), "
       ".ndjson or .csv (a line an image); -: JSON to stdout, and the table to stderr; may be repeated"},
      {"Compare and report", "trace", "FILE", nullptr,
       "Write what ran when, as .json for chrome://tracing and ui.perfetto.dev"},
      {"Compare and report", "repeat", "N", "0",
       "Kernel and transfer times: medians of N runs after a warm-up"},
      {"Compare and report", "histogram", "FILE", nullptr,
       "Histogram before and after, as .csv, .json or .svg; needs hist or contrast among the stages"},
      {"Compare and report", "keep-stages", "DIR", nullptr, "Write every stage's image into DIR, as PNG"},
      {"Input", "pages", "LIST", nullptr,
       "Pages of a TIFF, or images that come one after another on stdin: all, N, A-B, or A- to the end; "
       "without, the first page, and one image on stdin. Of N OUTPUT is one image, else a TIFF gets all of "
       "them "
       "and other formats NAME_0001.png and so on (see --name), or one after another on stdout"},
      {"Input",
       "bands",
       "LIST",
       nullptr,
       "Bands of a TIFF, from 1: one as grey, or three as RGB in that order (4,3,2); color: the colours and "
       "alpha without further bands. Without it an image whose bands cannot all be preserved is refused",
       {std::string(kColorBands)}},
      {"Input", "max-pixels", "N", "268435456", "Refuse larger images; 100M and 47MP are counts too"},
      {"Input", "lenient", nullptr, nullptr, "Accept what a damaged file still holds, the rest mid-grey"},
      {"Input", "no-orient", nullptr, nullptr, "Leave the EXIF orientation alone"},
      {"Input", "codec", "NAME", "auto",
       "auto; turbo: JPEG by libjpeg-turbo alone, without the decoder for several threads, which gives the "
       "same pixels; stb: stb_image and stb_image_write wherever they can",
       choice_names(kCodecs)},
  };
  rows.insert(rows.end(), others.begin(), others.end());
  rows.push_back({"Output", "o,output", "PATH", nullptr,
                  "OUTPUT as an option; all that stands without an option is then INPUT"});
  rows.push_back(
      {"Output", "name", "TEMPLATE", nullptr,
       "What files in the folder OUTPUT are called, such as '{dir}/{stem}_gray.{ext}'. Of fields: " +
           name_fields_help() + ". {{ and }} are braces"});
  for (OptionRow& row : encode_rows()) rows.push_back(std::move(row));
  rows.push_back(
      {"Output", "update", nullptr, nullptr,
       "Make only what is not up to date: the output is not there, or it, the input or the options "
       "are not as they were when --update made it, which .imgpipe-update.ndjson in OUTPUT tells"});
  rows.push_back(
      {"Output", "metadata", "NAME", "keep",
       "keep: preserve ICC profile, EXIF, XMP, IPTC, comments, texts, resolution and, from TIFF to TIFF, "
       "description and GeoTIFF where the output format has a place for them, and name what is "
       "dropped; strip: remove all of it",
       choice_names(kMetadata)});
  rows.push_back(
      {"Output", "sync", "NAME", "yes",
       "yes: outputs and reports survive a power failure once the run has ended; no: the file system "
       "decides, which is faster for tiny files",
       choice_names(kSync)});
  for (OptionRow& row : batch_rows()) rows.push_back(std::move(row));
  for (OptionRow& row : talk_rows()) rows.push_back(std::move(row));
  return rows;
}

std::vector<OptionRow> synth_rows() {
  std::vector<OptionRow> rows{
      {"Pattern", "pattern", "P", nullptr, pattern_help(), pattern_values()},
      {"Pattern", "size", "WxH", nullptr, "Width and height in pixels"},
      {"Pattern", "channels", "N", nullptr,
       "1 (grey), 2 (grey and alpha), 3 (RGB) or 4 (RGBA); default: 3, and 1 for pgm. "
       "Alpha rises from top to bottom"},
      {"Pattern", "depth", "8|16", "8",
       "Bits a sample; 16 for " + formats_of_16_bits() + ". N, T, V are then values of 16 bits",
       choice_names(kDepths)},
      {"Pattern", "seed", "N", "1", "The same bytes for the same seed, everywhere"},
      {"Output", "o,output", "PATH", nullptr, "OUTPUT as an option"}};
  for (OptionRow& row : encode_rows()) rows.push_back(std::move(row));
  for (OptionRow& row : talk_rows()) rows.push_back(std::move(row));
  return rows;
}

std::vector<OptionRow> devices_rows() {
  std::vector<OptionRow> rows{
      {"Output", "json", nullptr, nullptr, "As JSON"},
      {"Output", "calibrate", nullptr, nullptr,
       "Measure anew from which size on auto takes the GPU, and keep it in the user's cache folder"}};
  for (OptionRow& row : talk_rows()) rows.push_back(std::move(row));
  return rows;
}

}  // namespace imgpipe
