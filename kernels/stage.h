// A stage is data: one row of the table in stages.cpp. A step is a stage with parameters, at work on frames
// of a type.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "kernels/backend.h"
#include "kernels/parameters.h"
#include "kernels/stage_call.h"

namespace imgpipe {

// A stage's function for one backend and types of samples: the member of that backend.
struct Kernel {
  Backend backend = Backend::reference;
  Sample in = Sample::u8, out = Sample::u8;
  // Sequential, written to be read; the truth that the others are held against.
  void (*reference)(const StageCall<Host>&) = nullptr;
  // SIMD, on the calling thread, for the rows of a band. Bands of one image may be made at once by several
  // threads. A stage that counts adds the band's counts to what is in `histogram`.
  void (*cpu)(const StageCall<Host>&, const Band&) = nullptr;
  // On a CUDA device, asynchronously; nullptr in a build without CUDA.
  CudaStatus (*cuda)(const StageCall<Device>&, const CudaLaunch&) = nullptr;
};

enum class ValueKind : std::uint8_t { pixels, alpha, counts, table };

struct Stage;
struct Port {
  std::string_view name = "image";
  ValueKind kind = ValueKind::pixels;
  // Of an image. nullopt: either; the output has the input's.
  std::optional<Layout> layout = Layout::planar;
  // Whether the stage gets alpha too. Otherwise alpha bypasses it (passes_alpha()), and the output has the
  // input's size.
  bool alpha = false;
  const Stage* made_by = nullptr;                // of a table: its operator, which is no step
  bool (*is_read)(const Parameters&) = nullptr;  // nullptr: always
};
inline constexpr std::array kColorPlanes{Port{}};

// The values that a stage reads and makes, the image first. Where it makes no image, the next step gets the
// frame that this one got. It reads the counts of its input, and makes those of the frame after it.
struct Ports {
  std::span<const Port> in = kColorPlanes, out = kColorPlanes;
};

// What a stage does to an image: other values, the same in another layout, or whole pixels move, alpha with
// them, each at most once: some are left out, or all change places.
enum class Effect : std::uint8_t { values, layout, cuts, turns };

struct Stage {
  std::string_view name = {};     // as --stages takes it and the report shows it; empty: it is no step
  std::string_view summary = {};  // for --help
  std::span<const Parameter> parameters = {};
  bool selectable = true;  // by --stages; the planner inserts the others
  Ports ports{};
  Effect effect = Effect::values;
  // Its first four parameters are the width, height, x and y of a rectangle: --stages also takes, and reports
  // show, one text for them, 640x480+10+20, or 640x480 where x and y are preset.
  bool takes_rectangle = false;
  // What it makes of a row depends on the row's number in the image: a device is told it (StageCall::in_top).
  // Of all others rows that are handed over as an image of their own become the same, but for those whose
  // needs() reach beyond it.
  bool by_row = false;

  // What is wrong with values that are each allowed, in words; empty: nothing. nullptr: nothing ever is.
  std::string_view (*problem)(const Parameters&) = nullptr;
  // Why the step would change nothing in a frame of this type, in words: it is then left out. Empty: it is
  // needed.
  std::string_view (*skip_reason)(const FrameType& in, const Parameters&) = nullptr;
  // Sets `out`, initialised to `in`, to the output's type; the planner sets the layout. Returns why the stage
  // rejects frames of this type; empty: it accepts them. nullptr: it accepts all, and keeps their type.
  std::string_view (*infer)(const FrameType& in, const Parameters&, FrameType& out) = nullptr;
  // Which rows of the input these rows of the output need; neither end falls as the output's rise. nullptr:
  // the same.
  RowRange (*needs)(const FrameType& in, const Parameters&, RowRange out) = nullptr;
  // Whether each row of the output may need any row of the input: needs() is not asked then. nullptr: never.
  bool (*needs_all_rows)(const Parameters&) = nullptr;
  // Of an operator that makes a table of counts, of pixels or, without a port in, of type and parameters
  // alone: its size, and how many parts of it several threads may make at one time. nullptr: one.
  std::int64_t (*table_bytes)(const FrameType& in, const Parameters&) = nullptr;
  std::int64_t (*table_parts)(const FrameType& in, const Parameters&) = nullptr;
  // Memory that its kernels need on a device (StageCall::scratch). nullptr: none.
  std::int64_t (*scratch_bytes)(const FrameType& in, const Parameters&) = nullptr;

