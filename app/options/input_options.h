// Which files a command reads: INPUT, --files-from, --recursive, --include, --exclude.
#pragma once

#include <string>
#include <vector>

namespace imgpipe {

struct InputOptions {
  std::string path;                     // INPUT; empty with --files-from alone
  std::vector<std::string> more_paths;  // between INPUT and OUTPUT
  std::string files_from;               // a list of inputs; "-": stdin
  bool recursive = false;
  std::vector<std::string> include, exclude;  // patterns (app/batch/glob.h)
  bool exclude_is_of_preset = false;  // patterns for many directories, some of which match nothing here
};

}  // namespace imgpipe
