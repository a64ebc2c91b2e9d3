// Determines and checks the outputs of a batch.
#pragma once

#include <cstdint>
#include <optional>

#include "app/jobs/batch_files.h"
#include "app/process_options/process_options.h"

namespace imgpipe {

// Returns true if each page of an input gets its own numbered file (pipeline/jobs/page_selection.h).
[[nodiscard]] bool has_page_files(const ProcessOptions& options, Format format);

// The outputs of an input: that of --stages, and those of --also.
struct NamedOutputs {
  PlacedOutput main;
  std::vector<std::string> also;
};
// Determines them by --name, or else by `preset`; without either, OUTPUT itself is the path.
[[nodiscard]] NamedOutputs named_outputs(const ProcessOptions& options, const NameTemplate* preset,
                                         const NamedInput& input);

// Returns the value of {page} if it is a single number.
[[nodiscard]] std::optional<std::int64_t> page_field_value(const ProcessOptions& options);

// Sets the outputs of inputs found by search_inputs(), and drops inputs that are results of the same batch.
// Throws Error(usage) like find_batch_files().
void plan_outputs(const ProcessOptions& options, BatchFiles& found);

}  // namespace imgpipe
