#include "app/jobs/batch_files.h"

#include <algorithm>
#include <climits>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <system_error>
#include <tuple>
#include <unordered_map>
#include <utility>

#include <sys/stat.h>

#include "app/files/name_list.h"
#include "app/jobs/archive_files.h"
#include "app/jobs/directory_walk.h"
#include "app/jobs/existing_results.h"
#include "app/jobs/locations.h"
#include "app/jobs/page_outputs.h"
#include "app/jobs/result_files.h"
#include "app/jobs/shard_balance.h"
#include "app/jobs/updates.h"
#include "app/process_options/options_digest.h"
#include "images/error.h"
#include "images/files/archive_reader.h"
#include "images/files/file.h"
#include "images/text.h"
#include "pipeline/jobs/name_segments.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

std::optional<struct stat> status_of(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) return std::nullopt;
  return info;
}

bool is_existing_directory(const std::string& path) {
  const auto info = status_of(path);
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

class Finder {
 public:
  // `run` determines the outputs; nullptr: finds inputs only. `keeps_order`: inputs stay in the order of the
  // arguments.
  Finder(const InputOptions& input, const std::optional<Shard>& shard, const ProcessOptions* run,
         bool keeps_order = false)
      : input_(input),
        shard_(shard),
        run_(run),
        keeps_order_(keeps_order),
        selection_(input.include, input.exclude),
        one_directory_(input.more_paths.empty() && is_existing_directory(input.path)),
        name_(run != nullptr && run->output.name ? *run->output.name
                                                 : NameTemplate::preset(input.recursive)) {
    if (run != nullptr) check_directory(run->output);
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
                                     return a.name == b.name && a.input == b.input;
                                   }),
                       found_.files.end());
    found_.skipped_inputs = selection_.skipped_inputs();
    if (run_ == nullptr) {
      remove_duplicates();
    } else {
      name_outputs();
      found_.results = exclude_own_results(*run_, found_.files);
      if (found_.results > 0) name_outputs();  // {n} numbers the remaining files
      check_outputs();  // across all shards: no output may be another file's input or output
    }
    if (shard_ && run_ != nullptr) {
      check_results(*run_, found_);
      if (!run_->reports.failed_file.empty()) {
        for (const BatchFile& file : found_.files) found_.names_of_all_shards.insert(file.name);
      }
    }
    if (shard_) keep_shard(found_, *shard_);
    if (run_ == nullptr) return std::move(found_);
    if (run_->output.update) determine_updates(*run_, found_, true);
    found_.made_with_other_options = check_replaceable_outputs(*run_, found_);
    return std::move(found_);
  }

 private:
  void sort_from(std::size_t first) {
    std::ranges::sort(std::span(found_.files).subspan(first), {},
                      [](const BatchFile& file) { return std::tie(file.name, file.input, file.tree); });
  }

  void check_directory(const OutputOptions& output) {
    if (const auto info = status_of(output.path)) {
      if (!S_ISDIR(info->st_mode)) throw Error(ErrorKind::usage, not_a_directory());
      output_id_ = FileId{info->st_dev, info->st_ino};
    } else if (!input_.more_paths.empty() && !output.name && !output.path.ends_with('/')) {
      // Without this check, an extra argument after INPUT OUTPUT would become a directory.
      throw Error(ErrorKind::usage, not_a_directory() + "; end OUTPUT with / to create one");
    }
  }

  [[nodiscard]] std::string not_a_directory() const {
    const std::size_t inputs = 1 + input_.more_paths.size();
    return printable(run_->output.path) + ": not a directory, but " +
           (inputs > 1 ? "there are " + std::to_string(inputs) + " inputs"
                       : "INPUT is a directory, pattern or list");
  }

  [[nodiscard]] bool is_of_archives() const { return run_ != nullptr && run_->output.is_archive; }

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
    const bool exists = status_of(input).has_value();
    if (exists && is_existing_directory(input)) {
      walk({input, "", one_directory_ ? "" : tree_of_input(input)});
      return;
    }
    if (exists || !is_pattern(input)) {
      if (takes(input, false))
        add_file(input, input, tree_of_input(input), fs::path(input).filename().string());
      return;
    }
    add_pattern(input);
  }

  void add_pattern(const std::string& pattern) {
    const PathsFound like = paths_matching(pattern, [&](const std::string& directory) {
      const auto info = status_of(directory);
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
      if (takes(path, true)) add_file(path, path, tree_of_input(path), fs::path(path).filename().string());
    }
    if (like.paths.empty()) {
      found_.unmatched.push_back("'" + printable(pattern) + "': no match");
    } else if (directories_only && !input_.recursive) {
      found_.unmatched.push_back("'" + printable(pattern) + "': matched only directories; add --recursive");
    }
  }

  // `source` is the name relative to INPUT.
  void add_file(const std::string& path, const std::string& name, const std::string& tree,
                const std::string& source) {
    BatchFile file;
    if (run_ != nullptr) file.made_of.name = name_hash(source);
    file.input = path;
    file.name = name;
    file.tree = tree;
    found_.files.push_back(std::move(file));
  }

  void add_list(const std::vector<std::string>& names) {
    if (!input_.path.empty() && !one_directory_ && input_.more_paths.empty() &&
        (status_of(input_.path) || !is_pattern(input_.path)))
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
        add_file(name, name, tree_of_input(name), fs::path(name).filename().string());
      }
    }
  }

  // Keeps only those files of the INPUTs that are in the list.
  void keep_listed(const std::vector<std::string>& names) {
    std::unordered_map<std::string, bool> found_by_name;
    for (const std::string& name : names) found_by_name.emplace(plain_name(name), false);
    std::erase_if(found_.files, [&](const BatchFile& file) {
      const auto listed = found_by_name.find(plain_name(file.name));
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
    const auto info = status_of(directory.path);
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

  // Numbers the files of all shards, in the order of their names.
  void name_outputs() {
    std::int64_t number = 0;
    for (BatchFile& file : found_.files) {
      if (is_of_archives()) {
        file.output = archive_output(run_->output, file.tree, input_.recursive);
        file.format = run_->output.format.value_or(Format::png);
        continue;
      }
      const PlacedOutput output = name_.place(run_->output.path, {file.input, file.tree, ++number},
                                              run_->output.format, page_field_value(*run_));
      check_length(output.path);
      file.output = output.path;
      file.format = output.format;
      const auto [hash, fresh] = option_hashes_.try_emplace(file.format);
      if (fresh) hash->second = options_hash(*run_, file.format);
      file.made_of.options = hash->second;
    }
  }

  static void check_length(const std::string& path) {
    const std::size_t bytes = fs::path(path).filename().string().size();
    if (bytes > NAME_MAX)
      throw Error(ErrorKind::usage, printable(path) + ": file name too long; expected at most " +
                                        std::to_string(NAME_MAX) + " bytes, got " + std::to_string(bytes));
  }

  void remove_duplicates() {
    std::set<std::string> seen;
    std::erase_if(found_.files, [&](const BatchFile& file) {
      return !seen.insert(fs::path(file.input).lexically_normal().string()).second;
    });
  }

  // Suggests how to keep two outputs apart.
  [[nodiscard]] std::string hint(const BatchFile& a, const BatchFile& b) const {
    if (run_->output.name) return "; use {dir}, {stem}, {input_ext} or {n} in --name to distinguish them";
    const std::string text = input_.recursive ? "{dir}/{stem}_{input_ext}.{ext}" : "{stem}_{input_ext}.{ext}";
    const NameTemplate name(text);
    const auto place = [&](const BatchFile& file) {
      return name.place("", {file.input, file.tree}, run_->output.format, page_field_value(*run_)).path;
    };
    if (place(a) != place(b)) return "; add --name '" + text + "'";
    const bool one_directory = fs::path(a.name).parent_path() == fs::path(b.name).parent_path();
    return one_directory ? "; --exclude one of them" : input_.recursive ? "" : "; add --recursive";
  }

  [[noreturn]] void refuse_both(const BatchFile& first, const BatchFile& second) const {
    throw Error(ErrorKind::usage, printable(second.output) + ": output of both " + printable(first.input) +
                                      " and " + printable(second.input) +
                                      (is_of_archives() ? "; add --recursive" : hint(first, second)));
  }

  void check_outputs() {
    std::unordered_map<std::string, const BatchFile*> writers;
    Locations locations;
    std::map<FileIdentity, const BatchFile*> replacers;
    std::map<FileId, const BatchFile*> existing;
    for (BatchFile& file : found_.files) {
      if (const auto [other, fresh] = writers.emplace(file.output, &file); !fresh)
        refuse_both(*other->second, file);
      if (has_page_files(*run_, file.format)) {
        file.output_exists = run_->output.skip_existing && has_all_pages(*run_, file);
        continue;  // the path itself is not written
      }
      const auto [info, location] = locations.of_output(file.output);
      // A power failure or a full disk may leave an empty file.
      const bool is_empty = info && S_ISREG(info->st_mode) && info->st_size == 0;
      file.output_exists = info && !(is_empty && run_->output.skip_existing);
      const bool is_replaced = !file.output_exists || (S_ISREG(info->st_mode) && !run_->output.skip_existing);
      if (is_replaced && location)
        if (const auto [other, fresh] = replacers.emplace(*location, &file); !fresh)
          refuse_both(*other->second, file);
      if (!info) continue;
      if (S_ISFIFO(info->st_mode) || S_ISSOCK(info->st_mode))  // a batch does not wait for a reader
        throw Error(ErrorKind::usage, printable(file.output) + ": not a regular file");
      if (S_ISDIR(info->st_mode))
        throw Error(ErrorKind::usage, printable(file.output) +
                                          ": is a directory, but would be the output file of " +
                                          printable(file.input));
      existing.emplace(FileId{info->st_dev, info->st_ino}, &file);
    }
    check_page_outputs(*run_, found_.files);
    for (const BatchFile& file : found_.files) {
      // Reject an output that is also the directory of another output.
      for (fs::path above = fs::path(file.output).parent_path();
           above.string().size() > run_->output.path.size(); above = above.parent_path()) {
        if (const auto writer = writers.find(above.string()); writer != writers.end())
          throw Error(ErrorKind::usage, printable(writer->first) + ": would be both a file and a directory");
      }
      if (existing.empty()) continue;
      const auto info = status_of(file.input);
      if (!info) continue;
      const auto output = existing.find({info->st_dev, info->st_ino});
      if (output != existing.end()) refuse_input(*output->second, file);
    }
  }

  // `writer` would overwrite the input of `reader`.
  [[noreturn]] void refuse_input(const BatchFile& writer, const BatchFile& reader) const {
    const std::string pattern = name_.pattern();
    const std::string other = pattern.empty() ? "one of them" : "'" + pattern + "'";
    if (&writer == &reader)
      throw Error(ErrorKind::usage, printable(writer.output) + ": is the input " +
                                        (writer.output == reader.input ? "itself" : printable(reader.input)) +
                                        "; name another directory");
    throw Error(ErrorKind::usage,
                printable(reader.input) + ": is an input, but would be replaced by the output of " +
                    printable(writer.input) + "; name another directory or --exclude " + printable(other));
  }

  const InputOptions& input_;
  const std::optional<Shard>& shard_;
  const ProcessOptions* const run_;
  const bool keeps_order_;
  Selection selection_;
  const bool one_directory_;  // INPUT is one directory, so names are relative to it
  const NameTemplate& name_;
  std::map<Format, std::uint64_t> option_hashes_;
  std::optional<FileId> output_id_;
  std::set<FileId> visited_;  // directories
  BatchFiles found_;
};

}  // namespace

bool has_page_files(const ProcessOptions& options, Format format) {
  return !options.output.is_tensor && options.pages && !options.pages->alone &&
         (options.pages->named || !holds_pages(format));
}

std::string tree_of_input(const std::string& input) {
  fs::path path = fs::path(input).lexically_normal().relative_path();
  if (path.filename().empty()) path = path.parent_path();
  if (path == ".") return "";
  if (path.empty() || *path.begin() != "..") return path.string();
  if (path.filename() != "..") return path.filename().string();
  std::error_code error;
  return fs::canonical(input, error).filename().string();
}

std::optional<std::int64_t> page_field_value(const ProcessOptions& options) {
  if (!options.pages || !options.pages->alone) return std::nullopt;
  return options.pages->first;
}

BatchFiles find_batch_files(const ProcessOptions& options) {
  return Finder(options.input, options.shard, &options).find();
}

BatchFiles find_tensor_inputs(const ProcessOptions& options) {
  const std::vector<std::string>& more = options.input.more_paths;
  if (!more.empty() && !status_of(more.back()) && !is_pattern(more.back()) && !format_by_ending(more.back()))
    throw Error(ErrorKind::usage, printable(more.back()) +
                                      ": not found; with --tensor every argument is an "
                                      "INPUT, and FILE is the only output");
  BatchFiles found = Finder(options.input, std::nullopt, nullptr, true).find();
  for (BatchFile& file : found.files) {
    file.output = options.output.path;
    file.format = *options.output.format;
  }
  return found;
}

BatchFiles find_inputs(const InputOptions& input, const std::optional<Shard>& shard) {
  return Finder(input, shard, nullptr).find();
}

}  // namespace imgpipe
