#include "app/image_settings.h"

#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "app/files/replaceable.h"
#include "app/process_options/options_digest.h"
#include "app/standard_streams.h"
#include "images/files/file_identity.h"
#include "images/files/output_file.h"
#include "pipeline/device.h"

namespace imgpipe {

namespace fs = std::filesystem;

Replace replace_output(const ProcessOptions& options) {
  return options.output.is_stamped ? Replace::all : options.output.replace;
}

std::uint64_t name_hash(const std::string& name) {
  return first_64_bits(sha256(name));
}

ImageSettings image_settings(const ProcessOptions& options) {
  ImageSettings settings;
  settings.stages = options.stages.steps;
  settings.fuse = options.fuse;
  settings.keep_metadata = options.output.keep_metadata;
  settings.decode = options.decode;
  settings.decode.most_bits = 16;
  settings.encode = options.output.encode;
  // In one place each, which --name gives: a batch makes its folders itself.
  settings.sync = options.output.sync.get();
  if (options.output.name)
    settings.before_first_byte = [sync = settings.sync](const std::string& output) {
      const fs::path folder = fs::path(output).parent_path();
      if (!folder.empty()) make_folder(folder.string(), sync);
    };
  settings.before_write = [replace = replace_output(options)](const std::string& output, const Mark& mark) {
    check_still_replaceable(output, replace, mark);
  };
  return settings;
}

ImageFiles image_files(const ProcessOptions& options, std::string name) {
  ImageFiles files{.input = options.input.path,
                   .output = options.output.path,
                   .input_name = std::move(name),
                   .output_name = output_name(options.output.path),
                   .format = output_format(options.output.path, options.output.format)};
  // A stream has no name.
  std::error_code unknown;
  if (fs::is_regular_file(options.input.path, unknown) && !descriptor_of(options.input.path))
    files.made_of = {.name = name_hash(fs::path(options.input.path).filename().string()),
                     .options = options_hash(options, files.format)};
  return files;
}

int thread_count(const ExecutionOptions& execution) {
  return execution.threads > 0 ? execution.threads : host_info().threads;
}

}  // namespace imgpipe
