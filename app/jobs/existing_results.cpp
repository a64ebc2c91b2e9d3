#include "app/jobs/existing_results.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "app/files/replaceable.h"
#include "app/jobs/locations.h"
#include "app/jobs/output_plan.h"
#include "app/jobs/page_outputs.h"
#include "images/codecs/mark.h"
#include "images/files/file_identity.h"
#include "images/text.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

// Returns true if some directory holds both an input and an output.
bool may_overlap(const std::deque<BatchFile>& files, Locations& locations) {
  std::set<std::optional<FileIdentity>> of_outputs;
  for (const BatchFile& file : files) {
    for (const std::string& output : output_paths(file)) of_outputs.insert(locations.directory(output));
  }
  return std::ranges::any_of(
      files, [&](const BatchFile& file) { return of_outputs.contains(locations.directory(file.input)); });
}

bool is_made_of(const std::string& path, const BatchFile& source) {
  const Mark mark = mark_in(path);
  return mark.made_of && mark.made_of->name == source.name_hash;
}

}  // namespace

std::size_t exclude_own_results(const ProcessOptions& options, std::deque<BatchFile>& files) {
  Locations locations;
  if (!may_overlap(files, locations)) return 0;
  std::multimap<FileIdentity, const BatchFile*> writers;
  for (const BatchFile& file : files) {
    if (has_page_files(options, file.format)) continue;
    for (const std::string& output : output_paths(file)) {
      if (const auto location = locations.of(output)) writers.emplace(*location, &file);
    }
  }
  const std::vector<const BatchFile*> page_writers = writers_of_pages(options, files);
  std::vector<bool> is_result(files.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto made_of = [&](const BatchFile* source) {
      return source != nullptr && source != &files[i] && is_made_of(files[i].input, *source);
    };
    is_result[i] = made_of(page_writers.empty() ? nullptr : page_writers[i]);
    const std::optional<FileIdentity> location = locations.of(files[i].input);
    if (is_result[i] || !location) continue;
    const auto [first, last] = writers.equal_range(*location);
    is_result[i] = std::any_of(first, last, [&](const auto& writer) { return made_of(writer.second); });
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (is_result[i]) continue;
    if (kept != i) files[kept] = std::move(files[i]);
    ++kept;
  }
  const std::size_t results = files.size() - kept;
  files.resize(kept);
  return results;
}

std::string excluded_results_text(const std::optional<NameTemplate>& name, std::size_t results) {
  const std::string pattern = name ? name->pattern() : "";
  const std::string hint =
      pattern.empty() ? "" : "; --exclude '" + printable(pattern) + "' skips all names like these";
  return (results == 1 ? "skipped 1 input that is a result"
                       : "skipped " + std::to_string(results) + " inputs that are results") +
         std::string(" of this command") + hint;
}

std::size_t check_replaceable_outputs(const ProcessOptions& options, const BatchFiles& found) {
  if (options.output.skip_existing) return 0;
  std::string reason;
  std::size_t more = 0, made_with_other_options = 0;
  std::string first;
  for (const BatchFile& file : found.files) {
    if ((!file.output_exists && file.also.empty()) || file.is_up_to_date()) continue;
    std::vector<AlsoFile> outputs = file.also;
    outputs.push_back({file.output, file.options_hash});
    for (const AlsoFile& output : outputs) {
      if (found.stamped_outputs.contains(output.output)) continue;
      Mark mark = options.output.encode.mark;
      mark.made_of = file.made_of();
      mark.made_of->options = output.options;
      const Replacement replacement =
          options.output.is_archive ? Replacement{.cannot_replace_reason = archive_refusal_reason(
                                                      output.output, options.output.replace)}
                                    : replacement_of(output.output, options.output.replace, mark, file.input);
      if (!have_same_options(replacement.replaced, mark)) ++made_with_other_options;
      if (replacement.cannot_replace_reason.empty()) continue;
      if (first.empty()) {
        first = output.output;
        reason = replacement.cannot_replace_reason;
      } else {
        ++more;
      }
    }
  }
  if (first.empty()) return made_with_other_options;
  if (more > 0)
    reason += (more == 1 ? "; 1 more file has the same problem"
                         : "; " + std::to_string(more) + " more files have the same problem");
  check_replaceable(first, reason);
  return 0;
}

}  // namespace imgpipe
