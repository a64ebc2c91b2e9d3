#include "pipeline/devices/device_bands.h"

#include <algorithm>
#include <string>

#include "images/error.h"
#include "kernels/stage.h"
#include "pipeline/stage_calls.h"

namespace imgpipe {
namespace {

// The alignment of values on the device; memory from cudaMalloc() has it.
constexpr std::int64_t kAlignment = 512;
// Approximate bytes of the largest frames of all bands in progress: enough that copying a band takes much
// longer than queueing the copy, but no more, because the host pins an equal amount of memory.
constexpr std::int64_t kBytesOnTheirWay = std::int64_t{128} << 20;
constexpr std::int64_t kMinBandBytes = std::int64_t{1} << 20;
constexpr std::int64_t kMaxDeviceBandBytes = std::int64_t{16} << 20;
// With fewer rows per band, too many rows are read and computed twice; fewer bands in progress are then
// better.
constexpr std::int64_t kGoodRows = 64;
// One band each for upload, stages and download; fewer only if memory requires it.
constexpr std::size_t kGoodSlots = 3;

std::int64_t aligned(std::int64_t bytes, std::int64_t to) {
  return (bytes + to - 1) / to * to;
}

// Returns the rows that a stage writes: as many as it reads, or exactly `right` if Stage::by_row is set.
RowRange made_rows(const Node& node, const RowRange& right) {
  if (right.count() == 0 || node.stage->by_row) return right;
  return node.rows_needed(right);
}

}  // namespace

DeviceBands::DeviceBands(const ChainedPlan& plan, const Chain& chain, const BandPlan& bands,
                         const DeviceCapacity& room)
    : plan_(plan), chain_(chain), bands_(bands), room_(room) {
  std::vector<std::int64_t> most(plan.program.values.size());
  const auto bytes_of = [&](const std::vector<BandPart>& parts) {
    std::int64_t bytes = 0;
    for (const BandPart& part : parts) bytes += aligned(part_bytes(part), kPartAlignment);
    return bytes;
  };
  for (std::int64_t i = 0; i < bands_.bands(); ++i) {
    const BandRows rows = rows_of(bands_.band(i));
    add_max_held(rows, most);
    input_bytes_ = std::max(input_bytes_, bytes_of(inputs(rows)));
    output_bytes_ = std::max(output_bytes_, bytes_of(outputs(rows)));
  }
  layout_ = layout_of(most);
}

BandRows DeviceBands::rows_of(const RowRange& band) const {
  BandRows rows{band, bands_.rows_of(band), {}};
  rows.held = rows.right;
  for (const Node& node : plan_.nodes_of(chain_)) {
    const Connection* const made = node.pixels_out();
    if (made == nullptr) continue;
    rows.held[made->value] = made_rows(node, rows.right[made->value]);
    if (made->alpha) rows.held[*made->alpha] = made_rows(node, rows.right[*made->alpha]);
  }
  return rows;
}

void DeviceBands::add_max_held(const BandRows& rows, std::vector<std::int64_t>& most) const {
  for (std::size_t i = 0; i < most.size(); ++i) most[i] = std::max(most[i], rows.held[i].count());
}

bool DeviceBands::is_input(ValueId value) const {
  return plan_.program.lives[value].made_at <= chain_.first && last_read(value) > chain_.first;
}

bool DeviceBands::is_output(ValueId value) const {
  const std::size_t made_at = plan_.program.lives[value].made_at;
  if (made_at <= chain_.first || made_at > chain_.end) return false;
  return plan_.is_whole(value, chain_) || (bands_.to_writer() && value == plan_.program.results.back());
}

std::size_t DeviceBands::last_read(ValueId value) const {
  std::size_t time = plan_.program.lives[value].made_at;
  for (std::size_t i = chain_.first; i < chain_.end; ++i) {
    const Connection& read = plan_.program.nodes[i].pixels_in();
    if (read.value == value || read.alpha == value) time = i + 1;
  }
  return time;
}

std::vector<BandPart> DeviceBands::inputs(const BandRows& rows) const {
  std::vector<BandPart> parts;
  for (std::size_t i = 0; i < rows.held.size(); ++i) {
    if (!is_input(i) || rows.held[i].count() == 0) continue;
    for (int plane = 0; plane < plan_.program.values[i].planes(); ++plane)
      parts.push_back({i, plane, rows.held[i]});
  }
  return parts;
}

// Returns each row once: a band's share of a whole image, or the writer's band.
std::vector<BandPart> DeviceBands::outputs(const BandRows& rows) const {
  std::vector<BandPart> parts;
  for (std::size_t i = 0; i < rows.held.size(); ++i) {
    if (!is_output(i)) continue;
    const RowRange own = bands_.own(rows.band, plan_.program.values[i].type.height);
    if (own.count() == 0) continue;
    for (int plane = 0; plane < plan_.program.values[i].planes(); ++plane) parts.push_back({i, plane, own});
  }
  return parts;
}

Shape DeviceBands::part_shape(const BandPart& part) const {
  Shape shape = plan_.program.values[part.value].plane();
  shape.height = part.rows.count();
  return shape;
}

std::int64_t DeviceBands::part_bytes(const BandPart& part) const {
  return part_shape(part).bytes();
}

DeviceBands::Layout DeviceBands::layout_of(const std::vector<std::int64_t>& max_held) const {
  std::vector<Tenant> tenants;
  for (ValueId i = 0; i < max_held.size(); ++i) {
    if (max_held[i] == 0) continue;
    const Value& value = plan_.program.values[i];
    const std::size_t there_at = std::max(plan_.program.lives[i].made_at, chain_.first);
    tenants.push_back(
        {.value = i,
         .life = {there_at, std::max(last_read(i), there_at)},
         .bytes = aligned(value.planes() * room_.rows_bytes(value.plane(), max_held[i]), kAlignment)});
  }
  Layout layout{std::vector<std::int64_t>(max_held.size())};
  for (const Place& place : place(tenants, PlaceRule::largest)) {
    for (const ValueId value : place.values) layout.offsets[value] = layout.bytes;
    layout.bytes += place.bytes;
  }
  for (const Node& node : plan_.nodes_of(chain_)) {
    if (const auto counts = node.counts_out()) {
      layout.offsets[*counts] = layout.bytes;
      layout.bytes += aligned(plan_.program.values[*counts].bytes(), kAlignment);
    }
  }
  // The nodes run one after the other and share the scratch memory.
  layout.scratch = layout.bytes;
  std::int64_t scratch = 0;
  for (const Node& node : plan_.nodes_of(chain_)) {
    if (node.needs_all_rows()) continue;  // the host makes its table
    FrameType in = node.in;
    in.height = max_held[node.pixels_in().value];
    scratch = std::max(scratch, scratch_bytes(*node.stage, in, node.parameters));
  }
  layout.bytes += aligned(scratch, kAlignment);
  return layout;
}

DeviceBytes DeviceBands::view(std::byte* memory, const BandRows& rows, const BandPart& part) const {
  const Shape plane = plan_.program.values[part.value].plane();
  const std::int64_t stride = room_.stride_bytes(plane);
  const RowRange& held = rows.held[part.value];
  const std::int64_t rows_before = part.plane * held.count() + part.rows.first - held.first;
  return {memory + layout_.offsets[part.value] + rows_before * stride, part_shape(part), stride};
}

std::byte* DeviceBands::counts(std::byte* memory, ValueId value) const {
  return memory + layout_.offsets[value];
}

// Returns the rows that a node reads for a band. A node that only counts reads the band's share.
RowRange DeviceBands::in_rows(const Node& node, const BandRows& rows) const {
  if (node.pixels_out() == nullptr) return bands_.own(rows.band, node.in.height);
  const RowRange& right = rows.right[node.pixels_out()->value];
  return right.count() == 0 ? RowRange{} : node.rows_needed(right);
}

std::optional<StageCall<Device>> DeviceBands::call(std::size_t i, std::byte* memory, const BandRows& rows,
                                                   const BandTables& tables) const {
  const Node& node = plan_.program.nodes[i];
  const RowRange in = in_rows(node, rows);
  if (in.count() == 0) return std::nullopt;
  auto call = stage_call<Device>(
      plan_.program, node,
      [&](ValueId value, int plane) {
        return view(memory, rows, {value, plane, in});
      },
      [&](ValueId value) { return node.counts_out() == value ? counts(memory, value) : tables[value]; },
      [&](ValueId value, int plane) {
        return view(memory, rows, {value, plane, rows.held[value]});
      });
  if (node.stage->by_row) {
    call.in_top = in.first;
    call.out_top = rows.held[node.pixels_out()->value].first;
  } else {
    call.in.type.height = in.count();
    call.out.type.height = in.count();
  }
  call.scratch = memory + layout_.scratch;
  return call;
}

std::int64_t table_room(std::int64_t bytes) {
  return aligned(bytes, kAlignment);
}

std::vector<ValueId> tables_read_by(const ChainedPlan& plan, const Chain& chain) {
  std::vector<ValueId> tables;
  for (const Node& node : plan.nodes_of(chain)) {
    for (const auto& table : {node.table_in(), node.counts_in()}) {
      if (table) tables.push_back(*table);
    }
  }
  return tables;
}

std::int64_t table_bytes(const ChainedPlan& plan, const Chain& chain) {
  std::int64_t bytes = 0;
  for (const ValueId table : tables_read_by(plan, chain))
    bytes += table_room(plan.program.values[table].bytes());
  return bytes;
}

// Finds the tallest bands that fit into memory.
class DeviceCutter {
 public:
  DeviceCutter(const ChainedPlan& plan, const Chain& chain, const Writer* writer, const DeviceCapacity& room)
      : plan_(plan), chain_(chain), writer_(writer), room_(room), sample_(bands_of(max_rows(1))) {}

