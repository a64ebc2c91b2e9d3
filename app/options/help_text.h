// The text of --help: usage lines, then the options by group, wrapped to the terminal.
#pragma once

#include <string>
#include <vector>

#include "app/options/option_row.h"

namespace imgpipe {

// The width of help: COLUMNS, otherwise the width of the terminal on stdout, otherwise 80. Limited to
// kMinHelpWidth (narrower columns break words) and kMaxHelpWidth (longer lines are hard to read).
inline constexpr int kMinHelpWidth = 40;
inline constexpr int kMaxHelpWidth = 120;
[[nodiscard]] int help_width();

// Formats names in a column with texts to their right, or below them on a narrow terminal.
[[nodiscard]] std::string help_lines(const std::vector<HelpLine>& lines, int width);
// Returns the lines indented by two columns, with `end` after each name.
[[nodiscard]] std::vector<HelpLine> indented(std::vector<HelpLine> lines, const std::string& end = "");
[[nodiscard]] std::string wrapped(const std::string& text, int width);

// Returns the groups of the rows in order of first appearance.
[[nodiscard]] std::vector<std::string> groups_of(const std::vector<OptionRow>& rows);
// "  -q, --quiet", "      --stages LIST"; without a text.
[[nodiscard]] HelpLine flags_line(const OptionRow& row);
[[nodiscard]] std::string option_text(const OptionRow& row);

// Wraps lines at `width`, unless a single word is longer.
[[nodiscard]] std::string help_text(const std::string& description, const std::vector<HelpLine>& usage,
                                    const std::vector<OptionRow>& options, int width,
                                    const HelpTable& table = {});

}  // namespace imgpipe
