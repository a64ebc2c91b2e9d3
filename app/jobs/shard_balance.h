// Assigns the files of a batch to shards.
#pragma once

#include <cstdint>
#include <vector>

#include "app/jobs/batch_files.h"
#include "app/process_options/process_options.h"

namespace imgpipe {

// Distributes files over `parts` so that their sizes are balanced. The largest file goes first, each to the
// part with the fewest bytes, the lowest index on a tie (longest processing time first: Graham, Bounds on
// multiprocessing timing anomalies, 1969; at most 4/3 - 1/(3 parts) of the optimum). Files of equal size keep
// the order of `sizes`. A file counts as at least one byte and at most one TiB. Returns each file's part,
// from 0.
[[nodiscard]] std::vector<int> parts_by_bytes(const std::vector<std::int64_t>& sizes, int parts);

// Keeps the shard's own files in `found`, in order, and counts the others. Every file is in exactly one
// shard:
//   hash    by its name alone (belongs_to_shard()), independently of the other files
//   count   in turn, sorted by name; the shards' numbers of files differ by at most one
//   bytes   by parts_by_bytes(), equal sizes sorted by name; only regular files have a size
// count and bytes need the same list in every process, in any order. `found.shard_list` identifies the list:
// 16 hex digits of a hash of the names, for bytes also of the sizes; empty for hash.
void keep_shard(BatchFiles& found, const Shard& shard);

}  // namespace imgpipe
