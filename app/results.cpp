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

bool result_in_output(const ProcessOptions& options, const std::string& path) {
  const std::string folder = fs::path(path).parent_path().string();
  return file_identity(folder.empty() ? "." : folder) == file_identity(options.output);
}

void check_result_writable(const std::string& path) {
  naming(printable(path), [&] { check_writable(path); });
}

void check_results_writable(const ProcessOptions& options) {
  check_result_writable(options.output);
  for (const ResultFile& result : result_files(options)) check_result_writable(result.path);
  if (options.keep_stages_folder.empty()) return;
  // As far as the folder is there: a file in it can be made, or the folder in the one above.
  fs::path folder(options.keep_stages_folder);
  std::error_code error;
  while (!folder.empty() && !fs::exists(fs::status(folder, error))) folder = folder.parent_path();
  naming(printable(options.keep_stages_folder), [&] {
    if (!folder.empty() && !fs::is_directory(folder, error)) throw Error(ErrorKind::output, "is no folder");
    check_writable((folder / "stage.png").string());
  });
}

}  // namespace imgpipe
