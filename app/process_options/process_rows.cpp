#include <utility>

#include "app/files/name_template.h"
#include "app/options/batch_options.h"
#include "app/options/coding_options.h"
#include "app/options/logging_options.h"
#include "app/options/range_file.h"
#include "app/process_options/process_options.h"
#include "kernels/stage.h"
#include "pipeline/parameter_text.h"
#include "pipeline/plan.h"
#include "pipeline/stage_list.h"

namespace imgpipe {
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
        options.back().help += "; a second value, after a comma, is for the bright end";
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

std::vector<OptionRow> action_rows() {
  return {
      {"Processing", "also", "NAME=STAGES", nullptr,
       "A further result: STAGES on the decoded image, like those of --stages, into the file OUTPUT with "
       ".NAME "
       "before its extension, or where {also} in --name puts it; may be repeated"},
      {"Processing", "split", "CHANNELS", nullptr,
       "Write each channel of the result as a grey image, named like a result of --also: rgb (red, green, "
       "blue), "
       "rgba (and alpha) or ga (gray, alpha). Default of --stages: none",
       choice_names(kSplits)},
      {"Processing", "merge", nullptr, nullptr,
       "One image of the channels of 2 to 4 INPUTs: imgpipe --merge R G B OUTPUT; --stages, by default none, "
       "process it"},
      {"Processing", "image", "NAME=FILE", nullptr,
       "An image that steps of --stages read by this name, as in subtract:NAME; may be repeated"},
      {"Processing", "image-stages", "NAME=STAGES", nullptr,
       "Stages that run once on the image of --image NAME=FILE; may be repeated"},
      {"Processing", "stack", "NAME", nullptr,
       "Make one image of all pages of INPUT, or of all images of a batch in the order of their names: their "
       "max, min, mean, sum or median at each position. --stages, default none, runs on each image before",
       choice_names(kProjections)},
      {"Processing", "montage", "GRID", nullptr,
       "Make one image with a cell for each page or image, in the same order: COLUMNSx, or COLUMNSxROWS. "
       "Each "
       "is fitted into its cell like resize:fit=contain"},
      {"Processing", "cell", "WxH", nullptr, "Size of the cells of --montage, in pixels"},
      {"Processing", "background", "COLOR", "white", "Colour of the cells of --montage around the images"},
      {"Processing", "then", "LIST", nullptr,
       "Stages that run on the result of --stack or --montage; the sum is exact if the first is depth:float"},
      {"Processing", "preset", "FILE", nullptr,
       "Take options from FILE.toml: stages = [\"gray\", \"smooth:gauss\"], quality = 85, lenient = "
       "true and so on; options on the command line win. May be repeated: the last one wins"},
      {"Processing", "write-preset", "FILE", nullptr,
       "Write the options of this run and its presets as FILE.toml; -: to stdout. Without INPUT "
       "and OUTPUT nothing else is done"},
      {"Execution", "d,device", "NAME", "auto",
       "auto, cuda (a batch takes as many as it needs), cuda:N, cuda:N,M (a batch), cpu or reference",
       device_values()},
      {"Execution", "fuse", nullptr, nullptr,
       "gray+hist and contrast+smooth in one pass each, if adjacent; the same bytes"},
      {"Execution", "threads", "N", "0",
       "Threads on the CPU: stages on cpu, encoding everywhere; 0: one per available processor (affinity, a "
       "container's quota: see imgpipe devices)"},
      {"Execution", "device-memory", "SIZE", nullptr,
       "CUDA device memory for one image, such as 500M or 1.5G; a larger image is processed in bands of "
       "rows; default: all free memory"},
      {"Reports", "compare,cpu", nullptr, nullptr,
       "Also run the sequential reference and compare every stage byte for byte (exit 5 on a difference)"},
      {"Reports", "report", "FILE", nullptr,
       "Write the report as .json, .csv or .html (a page with images and plots); for a batch: .json "
       "(totals), .ndjson or .csv (one line per image); -: JSON to stdout, and the table to stderr; may be "
       "repeated"},
      json_row("Reports", "Write the report as JSON, like --report FILE.json"),
      {"Reports", "hash", nullptr, nullptr,
       "Reports also hold SHA-256 of the bytes and of the pixels of inputs and outputs, for imgpipe verify: "
       "in .json of an image or its pages, in .ndjson and .csv of a batch"},
      {"Reports", "trace", "FILE", nullptr,
       "Write a timeline of the run as .json for chrome://tracing and ui.perfetto.dev; -: to stdout"},
      {"Reports", "repeat", "N", "0", "Kernel and transfer times: medians of N runs after a warm-up"},
      {"Reports", "histogram", "FILE", nullptr,
       "Histogram before and after, as .csv, .json or .svg; -: as JSON to stdout; needs hist or contrast in "
       "--stages"},
      {"Reports", "keep-stages", "DIR", nullptr, "Write every stage's image into DIR, as PNG"},
      {"Input", "pages", "LIST", nullptr,
       "Pages of a TIFF, frames of a GIF, WebP or PNG, or images that follow one another on stdin: all, N, "
       "A-B, or A- to the end. Default: the first page, or the only image on stdin. With N, OUTPUT is one "
       "image; otherwise a TIFF stores all pages, and other formats are written as NAME_0001.png and so on "
       "(see --name), or one after another to stdout"}};
}

std::vector<OptionRow> output_rows() {
  return {
      {"Output", "tensor", "FILE", nullptr,
       "Write the tensors of all inputs into one file instead of OUTPUT: FILE.npy, with the inputs' names "
       "in FILE.npy.names.txt, or FILE.safetensors, which holds the names. Rows are in the order of the "
       "inputs. The last stage must be normalize, and all tensors must have the same shape"},
      {"Output", "update", nullptr, nullptr,
       "Process only images that are not up to date: the output does not exist, or the output, the input "
       "or the options changed since --update made it, as recorded in .imgpipe-update.ndjson in OUTPUT"},
      {"Output", "metadata", "NAME", "keep",
       "keep: preserve what the output format can store of ICC profile, EXIF, XMP, IPTC, comments, "
       "texts, resolution and, from TIFF to TIFF, description and GeoTIFF, and report dropped metadata; "
       "strip: remove everything",
       choice_names(kMetadata)},
      {"Output", "sync", "NAME", "yes",
       "yes: outputs and reports survive a power failure once the run has ended; no: the file system "
       "decides, which is faster for tiny files",
       choice_names(kSync)}};
}

}  // namespace

