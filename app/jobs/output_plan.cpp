#include "app/jobs/output_plan.h"

#include <algorithm>
#include <climits>
#include <filesystem>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <sys/stat.h>

#include "app/files/path_text.h"
#include "app/jobs/directory_walk.h"
#include "app/jobs/existing_results.h"
#include "app/jobs/locations.h"
#include "app/jobs/page_outputs.h"
#include "app/process_options/options_digest.h"
#include "images/error.h"
#include "images/files/archive_reader.h"
#include "images/text.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

// Returns OUTPUT/STEM.tar, with --recursive in the directory of the input; `tree`: BatchFile::tree().
std::string archive_output(const OutputOptions& output, std::string_view tree, bool recursive) {
  const fs::path name(tree);
  const std::string file = name.filename().string();
  const std::string stem = file.substr(0, file.size() - archive_ending(file).size());
  const fs::path directory = recursive ? fs::path(output.path) / name.parent_path() : fs::path(output.path);
  return (directory / (stem + ".tar")).string();
}

void for_each_output(const BatchFile& file, const auto& function) {
  function(file.output);
  for (const AlsoFile& also : file.also) function(also.output);
}

class OutputPlan {
 public:
  OutputPlan(const ProcessOptions& options, BatchFiles& found)
      : options_(options),
        found_(found),
        name_(options.output.name ? *options.output.name : NameTemplate::preset(options.input.recursive)) {}

  void make() {
    name_outputs();
    found_.results = exclude_own_results(options_, found_.files);
    if (found_.results > 0) name_outputs();  // {n} numbers the remaining files
    check_outputs();  // across all shards: no output may be another file's input or output
  }

 private:
  // Numbers the files of all shards, in the order of their names.
  void name_outputs() {
    std::int64_t number = 0;
    for (BatchFile& file : found_.files) {
      if (options_.output.is_archive) {
        file.output = archive_output(options_.output, file.tree(), options_.input.recursive);
        file.format = options_.output.format.value_or(Format::png);
        continue;
      }
      NamedOutputs outputs =
          named_outputs(options_, &name_, {file.input, std::string(file.tree()), ++number});
      file.output = std::move(outputs.main.path);
      file.format = outputs.main.format;
      const auto [hashes, fresh] = option_hashes_.try_emplace(file.format);
      if (fresh)
        hashes->second = {options_hash(options_, file.format), also_option_hashes(options_, file.format)};
      file.options_hash = hashes->second.main;
      file.also.clear();
      for (std::string& path : outputs.also)
        file.also.push_back({std::move(path), hashes->second.also[file.also.size()]});
      for_each_output(file, check_length);
    }
  }

  static void check_length(const std::string& path) {
    const std::size_t bytes = file_name_of(path).size();
    if (bytes > NAME_MAX)
      throw Error(ErrorKind::usage, printable(path) + ": file name too long; expected at most " +
                                        std::to_string(NAME_MAX) + " bytes, got " + std::to_string(bytes));
  }

  // Suggests how to keep two outputs apart.
  [[nodiscard]] std::string hint(const BatchFile& a, const BatchFile& b) const {
    if (options_.output.name) return "; use {dir}, {stem}, {input_ext} or {n} in --name to distinguish them";
    const std::string text =
        options_.input.recursive ? "{dir}/{stem}_{input_ext}.{ext}" : "{stem}_{input_ext}.{ext}";
    const NameTemplate name(text);
    const auto place = [&](const BatchFile& file) {
      return name
          .place("", {file.input, std::string(file.tree())}, options_.output.format,
                 page_field_value(options_))
          .path;
    };
    if (place(a) != place(b)) return "; add --name '" + text + "'";
    const bool one_directory = fs::path(a.name()).parent_path() == fs::path(b.name()).parent_path();
    return one_directory ? "; --exclude one of them" : options_.input.recursive ? "" : "; add --recursive";
  }

  [[noreturn]] void refuse_both(const BatchFile& first, const BatchFile& second,
                                const std::string& output) const {
    throw Error(ErrorKind::usage,
                printable(output) + ": output of both " + printable(first.input) + " and " +
                    printable(second.input) +
                    (options_.output.is_archive ? "; add --recursive" : hint(first, second)));
  }

  using Outputs = std::vector<const std::string*>;  // of found_.files
  static std::string_view path_of(const std::string* output) { return *output; }

  // Searches all files; for messages only.
  [[nodiscard]] const BatchFile& writer_of(const std::string* output) const {
    return *std::ranges::find_if(found_.files, [&](const BatchFile& file) {
      bool writes = false;
      for_each_output(file, [&](const std::string& path) { writes = writes || &path == output; });
      return writes;
    });
  }

  // Sorts the outputs, and throws if two are equal.
  void check_paths(Outputs& outputs) const {
    if (!std::ranges::is_sorted(outputs, {}, path_of)) std::ranges::stable_sort(outputs, {}, path_of);
    const auto equal = std::ranges::adjacent_find(outputs, {}, path_of);
    if (equal != outputs.end()) refuse_both(writer_of(*equal), writer_of(*std::next(equal)), **equal);
  }