  DeviceCut cut(std::size_t slots_wanted) const {
    const std::int64_t room = room_.bytes - table_bytes(plan_, chain_);
    std::optional<DeviceCut> found;
    for (std::size_t slots = slots_wanted; slots > 0; --slots) {
      if (found && (slots < kGoodSlots || is_good(found->bands.bands()))) break;
      const std::int64_t rows = max_rows_within(slots, room / static_cast<std::int64_t>(slots));
      if (rows == 0 || (found && rows <= found->bands.bands().rows())) continue;
      std::optional<DeviceCut> made = exact_cut(slots, rows, room);
      if (made) found.emplace(std::move(*made));
    }
    if (found) return std::move(*found);
    throw Error(ErrorKind::memory, "not enough device memory: bands of one row take " +
                                       std::to_string(estimated_bytes(1) + room_.bytes - room) + " bytes, " +
                                       std::to_string(room_.bytes) + " are allowed");
  }

 private:
  [[nodiscard]] DeviceBands bands_of(std::int64_t rows) const {
    return {plan_, chain_, BandPlan::of_rows(plan_, chain_, writer_, rows), room_};
  }

  [[nodiscard]] std::int64_t max_rows(std::size_t slots) const {
    const std::int64_t bytes =
        std::clamp(kBytesOnTheirWay / static_cast<std::int64_t>(slots), kMinBandBytes, kMaxDeviceBandBytes);
    const BandPlan one = BandPlan::of_rows(plan_, chain_, writer_, kMaxSide);
    // An image that would fit into few bands is divided further, so that copies and stages overlap.
    const std::int64_t share = one.height() / (2 * static_cast<std::int64_t>(slots)) + 1;
    return std::clamp<std::int64_t>(bytes / one.row_bytes(), 1, std::max(share, kGoodRows));
  }

