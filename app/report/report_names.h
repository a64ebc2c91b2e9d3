// Which reports go where: each by the ending of its name, "-" is JSON on stdout.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "images/files/file.h"

namespace imgpipe {

[[nodiscard]] inline bool is_json_report(const std::string& name) {
  return name == kStandardStream || name.ends_with(".json");
}

// Whether stdout is one of them, so that the table is for stderr.
[[nodiscard]] inline bool reports_to_stdout(const std::vector<std::string>& names) {
  return std::ranges::find(names, kStandardStream) != names.end();
}

}  // namespace imgpipe