  // Throws if two outputs with different paths are one file.
  void check_locations(Locations& locations) const {
    std::map<FileIdentity, const BatchFile*> replacers;
    for (const BatchFile& file : found_.files) {
      if (has_page_files(options_, file.format)) continue;
      for_each_output(file, [&](const std::string& output) {
        const std::optional<struct stat> info = locations.output(output).info;
        const bool is_replaced = !is_done(info) || (S_ISREG(info->st_mode) && !options_.output.skip_existing);
        const auto location = is_replaced ? locations.of_output(output) : std::nullopt;
        if (!location) return;
        if (const auto [other, fresh] = replacers.emplace(*location, &file); !fresh)
          refuse_both(*other->second, file, output);
      });
    }
  }

  // A power failure or a full disk may leave an empty file.
  [[nodiscard]] bool is_done(const std::optional<struct stat>& output) const {
    const bool is_empty = output && S_ISREG(output->st_mode) && output->st_size == 0;
    return output && !(is_empty && options_.output.skip_existing);
  }

  void check_outputs() {
    Outputs outputs;
    outputs.reserve(found_.files.size() * (1 + options_.stages.also.size()));
    Locations locations;
    std::map<FileId, const BatchFile*> existing;
    bool has_links = false;
    for (BatchFile& file : found_.files) {
      const bool has_pages = has_page_files(options_, file.format);
      file.output_exists = !has_pages || (options_.output.skip_existing && has_all_pages(options_, file));
      for_each_output(file, [&](const std::string& output) {
        outputs.push_back(&output);
        if (has_pages) return;  // the path itself is not written
        const auto [info, is_link] = locations.output(output);
        has_links = has_links || is_link;
        file.output_exists = file.output_exists && is_done(info);
        if (!info) return;
        if (S_ISFIFO(info->st_mode) || S_ISSOCK(info->st_mode))  // a batch does not wait for a reader
          throw Error(ErrorKind::usage, printable(output) + ": not a regular file");
        if (S_ISDIR(info->st_mode))
          throw Error(ErrorKind::usage, printable(output) +
                                            ": is a directory, but would be the output file of " +
                                            printable(file.input));
        existing.emplace(FileId{info->st_dev, info->st_ino}, &file);
      });
    }
    check_paths(outputs);
    if (has_links || locations.has_aliases()) check_locations(locations);
    check_page_outputs(options_, found_.files);
    std::string_view last_directory;  // most outputs follow one in the same directory
    for (const BatchFile& file : found_.files) {
      // Reject an output that is also the directory of another output.
      for_each_output(file, [&](const std::string& output) {
        const std::string_view directory = parent_path_of(output);
        if (directory == std::exchange(last_directory, directory)) return;
        for (std::string_view above = directory; above.size() > options_.output.path.size();
             above = parent_path_of(above)) {
          if (std::ranges::binary_search(outputs, above, {}, path_of))
            throw Error(ErrorKind::usage, printable(above) + ": would be both a file and a directory");
        }
      });
      if (existing.empty()) continue;
      struct stat info {};
      if (::stat(file.input.c_str(), &info) != 0) continue;
      const auto output = existing.find({info.st_dev, info.st_ino});
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

  const ProcessOptions& options_;
  BatchFiles& found_;
  const NameTemplate& name_;
  struct OptionHashes {
    std::uint64_t main = 0;
    std::vector<std::uint64_t> also;
  };
  std::map<Format, OptionHashes> option_hashes_;
};

}  // namespace

bool has_page_files(const ProcessOptions& options, Format format) {
  return !options.output.is_tensor && options.pages && !options.pages->alone &&
         (options.pages->named || !holds_pages(format));
}

NamedOutputs named_outputs(const ProcessOptions& options, const NameTemplate* preset,
                           const NamedInput& input) {
  const OutputOptions& output = options.output;
  const NameTemplate* const names = output.name ? &*output.name : preset;
  const auto output_of = [&](const std::string& also) {
    NamedInput named = input;
    named.also = also.empty() ? kMainResult : also;
    PlacedOutput placed{.path = output.path};
    if (names != nullptr) placed = names->place(output.path, named, output.format, page_field_value(options));
    if (!also.empty() && (names == nullptr || !names->has("also")))
      placed.path = also_path(placed.path, also);
    return placed;
  };
  NamedOutputs outputs{.main = output_of(options.stages.name), .also = {}};
  for (const AlsoStages& also : options.stages.also) outputs.also.push_back(output_of(also.name).path);
  return outputs;
}

std::optional<std::int64_t> page_field_value(const ProcessOptions& options) {
  if (!options.pages || !options.pages->alone) return std::nullopt;
  return options.pages->first;
}

void plan_outputs(const ProcessOptions& options, BatchFiles& found) {
  OutputPlan(options, found).make();
}

std::vector<std::string> output_paths(const BatchFile& file) {
  std::vector<std::string> paths;
  for_each_output(file, [&](const std::string& path) { paths.push_back(path); });
  return paths;
}

}  // namespace imgpipe
