#include "images/codecs/tiff/packbits.h"

#include <algorithm>
#include <cstring>

namespace imgpipe {

std::size_t unpack_packbits(std::span<const std::byte> packed, std::span<std::byte> out) {
  std::size_t made = 0;
  for (std::size_t at = 0; at < packed.size() && made < out.size();) {
    const auto n = std::to_integer<std::size_t>(packed[at++]);
    if (n == 128) continue;
    if (n > 128) {
      if (at == packed.size()) break;
      const std::size_t run = std::min(257 - n, out.size() - made);
      std::memset(out.data() + made, std::to_integer<int>(packed[at++]), run);
      made += run;
    } else {
      const std::size_t run = std::min({n + 1, out.size() - made, packed.size() - at});
      if (run == 0) break;
      std::memcpy(out.data() + made, packed.data() + at, run);
      made += run;
      at += run;
    }
  }
  return made;
}

// Only runs of three or more bytes are worth a separate count.
void pack_packbits(std::span<const std::byte> row, std::vector<std::byte>& packed) {
  constexpr std::size_t kMost = 128;
  const auto run_at = [&](std::size_t at) {
    std::size_t end = at + 1;
    while (end < row.size() && end - at < kMost && row[end] == row[at]) ++end;
    return end - at;
  };
  for (std::size_t at = 0; at < row.size();) {
    const std::size_t run = run_at(at);
    if (run >= 3 || at + run == row.size()) {
      packed.push_back(static_cast<std::byte>(run == 1 ? 0 : 257 - run));
      packed.push_back(row[at]);
      at += run;
      continue;
    }
    std::size_t end = at;
    while (end < row.size() && end - at < kMost) {
      const std::size_t next = run_at(end);
      if (next >= 3) break;
      end += std::min(next, kMost - (end - at));
    }
    packed.push_back(static_cast<std::byte>(end - at - 1));
    packed.insert(packed.end(), row.begin() + static_cast<std::ptrdiff_t>(at),
                  row.begin() + static_cast<std::ptrdiff_t>(end));
    at = end;
  }
}

}  // namespace imgpipe
