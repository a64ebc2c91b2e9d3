// A chain's bands in device memory: the offsets of each value's rows, the rows to upload and to download, and
// the arguments of the stages' functions.
//
// A device's functions take whole frames. The rows of a band, and the neighbouring rows that a stage needs,
// are therefore passed as a separate image. Its output is correct wherever all neighbours were present:
//
//   rows of the image      first-2 | first ................ end | end+2
//   smooth gets            an image of end - first + 4 rows
//   smooth makes           wrong   | right                      | wrong: never read
//
// At the top and bottom of the image the stage applies its border as usual. Stages that depend on the row
// number (Stage::by_row) get it as a parameter.
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

// The device memory that bands may take, and the stride of rows in it.
struct DeviceCapacity {
  std::int64_t bytes = 0;                                // for all bands and tables of a chain
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

// The rows of a band, by ValueId: `right` are correct after the nodes have run, `held` are in memory.
struct BandRows {
  RowRange band;
  std::vector<RowRange> right, held;
};

// The tables, and the counts of the whole image, that the bands of a chain read, by ValueId; nullptr for
// other values.
using BandTables = std::vector<std::byte*>;

class DeviceBands {
 public:
  // `bands` divides `chain`, which must have nodes; `plan` must outlive this.
  DeviceBands(const ChainedPlan& plan, const Chain& chain, const BandPlan& bands, const DeviceCapacity& room);

  [[nodiscard]] const ChainedPlan& plan() const { return plan_; }
  [[nodiscard]] const Chain& chain() const { return chain_; }
  [[nodiscard]] const BandPlan& bands() const { return bands_; }

  [[nodiscard]] BandRows rows_of(const RowRange& band) const;
  // The parts to upload: read by the nodes, but made before the chain. The parts to download: made by the
  // nodes, and read after the chain.
  [[nodiscard]] std::vector<BandPart> inputs(const BandRows& rows) const;
  [[nodiscard]] std::vector<BandPart> outputs(const BandRows& rows) const;
  // The maximum bytes of a band's inputs or outputs on the host, each part aligned to kPartAlignment.
  [[nodiscard]] std::int64_t input_bytes() const { return input_bytes_; }
  [[nodiscard]] std::int64_t output_bytes() const { return output_bytes_; }
  static constexpr std::int64_t kPartAlignment = 64;
  [[nodiscard]] std::int64_t part_bytes(const BandPart& part) const;
  [[nodiscard]] Shape part_shape(const BandPart& part) const;

  // The device memory of one band.
  [[nodiscard]] std::int64_t bytes() const { return layout_.bytes; }
  // Returns a view of rows that the band holds. `memory`: the band's memory, of bytes() bytes.
  [[nodiscard]] DeviceBytes view(std::byte* memory, const BandRows& rows, const BandPart& part) const;
  // The counters that a node of the chain writes, for this band only.
  [[nodiscard]] std::byte* counts(std::byte* memory, ValueId value) const;
  // The call of a node of the chain; none if the band has no rows for it.
  [[nodiscard]] std::optional<StageCall<Device>> call(std::size_t node, std::byte* memory,
                                                      const BandRows& rows, const BandTables& tables) const;

 private:
  friend class DeviceCutter;
  struct Layout {
    std::vector<std::int64_t> offsets;  // by ValueId
    std::int64_t scratch = 0;           // offset of the memory of StageCall::scratch
    std::int64_t bytes = 0;
  };
  // `max_held`: the maximum number of rows that a band holds, by ValueId.
  [[nodiscard]] Layout layout_of(const std::vector<std::int64_t>& max_held) const;
  void add_max_held(const BandRows& rows, std::vector<std::int64_t>& most) const;
  [[nodiscard]] bool is_input(ValueId value) const;
  [[nodiscard]] bool is_output(ValueId value) const;
  // The time of the last node of this chain that reads the value (Lifetime).
  [[nodiscard]] std::size_t last_read(ValueId value) const;
  [[nodiscard]] RowRange in_rows(const Node& node, const BandRows& rows) const;

  const ChainedPlan& plan_;
  const Chain chain_;
  const BandPlan bands_;
  const DeviceCapacity room_;
  Layout layout_;
  std::int64_t input_bytes_ = 0, output_bytes_ = 0;
};

// The bands of a chain on a device, and how many are in progress at one time.
struct DeviceCut {
  DeviceBands bands;
  std::size_t slots = 1;
};
// Uses fewer slots than requested if bands would otherwise have very few rows. Throws Error(memory) if memory
// does not suffice for bands of one row.
[[nodiscard]] DeviceCut cut_for_device(const ChainedPlan& plan, const Chain& chain, const Writer* writer,
                                       const DeviceCapacity& room, std::size_t slots_wanted);

// Queues the work of a band. It must run in this order, because later nodes reuse memory that earlier nodes
// have read. `inputs` and `outputs` are host rows in the order of DeviceBands::inputs() and outputs(). Calls
// on `queue`:
//   upload(to, from), download(to, from)     rows
//   launch(node, call)
//   counts(node, from)                       the counters after a node; nullptr: it had no rows to count
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

// Returns the device memory for a table of `bytes` bytes, including alignment.
[[nodiscard]] std::int64_t table_room(std::int64_t bytes);
// Returns the tables and counts that the nodes of a chain read.
[[nodiscard]] std::vector<ValueId> tables_read_by(const ChainedPlan& plan, const Chain& chain);
// Returns the device memory for all tables and counts that the nodes of a chain read.
[[nodiscard]] std::int64_t table_bytes(const ChainedPlan& plan, const Chain& chain);

}  // namespace imgpipe
