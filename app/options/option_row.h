// Describes options, one row each, for parsing and --help.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace imgpipe {

// A line of help, such as "imgpipe INPUT OUTPUT [options]" and its description.
struct HelpLine {
  std::string name;  // leading spaces are kept
  std::string text;  // may be empty
};

// Printed between the usage and the options.
struct HelpTable {
  std::string title;           // empty: no table
  std::vector<HelpLine> rows;  // a name with leading spaces belongs to the row before
};

struct OptionRow {
  const char* group;
  const char* flags;   // "q,quiet": an optional letter, the name, then aliases
  const char* value;   // nullptr: a switch
  const char* preset;  // default value; nullptr: none
  std::string help;
  std::vector<std::string> values{};  // allowed values, or prefixes of them
  const char* implied = nullptr;      // the value if none follows; nullptr: a value is required
  const char* ending = nullptr;       // with `implied`: the ending by which an argument is recognised as the
                                      // value; "-" is accepted, too
};

// Returns every letter and name with dashes: "-q", "--quiet". option_name() returns "quiet".
[[nodiscard]] std::vector<std::string> spelled_flags(const OptionRow& row);
[[nodiscard]] std::string option_name(const OptionRow& row);
// Returns true if option_name() is `name`.
[[nodiscard]] bool is_named(const OptionRow& row, std::string_view name);
// Returns true if `name` is the option's name or an alias.
[[nodiscard]] bool has_name(const OptionRow& row, std::string_view name);
// Returns the option's letter, or 0 if it has none.
[[nodiscard]] char option_letter(const OptionRow& row);

// Returns true if a preset may hold this option of the main command (app/options/presets.h). Options that
// concern a single run, its inputs or its outputs are excluded.
[[nodiscard]] bool allowed_in_presets(const OptionRow& row);
// Returns true if all values of a repeated option are used, not only the last.
[[nodiscard]] bool is_repeated(const OptionRow& row);
// Two mutually exclusive options. One on the command line overrides the other in a preset.
struct ExclusiveOptions {
  std::string_view one, other;
};
[[nodiscard]] std::span<const ExclusiveOptions> excluding_options();

// Returns the rows with these names, in their order.
[[nodiscard]] std::vector<OptionRow> rows_named(std::vector<OptionRow> rows,
                                                std::initializer_list<std::string_view> names);
// Returns the row of --json [FILE], which means stdout without FILE.
[[nodiscard]] OptionRow json_row(const char* group, std::string help);
// Appends `more` to `rows`, in `group` if given, otherwise in their own groups.
void add_rows(std::vector<OptionRow>& rows, std::vector<OptionRow> more, const char* group = nullptr);

}  // namespace imgpipe
