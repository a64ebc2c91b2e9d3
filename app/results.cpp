#include "app/results.h"

#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "images/error.h"
#include "images/file.h"
#include "images/file_identity.h"
#include "images/text.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

std::set<FileIdentity> inputs_and_outputs(const BatchFiles& files) {
  std::set<FileIdentity> taken;
  for (const BatchFile& file : files.files) {
    for (const std::string& path : {file.input, file.output}) {
      if (const auto identity = file_identity(path)) taken.insert(*identity);
    }
  }
  return taken;
}

// A folder that need not be there yet. As far as it is: a file in it can be made, or the folder in the one
// above. A link to nothing is in the way of both.
void check_folder_to_be(const std::string& path) {
  fs::path folder = fs::absolute(path);
  std::error_code error;
  while (!fs::exists(fs::symlink_status(folder, error)) && folder.has_relative_path())
    folder = folder.parent_path();
  naming(printable(path), [&] {
    if (!fs::is_directory(folder, error)) throw Error(ErrorKind::output, "is no folder");
    check_writable((folder / "image.png").string());
  });
}

}  // namespace

std::vector<ResultFile> result_files(const ProcessOptions& options) {
  std::vector<ResultFile> results;
  for (const std::string& path : options.report_files) results.push_back({"--report", path});
  for (const auto& [option, path] : {std::pair{"--trace", &options.trace_file},
                                     {"--histogram", &options.histogram_file},
                                     {"--failed-out", &options.batch.failed_file}}) {
    if (!path->empty()) results.push_back({option, *path});
  }
  return results;
}

void check_results(const ProcessOptions& options, const BatchFiles& files) {
  const std::vector<ResultFile> results = result_files(options);
  if (results.empty()) return;
  const std::set<FileIdentity> taken = inputs_and_outputs(files);
  std::map<FileIdentity, std::string> options_of;
  for (const ResultFile& result : results) {
    const std::optional<FileIdentity> identity = file_identity(result.path);
    if (!identity) continue;
    if (taken.contains(*identity))
      throw Error(ErrorKind::usage, printable(result.path) + ": is an input or an output itself");
    if (result.option != "--failed-out" && identity == file_identity(options.batch.files_from))
      throw Error(ErrorKind::usage, printable(result.path) + ": is the list of --files-from itself");
    const auto [other, fresh] = options_of.emplace(*identity, result.option);
    if (!fresh)
      throw Error(ErrorKind::usage, printable(result.path) + ": " + other->second + " and " + result.option +
                                        " would both be written there");
  }
}

bool result_in_folder(const std::string& folder, const std::string& path) {
  const std::string parent = fs::path(path).parent_path().string();
  const std::optional<FileIdentity> own = file_identity(parent.empty() ? "." : parent);
  return own && own == file_identity(folder);
}

void check_result_writable(const std::string& path) {
  naming(printable(path), [&] { check_writable(path); });
}

void check_results_replaceable(const ProcessOptions& options) {
  for (const auto& [option, path] : result_files(options)) {
    const bool list = option == "--failed-out";
    check_replaceable(path, list ? why_no_list(path, options.replace) : why_no_text(path, options.replace));
  }
}

void check_results_writable(const ProcessOptions& options) {
  if (options.new_folder.empty()) {
    check_result_writable(options.output);
  } else {
    check_folder_to_be(options.new_folder);
  }
  for (const ResultFile& result : result_files(options)) {
    if (options.new_folder.empty() || !result_in_folder(options.new_folder, result.path))
      check_result_writable(result.path);
  }
  if (!options.keep_stages_folder.empty()) check_folder_to_be(options.keep_stages_folder);
}

}  // namespace imgpipe
