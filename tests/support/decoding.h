// Decodes files in memory, and returns why they cannot be decoded.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "images/codecs/codec.h"
#include "images/image.h"

namespace imgpipe::test {

using FileBytes = std::vector<std::byte>;
using Values = std::vector<int>;

[[nodiscard]] Image decode(const FileBytes& bytes, const DecodeOptions& options = {});
// Returns every sample, row by row.
[[nodiscard]] Values samples(const Image& image);
[[nodiscard]] DecodeOptions lenient();
// Decodes samples of more than 8 bits to 16 bits.
[[nodiscard]] DecodeOptions sixteen_bits(bool forgiving = false);
[[nodiscard]] DecodeOptions with_stb();
// Decodes in bands of `rows` rows.
[[nodiscard]] Image decode_in_bands(const FileBytes& bytes, std::int64_t rows,
                                    const DecodeOptions& options = {});
// Returns the warnings of a lenient decode.
[[nodiscard]] std::vector<std::string> warnings(const FileBytes& bytes);
// Returns why a decode fails, or "". Expects a printable reason and an error of kind input.
[[nodiscard]] std::string failure(const FileBytes& bytes, const DecodeOptions& options = {});
// Returns the first `size` bytes.
[[nodiscard]] FileBytes cut(const FileBytes& bytes, std::size_t size);
// Expects that changing any byte does not crash or hang the decoder, and that two decodes give the same
// pixels.
void expect_stable_when_damaged(const FileBytes& bytes);

}  // namespace imgpipe::test
