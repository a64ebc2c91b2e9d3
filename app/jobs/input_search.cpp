#include "app/jobs/input_search.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <sys/stat.h>

#include "app/files/name_list.h"
#include "app/files/path_text.h"
#include "app/jobs/directory_walk.h"
#include "app/process_options/options_digest.h"
#include "images/error.h"
#include "images/files/archive_reader.h"
#include "images/text.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

std::optional<struct stat> status_of_input(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return info;
}

bool is_existing_directory(const std::string& path) {
  const auto info = status_of_input(path);
  return info && S_ISDIR(info->st_mode);
}

// Converts a name below INPUT to a path below OUTPUT.
std::string tree_of_name(const std::string& name) {
  const fs::path path = fs::path(name).lexically_normal().relative_path();
  if (!path.empty() && *path.begin() == "..") {
    throw Error(
        ErrorKind::usage,
        printable(name) + ": its output would be outside OUTPUT; omit --recursive to use only its file name");
  }
  return path.string();
}

class InputSearch {
 public:
  // `keeps_order`: inputs stay in the order of the arguments.
  InputSearch(const InputOptions& input, const OutputOptions* output, bool keeps_order)
      : input_(input),
        output_(output),
        keeps_order_(keeps_order),
        selection_(input.include, input.exclude),
        one_directory_(input.more_paths.empty() && is_existing_directory(input.path)),
        name_(output != nullptr && output->name ? *output->name : NameTemplate::preset(input.recursive)) {
    if (output != nullptr) check_directory(*output);
  }

  BatchFiles find() {
    if (input_.files_from.empty()) {
      add_inputs();
    } else {
      add_list(read_name_list(input_.files_from));
    }
    if (!keeps_order_) sort_from(0);
    // clang 14 cannot compile std::ranges::unique of libstdc++ 12.
    found_.files.erase(std::unique(found_.files.begin(), found_.files.end(),
                                   [](const BatchFile& a, const BatchFile& b) {
                                     return a.name() == b.name() && a.input == b.input;
                                   }),
                       found_.files.end());
    found_.skipped_inputs = selection_.skipped_inputs();
    if (output_ == nullptr) remove_duplicates();
    return std::move(found_);
  }

 private:
  void sort_from(std::size_t first) {
    const auto key = [](const BatchFile& file) {
      return std::tuple(file.name(), std::string_view(file.input), file.tree());
    };
    const auto from = found_.files.begin() + static_cast<std::ptrdiff_t>(first), to = found_.files.end();
    if (!std::ranges::is_sorted(from, to, {}, key)) std::ranges::sort(from, to, {}, key);
  }

  void check_directory(const OutputOptions& output) {
    if (const auto info = status_of_input(output.path)) {
      if (!S_ISDIR(info->st_mode)) throw Error(ErrorKind::usage, not_a_directory());
      output_id_ = FileId{info->st_dev, info->st_ino};
    } else if (!input_.more_paths.empty() && !output.name && !output.path.ends_with('/')) {
      // Without this check, an extra argument after INPUT OUTPUT would become a directory.
      throw Error(ErrorKind::usage, not_a_directory() + "; end OUTPUT with / to create one");
    }
  }

  [[nodiscard]] std::string not_a_directory() const {
    const std::size_t inputs = 1 + input_.more_paths.size();
    return printable(output_->path) + ": not a directory, but " +
           (inputs > 1 ? "there are " + std::to_string(inputs) + " inputs"
                       : "INPUT is a directory, pattern or list");
  }

  [[nodiscard]] bool is_of_archives() const { return output_ != nullptr && output_->is_archive; }

  // --include and --exclude select among the members of archives, not the archives.
  bool takes(const std::string& name, bool by_ending) {
    if (is_of_archives()) return !by_ending || !archive_ending(name).empty();
    return selection_.takes(plain_name(name), by_ending);
  }

  void add_inputs() {
    add_sorted(input_.path);
    for (const std::string& input : input_.more_paths) add_sorted(input);
    if (is_of_archives()) return;
    // A preset's --exclude is meant for many directories.
    for (const std::string& pattern : selection_.unmatched(!input_.is_exclude_from_preset))
      found_.unmatched.push_back(pattern + ": no match");
  }

  void add_sorted(const std::string& input) {
    const std::size_t first = found_.files.size();
    add_input(input);
    sort_from(first);
  }

  void add_input(const std::string& input) {
    const auto info = status_of_input(input);
    const bool exists = info.has_value();
    if (exists && S_ISDIR(info->st_mode)) {
      walk({input, "", one_directory_ ? "" : tree_of_input(input)});
      return;
    }
    if (exists || !is_pattern(input)) {
      if (takes(input, false)) add_file(input, input, tree_of_input(input), std::string(file_name_of(input)));
      return;
    }
    add_pattern(input);
  }

