#include "app/process_command.h"

#include <string>
#include <utility>

#include "app/batch/batch_command.h"
#include "app/files/replaceable.h"
#include "app/files/text_file.h"
#include "app/image/one_input.h"
#include "app/jobs/archive_files.h"
#include "app/log.h"
#include "app/log_subject.h"
#include "app/manual/brief_help.h"
#include "app/options/option_parser.h"
#include "app/process_options/process_options.h"
#include "app/program.h"
#include "app/standard_streams.h"
#include "images/error.h"
#include "images/files/file.h"

namespace imgpipe {
namespace {

int write_preset(const PresetToWrite& preset) {
  check_replaceable(preset.file, text_refusal_reason(preset.file, preset.replace));
  write_text(preset.file, preset.text);
  std::string names;
  for (const std::string& name : preset.left_out) names += (names.empty() ? "" : ", ") + name;
  if (!names.empty()) log_notice("--write-preset: left out options of a single run: " + names);
  return kExitDone;
}

int run_process(ProcessOptions options, const EngineFactory& factory) {
  options.output.is_archive = takes_archives(options);
  if (options.stack && options.output.is_archive)
    throw Error(ErrorKind::usage,
                "--stack and --montage: not supported for images in archives; extract them first");
  const bool batch = !options.stack && is_batch(options);
  if (options.stack) {
    options = with_stack_inputs(std::move(options));
  } else if (!batch) {
    options = with_output_file(std::move(options));
  }
  for (const std::string& damage : options.stages.image_warnings) log_warning(damage);
  const auto run = [&] {
    if (options.preset) write_preset(*options.preset);
    return batch ? run_batch(options, factory) : run_image(options, factory);
  };
  if (batch) return run();
  return run_guarded(run, [&](const Error& error) {
    return subject_of(error, input_name(options.input.path), output_name(options.output.path));
  });
}

ReadyCommand read_process(const Parser& parser) {
  ProcessOptions options = read_process_options(parser);
  if (parser.given().only_writes_preset()) return ready(*std::move(options.preset), write_preset);
  const LoggingOptions logging = options.logging;
  return {
      [options = std::move(options)](const EngineFactory& factory) { return run_process(options, factory); },
      logging};
}

}  // namespace

CommandRow process_command() {
  return {.name = "",
          .summary = "process images, directories and stacks with a list of stages",
          .description =
              "Grayscale, histogram, contrast, smoothing, threshold, resizing and more, exact to the byte.",
          .usage = {{"imgpipe INPUT OUTPUT [options]",
                     "one image; \"-\" is stdin or stdout; OUTPUT may be a directory, which is created if it "
                     "ends with /"},
                    {"imgpipe INPUT... DIR [options]",
                     "a batch: directories, patterns, files, or a list by --files-from"},
                    {"imgpipe INPUT... FILE --stack NAME [options]",
                     "one image of all pages or images: their maximum, mean, median and so on; or, with "
                     "--montage, a sheet of them"},
                    {"imgpipe INPUT... --tensor FILE [options]", "a batch into one file of tensors"},
                    {"imgpipe ARCHIVE.tar... DIR [options]",
                     "the images in tar archives, into new archives; OUTPUT may be a .tar, and - for both is "
                     "a pipe"}},
          .positional = {"input", "output"},
          .accepts_more_arguments = true,
          .or_options = {"files-from", "tensor"},
          .rows = process_rows,
          .help_table = stage_help,
          .brief_help = brief_help,
          .exits = all_exits(),
          .read = read_process};
}

}  // namespace imgpipe
