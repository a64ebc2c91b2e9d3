// Decoding in one line, for tests of readers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "images/codec.h"
#include "images/image.h"

namespace imgpipe::test {

[[nodiscard]] Image decode(const std::vector<std::byte>& bytes, const DecodeOptions& options = {});
// Why it fails, "" when it does not; anything but an Error(input) is a failure of the test.
[[nodiscard]] std::string failure(const std::vector<std::byte>& bytes, const DecodeOptions& options = {});
[[nodiscard]] std::vector<int> samples(const Image& image);

[[nodiscard]] DecodeOptions lenient();
[[nodiscard]] DecodeOptions with_stb();

}  // namespace imgpipe::test
