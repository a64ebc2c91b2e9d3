#include "pipeline/constant_tables.h"

#include <mutex>

#include "images/memory/available_memory.h"
#include "pipeline/threads/fork_mutex.h"

namespace imgpipe {
namespace {

struct CachedTable {
  const Stage* maker = nullptr;
  Parameters parameters;
  FrameType in;
  std::weak_ptr<const std::vector<std::byte>> table{};

  [[nodiscard]] bool is_for(const Stage& stage, const StageCall<Host>& call) const {
    return maker == &stage && parameters == call.parameters && in == call.in.type;
  }
};

class TableCache {
 public:
  ConstantTable find(const Stage& maker, const StageCall<Host>& call) {
    const std::lock_guard lock(fork_mutex());
    for (const CachedTable& one : tables_) {
      if (!one.is_for(maker, call)) continue;
      if (ConstantTable table = one.table.lock()) return table;
    }
    return nullptr;
  }
  void add(const Stage& maker, const StageCall<Host>& call, const ConstantTable& table) {
    const std::lock_guard lock(fork_mutex());
    std::erase_if(tables_, [](const CachedTable& one) { return one.table.expired(); });
    tables_.push_back({&maker, call.parameters, call.in.type, table});
  }

 private:
  std::vector<CachedTable> tables_;  // those that live plans use
};

}  // namespace

ConstantTable constant_table(const Stage& stage, const Parameters& parameters, const FrameType& in,
                             const FrameType& out) {
  static TableCache cache;
  const Stage* const maker = table_maker(stage, parameters, Backend::cpu, in.sample, out.sample);
  if (maker == nullptr || !maker->ports.in.empty()) return nullptr;
  const StageCall<Host> call{.in = {in, {}}, .out = {out, {}}, .parameters = parameters};
  // A second image may end before the table, and another one have its address.
  const bool is_cached = parameters.image == nullptr;
  if (is_cached) {
    if (ConstantTable table = cache.find(*maker, call)) return table;
  }
  check_available(table_bytes(stage, in, parameters));
  ConstantTable table = std::make_shared<const std::vector<std::byte>>(make_table(*maker, call));
  if (is_cached) cache.add(*maker, call, table);
  return table;
}

}  // namespace imgpipe
