#include "app/jobs/glob_paths.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "app/jobs/directory_walk.h"
#include "app/jobs/glob.h"
#include "images/text.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

bool holds_wildcards(const std::string& name) {
  const std::size_t bracket = name.find('[');
  return name.find_first_of("*?") != std::string::npos ||
         (bracket != std::string::npos && name.find(']', bracket) != std::string::npos);
}

std::string without_backslashes(const std::string& name) {
  std::string plain;
  for (std::size_t i = 0; i < name.size(); ++i) {
    if (name[i] == '\\' && i + 1 < name.size()) ++i;
    plain += name[i];
  }
  return plain;
}

// Matches one alternative of a pattern, one directory level at a time.
class Descent {
 public:
  Descent(const std::string& pattern, const DirectoryPredicate& skipped_inputs, PathsFound& found)
      : names_(names_of_path(pattern)),
        directories_only_(pattern.ends_with('/')),
        passed_over_(skipped_inputs),
        found_(found) {
    for (const std::string& name : names_) globs_.emplace_back(name, &name == &names_.back());
    if (names_.empty()) return;
    go(pattern.starts_with('/') ? "/" : "", 0);
    while (!to_do_.empty()) {
      const auto [directory, at] = to_do_.back();
      to_do_.pop_back();
      follow(directory, at);
    }
  }

 private:
  // Schedules the search below `directory` for the pattern's names from index `at` on, unless it already was:
  // several ** may lead to the same state.
  void go(const fs::path& directory, std::size_t at) {
    if (seen_.emplace(directory.string(), at).second) to_do_.emplace_back(directory, at);
  }

  void follow(const fs::path& directory, std::size_t at) {
    const bool last = at + 1 == names_.size();
    if (!last && !holds_wildcards(names_[at])) {
      go(directory / without_backslashes(names_[at]), at + 1);
      return;
    }
    const GlobName& glob = globs_[at];
    if (glob.matches_any_depth() && !last) go(directory, at + 1);
    for (const DirectoryEntry& entry : entries_of(directory)) {
      if (entry.name.front() == '.' && !glob.begins_with_dot()) continue;
      if (!glob.matches_any_depth() && !glob.matches(characters_of(entry.name))) continue;
      const fs::path path = directory / entry.name;
      if (entry.directory && passed_over_(path.string())) continue;
      if (last && (entry.directory || !directories_only_)) found_.paths.push_back(path.string());
      if (!entry.directory) continue;
      if (!glob.matches_any_depth()) {
        if (!last) go(path, at + 1);
      } else if (!entry.is_link) {
        go(path, at);
      }
    }
  }

  std::vector<DirectoryEntry> entries_of(const fs::path& directory) {
    std::error_code error;
    std::vector<DirectoryEntry> entries = read_directory(directory.empty() ? "." : directory.string(), error);
    if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory)
      found_.problems.push_back({directory.string(), "cannot read the directory: " + error.message()});
    return entries;
  }

  std::vector<std::string> names_;
  std::vector<GlobName> globs_;
  bool directories_only_;
  const DirectoryPredicate& passed_over_;
  PathsFound& found_;
  std::set<std::pair<std::string, std::size_t>> seen_;
  std::vector<std::pair<fs::path, std::size_t>> to_do_;  // in any order: results are sorted later
};

}  // namespace

bool is_pattern(const std::string& text) {
  return holds_wildcards(text) || (text.find('{') != std::string::npos && expand_braces(text).size() > 1);
}

std::string PathProblem::text() const {
  return printable(path) + ": " + reason;
}

LogSubject PathProblem::subject() const {
  return {.input = printable(path), .output = {}, .reason = reason};
}

PathsFound paths_matching(const std::string& pattern, const DirectoryPredicate& skipped_inputs) {
  PathsFound found;
  for (const std::string& text : expand_braces(pattern)) Descent(text, skipped_inputs, found);
  std::ranges::sort(found.paths);
  found.paths.erase(std::unique(found.paths.begin(), found.paths.end()), found.paths.end());
  std::ranges::sort(found.problems, {}, &PathProblem::path);
  found.problems.erase(std::unique(found.problems.begin(), found.problems.end()), found.problems.end());
  return found;
}

}  // namespace imgpipe
