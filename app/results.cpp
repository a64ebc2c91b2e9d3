#include "app/results.h"

#include <filesystem>
#include <set>
#include <system_error>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <sys/stat.h>

#include "images/error.h"
#include "images/file.h"
#include "images/text.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;
using FileId = std::pair<dev_t, ino_t>;

// The one name of a place that has several; it need not be there.
fs::path place_of(const std::string& path) {
  std::error_code error;
  fs::path place = fs::weakly_canonical(fs::absolute(path, error), error);
  if (error) place = fs::path(path).lexically_normal();
  return place.filename().empty() ? place.parent_path() : place;
}

// The files that are there among these paths, and the places of all.
struct Taken {
  std::set<FileId> ids;
  std::unordered_set<std::string> places;

  void add_id(const std::string& path) {
    struct stat info {};
    if (::stat(path.c_str(), &info) == 0) ids.emplace(info.st_dev, info.st_ino);
  }
  [[nodiscard]] bool holds(const std::string& path) const {
    struct stat info {};
    if (::stat(path.c_str(), &info) == 0 && ids.contains({info.st_dev, info.st_ino})) return true;
    return places.contains(place_of(path).string());
  }
};

// Links inside of OUTPUT are seen by the files that they lead to.
Taken inputs_and_outputs(const ProcessOptions& options, const BatchFiles& files) {
  Taken taken;
  const fs::path output = place_of(options.output);
  for (const BatchFile& file : files.files) {
    taken.add_id(file.input);
    if (file.output_exists) taken.add_id(file.output);
    taken.places.insert((output / fs::path(file.output).lexically_relative(options.output)).string());
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
  const Taken taken = inputs_and_outputs(options, files);
  std::unordered_map<std::string, const ResultFile*> places;
  for (const ResultFile& result : results) {
    if (taken.holds(result.path))
      throw Error(ErrorKind::usage, printable(result.path) + ": is an input or an output itself");
    if (result.option != "--failed-out" && same_file(result.path, options.batch.files_from))
      throw Error(ErrorKind::usage, printable(result.path) + ": is the list of --files-from itself");
    const auto [other, fresh] = places.emplace(place_of(result.path).string(), &result);
    if (!fresh)
      throw Error(ErrorKind::usage, printable(result.path) + ": " + other->second->option + " and " +
                                        result.option + " would both be written there");
  }
}

bool result_in_output(const ProcessOptions& options, const std::string& path) {
  const fs::path folder = fs::path(path).parent_path();
  return place_of(folder.empty() ? "." : folder.string()) == place_of(options.output);
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
