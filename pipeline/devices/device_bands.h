// A chain's bands in the memory of a device: where the rows of each value lie, which rows go up and come
// down, and what the stages' functions are called with.
//
// A device's functions take whole frames. So the rows of a band, and those around them that a stage needs,
// are handed over as an image of their own, and what comes out of it is right where all that is around was
// there:
//
//   rows of the image      first-2 | first ................ end | end+2
//   smooth gets            an image of end - first + 4 rows
//   smooth makes           wrong   | right                      | wrong: nobody reads it
//
// At the image's own ends there is nothing around, and the border is the image's. A stage that counts rows
// (Stage::by_row) is told which they are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "kernels/stage_call.h"
#include "pipeline/chains.h"

namespace imgpipe {

using DeviceBytes = View<std::byte, Device>;

// What bands may take of a device, and how rows lie in it.
struct DeviceRoom {
  std::int64_t bytes = 0;                                // for all bands and the tables of a chain
  std::int64_t (*stride_bytes)(const Shape&) = nullptr;  // from one row of a plane to the next
  [[nodiscard]] std::int64_t rows_bytes(Shape plane, std::int64_t rows) const {
    return stride_bytes(plane) * rows;
  }
};

// Rows of one plane of a value.
struct BandPart {
  ValueId value = 0;
  int plane = 0;
  RowRange rows;
};

// The rows of a band, by value: those whose samples are correct after the nodes, and those that are held.
struct BandRows {
  RowRange band;
  std::vector<RowRange> right, held;
};

// What a chain reads that is the same for all bands, by value: tables, and counts of the whole image.
// nullptr: it does not read the value.
using BandTables = std::vector<std::byte*>;

class DeviceBands {
 public:
  // `bands` of this chain, which has nodes. `plan` must outlive it.
  DeviceBands(const ChainedPlan& plan, const Chain& chain, const BandPlan& bands, const DeviceRoom& room);

  [[nodiscard]] const ChainedPlan& plan() const { return plan_; }
  [[nodiscard]] const Chain& chain() const { return chain_; }
  [[nodiscard]] const BandPlan& bands() const { return bands_; }

  [[nodiscard]] BandRows rows_of(const RowRange& band) const;
  // What nodes read that none of them makes; what is read of theirs after the chain.
  [[nodiscard]] std::vector<BandPart> inputs(const BandRows& rows) const;
  [[nodiscard]] std::vector<BandPart> outputs(const BandRows& rows) const;
  // The most bytes of them that a band has on the host, part after part, each from a multiple of
  // kPartAlignment on.
  [[nodiscard]] std::int64_t input_bytes() const { return input_bytes_; }
  [[nodiscard]] std::int64_t output_bytes() const { return output_bytes_; }
  static constexpr std::int64_t kPartAlignment = 64;
  [[nodiscard]] std::int64_t part_bytes(const BandPart& part) const;
  [[nodiscard]] Shape part_shape(const BandPart& part) const;

  // One band's memory on the device.
  [[nodiscard]] std::int64_t bytes() const { return layout_.bytes; }
  // In such memory: rows that are held.
  [[nodiscard]] DeviceBytes view(std::byte* memory, const BandRows& rows, const BandPart& part) const;
  // The counters that a node of the chain writes, this band's alone.
  [[nodiscard]] std::byte* counts(std::byte* memory, ValueId value) const;
  // The call of a node of the chain; none where the band has nothing for it.
  [[nodiscard]] std::optional<StageCall<Device>> call(std::size_t node, std::byte* memory,
                                                      const BandRows& rows, const BandTables& tables) const;

 private:
  friend class DeviceCutter;
  struct Layout {
    std::vector<std::int64_t> offsets;  // by value
    std::int64_t bytes = 0;
  };
  // For at most so many rows of each value.
  [[nodiscard]] Layout layout_of(const std::vector<std::int64_t>& max_held) const;
  void add_max_held(const BandRows& rows, std::vector<std::int64_t>& most) const;
  // Nodes' times within the chain, as in Lifetime: when a value is there, and when it was last read.
  [[nodiscard]] bool is_input(ValueId value) const;
  [[nodiscard]] bool is_output(ValueId value) const;
  [[nodiscard]] std::size_t last_read(ValueId value) const;
  [[nodiscard]] RowRange in_rows(const Node& node, const BandRows& rows) const;

  const ChainedPlan& plan_;
  const Chain chain_;
  const BandPlan bands_;
  const DeviceRoom room_;
  Layout layout_;
  std::int64_t input_bytes_ = 0, output_bytes_ = 0;
};

// How a chain is cut for a device: as many bands on their way as are wanted, or fewer where they would become
// very low.
struct DeviceCut {
  DeviceBands bands;
  std::size_t slots = 1;
};
// Throws Error(memory) where a band of one row has no room.
[[nodiscard]] DeviceCut cut_for_device(const ChainedPlan& plan, const Chain& chain, const Writer* writer,
                                       const DeviceRoom& room, std::size_t slots_wanted);

// All that a device queues for a band, in the order in which it is to happen: a place that a node does not
// read any more is written by a later one. `inputs` and `outputs` are the host's rows, in the order of
// DeviceBands::inputs() and outputs(). Of `queue` it calls:
//   upload(to, from), download(to, from)     rows
//   launch(node, call)
//   counts(node, from)                       the counters after a node; nullptr: it had nothing to count
template <class Queue>
void queue_band(const DeviceBands& bands, std::byte* memory, const BandRows& rows, const BandTables& tables,
                std::span<const ConstHostView> inputs, std::span<const HostView> outputs, Queue&& queue) {
  const std::vector<BandPart> up = bands.inputs(rows);
  const std::vector<BandPart> down = bands.outputs(rows);
  const Program& program = bands.plan().program;
  for (std::size_t i = 0; i < up.size(); ++i) queue.upload(bands.view(memory, rows, up[i]), inputs[i]);
  for (std::size_t node = bands.chain().first; node < bands.chain().end; ++node) {
    const auto call = bands.call(node, memory, rows, tables);
    if (call) queue.launch(node, *call);
    if (const auto counts = program.nodes[node].counts_out())
      queue.counts(node, call ? bands.counts(memory, *counts) : nullptr);
    for (std::size_t i = 0; i < down.size(); ++i) {
      if (program.lives[down[i].value].made_at == node + 1)
        queue.download(outputs[i], bands.view(memory, rows, down[i]));
    }
  }
}

// What a table of so many bytes takes on a device.
[[nodiscard]] std::int64_t table_room(std::int64_t bytes);
// The tables and counts that the nodes of a chain read.
[[nodiscard]] std::vector<ValueId> tables_read_by(const ChainedPlan& plan, const Chain& chain);
// On a device.
[[nodiscard]] std::int64_t table_bytes(const ChainedPlan& plan, const Chain& chain);

}  // namespace imgpipe