  [[nodiscard]] static bool is_good(const BandPlan& bands) {
    return bands.rows() >= kGoodRows || bands.rows() >= bands.height();
  }

  // Estimates a band's bytes from the first, the middle and the last band.
  [[nodiscard]] std::int64_t estimated_bytes(std::int64_t rows) const {
    const std::int64_t height = sample_.bands().height();
    std::vector<std::int64_t> most(plan_.program.values.size());
    for (const std::int64_t first : {std::int64_t{0}, (height - rows) / 2, height - rows}) {
      const std::int64_t from = std::max<std::int64_t>(0, first);
      sample_.add_max_held(sample_.rows_of({from, std::min(height, from + rows)}), most);
    }
    return sample_.layout_of(most).bytes;
  }

  [[nodiscard]] std::int64_t max_rows_within(std::size_t slots, std::int64_t bytes) const {
    std::int64_t low = 0;
    std::int64_t high = max_rows(slots) + 1;
    while (high - low > 1) {
      const std::int64_t middle = low + (high - low) / 2;
      (estimated_bytes(middle) <= bytes ? low : high) = middle;
    }
    return low;
  }

  // Returns bands of at most `rows` rows whose exact size fits. A band may hold one or two rows more than
  // estimated_bytes() assumed.
  [[nodiscard]] std::optional<DeviceCut> exact_cut(std::size_t slots, std::int64_t rows,
                                                   std::int64_t room) const {
    for (; rows > 0; rows -= 1 + rows / 16) {
      DeviceCut cut{bands_of(rows), slots};
      const auto pieces = static_cast<std::size_t>(cut.bands.bands().pieces());
      cut.slots = std::min(slots, pieces);
      if (cut.bands.bytes() * static_cast<std::int64_t>(cut.slots) <= room) return cut;
    }
    return std::nullopt;
  }

  const ChainedPlan& plan_;
  const Chain& chain_;
  const Writer* writer_;
  const DeviceCapacity& room_;
  const DeviceBands sample_;
};

DeviceCut cut_for_device(const ChainedPlan& plan, const Chain& chain, const Writer* writer,
                         const DeviceCapacity& room, std::size_t slots_wanted) {
  return DeviceCutter(plan, chain, writer, room).cut(slots_wanted);
}

}  // namespace imgpipe
