// imgpipe help and imgpipe docs: what they take. Their answers are texts (PrintText).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "app/options/option_table.h"

namespace imgpipe {

[[nodiscard]] std::vector<OptionRow> manual_rows();
// Commands and stages.
[[nodiscard]] std::vector<std::string> help_topics();
// man, bash, zsh, fish, files, schema; behind "man" the commands, behind "schema" the reports.
[[nodiscard]] std::vector<std::string> docs_topics(std::string_view before);

}  // namespace imgpipe
