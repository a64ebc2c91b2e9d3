#include "app/inputs.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <unordered_set>

#include <fnmatch.h>
#include <glob.h>
#include <sys/stat.h>

#include "app/shard.h"
#include "images/error.h"
#include "images/file.h"
#include "images/text.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

using FileId = std::pair<dev_t, ino_t>;

std::optional<struct stat> status_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return info;
}

bool is_folder(const std::string& path) {
  const auto info = status_of(path);
  return info && S_ISDIR(info->st_mode);
}

bool is_pattern(const std::string& text) {
  const std::size_t bracket = text.find('[');
  return text.find_first_of("*?") != std::string::npos ||
         (bracket != std::string::npos && text.find(']', bracket) != std::string::npos);
}

std::string base_name(const std::string& name) {
  return fs::path(name).filename().string();
}

// With a slash the pattern speaks of the path, and * stays within one folder.
bool matches(const std::vector<std::string>& patterns, const std::string& name) {
  return std::ranges::any_of(patterns, [&](const std::string& pattern) {
    const bool whole = pattern.find('/') != std::string::npos;
    const std::string text = whole ? name : base_name(name);
    return ::fnmatch(pattern.c_str(), text.c_str(), FNM_PATHNAME) == 0;
  });
}

// What a pattern matches, in no order.
std::vector<std::string> paths_like(const std::string& pattern) {
  glob_t found{};
  const int status = ::glob(pattern.c_str(), GLOB_NOSORT, nullptr, &found);
  std::vector<std::string> paths;
  if (status == 0) paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  ::globfree(&found);
  if (status != 0 && status != GLOB_NOMATCH)
    throw Error(ErrorKind::input, printable(pattern) + ": cannot follow the pattern");
  return paths;
}

class Finder {
 public:
  explicit Finder(const ProcessOptions& options) : options_(options), batch_(options.batch) {
    if (const auto info = status_of(options.output)) {
      if (!S_ISDIR(info->st_mode))
        throw Error(ErrorKind::usage,
                    printable(options.output) + ": is no folder, and there are many inputs");
      output_id_ = FileId{info->st_dev, info->st_ino};
    } else if (!batch_.more_inputs.empty() && !options.output.ends_with('/')) {
      // Else a word too many, behind INPUT OUTPUT, would become a folder.
      throw Error(ErrorKind::usage,
                  printable(options.output) +
                      ": is no folder, and there are several inputs; to make one end it with /");
    }
  }

  BatchFiles find() {
    if (!batch_.files_from.empty()) {
      add_list();
    } else {
      std::vector<std::string> inputs{options_.input};
      inputs.insert(inputs.end(), batch_.more_inputs.begin(), batch_.more_inputs.end());
      const bool alone = inputs.size() == 1;
      for (const std::string& input : inputs) add_input(input, alone);
    }
    std::ranges::sort(found_.files, {},
                      [](const BatchFile& file) { return std::tie(file.name, file.input); });
    // Not std::ranges::unique: clang 14 cannot compile what libstdc++ 12 has of it.
    found_.files.erase(std::unique(found_.files.begin(), found_.files.end(),
                                   [](const BatchFile& a, const BatchFile& b) {
                                     return a.name == b.name && a.input == b.input;
                                   }),
                       found_.files.end());
    take_shard();
    for (BatchFile& file : found_.files) name_output(file);
    check_outputs();
    return std::move(found_);
  }

 private:
  void add_input(const std::string& input, bool alone) {
    const bool exists = status_of(input).has_value();
    if (exists && is_folder(input)) {
      // Among several inputs a folder's own name belongs to the tree.
      walk(input, alone ? "" : tree_name(input));
      return;
    }
    if (exists || !is_pattern(input)) {
      add_file(input, input);
      return;
    }
    for (const std::string& path : paths_like(input)) {
      if (!is_folder(path)) {
        if (selected(path, true)) add_file(path, path);
      } else if (batch_.recursive) {
        walk(path, tree_name(path));
      }
    }
  }

