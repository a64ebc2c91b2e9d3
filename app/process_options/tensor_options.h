// --tensor: all results in one file of tensors, instead of OUTPUT.
#pragma once

#include <string>

#include "app/process_options/process_options.h"

namespace imgpipe {

// Returns the path of the names of the rows; empty for .safetensors, which holds them.
[[nodiscard]] std::string tensor_names_file(const OutputOptions& output);

// Throws Error(usage) with the output's name if `format` cannot hold what the stages make: an image, a tensor
// or the planes of --bands all.
void check_output_holds(const ProcessOptions& options, Format format, const std::string& output);

}  // namespace imgpipe
