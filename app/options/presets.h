// The options of a run: what stands on the command line, and what presets say (--preset, --write-preset).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/options/given_names.h"
#include "app/options/option_row.h"

namespace imgpipe {

class GivenOptions {
 public:
  // Reads the presets that `arguments` name. Of an option that several of them hold the last one's is taken,
  // and none where the command line has it, or the other of two switches that exclude each other; so it is
  // with those that may be repeated, whose values are not added up. With --help or --version no preset is
  // read. `rows` stay where they are. Throws as given_arguments() and read_preset() do.
  GivenOptions(const std::vector<std::string>& arguments, const std::vector<OptionRow>& rows,
               const std::string& command);

  // What is of presets comes first.
  [[nodiscard]] const std::vector<GivenArgument>& all() const { return all_; }

  // Whether nothing but a preset is wanted: --write-preset without anything to read or to write.
  [[nodiscard]] bool only_writes_preset() const;
  [[nodiscard]] bool is_of_preset(const std::string& name) const { return places_.contains(name); }
  // "scan.toml:3: --quality: ..." of "--quality: ...", where that option is of a preset.
  [[nodiscard]] std::string with_place(const std::string& message) const;

  // The options as a preset that is to be at `path`, in the order of the table (app/options/preset_file.h).
  [[nodiscard]] std::string as_preset(const std::string& path) const;
  // Those that were given and that no preset holds, as they are spelled: "--report". --preset and
  // --write-preset aside.
  [[nodiscard]] std::vector<std::string> left_out() const;

 private:
  void take_presets(const std::vector<OptionRow>& rows);
  [[nodiscard]] bool is_given(const std::string& name) const;
  [[nodiscard]] bool is_overruled(const std::string& name) const;

  const std::vector<OptionRow>& rows_;
  std::vector<GivenArgument> all_;
  std::map<std::string, std::string> places_;  // of those of presets
};

}  // namespace imgpipe
