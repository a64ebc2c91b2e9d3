#include "app/shard/shard.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "app/shard/launcher.h"
#include "images/error.h"
#include "images/text.h"

namespace imgpipe {
namespace {

std::optional<int> whole_number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

[[noreturn]] void refuse_shard(const std::string& text) {
  throw Error(ErrorKind::usage, "--shard: expected I/N such as 3/8 (part 3 of 8), auto or auto/N, got '" +
                                    printable(text) + "'");
}

}  // namespace

Shard parse_shard(const std::string& text, const Environment& environment) {
  const std::size_t slash = text.find('/');
  const std::string_view first = std::string_view(text).substr(0, slash);
  std::optional<int> count;
  if (slash != std::string::npos) count = whole_number(std::string_view(text).substr(slash + 1));
  const bool counted = count && *count >= 1 && *count <= kMaxShards;
  if (first == "auto" && (slash == std::string::npos || counted))
    return shard_from_launchers(count.value_or(0), environment);
  const std::optional<int> index = whole_number(first);
  if (!counted || !index || *index < 1 || *index > *count) refuse_shard(text);
  return {*index, *count, {}};
}

std::string_view balance_name(Balance balance) {
  return std::ranges::find(kBalances, balance, &std::pair<std::string_view, Balance>::second)->first;
}

std::string shard_name(int index, int count) {
  return std::to_string(index) + "/" + std::to_string(count);
}

std::string shard_text(const Shard& shard) {
  std::string text = "shard " + std::to_string(shard.index) + " of " + std::to_string(shard.count) +
                     (shard.by.empty() ? ", given" : ", by ");
  for (const LauncherIndex& index : shard.by) {
    text += (&index == &shard.by.front() ? "" : " and ") + index.variable + "=" +
            std::to_string(index.value) + " (" + std::to_string(index.first) + " to " +
            std::to_string(index.last) + ")";
  }
  return text + "; balance " + std::string(balance_name(shard.balance));
}

std::uint64_t fnv1a(std::string_view text, std::uint64_t hash) {
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  return hash;
}

bool belongs_to_shard(std::string_view name, const Shard& shard) {
  std::uint64_t hash = fnv1a(name);
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  hash ^= hash >> 31;
  return hash % static_cast<std::uint64_t>(shard.count) == static_cast<std::uint64_t>(shard.index - 1);
}

}  // namespace imgpipe
