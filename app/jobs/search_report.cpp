#include "app/jobs/search_report.h"

#include "app/jobs/existing_results.h"
#include "app/log.h"
#include "images/text.h"

namespace imgpipe {

std::string nothing_found_text(const InputOptions& input, const BatchFiles& found) {
  const std::string& list = input.files_from;
  const std::size_t more = list.empty() ? input.more_paths.size() : 0;
  std::string text = printable(list.empty() ? input.path : list);
  if (more > 0) text += " and " + std::to_string(more) + " more";
  text += ": no images found";
  if (found.skipped_inputs.files() > 0)
    text += "; skipped files: " + found.skipped_inputs.text() + " (see --include)";
  for (const std::string& pattern : found.unmatched) text += "; " + pattern;
  if (!input.recursive) text += "; add --recursive to search subdirectories";
  return text;
}

void log_replaced(std::size_t results) {
  if (results == 0) return;
  log_notice(results == 1 ? "replacing 1 result made with other options"
                          : "replacing " + std::to_string(results) + " results made with other options");
}

void log_search(const BatchFiles& found, const std::optional<NameTemplate>& name) {
  for (const std::string& pattern : found.unmatched) log_warning(pattern);
  for (const PathProblem& problem : found.problems) log_error(problem.text(), problem.subject());
  log_replaced(found.made_with_other_options);
  if (found.results > 0) log_notice(excluded_results_text(name, found.results));
  if (found.skipped_inputs.files() > 0)
    log_detail("skipped files: " + found.skipped_inputs.text_with_examples());
}

}  // namespace imgpipe