HelpTable stage_help() {
  HelpTable table{"Stages (for parameters see imgpipe help STAGE)", {}};
  for (const Stage& stage : stage_table()) {
    if (stage.selectable) table.rows.push_back({std::string(stage.name), std::string(stage.summary)});
  }
  return table;
}

const std::vector<ParameterOption>& parameter_options() {
  static const std::vector<ParameterOption> options = make_parameter_options();
  return options;
}

std::vector<OptionRow> process_rows() {
  std::vector<OptionRow> rows{
      {"Processing", "stages", "LIST", kDefaultStages.data(),
       "Steps in order, repeats allowed: NAME, NAME:VALUE or NAME:PARAMETER=VALUE:... Values without names "
       "set the parameters in the order of imgpipe help STAGE"}};
  for (const ParameterOption& option : parameter_options())
    rows.push_back({"Processing", option.name.c_str(), option.value.c_str(), option.preset.c_str(),
                    option.help, option.values});
  add_rows(rows, action_rows());
  add_rows(rows, decoding_rows(true));
  add_rows(rows, scale_rows());
  add_rows(rows, {{"Output", "o,output", "PATH", nullptr,
                   "OUTPUT as an option; all other arguments are then INPUT"},
                  {"Output", "name", "TEMPLATE", nullptr,
                   "Names of the files in the directory OUTPUT, such as '{dir}/{stem}_gray.{ext}'. Fields: " +
                       name_fields_help() + ". {{ and }} are braces"}});
  add_rows(rows, encoding_rows());
  add_rows(rows, replace_rows());
  add_rows(rows, output_rows());
  add_rows(rows, batch_rows());
  add_rows(rows, logging_rows());
  return rows;
}

}  // namespace imgpipe
