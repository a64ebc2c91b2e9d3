// Files to begin a kernel of one's own with, as imgpipe bench --template writes them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace imgpipe {

// What --template takes: the ladders that have one, and "header".
[[nodiscard]] std::vector<std::string> template_names();

// The text of one of them: a whole file with one plain variant that is right.
[[nodiscard]] std::string own_template(std::string_view name);

// Of a ladder: IMGPIPE_HIST.
[[nodiscard]] std::string own_macro(std::string_view ladder);

// lab/pipeline/imgpipe_kernel.h, which those files include.
[[nodiscard]] std::string_view kernel_header();

}  // namespace imgpipe
