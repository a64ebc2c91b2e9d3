// Files in memory, decoded, and why they cannot be.
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
// Every sample, row by row.
[[nodiscard]] Values samples(const Image& image);
[[nodiscard]] DecodeOptions lenient();
// Samples of more than 8 bits as 16.
[[nodiscard]] DecodeOptions sixteen_bits(bool forgiving = false);
[[nodiscard]] DecodeOptions with_stb();
// `image` decoded in bands of `rows` rows.
[[nodiscard]] Image decode_in_bands(const FileBytes& bytes, std::int64_t rows,
                                    const DecodeOptions& options = {});
// What a lenient decode warns of.
[[nodiscard]] std::vector<std::string> warnings(const FileBytes& bytes);
// Why a decode fails; "" when it does not. The reason is checked to be printable and of kind input.
[[nodiscard]] std::string failure(const FileBytes& bytes, const DecodeOptions& options = {});
// The first `size` bytes.
[[nodiscard]] FileBytes cut(const FileBytes& bytes, std::size_t size);
// No byte changed in a file may crash, hang or give different pixels twice.
void expect_stable_when_damaged(const FileBytes& bytes);

}  // namespace imgpipe::test
