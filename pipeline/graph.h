// A plan as a graph: nodes, and the values that they make and read, with how long each value lives. Engines
// execute nodes by index; they and the estimates ask here about alpha, histograms and what may be freed.
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
  FrameType type;  // the frame that it is, is part of, was counted in, or has the table
  std::int64_t table_bytes = 0;
  // A table that depends on type and parameters alone: made with the plan.
  std::shared_ptr<const std::vector<std::byte>> constant{};

  // Planes, and the shape of each: an interleaved frame has one with all channels, alpha included. Counts
  // and tables have none.
  [[nodiscard]] int planes() const;
  [[nodiscard]] bool is_image() const { return planes() > 0; }
  [[nodiscard]] Shape plane() const;
  // Without padding. Counts have 8 bytes each.
  [[nodiscard]] std::int64_t bytes() const;
};

// A port's value, and the alpha plane that is read or written with it.
struct Connection {
  ValueKind kind = ValueKind::pixels;
  ValueId value = 0;
  std::optional<ValueId> alpha{};
};

// A stage at work on one frame: a step, a part of a fused step, or an operator that makes a table for one.
struct Node {
  const Stage* stage = nullptr;
  std::array<Parameters, 2> parameters{};       // [1]: of a fused stage's second part
  FrameType in{}, out{};                        // as Step has them
  std::vector<Connection> inputs{}, outputs{};  // those that the target's kernel reads, and all that it makes
  Connection after{};                           // the frame after the node
  std::size_t step = 0;                         // of the plan: whose label and row its time goes to

  // Of a step.
  [[nodiscard]] const Connection& pixels_in() const { return inputs.front(); }
  // nullptr: it makes none.
  [[nodiscard]] const Connection* pixels_out() const {
    return makes_pixels(*stage) ? &outputs.front() : nullptr;
  }
  [[nodiscard]] std::optional<ValueId> counts_in() const { return value_of(inputs, ValueKind::counts); }
  [[nodiscard]] std::optional<ValueId> counts_out() const { return value_of(outputs, ValueKind::counts); }
  [[nodiscard]] std::optional<ValueId> table_in() const { return value_of(inputs, ValueKind::table); }
  [[nodiscard]] std::optional<ValueId> table_out() const { return value_of(outputs, ValueKind::table); }

  [[nodiscard]] bool needs_all_rows() const { return imgpipe::needs_all_rows(*stage, parameters[0]); }
  [[nodiscard]] RowRange rows_needed(RowRange of) const {
    return imgpipe::rows_needed(*stage, in, parameters[0], of);
  }
  [[nodiscard]] std::int64_t bytes_moved() const { return imgpipe::bytes_moved(*stage, in, out); }

 private:
  static std::optional<ValueId> value_of(std::span<const Connection> all, ValueKind kind) {
    const auto used = std::ranges::find(all, kind, &Connection::kind);
    return used == all.end() ? std::nullopt : std::optional(used->value);
  }
};

struct Graph {
  std::vector<Value> values;     // the decoded image first
  std::vector<Node> nodes;       // in execution order
  std::vector<ValueId> results;  // the plan's finished images, each one plane
  std::vector<ValueId> counts;   // all of them
};

// Times: the image is decoded at 0, node i runs at i + 1, and the last result is encoded after all nodes.
// Counts live until then; the other results live longer.
struct Lifetime {
  std::size_t made_at = 0, last_read_at = 0;
};

// A graph with the lifetimes of its values.
struct Program : Graph {
  std::vector<Lifetime> lives;  // by value

  // The step that makes a value, of a node.
  [[nodiscard]] std::size_t step_of(ValueId value) const { return nodes[lives[value].made_at - 1].step; }
};

// What executes a program.
struct Target {
  Backend backend = Backend::reference;
  bool fuses = false;     // runs a fused step as one node, not as the nodes of its parts
  bool in_bands = false;  // of rows: tables, and nodes that need all rows, are left to the host
};
inline constexpr Target kReferenceTarget{Backend::reference}, kCpuTarget{Backend::cpu};
inline constexpr Target kCudaTarget{Backend::cuda, true}, kCudaBandsTarget{Backend::cuda, false, true};

// Values that are kept after the last node.
struct Keep {
  bool source = false;   // the decoded image
  bool outputs = false;  // every image except the decoded one
};

// Where the target's kernel reads a table the table's operator becomes a node before it, with the same step,
// unless the table is a constant (table_maker()).
[[nodiscard]] Program lower(const Plan& plan, const Target& target, const Keep& keep = {});

// A value to place: its lifetime and size. Tenants with a `plane` share memory only with planes of that
// shape, whatever their height.
struct Tenant {
  ValueId value = 0;
  Lifetime life{};
  std::int64_t bytes = 0;
  Shape plane{};
  int planes = 1;
};

// Memory for values that live one after the other: the bytes of the largest, the rows of the highest.
struct Place {
  std::int64_t bytes = 0;
  Shape plane{};
  int planes = 1;
  std::vector<ValueId> values{};
  std::size_t free_after = 0;  // when the last of them was last read
};

// The free place that a value reuses: the first, or the largest, which grows least. A value gets a new place
// if none is free.
enum class PlaceRule : std::uint8_t { first, largest };

[[nodiscard]] std::vector<Place> place(const std::vector<Tenant>& tenants, PlaceRule rule);

// The planes of a frame, as stages are called with them: of pixels, then alpha where it has a plane of its
// own.
template <class Byte, class Where, class PlaneOf>
[[nodiscard]] Frame<Byte, Where> frame_of(const Graph& graph, const Connection& connection,
                                          const PlaneOf& plane) {
  const Value& value = graph.values[connection.value];
  Frame<Byte, Where> frame{value.type, {}};
  // Alpha that is not handed on does not belong to the frame.
  if (value.type.layout == Layout::planar) frame.type.alpha = connection.alpha.has_value();
  for (int i = 0; i < value.planes(); ++i)
    frame.planes[static_cast<std::size_t>(i)] = plane(connection.value, i);
  if (connection.alpha) frame.planes[kAlphaPlane] = plane(*connection.alpha, 0);
  return frame;
}

}  // namespace imgpipe
