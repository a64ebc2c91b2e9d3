// Finds the inputs of a run: files, directories, patterns and lists of names.
#pragma once

#include <string>

#include "app/jobs/batch_files.h"
#include "app/process_options/process_options.h"

namespace imgpipe {

// Returns INPUT as a path below OUTPUT: the path itself, or its last component if it leads out.
[[nodiscard]] std::string tree_of_input(const std::string& input);

// Finds the inputs by the rules of find_batch_files(). With `output`, skips that directory and sets the
// fields that plan_outputs() needs; without it, there are no duplicates. `keeps_order`: in the order of
// arguments and lists; otherwise sorted by name. Throws Error(usage) if the output is not a directory,
// Error(input) if INPUT or the list cannot be read.
[[nodiscard]] BatchFiles search_inputs(const InputOptions& input, const OutputOptions* output = nullptr,
                                       bool keeps_order = false);

}  // namespace imgpipe
