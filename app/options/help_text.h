// --help as text: the usage lines, then the options group by group, wrapped to the terminal.
#pragma once

#include <string>
#include <vector>

#include "app/options/option_row.h"

namespace imgpipe {

// Columns for help: the environment's COLUMNS, else the width of the terminal that stdout is, else 80; from
// kLeastHelpWidth (narrower columns break words) to kMostHelpWidth (longer lines are hard to read).
inline constexpr int kLeastHelpWidth = 40;
inline constexpr int kMostHelpWidth = 120;
[[nodiscard]] int help_width();

// Names in a column, their texts beside them, or below them where the terminal is narrow.
[[nodiscard]] std::string help_lines(const std::vector<HelpLine>& lines, int width);
// The same lines two columns further right, with `end` after each name.
[[nodiscard]] std::vector<HelpLine> indented(std::vector<HelpLine> lines, const std::string& end = "");
// A paragraph.
[[nodiscard]] std::string wrapped(const std::string& text, int width);

// The groups of the rows in the order in which they first come.
[[nodiscard]] std::vector<std::string> groups_of(const std::vector<OptionRow>& rows);
// "  -q, --quiet", "      --stages LIST"; without a text.
[[nodiscard]] HelpLine flags_line(const OptionRow& row);
// What is said of an option after its flags.
[[nodiscard]] std::string option_text(const OptionRow& row);

// No line is longer than `width`, but for a single word that is.
[[nodiscard]] std::string help_text(const std::string& description, const std::vector<HelpLine>& usage,
                                    const std::vector<OptionRow>& options, int width,
                                    const HelpTable& table = {});

}  // namespace imgpipe
