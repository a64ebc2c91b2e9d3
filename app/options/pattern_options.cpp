#include "app/options/pattern_options.h"

#include <cstddef>
#include <string_view>

#include "app/options/option_values.h"
#include "images/synth.h"
#include "images/text.h"

namespace imgpipe {

std::string pattern_help() {
  std::string patterns = "Pattern:";
  for (const PatternInfo& info : pattern_table()) {
    patterns += " " + std::string(info.name) +
                (info.argument.empty() ? "" : ":" + std::string(info.argument)) + " (" +
                std::string(info.summary) + "),";
  }
  patterns.back() = '.';
  return patterns;
}

std::vector<std::string> pattern_values() {
  std::vector<std::string> values;
  for (const PatternInfo& info : pattern_table())
    values.push_back(std::string(info.name) + (info.argument.empty() ? "" : ":"));
  return values;
}

Shape parse_size(const std::string& text) {
  const std::size_t cross = text.find('x');
  if (cross == std::string::npos) usage("--size: '" + printable(text) + "' is not of the form 640x480");
  return {parse_integer("size", std::string_view(text).substr(0, cross), 1, kMostSide),
          parse_integer("size", std::string_view(text).substr(cross + 1), 1, kMostSide), 3};
}

}  // namespace imgpipe
