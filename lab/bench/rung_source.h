// The code of a variant of the lab, as it was built.
#pragma once

#include <string>
#include <string_view>

namespace imgpipe {

struct RungSource {
  std::string path;       // of the file that holds it; empty: nothing was found
  std::string functions;  // what the ladder's table names: "gray_naive"
  std::string text;  // they and, before them, what of the same file they use; at most kMostSourceLines lines
};
inline constexpr int kMostSourceLines = 160;

// Of a variant in the ladder of this name, as people see it: what its row in the ladder's table names is
// looked up in the sources (lab/bench/lab_sources.h).
[[nodiscard]] RungSource rung_source(std::string_view ladder, std::string_view variant);

// Of a variant of a user's, in the text of the file that has it (lab/pipeline/imgpipe_kernel.h). The
// beginning of the file where it is not found.
[[nodiscard]] RungSource own_source(std::string_view file, std::string_view text, std::string_view stage,
                                    std::string_view variant);

}  // namespace imgpipe
