// The text of the lab's and the kernels' sources, as they were built.
#pragma once

#include <span>
#include <string_view>

namespace imgpipe {

struct SourceFile {
  std::string_view path;  // in the tree: "lab/kernels/gray_ladder.cu"
  std::string_view text;
};

// Made by the build (lab/bench/embed_sources.cmake).
[[nodiscard]] std::span<const SourceFile> lab_sources();

}  // namespace imgpipe
