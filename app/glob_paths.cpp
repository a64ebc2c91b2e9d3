#include "app/glob_paths.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>
#include <utility>

#include "app/glob.h"
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

// One alternative of a pattern, name by name down the folders.
class Descent {
 public:
  Descent(const std::string& pattern, const FolderTest& passed_over, PathsFound& found)
      : names_(names_of_path(pattern)),
        folders_only_(pattern.ends_with('/')),
        passed_over_(passed_over),
        found_(found) {
    for (const std::string& name : names_) globs_.emplace_back(name, &name == &names_.back());
    if (!names_.empty()) follow(pattern.starts_with('/') ? "/" : "", 0);
  }

 private:
  // The names from `at` on, below `folder`. What several ** lead to again is not looked at again.
  void follow(const fs::path& folder, std::size_t at) {
    if (!seen_.emplace(folder.string(), at).second) return;
    const bool last = at + 1 == names_.size();
    if (!last && !holds_wildcards(names_[at])) {
      follow(folder / without_backslashes(names_[at]), at + 1);
      return;
    }
    const GlobName& glob = globs_[at];
    if (glob.any_folders() && !last) follow(folder, at + 1);
    for (const std::string& name : names_in(folder)) {
      if (name.front() == '.' && !glob.begins_with_dot()) continue;
      if (!glob.any_folders() && !glob.matches(characters_of(name))) continue;
      const fs::path path = folder / name;
      std::error_code error;
      const bool is_folder = fs::is_directory(path, error);
      if (is_folder && passed_over_(path.string())) continue;
      if (last && (is_folder || !folders_only_)) found_.paths.push_back(path.string());
      if (!is_folder) continue;
      if (!glob.any_folders()) {
        if (!last) follow(path, at + 1);
      } else if (!fs::is_symlink(path, error)) {
        follow(path, at);
      }
    }
  }

  std::vector<std::string> names_in(const fs::path& folder) {
    std::vector<std::string> names;
    std::error_code error;
    for (fs::directory_iterator entry(folder.empty() ? "." : folder, error), end; !error && entry != end;
         entry.increment(error))
      names.push_back(entry->path().filename().string());
    if (error && error != std::errc::no_such_file_or_directory && error != std::errc::not_a_directory)
      found_.problems.push_back({folder.string(), "cannot read the folder: " + error.message()});
    std::ranges::sort(names);
    return names;
  }

  std::vector<std::string> names_;
  std::vector<GlobName> globs_;
  bool folders_only_;
  const FolderTest& passed_over_;
  PathsFound& found_;
  std::set<std::pair<std::string, std::size_t>> seen_;
};

}  // namespace

bool is_pattern(const std::string& text) {
  return holds_wildcards(text) || (text.find('{') != std::string::npos && expand_braces(text).size() > 1);
}

std::string PathProblem::text() const {
  return printable(path) + ": " + reason;
}

PathsFound paths_like(const std::string& pattern, const FolderTest& passed_over) {
  PathsFound found;
  for (const std::string& text : expand_braces(pattern)) Descent(text, passed_over, found);
  std::ranges::sort(found.paths);
  found.paths.erase(std::unique(found.paths.begin(), found.paths.end()), found.paths.end());
  std::ranges::sort(found.problems, {}, &PathProblem::path);
  found.problems.erase(std::unique(found.problems.begin(), found.problems.end()), found.problems.end());
  return found;
}

}  // namespace imgpipe
