// Which images a batch takes, and what it will write: all of it known, and judged, before any work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

#include "app/jobs/glob_paths.h"
#include "app/jobs/selection.h"
#include "app/process_options/process_options.h"
#include "app/update/up_to_date.h"
#include "images/codecs/codec.h"

namespace imgpipe {

// Whether each page of an input gets a file of its own, with a number (pipeline/jobs/page_selection.h).
[[nodiscard]] bool has_page_files(const ProcessOptions& options, Format format);

// An INPUT as a path below OUTPUT: its own path, or its last name where that leads elsewhere.
[[nodiscard]] std::string tree_of_input(const std::string& input);
// What {page} stands for where it is one number.
[[nodiscard]] std::optional<std::int64_t> page_in_name(const ProcessOptions& options);

struct BatchFile {
  std::string input;   // path
  std::string name;    // as --files-from takes it with the same INPUTs, for the same output
  std::string tree;    // below OUTPUT, but for the ending
  std::string output;  // path; with {page} in it where that is in --name (pipeline/jobs/name_pieces.h)
  Format format = Format::png;
  Provenance made_of{};        // of the output; its content is not known here
  bool output_exists = false;  // where each page has a file: all of them
  int shard = 0, shards = 0;   // part of how many; 0: the batch is not in parts
  // With --update, and how the input was before that was found out.
  UpdateState update = UpdateState::no_output;
  std::optional<FileState> input_state;
};

struct BatchFiles {
  std::vector<BatchFile> files;        // sorted by name
  std::vector<PathProblem> problems;   // folders that cannot be read, listed names that are no INPUT's
  SkippedInputs passed_over;           // what is no image by its name, or was not selected
  std::vector<std::string> unmatched;  // patterns that matched nothing, as lines for the user
  std::size_t other_shards = 0;        // files that are other parts' work
  std::unordered_set<std::string> names_of_all_shards;  // with --failed-out
  std::string shard_list;      // of all parts' files, see keep_shard() (app/jobs/shard_balance.h)
  bool list_is_empty = false;  // --files-from names nothing
  std::size_t results = 0;     // among the inputs, left out: take_out_results() (app/jobs/existing_results.h)
  std::size_t otherwise_made = 0;  // existing outputs that are replaced and were made with other options
  std::unordered_set<std::string> stamped_outputs;  // with --update: see UpdateVerdicts
};

// Finds the inputs and gives each its output: by --name or, without, OUTPUT/NAME with --recursive, else
// OUTPUT/ and the file's own name; with the ending of --format, or its own where that format can be written,
// else .png.
//   - A folder gives its files whose ending names an image format (or that match --include), and with
//     --recursive those of the folders below. Hidden names are passed over, OUTPUT too. Linked folders are
//     followed; each folder is visited once, so that loops end.
//   - NAME is the path below a folder that is the one INPUT. Among several INPUTs a folder's own path comes
//     before it, of which only the last name counts where it leads out of the working directory (../a).
//   - A list's names are below INPUT where that is one folder, and paths where there is none. Where there are
//     several INPUTs or a pattern the list chooses among their files, by path: --failed-out writes such
//     names.
//   - Whether a name is a readable regular file is found out when its turn comes, but for folders.
// Results of this batch among the inputs are left out.
// Throws Error(usage) when two inputs would write one output, also through links, an output is an input or a
// folder, or a name in a list leads out of the tree; Error(input) when INPUT or the list cannot be read.
[[nodiscard]] BatchFiles find_batch_files(const ProcessOptions& options);
// Only the inputs, or those of a shard, a path that is there twice once. Throws as find_batch_files() does.
[[nodiscard]] BatchFiles find_inputs(const InputOptions& input, const std::optional<Shard>& shard = {});

}  // namespace imgpipe
