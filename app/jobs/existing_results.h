// Results that exist before a batch starts: those it replaces, and those among its inputs.
#pragma once

#include <cstddef>
#include <deque>
#include <string>

#include "app/jobs/batch_files.h"

namespace imgpipe {

// Removes the inputs that this batch makes from other inputs, recognised by output name and mark; returns
// their number. Reads only the marks of inputs that have an output's name. If inputs and outputs share no
// directory, only looks up the directories.
[[nodiscard]] std::size_t exclude_own_results(const ProcessOptions& options, std::deque<BatchFile>& files);

// Says that `results` inputs were left out, and how to exclude them by name.
[[nodiscard]] std::string excluded_results_text(const std::optional<NameTemplate>& name, std::size_t results);

// Throws Error(usage) if outputs may not be replaced, naming the first and counting the others. Returns the
// number of replaced results that were made with other options. Reads the head of every existing output, and
// at most 1 MiB of an input whose name differs from the one in the mark.
[[nodiscard]] std::size_t check_replaceable_outputs(const ProcessOptions& options, const BatchFiles& found);

}  // namespace imgpipe