  void add_file(const std::string& path, const std::string& name) {
    BatchFile file;
    file.input = path;
    file.name = name;
    found_.files.push_back(std::move(file));
  }

  void add_list() {
    const std::vector<std::byte> bytes = naming("--files-from " + printable(batch_.files_from), [&] {
      return read_file(batch_.files_from, std::numeric_limits<std::int32_t>::max());
    });
    const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!options_.input.empty() && !is_folder(options_.input))
      throw Error(ErrorKind::usage,
                  printable(options_.input) + ": is no folder that --files-from could be below");
    const char end = text.find('\0') == std::string_view::npos ? '\n' : '\0';
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t stop = std::min(text.find(end, at), text.size());
      const std::string name(text.substr(at, stop - at));
      at = stop + 1;
      if (name.empty()) continue;
      const std::string path = options_.input.empty() ? name : (fs::path(options_.input) / name).string();
      if (selected(name, false)) add_file(path, name);
    }
  }

  // By name. In a folder, without --include, what is no image by its ending is passed over.
  bool selected(const std::string& name, bool by_ending) {
    bool wanted = true;
    if (!batch_.include.empty()) {
      wanted = matches(batch_.include, name);
    } else if (by_ending) {
      const std::optional<Format> format = format_by_ending(name);
      wanted = format && format_info(*format).readable;
    }
    if (wanted && !matches(batch_.exclude, name)) return true;
    ++found_.passed_over;
    return false;
  }

  // `below`: the folder's name in the tree, "" for INPUT itself.
  void walk(const std::string& folder, const std::string& below) {
    const auto info = status_of(folder);
    if (!info || !visited_.insert({info->st_dev, info->st_ino}).second) return;
    std::error_code error;
    std::vector<std::string> names;
    for (fs::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error))
      names.push_back(entry->path().filename().string());
    if (error) {
      found_.problems.push_back(printable(folder) + ": cannot read the folder: " + error.message());
      return;
    }
    // Which of two ways to a linked folder comes first shall not depend on the system.
    std::ranges::sort(names);
    for (const std::string& name : names) {
      if (name.starts_with('.')) continue;
      const std::string path = (fs::path(folder) / name).string();
      const std::string tree = (fs::path(below) / name).string();
      const auto status = status_of(path);
      if (!status || !S_ISDIR(status->st_mode)) {
        if (selected(tree, true)) add_file(path, tree);
      } else if (batch_.recursive && FileId{status->st_dev, status->st_ino} != output_id_ &&
                 !matches(batch_.exclude, tree)) {
        walk(path, tree);
      }
    }
  }

  void take_shard() {
    if (!batch_.shard) return;
    found_.other_shards = std::erase_if(
        found_.files, [&](const BatchFile& file) { return !in_shard(file.name, *batch_.shard); });
  }

  // A name as a path below OUTPUT.
  static std::string tree_name(const std::string& name) {
    const fs::path path = fs::path(name).lexically_normal().relative_path();
    if (!path.empty() && *path.begin() == "..") {
      throw Error(ErrorKind::usage, printable(name) +
                                        ": leads out of OUTPUT's tree; without --recursive it "
                                        "would be written under its own name");
    }
    return path == "." ? "" : path.string();
  }

  void name_output(BatchFile& file) const {
    const std::string name = batch_.recursive ? tree_name(file.name) : base_name(file.name);
    const PlacedOutput output = place_output(options_.output, name, options_.format);
    file.output = output.path;
    file.format = output.format;
  }

  // What keeps two files apart that would be written as one.
  [[nodiscard]] std::string hint(const std::string& a, const std::string& b) const {
    const bool one_folder = fs::path(a).parent_path() == fs::path(b).parent_path();
    return one_folder ? " (--exclude one of them)" : batch_.recursive ? "" : " (see --recursive)";
  }

  void check_outputs() {
    std::unordered_map<std::string, const BatchFile*> writers;
    std::map<FileId, const BatchFile*> existing;
    for (BatchFile& file : found_.files) {
      const auto [other, fresh] = writers.emplace(file.output, &file);
      if (!fresh) {
        throw Error(ErrorKind::usage, printable(file.output) + ": " + printable(other->second->input) +
                                          " and " + printable(file.input) + " would both be written there" +
                                          hint(other->second->name, file.name));
      }
      const auto info = status_of(file.output);
      file.output_exists = info.has_value();
      if (!info) continue;
      if (S_ISDIR(info->st_mode))
        throw Error(ErrorKind::usage, printable(file.output) + ": is a folder, and " + printable(file.input) +
                                          " would be written there");
      existing.emplace(FileId{info->st_dev, info->st_ino}, &file);
    }
    for (const BatchFile& file : found_.files) {
      // An output that is a folder on the way to another.
      for (fs::path above = fs::path(file.output).parent_path();
           above.string().size() > options_.output.size(); above = above.parent_path()) {
        if (const auto writer = writers.find(above.string()); writer != writers.end())
          throw Error(ErrorKind::usage, printable(writer->first) + ": would be both a file and a folder");
      }
      if (existing.empty()) continue;
      const auto info = status_of(file.input);
      if (!info) continue;
      const auto output = existing.find({info->st_dev, info->st_ino});
      if (output == existing.end()) continue;
      throw Error(ErrorKind::usage, printable(output->second->output) + ": is the input itself, " +
                                        printable(file.input) + "; name another folder");
    }
    for (const std::vector<std::string>& names :
         {options_.report_files, {options_.trace_file, batch_.failed_file}}) {
      for (const std::string& name : names) {
        if (name.empty()) continue;
        const bool output = writers.contains(fs::path(name).lexically_normal().string());
        const bool input = std::ranges::any_of(found_.files, [&](const BatchFile& file) {
          return file.input == name || same_file(file.input, name);
        });
        if (input || output)
          throw Error(ErrorKind::usage, printable(name) + ": is an input or an output itself");
      }
    }
  }

  const ProcessOptions& options_;
  const BatchOptions& batch_;
  std::optional<FileId> output_id_;
  std::set<FileId> visited_;  // folders
  BatchFiles found_;
};

}  // namespace

