#include "app/shard.h"

#include <charconv>
#include <optional>

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

[[noreturn]] void refuse(const std::string& text, const std::string& reason) {
  throw Error(ErrorKind::usage, "--shard: '" + printable(text) + "' " + reason);
}

}  // namespace

Shard parse_shard(const std::string& text, const Environment& environment) {
  const std::size_t slash = text.find('/');
  const std::string_view first = std::string_view(text).substr(0, slash);
  std::optional<int> count;
  if (slash != std::string::npos) count = whole_number(std::string_view(text).substr(slash + 1));
  const bool counted = count && *count >= 1 && *count <= kMostShards;
  if (first == "auto" && (slash == std::string::npos || counted))
    return shard_of_launchers(count.value_or(0), environment);
  const std::optional<int> index = whole_number(first);
  if (!counted || !index || *index < 1 || *index > *count)
    refuse(text, "is not of the form 3/8 (part 3 of 8, from 1), auto or auto/8");
  return {*index, *count, {}};
}

std::string shard_text(const Shard& shard) {
  std::string text = "shard " + std::to_string(shard.index) + " of " + std::to_string(shard.count);
  for (const LauncherIndex& index : shard.by) {
    text += (&index == &shard.by.front() ? ", by " : " and ") + index.variable + "=" +
            std::to_string(index.value) + " (" + std::to_string(index.first) + " to " +
            std::to_string(index.last) + ")";
  }
  return shard.by.empty() ? text + ", given" : text;
}

bool in_shard(std::string_view name, const Shard& shard) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3;
  }
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111eb;
  hash ^= hash >> 31;
  return hash % static_cast<std::uint64_t>(shard.count) == static_cast<std::uint64_t>(shard.index - 1);
}

}  // namespace imgpipe
