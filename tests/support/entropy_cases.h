// Groups of JPEGs for the device's entropy decoder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace imgpipe::test {

using JpegFiles = std::vector<std::vector<std::byte>>;

// Small files of every kind in made_jpegs.h and coded_jpegs.h.
[[nodiscard]] JpegFiles made_files(std::uint64_t first_seed, std::uint64_t count);
[[nodiscard]] JpegFiles coded_files(std::uint64_t first_seed, std::uint64_t count);
// Images of several tiles: every content, with and without restarts.
[[nodiscard]] JpegFiles large_files();
// An image in which no part synchronises with another: all codes have the same length.
[[nodiscard]] std::vector<std::byte> file_out_of_step();
// Returns the file cut at every `step`th byte, and with each of its bits changed, if the header is accepted.
[[nodiscard]] JpegFiles damaged_files(const std::vector<std::byte>& whole, std::size_t step);
// Returns `count` copies of the file, each with one to three changed bits in its codes.
[[nodiscard]] JpegFiles changed_files(const std::vector<std::byte>& whole, int count);
// An image of one colour and several tiles, in which no part synchronises without help.
[[nodiscard]] std::vector<std::byte> constant_file(bool subsampled);
// A small image, with or without restarts.
[[nodiscard]] std::vector<std::byte> small_file(int restart_mcus);

}  // namespace imgpipe::test
