// The options of the commands, one row each: what is parsed, and what --help says.
#pragma once

#include <string>
#include <vector>

namespace imgpipe {

struct OptionRow {
  const char* group;
  const char* flags;   // "q,quiet"
  const char* value;   // nullptr: a switch
  const char* preset;  // nullptr: none
  std::string help;
};

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