  void add_pattern(const std::string& pattern) {
    const PathsFound like = paths_matching(pattern, [&](const std::string& directory) {
      const auto info = status_of_input(directory);
      return info && FileId{info->st_dev, info->st_ino} == output_id_;
    });
    found_.problems.insert(found_.problems.end(), like.problems.begin(), like.problems.end());
    bool directories_only = true;
    for (const std::string& path : like.paths) {
      if (is_existing_directory(path)) {
        if (input_.recursive) walk({path, "", tree_of_input(path)});
        continue;
      }
      directories_only = false;
      if (takes(path, true)) add_file(path, path, tree_of_input(path), std::string(file_name_of(path)));
    }
    if (like.paths.empty()) {
      found_.unmatched.push_back("'" + printable(pattern) + "': no match");
    } else if (directories_only && !input_.recursive) {
      found_.unmatched.push_back("'" + printable(pattern) + "': matched only directories; add --recursive");
    }
  }

  // `path` ends with `name`. `source` is the name relative to INPUT.
  void add_file(const std::string& path, const std::string& name, const std::string& tree,
                const std::string& source) {
    BatchFile file;
    if (output_ != nullptr) file.name_hash = name_hash(source);
    file.input = path;
    file.name_begin = static_cast<std::uint16_t>(path.size() - name.size());
    if (tree != name) file.tree_if_other = std::make_unique<const std::string>(tree);
    found_.files.push_back(std::move(file));
  }

  void add_list(const std::vector<std::string>& names) {
    if (!input_.path.empty() && !one_directory_ && input_.more_paths.empty() &&
        (status_of_input(input_.path) || !is_pattern(input_.path)))
      throw Error(ErrorKind::usage,
                  printable(input_.path) +
                      ": not a directory; --files-from needs a directory or several files as INPUT");
    found_.list_is_empty = names.empty();
    if (names.empty()) return;
    if (!input_.path.empty() && !one_directory_) {
      add_inputs();
      keep_listed(names);
      return;
    }
    for (const std::string& name : names) {
      if (!takes(name, false)) continue;
      if (one_directory_) {
        add_file((fs::path(input_.path) / name).string(), name, name_.has("dir") ? tree_of_name(name) : name,
                 plain_name(name));
      } else {
        add_file(name, name, tree_of_input(name), std::string(file_name_of(name)));
      }
    }
  }

  // Keeps only those files of the INPUTs that are in the list.
  void keep_listed(const std::vector<std::string>& names) {
    std::unordered_map<std::string, bool> found_by_name;
    for (const std::string& name : names) found_by_name.emplace(plain_name(name), false);
    std::erase_if(found_.files, [&](const BatchFile& file) {
      const auto listed = found_by_name.find(plain_name(file.name()));
      if (listed == found_by_name.end()) return true;
      listed->second = true;
      return false;
    });
    for (const std::string& name : names) {
      if (const bool fresh = !std::exchange(found_by_name[plain_name(name)], true); fresh)
        found_.problems.push_back({name, "listed in --files-from, but not found in INPUT"});
    }
  }

  void walk(const WalkPosition& directory) {
    const auto info = status_of_input(directory.path);
    if (!info || !visited_.insert({info->st_dev, info->st_ino}).second) return;
    walk_directories(
        directory,
        {.take =
             [&](const WalkPosition& file) {
               if (takes(file.below, true))
                 add_file(file.path, one_directory_ ? file.below : file.path, file.tree, file.below);
             },
         .enters =
             [&](const WalkPosition& below, const FileId& id) {
               return input_.recursive && id != output_id_ && selection_.selects_directory(below.below) &&
                      visited_.insert(id).second;
             },
         .cannot_read =
             [&](const WalkPosition& below, const std::error_code& error) {
               found_.problems.push_back({below.path, "cannot read the directory: " + error.message()});
             },
         .count_hidden = [&](const WalkPosition& file) { selection_.count_hidden(file.below); }});
  }

  void remove_duplicates() {
    std::set<std::string> seen;
    std::erase_if(found_.files, [&](const BatchFile& file) {
      return !seen.insert(fs::path(file.input).lexically_normal().string()).second;
    });
  }

  const InputOptions& input_;
  const OutputOptions* const output_;
  const bool keeps_order_;
  Selection selection_;
  const bool one_directory_;  // INPUT is one directory, so names are relative to it
  const NameTemplate& name_;
  std::optional<FileId> output_id_;
  std::set<FileId> visited_;  // directories
  BatchFiles found_;
};

}  // namespace

std::string tree_of_input(const std::string& input) {
  fs::path path = fs::path(input).lexically_normal().relative_path();
  if (path.filename().empty()) path = path.parent_path();
  if (path == ".") return "";
  if (path.empty() || *path.begin() != "..") return path.string();
  if (path.filename() != "..") return path.filename().string();
  std::error_code error;
  return fs::canonical(input, error).filename().string();
}

BatchFiles search_inputs(const InputOptions& input, const OutputOptions* output, bool keeps_order) {
  return InputSearch(input, output, keeps_order).find();
}

}  // namespace imgpipe
