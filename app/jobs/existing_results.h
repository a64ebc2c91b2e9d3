// Results that are there before a batch begins: those that it replaces, and those that lie among its inputs.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "app/jobs/batch_files.h"

namespace imgpipe {

// Takes the inputs out of `files` that this very batch makes of others of them: by its names and by the mark
// that they carry. Returns how many. It reads the mark of no other file, and one directory entry for each
// directory where outputs do not share one with inputs.
[[nodiscard]] std::size_t take_out_results(const ProcessOptions& options, std::vector<BatchFile>& files);

// For the user: that `results` inputs were left out, and how to leave them out by name.
[[nodiscard]] std::string left_out_text(const std::optional<NameTemplate>& name, std::size_t results);

// Throws Error(usage) where outputs may not be replaced: it names the first and counts the others. Returns
// how many of those that the batch replaces were made with other options. Reads the head of every existing
// output, and at most 1 MiB of an input whose name is not the one in its mark.
[[nodiscard]] std::size_t check_replaceable_outputs(const ProcessOptions& options, const BatchFiles& found);

}  // namespace imgpipe
