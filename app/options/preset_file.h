// Presets as files: TOML 1.0, a key for each option. toml++ is known to preset_file.cpp alone.
#pragma once

#include <string>
#include <vector>

#include "app/options/option_row.h"

namespace imgpipe {

// An option that a preset holds.
struct PresetOption {
  const OptionRow* row = nullptr;
  std::vector<std::string> values;  // as the command line has them; of a switch "true" or "false"
  std::string place;                // "scan.toml:3", printable
};

// Reads a preset ("-" is stdin):
//
//   stages = ["gray", "smooth:gauss"]   a list of steps, or one text: "gray,smooth:gauss"
//   clip = 0.5                          a value: a text or a number
//   lenient = true                      a switch
//   include = ["*.png", "*.tif"]        an option that may be repeated: a list, or one value
//
// Keys are the long names of `rows`, in every spelling that the command line takes. Files that steps name
// (range=FILE) are relative to the preset's folder, and come out as the working folder has them. The rows
// stay where they are. Throws Error(usage), with the file and the line, for what is no TOML, an option that
// there is not or that no preset may hold, one that is given twice, and a value of another type; Error(input)
// when the file cannot be read.
[[nodiscard]] std::vector<PresetOption> read_preset(const std::string& path,
                                                    const std::vector<OptionRow>& rows);

// A preset that read_preset() reads as these options, places aside. `path` is where it is to be: the files
// that steps name are written relative to its folder where they are in it or below it, else by their whole
// path. Throws Error(usage) for a value that TOML cannot hold, because it is no UTF-8.
[[nodiscard]] std::string preset_text(const std::vector<PresetOption>& options, const std::string& path);

}  // namespace imgpipe
