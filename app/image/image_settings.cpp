#include "app/image/image_settings.h"

#include <filesystem>
#include <string>

#include "images/files/output_file.h"
#include "pipeline/decode_scale.h"

namespace imgpipe {

namespace fs = std::filesystem;

Replace replace_output(const ProcessOptions& options) {
  return options.output.is_stamped ? Replace::all : options.output.replace;
}

ImageSettings image_settings(const ProcessOptions& options) {
  ImageSettings settings;
  settings.stages = options.stages.steps;
  for (const AlsoStages& also : options.stages.also)
    settings.also.push_back({"--also " + also.name, also.steps});
  settings.fuse = options.fuse;
  settings.hash = options.reports.hash;
  settings.keep_metadata = options.output.keep_metadata;
  settings.decode = options.decode;
  settings.decode.max_bits = 32;
  // Each of several results would need another size.
  if (settings.also.empty()) settings.decode.least_size = least_decoded_size(options.stages.steps);
  settings.encode = options.output.encode;
  // With --name, create each output's directory just before its first byte.
  settings.sync = options.output.sync.get();
  if (options.output.name)
    settings.before_first_byte = [sync = settings.sync](const std::string& output) {
      const fs::path directory = fs::path(output).parent_path();
      if (!directory.empty()) make_directory(directory.string(), sync);
    };
  settings.before_write = [replace = replace_output(options)](const std::string& output, const Mark& mark) {
    check_still_replaceable(output, replace, mark);
  };
  return settings;
}

}  // namespace imgpipe
