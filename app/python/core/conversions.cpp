// Pipeline.convert(): the program's run over one image.
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include "app/image/image_settings.h"
#include "app/process_options/options_digest.h"
#include "app/python/core/devices.h"
#include "app/python/core/encoding.h"
#include "app/python/core/errors.h"
#include "app/python/core/existing_files.h"
#include "app/python/core/pipelines.h"
#include "app/python/core/sources.h"
#include "app/python/core/without_gil.h"
#include "images/files/output_sync.h"
#include "images/formats/pending_input.h"
#include "images/text.h"
#include "pipeline/device.h"
#include "pipeline/engine_choice.h"
#include "pipeline/jobs/image_job.h"

namespace imgpipe::python {
namespace {

namespace fs = std::filesystem;

// The program begins messages with the name of the input, which bytes in memory do not have.
std::string without_empty_name(std::string text) {
  if (text.starts_with(": ")) text.erase(0, 2);
  return text;
}

// The files of a run, as the program names them.
ImageFiles files_of(const Source& source, const ProcessOptions& options, Format format) {
  const std::string& path = options.output.path;
  ImageFiles files{.input = source.path,
                   .output = path,
                   .input_name = printable(source.name),
                   .output_name = printable(path),
                   .format = format};
  std::error_code unknown;
  if (fs::is_regular_file(source.path, unknown))
    files.made_of = {.name = name_hash(fs::path(source.path).filename().string()),
                     .options = options_hash(options, format)};
  return files;
}

void run(ImageJob& job, const Source& source, const DecodeOptions& decode, Engine& engine) {
  if (source.is_in_memory()) {
    job.read(InputFile::borrowed(source.bytes()));
  } else {
    PendingInput input(source.path, decode, InputKind::any);
    job.read(input);
  }
  job.open();
  job.make_plan();
  job.make_output();
  Job work;
  work.keep_pixels = false;
  (void)job.run(engine, std::move(work));
  job.write();
}

}  // namespace

nb::list Pipeline::convert(nb::handle source, const nb::bytes& path, bool overwrite,
                           std::optional<int> quality, bool keep_metadata) {
  const Source file = Source::from(source);
  ProcessOptions options;
  options.output.path = file_path(path_of(path));
  options.stages.steps = plans_.stages();
  options.decode = decode_;
  options.output.keep_metadata = keep_metadata;
  const Encoding encoding = make_encoding(format_to_write("", options.output.path), quality, std::nullopt);
  options.output.encode = encoding.options;
  options.output.encode.mark = Mark::result;
  ImageSettings settings = image_settings(options);
  OutputSync no_sync(false);
  settings.sync = &no_sync;
  settings.before_write = [overwrite](const std::string& output, const Mark&) {
    if (!overwrite) check_new(output);
  };
  ImageJob job(files_of(file, options, encoding.format), settings, Timeline());
  try {
    without_gil(
        [&](const Error& error) {
          const std::string& name = error.kind() == ErrorKind::input    ? file.name
                                    : error.kind() == ErrorKind::output ? options.output.path
                                                                        : std::string();
          return exception_of(Error(error.kind(), without_empty_name(error.what())), name);
        },
        [&] {
          if (!overwrite) check_new(options.output.path);
          DeviceChoice device = choose_device(device_ == "auto" ? "cpu" : device_of_call(device_));
          device.memory_bytes = device_image_limit();
          const std::unique_ptr<Engine> engine = make_engine(device, threads_);
          if (engine->implementation() == "cuda") note_device_use();
          run(job, file, settings.decode, *engine);
        });
  } catch (const FileExists&) {
    raise_file_exists(options.output.path);
  }
  nb::list notes;
  for (const ImageNote& note : job.notes())
    notes.append(nb::make_tuple(note.about == ImageNote::About::damage, without_empty_name(note.text)));
  return notes;
}

}  // namespace imgpipe::python
