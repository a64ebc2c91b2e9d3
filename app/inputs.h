// Which images a batch takes, and what it will write: all of it known, and judged, before any work.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "app/options.h"
#include "images/codec.h"

namespace imgpipe {

// True when INPUT stands for many images: a folder, a pattern (* ? [ in a name that is no file), several
// inputs, or a list.
[[nodiscard]] bool is_batch(const ProcessOptions& options);

// Where an image named `name` goes in the folder `folder`: under its own name, with the ending of `format`,
// or its own where that format can be written, else .png.
struct PlacedOutput {
  std::string path;
  Format format = Format::png;
};
[[nodiscard]] PlacedOutput place_output(const std::string& folder, const std::string& name,
                                        const std::optional<Format>& format);

// One image into a folder, which is there or ends with a slash and is then to be made: OUTPUT becomes the
// file in it. Throws Error(usage) for stdin, which has no name, and where the folder is a file.
[[nodiscard]] ProcessOptions with_output_file(ProcessOptions options);

struct BatchFile {
  std::string input;   // path
  std::string name;    // as --files-from takes it with the same INPUT: below the folder, or as it was given
  std::string output;  // path
  Format format = Format::png;
  bool output_exists = false;
};

struct BatchFiles {
  std::vector<BatchFile> files;       // sorted by name
  std::vector<std::string> problems;  // folders that cannot be read: "PATH: reason"
  std::size_t passed_over = 0;        // files that are no images by their names, or were not selected
  std::size_t other_shards = 0;       // files that are other parts' work
};

// Finds the inputs and gives each its output: OUTPUT/NAME with --recursive, else OUTPUT/ and the file's own
// name; with the ending of --format, or its own where that format can be written, else .png.
//   - A folder gives its files whose ending names an image format (or that match --include), and with
//     --recursive those of the folders below. Hidden names are passed over, OUTPUT too. Linked folders are
//     followed; each folder is visited once, so that loops end.
//   - Whether a name is a readable regular file is found out when its turn comes, but for folders.
// Throws Error(usage) when two inputs would write one output, an output is an input or a folder, or a name in
// a list leads out of the tree; Error(input) when INPUT or the list cannot be read.
[[nodiscard]] BatchFiles find_batch_files(const ProcessOptions& options);

}  // namespace imgpipe
