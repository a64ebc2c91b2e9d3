#include "app/batch/nothing_found.h"

#include "images/text.h"

namespace imgpipe {

std::string nothing_found_text(const InputOptions& input, const BatchFiles& found) {
  const std::string& list = input.files_from;
  const std::size_t more = list.empty() ? input.more_paths.size() : 0;
  std::string text = printable(list.empty() ? input.path : list);
  if (more > 0) text += " and " + std::to_string(more) + " more";
  text += ": no images found";
  if (found.passed_over.files() > 0)
    text += "; passed over: " + found.passed_over.text() + " (see --include)";
  for (const std::string& pattern : found.unmatched) text += "; " + pattern;
  if (!input.recursive) text += "; folders below are looked into with --recursive";
  return text;
}

}  // namespace imgpipe
