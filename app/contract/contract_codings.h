// The files of the contract: images encoded, then decoded.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "images/codecs/codec.h"

namespace imgpipe {

struct ContractCoding {
  std::string_view name;  // "tiff lzw"; the group is "decode" and the first word
  // Throws Error(usage) for an image that the format cannot hold unchanged.
  std::vector<std::byte> (*encode)(const ContractCoding& coding, ConstHostView pixels);
  Format format;
  EncodeOptions options{};
  int scale = 1;  // --decode-scale
  // JPEG by libjpeg-turbo: the factors of luma, the kind of scans, MCU rows between restart markers.
  int horizontal = 1, vertical = 1;
  bool progressive = false;
  int restart_rows = 0;
};

// Only codings whose pixels depend on no library's version.
[[nodiscard]] std::span<const ContractCoding> contract_codings();
// Returns nullptr if no coding has that name.
[[nodiscard]] const ContractCoding* find_coding(std::string_view name);

}  // namespace imgpipe
