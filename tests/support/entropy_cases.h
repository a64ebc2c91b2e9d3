// Groups of JPEGs for the device's entropy decoder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace imgpipe::test {

using JpegFiles = std::vector<std::vector<std::byte>>;

// Small files of every kind, as made_jpegs.h and coded_jpegs.h have them.
[[nodiscard]] JpegFiles made_files(std::uint64_t first_seed, std::uint64_t count);
[[nodiscard]] JpegFiles coded_files(std::uint64_t first_seed, std::uint64_t count);
// Pictures of several tiles: every content, with and without restarts.
[[nodiscard]] JpegFiles large_files();
// A picture of which no part is in step with another: all codes are of one length.
[[nodiscard]] std::vector<std::byte> file_out_of_step();
// The file cut at every `step`th byte, and with every bit of those changed; of those whose header is taken.
[[nodiscard]] JpegFiles damaged_files(const std::vector<std::byte>& whole, std::size_t step);
// So many times the file with one to three bits of its codes changed.
[[nodiscard]] JpegFiles changed_files(const std::vector<std::byte>& whole, int count);
// A picture of one colour, of several tiles: no part of it falls into step by itself.
[[nodiscard]] std::vector<std::byte> constant_file(bool subsampled);
// A small one with restarts or without.
[[nodiscard]] std::vector<std::byte> small_file(int restart_mcus);

}  // namespace imgpipe::test
