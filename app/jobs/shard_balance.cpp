#include "app/jobs/shard_balance.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <functional>
#include <numeric>
#include <queue>
#include <string>
#include <tuple>
#include <utility>

#include "app/files/name_list.h"
#include "app/shard/shard.h"
#include "images/files/file.h"

namespace imgpipe {
namespace {

struct Listed {
  std::string name;
  std::size_t file;  // index in the batch
  std::int64_t bytes = 0;
};
std::vector<Listed> listed(const std::deque<BatchFile>& files, Balance balance) {
  std::vector<Listed> list;
  list.reserve(files.size());
  for (std::size_t i = 0; i < files.size(); ++i)
    list.push_back(
        {plain_name(files[i].name()), i, balance == Balance::bytes ? file_size_bytes(files[i].input) : 0});
  std::ranges::sort(list, [&](const Listed& a, const Listed& b) {
    return std::tie(a.name, files[a.file].input) < std::tie(b.name, files[b.file].input);
  });
  return list;
}

std::vector<int> parts_by_count(std::size_t files, int parts) {
  std::vector<int> part_of(files);
  for (std::size_t i = 0; i < files; ++i) part_of[i] = static_cast<int>(i % static_cast<std::size_t>(parts));
  return part_of;
}

std::string mark_of(const std::vector<Listed>& list) {
  std::uint64_t hash = fnv1a("");
  for (const Listed& file : list) {
    hash = fnv1a(file.name, hash);
    hash = fnv1a('\0' + std::to_string(file.bytes) + '\0', hash);
  }
  std::array<char, 17> text{};
  (void)std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(hash));
  return text.data();
}

std::vector<bool> own_by_hash(const std::deque<BatchFile>& files, const Shard& shard) {
  std::vector<bool> in_this_shard(files.size());
  for (std::size_t i = 0; i < files.size(); ++i)
    in_this_shard[i] = belongs_to_shard(plain_name(files[i].name()), shard);
  return in_this_shard;
}

std::vector<bool> own_by_list(const std::vector<Listed>& list, const Shard& shard) {
  std::vector<std::int64_t> sizes;
  sizes.reserve(list.size());
  for (const Listed& file : list) sizes.push_back(file.bytes);
  const std::vector<int> part_of = shard.balance == Balance::bytes ? parts_by_bytes(sizes, shard.count)
                                                                   : parts_by_count(list.size(), shard.count);
  std::vector<bool> in_this_shard(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) in_this_shard[list[i].file] = part_of[i] == shard.index - 1;
  return in_this_shard;
}

}  // namespace

std::vector<int> parts_by_bytes(const std::vector<std::int64_t>& sizes, int parts) {
  constexpr std::int64_t kLeast = 1;                     // otherwise all empty files would go to one shard
  constexpr std::int64_t kMost = std::int64_t{1} << 40;  // prevents overflow of sums
  const auto weight = [&](std::size_t file) { return std::clamp(sizes[file], kLeast, kMost); };
  std::vector<std::size_t> order(sizes.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, weight);
  using Load = std::pair<std::int64_t, int>;  // bytes, part
  std::priority_queue<Load, std::vector<Load>, std::greater<>> min_first;
  for (int part = 0; part < parts; ++part) min_first.emplace(0, part);
  std::vector<int> part_of(sizes.size());
  for (const std::size_t file : order) {
    const auto [bytes, part] = min_first.top();
    min_first.pop();
    min_first.emplace(bytes + weight(file), part);
    part_of[file] = part;
  }
  return part_of;
}

void keep_shard(BatchFiles& found, const Shard& shard) {
  std::deque<BatchFile>& files = found.files;
  std::vector<bool> in_this_shard;
  if (shard.balance == Balance::hash) {
    in_this_shard = own_by_hash(files, shard);
  } else {
    const std::vector<Listed> list = listed(files, shard.balance);
    found.shard_list = mark_of(list);
    in_this_shard = own_by_list(list, shard);
  }
  std::deque<BatchFile> own;
  for (std::size_t i = 0; i < files.size(); ++i) {
    if (in_this_shard[i]) own.push_back(std::move(files[i]));
  }
  found.other_shards = files.size() - own.size();
  files = std::move(own);
}

}  // namespace imgpipe
