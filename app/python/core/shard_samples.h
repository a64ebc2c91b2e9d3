// The samples of tar shards by WebDataset's rule: consecutive members whose names are equal up to the first
// dot of their last component.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <nanobind/nanobind.h>

#include "images/error.h"
#include "images/files/input_file.h"

namespace imgpipe::python {

namespace nb = nanobind;

// The position of data in an uncompressed shard.
struct ShardExtent {
  std::int64_t offset = 0, size = 0;
};

// Of a compressed shard: the data, or why it cannot be read.
using ShardData = std::variant<ShardExtent, std::vector<std::byte>, Error>;

struct ShardMember {
  std::string extension;
  ShardData data;
};

struct ShardSample {
  std::shared_ptr<const std::string> shard;  // its path
  std::string key{};
  std::vector<ShardMember> members{};
  std::size_t image = 0;  // the member that is the image

  [[nodiscard]] std::string name_of(const ShardMember& member) const {
    return *shard + "/" + key + "." + member.extension;
  }
};

// The image of a sample as a binary file object, whose name appears in errors.
struct ShardImage {
  std::string name;
  std::span<const std::byte> data{};
  nb::object owner{};  // of the data
  nb::object error{};  // why there is none; null: there is
};

inline constexpr const char* kTruncatedShard = "damaged archive: truncated";

// Opens a shard on disk. Throws Error(input).
[[nodiscard]] InputFile open_shard(const std::string& path);

}  // namespace imgpipe::python
