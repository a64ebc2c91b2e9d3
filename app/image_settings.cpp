#include "app/image_settings.h"

#include <filesystem>
#include <string>
#include <utility>

#include "app/command.h"
#include "app/files/replaceable.h"
#include "app/standard_streams.h"
#include "images/files/output_file.h"
#include "pipeline/device.h"

namespace imgpipe {

Replace replace_output(const ProcessOptions& options) {
  return options.output_is_stamped ? Replace::all : options.replace;
}

ImageSettings image_settings(const ProcessOptions& options) {
  ImageSettings settings;
  settings.stages = options.stages;
  settings.fuse = options.fuse;
  settings.keep_metadata = options.keep_metadata;
  settings.decode = options.decode;
  settings.decode.most_bits = 16;
  settings.encode = options.encode;
  // In one place each, which --name gives: a batch makes its folders itself.
  if (options.name)
    settings.before_first_byte = [](const std::string& output) {
      const std::filesystem::path folder = std::filesystem::path(output).parent_path();
      if (!folder.empty()) make_folder(folder.string());
    };
  settings.before_write = [replace = replace_output(options)](const std::string& output) {
    check_still_replaceable(output, replace);
  };
  return settings;
}

ImageFiles image_files(const ProcessOptions& options, std::string name) {
  return {.input = options.input,
          .output = options.output,
          .input_name = std::move(name),
          .output_name = output_name(options.output),
          .format = output_format(options.output, options.format)};
}

int thread_count(const ProcessOptions& options) {
  return options.threads > 0 ? options.threads : host_info().threads;
}

}  // namespace imgpipe