bool is_batch(const ProcessOptions& options) {
  if (!options.batch.files_from.empty() || !options.batch.more_inputs.empty()) return true;
  if (options.input == kStandardStream) return false;
  const auto info = status_of(options.input);
  return info ? S_ISDIR(info->st_mode) : is_pattern(options.input);
}

PlacedOutput place_output(const std::string& folder, const std::string& name,
                          const std::optional<Format>& format) {
  const std::optional<Format> own = format_by_ending(name);
  PlacedOutput placed;
  placed.format = format.value_or(own && format_info(*own).writable ? *own : Format::png);
  fs::path path = fs::path(folder) / name;
  const std::string ending(format_info(placed.format).endings.front());
  if (!own) {
    path += "." + ending;
  } else if (*own != placed.format) {
    path.replace_extension(ending);
  }
  placed.path = path.string();
  return placed;
}

ProcessOptions with_output_file(ProcessOptions options) {
  const bool to_make = options.output.ends_with('/');
  if (options.output == kStandardStream || (!to_make && !is_folder(options.output))) return options;
  if (options.input == kStandardStream)
    throw Error(ErrorKind::usage,
                printable(options.output) + ": is a folder, and stdin has no name: name the file in it");
  if (!is_folder(options.output)) {
    // The kernel would look for a folder behind the slash.
    if (status_of(options.output.substr(0, options.output.find_last_not_of('/') + 1)))
      throw Error(ErrorKind::usage, printable(options.output) + ": is no folder");
    options.new_folder = options.output;
  }
  options.output = place_output(options.output, base_name(options.input), options.format).path;
  return options;
}

BatchFiles find_batch_files(const ProcessOptions& options) {
  return Finder(options).find();
}

}  // namespace imgpipe
