// The options of every command, one row each: what is parsed, and what --help says.
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
[[nodiscard]] std::vector<OptionRow> bench_rows();

// "jpeg, png, ...": what --format takes.
[[nodiscard]] std::string writable_formats();

}  // namespace imgpipe
