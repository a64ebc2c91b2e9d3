// Which part of a job that is spread over several processes is this process's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "app/batch/launcher.h"
#include "app/options/options.h"

namespace imgpipe {

// "I/N": part I of N, from 1. "auto" and "auto/N": as the launchers of the process say
// (app/batch/launcher.h). Throws Error(usage) when the text, or what the environment holds, makes no part.
[[nodiscard]] Shard parse_shard(const std::string& text, const Environment& environment);

// "hash", "count" or "bytes". Throws Error(usage).
[[nodiscard]] Balance parse_balance(const std::string& text);
[[nodiscard]] std::string_view balance_name(Balance balance);

// "2/8"
[[nodiscard]] std::string shard_name(int index, int count);
// "shard 2 of 8, by SLURM_PROCID=1 (0 to 7); balance hash", or "shard 2 of 8, given; balance bytes".
[[nodiscard]] std::string shard_text(const Shard& shard);

// FNV-1a, 64 bits (Fowler, Noll, Vo), of what came before, by its hash, and then of `text`.
[[nodiscard]] std::uint64_t fnv1a(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325);

// Whether a name belongs to a shard by hash. Depends on nothing but its bytes: every name is in exactly one
// of the `count` parts, whichever other names there are. The hash is fnv1a(), its bits then mixed by the
// finaliser of splitmix64 (Steele, Lea, Flood 2014).
[[nodiscard]] bool in_shard(std::string_view name, const Shard& shard);

}  // namespace imgpipe
