// Options, one row each: what is parsed, and what --help says.
#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace imgpipe {

// A name and its text in help: "imgpipe INPUT OUTPUT [options]" and what it does.
struct HelpLine {
  std::string name;  // spaces in front of it stay
  std::string text;  // may be empty
};

// Printed between the usage and the options.
struct HelpTable {
  std::string title;           // empty: there is none
  std::vector<HelpLine> rows;  // a name that begins with spaces belongs to the one before
};

struct OptionRow {
  const char* group;
  const char* flags;   // "q,quiet": a letter, if any, then its name, then other names for the same
  const char* value;   // nullptr: a switch
  const char* preset;  // nullptr: none
  std::string help;
  std::vector<std::string> values{};  // what it takes, where that is a choice, or where a choice begins it
  const char* implied = nullptr;      // the value where none follows; nullptr: a value is required
  const char* ending = nullptr;  // with `implied`: of a value that is an argument of its own, or it is "-"
};

// Of a row: every letter and name, each with its dashes ("-q", "--quiet"); and the name alone ("quiet").
[[nodiscard]] std::vector<std::string> spelled_flags(const OptionRow& row);
[[nodiscard]] std::string option_name(const OptionRow& row);
// Its letter; 0: there is none.
[[nodiscard]] char option_letter(const OptionRow& row);

// Whether a preset may hold an option of the main command (app/options/presets.h): all but those that say
// something of one run only, what it reads, what it writes, and how it is asked for.
[[nodiscard]] bool in_presets(const OptionRow& row);
// Whether every one of them counts that is given, and not the last alone.
[[nodiscard]] bool is_repeated(const OptionRow& row);
// Two switches of which a run has one: what is said on the command line takes out the other of a preset.
struct ExcludingOptions {
  std::string_view one, other;
};
[[nodiscard]] std::span<const ExcludingOptions> excluding_options();

// Those of `rows` that have one of these names, in their order.
[[nodiscard]] std::vector<OptionRow> rows_named(std::vector<OptionRow> rows,
                                                std::initializer_list<std::string_view> names);
// --json [FILE] of a group: without FILE, stdout.
[[nodiscard]] OptionRow json_row(const char* group, std::string help);
// Appends `more` to `rows`, as rows of that group; without one, of their own.
void add_rows(std::vector<OptionRow>& rows, std::vector<OptionRow> more, const char* group = nullptr);

}  // namespace imgpipe
