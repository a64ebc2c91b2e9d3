// The sequential steps of huffman_lengths() (huffman_code.h), for host and device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "images/host_device.h"

namespace imgpipe {

// Step 2: joins the two lightest nodes until one is left. `weights`: at least two, ascending. `joined` has
// space for leaves - 1 nodes, `parent` for 2 * leaves - 2. Joined nodes follow the leaves; the root is last.
template <class Weight>
IMGPIPE_HOST_DEVICE inline void join_nodes(const Weight* weights, unsigned leaves, Weight* joined,
                                           std::uint16_t* parent) {
  unsigned next_leaf = 0;
  unsigned next_joined = 0;
  for (unsigned made = 0; made + 1 < leaves; ++made) {
    Weight sum = 0;
    for (int i = 0; i < 2; ++i) {
      const bool leaf =
          next_leaf < leaves && (next_joined == made || weights[next_leaf] <= joined[next_joined]);
      parent[leaf ? next_leaf : leaves + next_joined] = static_cast<std::uint16_t>(leaves + made);
      sum += leaf ? weights[next_leaf] : joined[next_joined];
      next_leaf += leaf ? 1 : 0;
      next_joined += leaf ? 0 : 1;
    }
    joined[made] = sum;
  }
}

// Step 3. `count`: leaves by depth, 0 to `most`.
IMGPIPE_HOST_DEVICE inline void mend_over_full(std::uint32_t* count, unsigned most) {
  std::uint64_t used = 0;  // in units of 2^-most
  for (unsigned bits = 1; bits <= most; ++bits) used += std::uint64_t{count[bits]} << (most - bits);
  for (; used > std::uint64_t{1} << most; --used) {
    unsigned bits = most - 1;
    while (count[bits] == 0) --bits;
    --count[bits];
    count[bits + 1] += 2;
    --count[most];
  }
}

// Encodes code lengths as in a block's header (strip_rule.h): calls add(symbol, extra bits, extra) for each
// coded symbol. `lengths`: of the literals, then of the distances.
template <class Add>
IMGPIPE_HOST_DEVICE inline void code_lengths(const std::uint8_t* lengths, unsigned count, const Add& add) {
  for (unsigned i = 0; i < count;) {
    const unsigned length = lengths[i];
    unsigned left = 1;
    while (i + left < count && lengths[i + left] == length) ++left;
    i += left;
    if (length == 0) {
      while (left >= 11) {
        const unsigned zeros = left < 138 ? left : 138;
        add(18U, 7U, zeros - 11);
        left -= zeros;
      }
      if (left >= 3) {
        add(17U, 3U, left - 3);
        left = 0;
      }
    } else {
      add(length, 0U, 0U);
      for (--left; left >= 3;) {
        const unsigned same = left < 6 ? left : 6;
        add(16U, 2U, same - 3);
        left -= same;
      }
    }
    for (; left > 0; --left) add(length, 0U, 0U);
  }
}

}  // namespace imgpipe
