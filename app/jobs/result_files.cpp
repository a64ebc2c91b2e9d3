#include "app/jobs/result_files.h"

#include <filesystem>
#include <optional>
#include <system_error>
#include <unordered_set>
#include <utility>

#include <unistd.h>

#include "app/jobs/updates.h"
#include "app/process_options/tensor_options.h"
#include "app/standard_streams.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/files/output_file.h"
#include "images/text.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

std::optional<FileIdentity> identity(const std::string& path, int standard_stream) {
  return path == kStandardStream ? descriptor_identity(standard_stream) : file_identity(path);
}

// Checks a directory that may not exist yet: its nearest existing ancestor must be a writable directory. A
// dangling link is an error.
void check_creatable_directory(const std::string& path) {
  fs::path directory = fs::absolute(path);
  std::error_code error;
  while (!fs::exists(fs::symlink_status(directory, error)) && directory.has_relative_path())
    directory = directory.parent_path();
  naming(printable(path), [&] {
    if (!fs::is_directory(directory, error)) throw Error(ErrorKind::output, "not a directory");
    check_writable((directory / "image.png").string());
  });
}

constexpr const char* kTensor = "--tensor";

void check_tensor_replaceable(const OutputOptions& output, const std::string& path) {
  naming(printable(path), [&] {
    if (!OutputFile(path).is_replaced()) throw Error(ErrorKind::usage, "must be a regular file for --tensor");
  });
  const bool is_tensor = path == output.path;
  // The file of names has no mark; it is replaced together with the tensor.
  if (!is_tensor && output.replace != Replace::none && mark_in(output.path) == Mark::result) return;
  check_replaceable(path, is_tensor ? image_refusal_reason(path, output.replace, Mark::result)
                                    : text_refusal_reason(path, output.replace));
}

}  // namespace

std::vector<ResultFile> result_files(const ProcessOptions& options) {
  std::vector<ResultFile> results;
  for (const std::string& path : options.reports.files) results.push_back({"--report", path});
  for (const auto& [option, path] : {std::pair{"--trace", &options.reports.trace_file},
                                     {"--histogram", &options.reports.histogram_file},
                                     {"--failed-out", &options.reports.failed_file}}) {
    if (!path->empty()) results.push_back({option, *path});
  }
  if (options.output.is_tensor) results.push_back({kTensor, options.output.path});
  if (const std::string names = tensor_names_file(options.output); !names.empty())
    results.push_back({kTensor, names});
  if (options.preset) results.push_back({kWritePreset, options.preset->file});
  return results;
}

void FilesInUse::add_input(const std::string& what, const std::string& path) {
  if (path.empty()) return;
  if (const auto file = identity(path, STDIN_FILENO)) uses_.emplace(*file, Use{path, what, ""});
}

void FilesInUse::add_image(const std::string& path) {
  if (const auto file = identity(path, STDOUT_FILENO)) uses_.emplace(*file, Use{path, "", "OUTPUT"});
}

void FilesInUse::add(const std::string& option, const std::string& path) {
  if (path.empty()) return;
  const auto file = identity(path, STDOUT_FILENO);
  if (!file) return;
  const auto [entry, fresh] = uses_.emplace(*file, Use{path, "", option});
  if (fresh) return;
  const Use& other = entry->second;
  const std::string name = output_name(path);
  if (!other.input.empty()) {
    const std::string input = input_name(other.path);
    throw Error(ErrorKind::usage, name + ": is " + other.input + (input == name ? "" : " (" + input + ")") +
                                      "; use another name for " + option);
  }
  const std::string first = output_name(other.path);
  throw Error(ErrorKind::usage, name + ": output of both " + option + " and " + other.option +
                                    (first == name ? "" : " (" + first + ")") + "; use different names");
}

void check_results(const ProcessOptions& options, const BatchFiles& files) {
  const std::vector<ResultFile> results = result_files(options);
  if (results.empty()) return;
  FilesInUse in_use;
  for (const BatchFile& file : files.files) {
    in_use.add_input("an input", file.input);
    if (options.output.is_tensor) continue;
    for (const std::string& output : output_paths(file)) in_use.add_image(output);
  }
  const std::string& list = options.input.files_from;
  if (identity(list, STDIN_FILENO) != identity(options.reports.failed_file, STDOUT_FILENO))
    in_use.add_input("the list of --files-from", list);
  for (const auto& [option, path] : results) in_use.add(option, path);
  if (options.output.update) in_use.add("--update", stamp_file(options, true));
}

FilesInUse files_read(const BatchFiles& files, const std::string& files_from) {
  FilesInUse in_use;
  for (const BatchFile& file : files.files) in_use.add_input("an input", file.input);
  in_use.add_input("the list of --files-from", files_from);
  return in_use;
}

void check_result_files(FilesInUse in_use, Replace replace, const std::vector<ResultFile>& results) {
  for (const auto& [option, path] : results) {
    if (path.empty()) continue;
    in_use.add(option, path);
    check_replaceable(path, text_refusal_reason(path, replace));
    check_result_writable(path);
  }
}

bool result_in_directory(const std::string& directory, const std::string& path) {
  const std::string parent = fs::path(path).parent_path().string();
  const std::optional<FileIdentity> own = file_identity(parent.empty() ? "." : parent);
  return own && own == file_identity(directory);
}

void make_result_directory(const std::string& path, OutputSync* sync) {
  naming(printable(path), [&] { make_directory(path, sync); });
}

void check_result_writable(const std::string& path) {
  naming(printable(path), [&] { check_writable(path); });
}

void check_results_replaceable(const ProcessOptions& options, const std::deque<BatchFile>& files,
                               const std::unordered_set<std::string>& names_of_all_shards) {
  std::unordered_set<std::string> names;  // filled on first use
  const auto is_name = [&](const std::string& name) {
    if (names.empty()) {
      for (const BatchFile& file : files) names.emplace(file.name());
    }
    return names.contains(name) || names_of_all_shards.contains(name);
  };
  for (const auto& [option, path] : result_files(options)) {
    if (option == kWritePreset) continue;  // checked when it was written
    if (option == kTensor) {
      check_tensor_replaceable(options.output, path);
      continue;
    }
    // Files that shards share are extended, which --no-clobber permits.
    const bool is_list = option == "--failed-out";
    const bool grows = options.shard && (is_list || path.ends_with(".ndjson"));
    const Replace replace =
        grows && options.output.replace == Replace::none ? Replace::own : options.output.replace;
    if (!is_list) {
      check_replaceable(path, text_refusal_reason(path, replace));
    } else if (!same_file(path, options.input.files_from)) {
      check_replaceable(path, list_refusal_reason(path, replace, is_name));
    }
  }
}

void check_results_writable(const ProcessOptions& options) {
  if (options.output.new_directory.empty()) {
    check_result_writable(options.output.path);
  } else {
    check_creatable_directory(options.output.new_directory);
  }
  for (const std::string& path : options.output.also) {
    if (options.output.name) {
      check_creatable_directory(fs::path(path).parent_path().string());
    } else if (options.output.new_directory.empty()) {
      check_result_writable(path);
    }
  }
  for (const ResultFile& result : result_files(options)) {
    if (options.output.new_directory.empty() ||
        !result_in_directory(options.output.new_directory, result.path))
      check_result_writable(result.path);
  }
  if (!options.reports.stages_directory.empty()) check_creatable_directory(options.reports.stages_directory);
}

}  // namespace imgpipe
