// Which files of a batch are a shard's.
#pragma once

#include <cstdint>
#include <vector>

#include "app/jobs/batch_files.h"
#include "app/process_options/process_options.h"

namespace imgpipe {

// Deals files out to `parts` so that the fullest has little more than its share of bytes: the largest first,
// each to the part that has least so far, of several the first (longest processing time first: Graham, Bounds
// on multiprocessing timing anomalies, 1969; at most 4/3 - 1/(3 parts) of the best there is). Of files of one
// size those come first that are first in `sizes`. Every file counts as one byte at least and one TiB at
// most. Gives each file's part, from 0.
[[nodiscard]] std::vector<int> parts_by_bytes(const std::vector<std::int64_t>& sizes, int parts);

// Leaves the shard's own files of a whole batch in `found`, in their order and marked, and counts the others.
// Every file is in exactly one shard:
//   hash    by its name alone (in_shard()), whatever other files there are
//   count   in turn by name: as many in each, or one more
//   bytes   by parts_by_bytes(), those of one size by name; each file is asked for its size, and what is no
//           regular file, or is not there, has none
// count and bytes need one list in every process, in any order. `found.shard_list` tells two lists apart: 16
// digits of their names, with bytes of their sizes too; by hash it is empty.
void keep_shard(BatchFiles& found, const Shard& shard);

}  // namespace imgpipe
