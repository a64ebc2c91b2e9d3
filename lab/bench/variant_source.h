// The source code of a variant, as built.
#pragma once

#include <string>
#include <string_view>

namespace imgpipe {

struct VariantSource {
  std::string path;       // of its file; empty if nothing was found
  std::string functions;  // the functions that the ladder's table names: "gray_naive"
  std::string
      text;  // these functions, after definitions that they use; each function at most kMaxSourceLines lines
};
inline constexpr int kMaxSourceLines = 160;

// Finds a variant's functions in the sources (lab/bench/lab_sources.h). `ladder` is its name for display.
[[nodiscard]] VariantSource variant_source(std::string_view ladder, std::string_view variant);

// Finds a user's variant in the text of its file; returns the beginning of the file if there is none.
[[nodiscard]] VariantSource user_source(std::string_view file, std::string_view text, std::string_view stage,
                                        std::string_view variant);

}  // namespace imgpipe
