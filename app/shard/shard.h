// Which part of a job that is spread over several processes is this process's.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace imgpipe {

inline constexpr int kMostShards = 1'000'000;

// What a launcher said: the value of a variable, of those from `first` to `last` (app/shard/launcher.h).
struct LauncherIndex {
  std::string variable;
  std::int64_t value = 0;
  std::int64_t first = 0, last = 0;
};

// What parts are to be about as large by: names' hashes, numbers of files, bytes (app/jobs/shard_balance.h).
enum class Balance { hash, count, bytes };
inline constexpr std::array<std::pair<std::string_view, Balance>, 3> kBalances{
    {{"hash", Balance::hash}, {"count", Balance::count}, {"bytes", Balance::bytes}}};

// One part of a job that is spread over several processes: part `index` of `count`, from 1.
struct Shard {
  int index = 1;
  int count = 1;
  std::vector<LauncherIndex> by{};  // who says so, the outermost first; empty: the user
  Balance balance = Balance::hash;
};

// The value of an environment variable, empty when it is not set.
using Environment = std::function<std::string(const char* name)>;

// "I/N": part I of N, from 1. "auto" and "auto/N": as the launchers of the process say
// (app/shard/launcher.h). Throws Error(usage) when the text, or what the environment holds, makes no part.
[[nodiscard]] Shard parse_shard(const std::string& text, const Environment& environment);

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
