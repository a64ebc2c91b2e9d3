// The part of a job that this process does, if several processes share the job.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace imgpipe {

inline constexpr int kMaxShards = 1'000'000;

// A launcher's variable, its value, and the range of its values (app/shard/launcher.h).
struct LauncherIndex {
  std::string variable;
  std::int64_t value = 0;
  std::int64_t first = 0, last = 0;
};

// How shards are balanced: by hash of names, number of files, or bytes (app/jobs/shard_balance.h).
enum class Balance { hash, count, bytes };
inline constexpr std::array<std::pair<std::string_view, Balance>, 3> kBalances{
    {{"hash", Balance::hash}, {"count", Balance::count}, {"bytes", Balance::bytes}}};

// Part `index` of `count`, from 1.
struct Shard {
  int index = 1;
  int count = 1;
  std::vector<LauncherIndex> by{};  // launchers that determined it, outermost first; empty: given by the user
  Balance balance = Balance::hash;
};

// Returns the value of an environment variable, or empty if it is not set.
using Environment = std::function<std::string(const char* name)>;

// "I/N": part I of N, from 1. "auto" and "auto/N": determined from the launchers (app/shard/launcher.h).
// Throws Error(usage) if the text or the environment is invalid.
[[nodiscard]] Shard parse_shard(const std::string& text, const Environment& environment);

[[nodiscard]] std::string_view balance_name(Balance balance);

// "2/8"
[[nodiscard]] std::string shard_name(int index, int count);
// "shard 2 of 8, by SLURM_PROCID=1 (0 to 7); balance hash", or "shard 2 of 8, given; balance bytes".
[[nodiscard]] std::string shard_text(const Shard& shard);

// Continues the 64-bit FNV-1a hash (Fowler, Noll, Vo) `hash` with `text`.
[[nodiscard]] std::uint64_t fnv1a(std::string_view text, std::uint64_t hash = 0xcbf29ce484222325);

// Returns true if a name belongs to a shard by hash. This depends only on its bytes: every name is in exactly
// one of the `count` parts, whatever other names exist. The bits of fnv1a() are mixed by the finaliser of
// splitmix64 (Steele, Lea, Flood 2014).
[[nodiscard]] bool belongs_to_shard(std::string_view name, const Shard& shard);

}  // namespace imgpipe
