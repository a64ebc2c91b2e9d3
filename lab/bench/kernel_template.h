// Starting points for a user's kernel, as written by imgpipe bench --template.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace imgpipe {

// Returns the values of --template: the ladders that have a template, and "header".
[[nodiscard]] std::vector<std::string> template_names();

// Returns a complete file with one plain, correct variant; the header for "header".
[[nodiscard]] std::string kernel_template(std::string_view name);

// Returns a ladder's macro, for example IMGPIPE_HIST.
[[nodiscard]] std::string kernel_macro(std::string_view ladder);

// Returns lab/pipeline/imgpipe_kernel.h, which those files include.
[[nodiscard]] std::string_view kernel_header();

}  // namespace imgpipe
