// Reads .npy and .safetensors files, independently of their writers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace imgpipe::test {

struct StoredTensor {
  std::vector<std::int64_t> shape;
  std::string type;                // as stored: "<f4", "F32"
  std::vector<std::byte> data;     // all bytes after the header
  std::size_t header_bytes = 0;    // before the data
  std::vector<std::string> names;  // of the rows, in a .safetensors
};

// Throw std::runtime_error for a file that breaks a rule of its format.
[[nodiscard]] StoredTensor read_npy(std::span<const std::byte> file);
[[nodiscard]] StoredTensor read_safetensors(std::span<const std::byte> file);

}  // namespace imgpipe::test
