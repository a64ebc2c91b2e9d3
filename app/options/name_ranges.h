// Ranges of numbers in the names of inputs: shard-{0000..0099}.tar, as in a shell.
#pragma once

#include <string>
#include <vector>

namespace imgpipe {

// Replaces each {A..B} by the numbers from A to B, up or down, with leading zeros if A or B has them, and
// returns all combinations in order. Returns a text without ranges, and the name of an existing file,
// unchanged. Throws Error(usage) for more than a million names.
[[nodiscard]] std::vector<std::string> expand_ranges(const std::string& text);

}  // namespace imgpipe
