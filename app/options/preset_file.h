// Presets as files: TOML 1.0 with a key for each option. Only preset_file.cpp uses toml++.
#pragma once

#include <string>
#include <vector>

#include "app/options/option_row.h"

namespace imgpipe {

struct PresetOption {
  const OptionRow* row = nullptr;
  std::vector<std::string> values;  // as on the command line; "true" or "false" for a switch
  std::string position;             // "scan.toml:3", printable
};

// Reads a preset ("-" is stdin):
//
//   stages = ["gray", "smooth:gauss"]   a list of steps, or one string: "gray,smooth:gauss"
//   clip = 0.5                          a value: a string or a number
//   lenient = true                      a switch
//   include = ["*.png", "*.tif"]        a repeatable option: a list, or one value
//
// Keys are the long names of `rows` in any spelling. File names in steps (range=FILE) are relative to the
// preset's directory and are converted to the working directory. `rows` must outlive the result.
// Throws Error(usage) with file and line for invalid TOML, an option that does not exist, is not allowed in
// presets or is given twice, and a value of the wrong type. Throws Error(input) if the file cannot be read.
[[nodiscard]] std::vector<PresetOption> read_preset(const std::string& path,
                                                    const std::vector<OptionRow>& rows);

// Returns a preset that read_preset() reads back as these options, except for `position`. `path` is its
// destination: file names in steps are written relative to its directory if they are below it, otherwise as
// absolute paths. Throws Error(usage) for a value that is not UTF-8, which TOML cannot hold.
[[nodiscard]] std::string preset_text(const std::vector<PresetOption>& options, const std::string& path);

}  // namespace imgpipe
