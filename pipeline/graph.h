// A plan as a graph: nodes, the values that they make and read, and the lifetime of each value. Engines
// execute nodes by index. Engines and memory estimates use it for alpha, histograms and freeing of memory.
//
//   node          gray          hist    ranges    contrast      merge
//   pixels    0 --------> 1 ------------------------------> 4 ----------> 5
//   alpha                 2 --------------------------------------------> (colour only: it passes contrast)
//   counts                            3 ------>
//   table                                     6 ---->
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "kernels/stage.h"
#include "pipeline/plan.h"

namespace imgpipe {

using ValueId = std::size_t;

struct Value {
  ValueKind kind = ValueKind::pixels;
  FrameType type;  // of the frame that the pixels or alpha belong to, or that the counts or table are for
  std::int64_t table_bytes = 0;
  // A table that depends only on type and parameters; made with the plan.
  std::shared_ptr<const std::vector<std::byte>> constant{};

  // The number of planes, and the shape of each. An interleaved frame has one, with all channels and alpha;
  // counts and tables have none.
  [[nodiscard]] int planes() const;
  [[nodiscard]] bool is_image() const { return planes() > 0; }
  [[nodiscard]] Shape plane() const;
  // The size without padding; 8 bytes per count.
  [[nodiscard]] std::int64_t bytes() const;
};

// The value at a port, and the alpha plane read or written with it.
struct Connection {
  ValueKind kind = ValueKind::pixels;
  ValueId value = 0;
  std::optional<ValueId> alpha{};
};

// An operation of the plan, several fused ones, or an operation that makes a table for either. Where it
// processes an interleaved frame as one plane (is_one_plane()), `in` and `out` are that plane. With
// Target::interleaved they may be interleaved where the plan's operation is planar.
struct Node : Operation {
  std::vector<Connection> inputs{}, outputs{};  // all that the target's kernel reads and writes
  Connection after{};                           // the frame after the node
  bool by_decoder = false;                      // the decoder performs it; the node reads no values

  // Not for nodes that make a table.
  [[nodiscard]] const Connection& pixels_in() const { return inputs.front(); }
  // nullptr if the node makes no pixels.
  [[nodiscard]] const Connection* pixels_out() const {
    return makes_pixels(*stage) ? &outputs.front() : nullptr;
  }
  [[nodiscard]] std::optional<ValueId> counts_in() const { return value_of(inputs, ValueKind::counts); }
  [[nodiscard]] std::optional<ValueId> counts_out() const { return value_of(outputs, ValueKind::counts); }
  [[nodiscard]] std::optional<ValueId> table_in() const { return value_of(inputs, ValueKind::table); }
  [[nodiscard]] std::optional<ValueId> table_out() const { return value_of(outputs, ValueKind::table); }

  [[nodiscard]] bool needs_all_rows() const { return imgpipe::needs_all_rows(*stage, parameters); }
  [[nodiscard]] RowRange rows_needed(RowRange of) const {
    return imgpipe::rows_needed(*stage, in, parameters, of);
  }
  [[nodiscard]] std::int64_t bytes_moved() const { return imgpipe::bytes_moved(*stage, in, out); }

 private:
  static std::optional<ValueId> value_of(std::span<const Connection> all, ValueKind kind) {
    const auto used = std::ranges::find(all, kind, &Connection::kind);
    return used == all.end() ? std::nullopt : std::optional(used->value);
  }
};

struct Graph {
  std::vector<Value> values;     // the decoded image first, as the reader gives it
  std::vector<Node> nodes;       // in execution order
  std::vector<ValueId> results;  // in the order of Plan::results; each has one plane
  std::vector<ValueId> counts;   // all counts
};

// Times: the image is decoded at 0, and node i runs at i + 1. The last result is encoded after the last node;
// counts live until then, and the other results live longer.
struct Lifetime {
  std::size_t made_at = 0, last_read_at = 0;
};

struct Program : Graph {
  std::vector<Lifetime> lives;  // by ValueId

  // The step that makes a value; not for the decoded image.
  [[nodiscard]] std::size_t step_of(ValueId value) const { return nodes[lives[value].made_at - 1].step; }
};

// The kind of engine that executes a program.
struct Target {
  Backend backend = Backend::reference;
  bool fuses = false;      // runs a fused step as one node, not as one per operation
  bool in_bands = false;   // bands of rows: the host makes tables and runs nodes that need all rows
  bool decodes = false;    // the decoder performs the first operations, if a row of fusion_table() lists them
  bool grey_rows = false;  // the reader performs the first operation, gray: the decoded image is its result
  // The CPU's kernels process interleaved RGB, without split* and merge*, where all steps between these two
  // can (is_interleaved_on_cpu()).
  bool interleaved = false;
};
inline constexpr Target kReferenceTarget{Backend::reference}, kCpuTarget{Backend::cpu},
    kCpuInterleavedTarget{.backend = Backend::cpu, .interleaved = true};
inline constexpr Target kCudaTarget{.backend = Backend::cuda, .fuses = true},
    kCudaDecodingTarget{.backend = Backend::cuda, .fuses = true, .decodes = true},
    kCudaBandsTarget{.backend = Backend::cuda, .in_bands = true};

// Values that are kept after the last node.
struct Keep {
  bool source = false;   // the decoded image
  bool outputs = false;  // every image except the decoded one
};

// Converts a plan to the nodes that the target runs. If the target's kernel reads a table, inserts a node
// that makes it (table_maker()), with the same step, unless the table is constant. With Target::interleaved,
// omits a split* and its merge* if no step in between needs planes.
[[nodiscard]] Program lower(const Plan& plan, const Target& target, const Keep& keep = {});

// A value that needs memory. Tenants with a `plane` share memory only with planes of that shape; heights may
// differ.
struct Tenant {
  ValueId value = 0;
  Lifetime life{};
  std::int64_t bytes = 0;
  Shape plane{};
  int planes = 1;
};

// Memory for values with disjoint lifetimes: as many bytes as the largest needs, and as many rows as the
// tallest.
struct Place {
  std::int64_t bytes = 0;
  Shape plane{};
  int planes = 1;
  std::vector<ValueId> values{};
  std::size_t free_after = 0;  // the time of the last read
};

// The free place that a value reuses: the first, or the largest, which needs to grow least. If none is free,
// the value gets a new place.
enum class PlaceRule : std::uint8_t { first, largest };

[[nodiscard]] std::vector<Place> place(const std::vector<Tenant>& tenants, PlaceRule rule);

// Returns a frame with its planes, as arguments of a stage: pixels, then alpha if it has a separate plane.
template <class Byte, class Where, class PlaneOf>
[[nodiscard]] Frame<Byte, Where> frame_of(const Graph& graph, const Connection& connection,
                                          const PlaneOf& plane) {
  const Value& value = graph.values[connection.value];
  Frame<Byte, Where> frame{value.type, {}};
  // The stage does not see alpha that bypasses it.
  if (value.type.layout == Layout::planar) frame.type.alpha = connection.alpha.has_value();
  for (int i = 0; i < value.planes(); ++i)
    frame.planes[static_cast<std::size_t>(i)] = plane(connection.value, i);
  if (connection.alpha) frame.planes[kAlphaPlane] = plane(*connection.alpha, 0);
  return frame;
}

}  // namespace imgpipe
