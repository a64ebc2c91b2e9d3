// The options of the commands, one row each: what is parsed, and what --help says.
#pragma once

#include <string>
#include <vector>

namespace imgpipe {

struct UsageRow {
  std::string call;     // "imgpipe INPUT OUTPUT [options]"
  std::string summary;  // may be empty
};

// What is told between the calls and the options.
struct HelpTable {
  std::string title;           // empty: there is none
  std::vector<UsageRow> rows;  // a call that begins with spaces belongs to the one before
};

struct OptionRow {
  const char* group;
  const char* flags;   // "q,quiet"
  const char* value;   // nullptr: a switch
  const char* preset;  // nullptr: none
  std::string help;
};

// An option that presets a parameter of a stage (Parameter::option).
struct ParameterOption {
  std::string name;    // "clip"
  std::string value;   // for --help
  std::string preset;  // as the option takes it: "0,0"
  std::string help;
};
// The stages and their parameters, for --help.
[[nodiscard]] HelpTable stage_help();
// All of them, in the order of the stage table.
[[nodiscard]] const std::vector<ParameterOption>& parameter_options();

[[nodiscard]] std::vector<OptionRow> process_rows();  // with those of a batch
[[nodiscard]] std::vector<OptionRow> batch_rows();
[[nodiscard]] std::vector<OptionRow> synth_rows();
[[nodiscard]] std::vector<OptionRow> devices_rows();

// What several commands have.
[[nodiscard]] std::vector<OptionRow> talk_rows();
[[nodiscard]] std::vector<OptionRow> replace_rows();

// Every pattern there is, as --help says it.
[[nodiscard]] std::string pattern_help();

// "jpeg, png, ...": what --format takes.
[[nodiscard]] std::string writable_formats();

}  // namespace imgpipe
