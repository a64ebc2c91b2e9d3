// Which files a command reads.
#pragma once

#include <string>
#include <vector>

#include "app/options/option_row.h"

namespace imgpipe {

class Parser;

struct InputOptions {
  std::string path;                     // INPUT; empty with --files-from alone
  std::vector<std::string> more_paths;  // further INPUTs
  std::string files_from;               // a list of inputs; "-": stdin
  bool recursive = false;
  std::vector<std::string> include, exclude;  // patterns (app/jobs/glob.h)
  bool exclude_is_of_preset = false;  // patterns for many directories, some of which match nothing here
};

// --recursive, --include, --exclude, --files-from.
[[nodiscard]] std::vector<OptionRow> input_rows();
[[nodiscard]] InputOptions read_input(const Parser& parser);
// INPUTs. Throws Error(usage) for an empty name; `what`: what they are called in the command's help.
void set_paths(InputOptions& input, std::vector<std::string> paths, const char* what);

}  // namespace imgpipe
