#include "app/options/input_options.h"

#include <algorithm>
#include <utility>

#include "app/options/option_parser.h"

namespace imgpipe {

std::vector<OptionRow> input_rows() {
  return {
      {"Batch", "r,recursive", nullptr, nullptr, "Folders below INPUT too; OUTPUT gets the same tree"},
      {"Batch", "include", "GLOB", nullptr,
       "Only files like this (instead of those with an image's ending), or with / at its end the images in "
       "folders like this; may be repeated. Of patterns, here and as INPUT: * ? [a-z] [!a-z] {a,b}, ** for "
       "any folders, \\x for x itself. Without / a name in any folder; with / the path below INPUT, ./x or "
       "/x at its top. Endings match in either case"},
      {"Batch", "exclude", "GLOB", nullptr,
       "No files and no folders like this, nor what lies in them; with / at its end folders only; may be "
       "repeated"},
      {"Batch", "files-from", "FILE", nullptr,
       "Take the inputs' names from FILE (- is stdin), one a line or each ended by NUL: below INPUT where "
       "that is a folder; of several INPUTs or a pattern the files with these paths"},
  };
}

InputOptions read_input(const Parser& parser) {
  InputOptions input;
  input.files_from = parser.name_or_empty("files-from");
  input.recursive = parser.has("recursive");
  input.include = parser.texts("include");
  input.exclude = parser.texts("exclude");
  input.exclude_is_of_preset = parser.given().is_of_preset("exclude");
  return input;
}

void set_paths(InputOptions& input, std::vector<std::string> paths, const char* what) {
  if (std::ranges::find(paths, "") != paths.end()) usage(std::string("an empty name among ") + what);
  if (paths.empty()) return;
  input.path = std::move(paths.front());
  paths.erase(paths.begin());
  input.more_paths = std::move(paths);
}

}  // namespace imgpipe