  // Those of a fused stage (Fusion::as) are for CUDA only.
  std::span<const Kernel> kernels = {};
};

// Stages in sequence that a device runs in one pass over memory. The host runs them one by one.
struct Fusion {
  std::span<const std::string_view> stages;
  // Runs in their place, with their parameters one after another. nullptr: the last kernel of the device's
  // decoder does their work.
  const Stage* as = nullptr;
  Sample sample = Sample::u8;  // of all their frames
};

// Every stage that can be a step. The only list of stage names.
[[nodiscard]] std::span<const Stage> stage_table();

// Longer rows come first.
[[nodiscard]] std::span<const Fusion> fusion_table();

// nullptr when there is none of that name.
[[nodiscard]] const Stage* find_stage(std::string_view name);

// nullptr if the stage has no kernel for these types.
[[nodiscard]] const Kernel* find_kernel(const Stage& stage, Backend backend, Sample in, Sample out);
// Makes a whole table on the calling thread; `maker` is its operator.
[[nodiscard]] std::vector<std::byte> make_table(const Stage& maker, StageCall<Host> call);

// Call the kernel for the types of the call's frames. The stage must have one.
void run_reference(const Stage& stage, const StageCall<Host>& call);
void run_cpu(const Stage& stage, const StageCall<Host>& call, const Band& band);
[[nodiscard]] CudaStatus run_cuda(const Stage& stage, const StageCall<Device>& call,
                                  const CudaLaunch& launch);

// nullptr: there is none of that kind.
[[nodiscard]] constexpr const Port* find_port(std::span<const Port> ports, ValueKind kind) {
  const auto port = std::ranges::find(ports, kind, &Port::kind);
  return port == ports.end() ? nullptr : &*port;
}
[[nodiscard]] constexpr bool reads_pixels(const Stage& stage) {
  return find_port(stage.ports.in, ValueKind::pixels) != nullptr;
}
[[nodiscard]] constexpr bool makes_pixels(const Stage& stage) {
  return find_port(stage.ports.out, ValueKind::pixels) != nullptr;
}
[[nodiscard]] constexpr bool makes_counts(const Stage& stage) {
  return find_port(stage.ports.out, ValueKind::counts) != nullptr;
}
[[nodiscard]] bool reads_counts(const Stage& stage, const Parameters& parameters);
// The operator of the table that the backend's kernel for these types reads. nullptr: it reads none. It reads
// a table where the operator has a kernel for the same backend, else what the table is made of.
[[nodiscard]] const Stage* table_maker(const Stage& stage, const Parameters& parameters, Backend backend,
                                       Sample in, Sample out);
[[nodiscard]] bool needs_all_rows(const Stage& stage, const Parameters& parameters);
// The type of the frame after a step: what it makes, or, where it writes no pixels, what it got.
[[nodiscard]] FrameType output_type(const Stage& stage, const FrameType& in, const Parameters& parameters);
// The rows of the input that rows of the output need; inside the input.
[[nodiscard]] RowRange rows_needed(const Stage& stage, const FrameType& in, const Parameters& parameters,
                                   RowRange out);
// Of the table that kernels of the stage read, or make by themselves.
[[nodiscard]] std::int64_t table_bytes(const Stage& stage, const FrameType& in, const Parameters& parameters);
// Of a table that the operator makes.
[[nodiscard]] std::int64_t table_parts(const Stage& maker, const FrameType& in, const Parameters& parameters);
[[nodiscard]] std::int64_t scratch_bytes(const Stage& stage, const FrameType& in,
                                         const Parameters& parameters);

// Whether alpha goes past a step untouched: it is in both frames where they have samples of other types.
[[nodiscard]] constexpr bool passes_alpha(const Stage& stage, const FrameType& in, const FrameType& out) {
  return !stage.ports.in.front().alpha && in.sample == out.sample;
}

// Bytes that a step must read and write, each sample once; what GB/s in the report is based on.
[[nodiscard]] std::int64_t bytes_moved(const Stage& stage, const FrameType& in, const FrameType& out);

}  // namespace imgpipe
