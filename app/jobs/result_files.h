// The files besides images that a run is to write: reports, lists, histograms, traces, stages' images. What
// is wrong with them is found before any work: no result may take the place of an input or of another
// result, by whatever name or link.
#pragma once

#include <map>
#include <string>
#include <unordered_set>
#include <vector>

#include "app/jobs/batch_files.h"
#include "app/process_options/process_options.h"
#include "images/files/file_identity.h"
#include "images/files/output_sync.h"

namespace imgpipe {

// It is written before the run begins.
inline constexpr const char* kWritePreset = "--write-preset";

struct ResultFile {
  std::string option;  // "--report"
  std::string path;
};
[[nodiscard]] std::vector<ResultFile> result_files(const ProcessOptions& options);

// What a run reads and writes, each file under one of its names.
class FilesInUse {
 public:
  // `what` the user knows it as: "the input". `path` is "-" for stdin; an empty one is none.
  void add_input(const std::string& what, const std::string& path);
  // An image that a batch writes. How it gets on with the others is known already (app/jobs/batch_files.h).
  void add_image(const std::string& path);
  // `option` names it for the user: "OUTPUT", "--report". `path` is "-" for stdout; an empty one
  // is none. Throws Error(usage) when the file is in use.
  void add(const std::string& option, const std::string& path);

 private:
  struct Use {
    std::string path;
    std::string input;   // what it is known as; empty: it is written
    std::string option;  // by this
  };
  std::map<FileIdentity, Use> uses_;
};

// Of a batch. Throws Error(usage) when two results are one file, or when one is an input, an output, or the
// list of names (which --failed-out may replace). Paths are the same when they lead to one place: ./a and a,
// links followed.
void check_results(const ProcessOptions& options, const BatchFiles& files);

// The images that a command reads, and the list of their names; an empty path is none.
[[nodiscard]] FilesInUse files_read(const BatchFiles& files, const std::string& files_from);
// The same for a command that reads `in_use` and writes `results` alone, which are texts. Throws too where
// one may not be replaced or written. An empty path is none.
void check_result_files(FilesInUse in_use, Replace replace, const std::vector<ResultFile>& results);

// True when a result is directly in a directory, which need not exist yet.
[[nodiscard]] bool result_in_folder(const std::string& folder, const std::string& path);

// Throws Error(usage) for a result that would replace a file that it may not (app/files/replaceable.h).
// `files`: of a batch.
void check_results_replaceable(const ProcessOptions& options, const std::vector<BatchFile>& files = {},
                               const std::unordered_set<std::string>& names_of_all_shards = {});

// Throws Error(output), with the path.
void make_result_folder(const std::string& path, OutputSync* sync);
// Throws what writing a result would before its first byte: Error(output), with the path.
void check_result_writable(const std::string& path);
// The same for OUTPUT and every result of one image, and for the folder of --keep-stages, which need not be
// there yet.
void check_results_writable(const ProcessOptions& options);

}  // namespace imgpipe
