// --help as text: the usage lines, then the options group by group, wrapped to the terminal.
#pragma once

#include <string>
#include <vector>

#include "app/options/option_table.h"

namespace imgpipe {

// Columns for help: the environment's COLUMNS, else the width of the terminal that stdout is, else 80; from
// kLeastHelpWidth (narrower columns break words) to kMostHelpWidth (longer lines are hard to read).
inline constexpr int kLeastHelpWidth = 40;
inline constexpr int kMostHelpWidth = 120;
[[nodiscard]] int help_width();

// No line is longer than `width`, but for a single word that is.
[[nodiscard]] std::string help_text(const std::string& description, const std::vector<UsageRow>& usage,
                                    const std::vector<OptionRow>& options, int width,
                                    const HelpTable& table = {});

}  // namespace imgpipe
