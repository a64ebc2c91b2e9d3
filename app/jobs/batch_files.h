// Finds the inputs of a batch and determines its outputs. All of them are known and checked before any work.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

#include "app/jobs/glob_paths.h"
#include "app/jobs/selection.h"
#include "app/process_options/process_options.h"
#include "app/update/up_to_date.h"
#include "images/codecs/codec.h"
#include "pipeline/jobs/also_output.h"

namespace imgpipe {

// An input of a batch, and its outputs. Each shard plans the outputs of all shards, so the size matters: 136
// bytes and the text of two paths.
struct BatchFile {
  std::string input;             // path
  std::string output;            // path, with {page} if --name has it (pipeline/jobs/name_segments.h)
  std::vector<AlsoFile> also{};  // the outputs of --also, likewise
  std::uint64_t name_hash = 0, options_hash = 0;       // parts of made_of()
  std::unique_ptr<const UpdateResult> update{};        // with --update
  std::unique_ptr<const std::string> tree_if_other{};  // set if tree() differs from name()
  const BatchFile* archive = nullptr;                  // contains this image, and must outlive it
  std::uint16_t name_begin = 0;                        // of name() in `input`; at most PATH_MAX
  bool output_exists = false;  // if there are several, of pages or --also: all of them exist
  Format format = Format::png;

  // Returns the name that --files-from would list with the same INPUTs: `input` or its end.
  [[nodiscard]] std::string_view name() const { return std::string_view(input).substr(name_begin); }
  // Returns the path below OUTPUT, except for the ending.
  [[nodiscard]] std::string_view tree() const { return tree_if_other ? *tree_if_other : name(); }
  // Returns the output's provenance without the hash of the content, which is not known yet.
  [[nodiscard]] Provenance made_of() const { return {.name = name_hash, .options = options_hash}; }
  [[nodiscard]] bool is_up_to_date() const { return update && update->state == UpdateState::up_to_date; }
};

// Returns BatchFile::output, followed by those of --also.
[[nodiscard]] std::vector<std::string> output_paths(const BatchFile& file);

struct BatchFiles {
  std::deque<BatchFile> files;         // sorted by name
  std::vector<PathProblem> problems;   // unreadable directories, listed names that no INPUT has
  SkippedInputs skipped_inputs;        // not an image by name, or not selected
  std::vector<std::string> unmatched;  // patterns that matched nothing, as lines for the user
  std::size_t other_shards = 0;        // files of other shards
  std::unordered_set<std::string> names_of_all_shards;  // with --failed-out
  std::string shard_list;  // identifies the list of all shards; see keep_shard() (app/jobs/shard_balance.h)
  bool list_is_empty = false;               // --files-from lists no names
  std::size_t results = 0;                  // inputs left out as results (app/jobs/existing_results.h)
  std::size_t made_with_other_options = 0;  // replaced outputs that were made with other options
  std::unordered_set<std::string> stamped_outputs;  // with --update: see UpdateResults
};

// Finds the inputs and determines their outputs. --name determines an output's path; the default is
// OUTPUT/NAME with --recursive, otherwise OUTPUT/ and the file's name. The ending is that of --format,
// otherwise the input's if that format can be written, otherwise .png.
//   - A directory contributes the files whose ending names an image format (or that match --include), with
//     --recursive also those in its subdirectories. Hidden names and OUTPUT are skipped. Linked directories
//     are followed; each directory is visited once, so loops end.
//   - NAME is the path relative to INPUT if that is a single directory. With several INPUTs it includes the
//     directory's own path, or only its last component if it leads out of the working directory (../a).
//   - Names in a list are relative to INPUT if that is one directory, and paths if there is none. With
//     several INPUTs or a pattern, the list selects among their files by path: --failed-out writes such
//     names.
//   - A file is checked to be regular and readable only when it is processed.
// Inputs that are results of the same batch are left out.
// Throws Error(usage) if two inputs have the same output, even through links; if an output is an input or a
// directory; or if a listed name leads out of the tree. Throws Error(input) if INPUT or the list cannot be
// read.
[[nodiscard]] BatchFiles find_batch_files(const ProcessOptions& options);
// For --tensor: finds the inputs, without duplicates, in the order of arguments and lists; files of a
// directory by name. Their output is the file of tensors.
[[nodiscard]] BatchFiles find_tensor_inputs(const ProcessOptions& options);
// Finds only the inputs, without duplicates; with `shard`, only those of the shard. Throws like
// find_batch_files().
[[nodiscard]] BatchFiles find_inputs(const InputOptions& input, const std::optional<Shard>& shard = {});

}  // namespace imgpipe
