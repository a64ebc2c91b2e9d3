// Small TIFF files of every kind, as seeds for fuzzers.
#pragma once

#include <cstddef>
#include <vector>

namespace imgpipe::test {

[[nodiscard]] std::vector<std::vector<std::byte>> tiff_seeds();

}  // namespace imgpipe::test
