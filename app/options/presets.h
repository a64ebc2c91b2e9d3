// The options of a run, from the command line and from presets (--preset, --write-preset).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "app/options/option_row.h"
#include "app/options/parsed_arguments.h"

namespace imgpipe {

class MergedOptions {
 public:
  // Reads the presets that `arguments` name. If several presets set an option, the last one applies. The
  // command line overrides presets, also where it has the other of two exclusive options. Values of
  // repeatable options are replaced, not added. With --help or --version no preset is read. `rows` must
  // outlive this object. Throws like parse_arguments() and read_preset().
  MergedOptions(const std::vector<std::string>& arguments, const std::vector<OptionRow>& rows,
                const std::string& command);

  // Returns all arguments; those from presets come first.
  [[nodiscard]] const std::vector<ParsedArgument>& all() const { return all_; }

  // Returns true for --write-preset without inputs and outputs.
  [[nodiscard]] bool only_writes_preset() const;
  [[nodiscard]] bool is_from_preset(const std::string& name) const { return positions_.contains(name); }
  // Prepends the preset's position to a message about an option from a preset: "scan.toml:3: --quality: ...".
  [[nodiscard]] std::string with_position(const std::string& message) const;

  // Returns the options as a preset to be written to `path`, in table order (app/options/preset_file.h).
  [[nodiscard]] std::string as_preset(const std::string& path) const;
  // Returns the given options that presets cannot hold, except --preset, --write-preset and --output.
  [[nodiscard]] std::vector<std::string> left_out() const;

 private:
  void take_presets(const std::vector<OptionRow>& rows);
  [[nodiscard]] bool is_given(const std::string& name) const;
  [[nodiscard]] bool is_overridden(const std::string& name) const;

  const std::vector<OptionRow>& rows_;
  std::vector<ParsedArgument> all_;
  std::map<std::string, std::string> positions_;  // of options from presets
};

}  // namespace imgpipe
