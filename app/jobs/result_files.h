// The files other than images that a run writes: reports, lists, histograms, traces, images of stages. They
// are checked before any work: none may replace an input or another result under any name or link.
#pragma once

#include <deque>
#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "app/jobs/batch_files.h"
#include "app/process_options/process_options.h"
#include "images/files/file_identity.h"
#include "images/files/output_sync.h"

namespace imgpipe {

// Written before the run starts.
inline constexpr const char* kWritePreset = "--write-preset";

struct ResultFile {
  std::string option;  // "--report"
  std::string path;
};
[[nodiscard]] std::vector<ResultFile> result_files(const ProcessOptions& options);

// The files that a run reads and writes. Each is recognised under all its names and links.
class FilesInUse {
 public:
  // `what` names it for the user: "the input". `path` is "-" for stdin; ignored if empty.
  void add_input(const std::string& what, const std::string& path);
  // Adds an image that a batch writes. Conflicts among these are already checked (app/jobs/batch_files.h).
  void add_image(const std::string& path);
  // `option` is like "--report". `path`: "-" is stdout, empty is none. Throws Error(usage) if it is in use.
  void add(const std::string& option, const std::string& path);

 private:
  struct Use {
    std::string path;
    std::string input;   // `what` of add_input(); empty for a file that is written
    std::string option;  // the option that names the file
  };
  std::map<FileIdentity, Use> uses_;
};

// For a batch: throws Error(usage) if two results are the same file, or if one is an input, an output, or the
// list of names (which --failed-out may replace). Paths are compared after following links: ./a is a.
void check_results(const ProcessOptions& options, const BatchFiles& files);

// Returns the images that a command reads and the list of their names, if not empty.
[[nodiscard]] FilesInUse files_read(const BatchFiles& files, const std::string& files_from);
// Like check_results(), for a command that reads `in_use` and writes only the text files `results`. Also
// throws if one may not be replaced or cannot be written. Ignores empty paths.
void check_result_files(FilesInUse in_use, Replace replace, const std::vector<ResultFile>& results);

// Returns true if a result lies directly in a directory, which need not exist yet.
[[nodiscard]] bool result_in_directory(const std::string& directory, const std::string& path);

// Throws Error(usage) if a result may not replace an existing file (replaceable.h). `files`: of a batch.
void check_results_replaceable(const ProcessOptions& options, const std::deque<BatchFile>& files = {},
                               const std::unordered_set<std::string>& names_of_all_shards = {});

// Creates the directory. Throws Error(output) with the path.
void make_result_directory(const std::string& path, OutputSync* sync);
// Throws Error(output) with the path if the result cannot be written.
void check_result_writable(const std::string& path);
// The same for OUTPUT and results of one image, and the directory of --keep-stages, which need not exist.
void check_results_writable(const ProcessOptions& options);

}  // namespace imgpipe
