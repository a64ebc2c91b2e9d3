// A stage is data: one row of the table in stages.cpp. A step is a stage with parameters and a frame type.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "images/tensor.h"
#include "kernels/backend.h"
#include "kernels/parameters.h"
#include "kernels/stage_call.h"

namespace imgpipe {

// The functions of a stage for one backend and pair of sample types; only the member of that backend is set.
struct Kernel {
  Backend backend = Backend::reference;
  Sample in = Sample::u8, out = Sample::u8;
  // Sequential, written to be read; defines the result that the others must reproduce.
  void (*reference)(const StageCall<Host>&) = nullptr;
  // SIMD, on the calling thread, for the rows of a band. Several threads may process bands of one image at
  // once. A stage that counts adds the band's counts to `histogram`.
  void (*cpu)(const StageCall<Host>&, const Band&) = nullptr;
  // On a CUDA device, asynchronously; nullptr in a build without CUDA.
  CudaStatus (*cuda)(const StageCall<Device>&, const CudaLaunch&) = nullptr;
  // The same for several images in shared launches; nullptr: one image at a time only. Parameters are equal,
  // except for stages that cut.
  CudaStatus (*cuda_group)(DeviceCalls, const CudaLaunch&) = nullptr;
};

enum class ValueKind : std::uint8_t { pixels, alpha, counts, table };

struct Stage;
struct Port {
  std::string_view name = "image";
  ValueKind kind = ValueKind::pixels;
  // For pixels only; nullopt: either layout, and the output has the layout of the input unless infer() sets
  // another.
  std::optional<Layout> layout = Layout::planar;
  // Whether the stage also processes alpha. Otherwise alpha bypasses it, and the output has the input's size.
  bool alpha = false;
  const Stage* made_by = nullptr;  // for a table: the operator that makes it, which is not a step
  bool (*is_read)(const Parameters&) = nullptr;  // nullptr: always
  // For the table of a second image, which may have another size than the image, or any number of channels.
  bool placed = false, appended = false;
};
inline constexpr std::array kColorPlanes{Port{}};

// The values that a stage reads and makes, the image first. If a stage makes no image, the next step gets
// this step's input frame. Counts that a stage reads are those of its input; counts that it makes are those
// of the frame after it.
struct Ports {
  std::span<const Port> in = kColorPlanes, out = kColorPlanes;
};

// The kind of change that a stage makes: to sample values, to the layout, to the edges of the image (cuts and
// padding), or to where pixels are (turns). The last two move whole pixels, alpha included, each at most
// once.
enum class Effect : std::uint8_t { values, layout, cuts, turns };

// A stage with its parameters; nullptr: none.
struct StageAndParameters {
  const Stage* stage = nullptr;
  Parameters parameters{};
};

struct Stage {
  std::string_view name = {};     // as --stages accepts and the report shows it; empty: not a step
  std::string_view summary = {};  // for --help
  std::span<const Parameter> parameters = {};
  bool selectable = true;  // by --stages; the planner inserts the others
  Ports ports{};
  Effect effect = Effect::values;
  // Whether a row's result depends on its number in the image, which devices get as StageCall::in_top. Other
  // stages treat any range of rows as a separate image, except within the reach of needs().
  bool by_row = false;
  // Whether all colour samples are mapped or counted alike, each independently, unless the step reads counts
  // of separate planes or a second image. Such a step also accepts an interleaved frame without alpha, as one
  // plane (is_one_plane()).
  bool maps_samples = false;
  // Whether the step uses the sums of the planes' counts only. nullptr: false.
  bool (*sums_planes)(const Parameters&) = nullptr;

  // Whether the CPU's kernels for integers also accept interleaved RGB without alpha. nullptr: false.
  bool (*rgb_on_cpu)(const FrameType& in, const Parameters&) = nullptr;

  // Returns why the values are invalid together; empty: they are valid. nullptr: always valid.
  std::string_view (*problem)(const Parameters&) = nullptr;
  // Returns why the step would not change such a frame, so that the planner omits it; empty: it might.
  std::string_view (*skip_reason)(const FrameType& in, const Parameters&) = nullptr;
  // Sets `out`, initialised to `in`, to the output's type; a layout of the output port takes precedence.
  // Returns why the stage rejects frames of this type; empty: it accepts them. nullptr: it accepts all types
  // and preserves them.
  std::string_view (*infer)(const FrameType& in, const Parameters&, FrameType& out) = nullptr;
  // Returns the type of the tensor that the stage makes. Such a stage is the last step of its list. nullptr:
  // it makes images.
  TensorType (*tensor)(const FrameType& in, const Parameters&) = nullptr;
  // Returns the step that the planner inserts after this one, skipped or not. nullptr: none.
  StageAndParameters (*followed_by)(const Parameters&) = nullptr;
  // Returns the input rows that output rows need; both ends are monotonic. nullptr: the same rows.
  RowRange (*needs)(const FrameType& in, const Parameters&, RowRange out) = nullptr;
  // Whether each row of the output may need any row of the input; needs() is then not called. nullptr: false.
  bool (*needs_all_rows)(const Parameters&) = nullptr;
  // For an operator that makes a table (from counts, pixels, or only the type and parameters): the size of
  // the table, and the number of parts that threads may make concurrently (nullptr: one).
  std::int64_t (*table_bytes)(const FrameType& in, const Parameters&) = nullptr;
  std::int64_t (*table_parts)(const FrameType& in, const Parameters&) = nullptr;
  // Device memory that the kernels need (StageCall::scratch). nullptr: none.
  std::int64_t (*scratch_bytes)(const FrameType& in, const Parameters&) = nullptr;

  // A fused stage (Fusion::as) has kernels for CUDA only.
  std::span<const Kernel> kernels = {};
};

// Stages in sequence that a device runs in one pass; the host runs them separately.
struct Fusion {
  std::span<const std::string_view> stages;
  // The fused stage that replaces them, with the parameters of all these stages, in order. nullptr: the last
  // kernel of the device's decoder does their work.
  const Stage* as = nullptr;
  Sample sample = Sample::u8;  // of all their frames
};

// Returns every stage that can be a step. The only list of stage names.
[[nodiscard]] std::span<const Stage> stage_table();

// Returns all fusions, those with more stages first.
[[nodiscard]] std::span<const Fusion> fusion_table();

// Returns nullptr if no stage has that name.
[[nodiscard]] const Stage* find_stage(std::string_view name);

// Returns nullptr if the stage has no kernel for these types.
[[nodiscard]] const Kernel* find_kernel(const Stage& stage, Backend backend, Sample in, Sample out);
// Makes a whole table on the calling thread; `maker` is its operator.
[[nodiscard]] std::vector<std::byte> make_table(const Stage& maker, StageCall<Host> call);

// Call the kernel for the sample types of the call's frames, which must exist.
void run_reference(const Stage& stage, const StageCall<Host>& call);
void run_cpu(const Stage& stage, const StageCall<Host>& call, const Band& band);
[[nodiscard]] CudaStatus run_cuda(const Stage& stage, const StageCall<Device>& call,
                                  const CudaLaunch& launch);
// All calls must be for this kernel, which must have cuda_group.
[[nodiscard]] CudaStatus run_cuda_group(const Kernel& kernel, DeviceCalls calls, const CudaLaunch& launch);

// Returns nullptr if no port has that kind.
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
// Returns the operator of the table that the backend's kernel for these types reads, or nullptr. Without a
// kernel of the operator for that backend, the stage's kernel reads the operator's inputs instead.
[[nodiscard]] const Stage* table_maker(const Stage& stage, const Parameters& parameters, Backend backend,
                                       Sample in, Sample out);
[[nodiscard]] bool needs_all_rows(const Stage& stage, const Parameters& parameters);
// Whether the step processes an interleaved frame as one plane, of all its samples (as_one_plane()). It then
// reads or makes one row of counts.
[[nodiscard]] bool is_one_plane(const Stage& stage, const FrameType& in, const Parameters& parameters);
// Whether the CPU can run the step on the frame in the interleaved layout. False for steps that read or make
// counts.
[[nodiscard]] bool is_interleaved_on_cpu(const Stage& stage, FrameType in, const Parameters& parameters);
// Returns the type of the counts that the step reads or makes.
[[nodiscard]] FrameType counted_type(const Stage& stage, const FrameType& in, const Parameters& parameters);
// Returns the type of the frame after a step: its output type, or its input type if it writes no pixels.
[[nodiscard]] FrameType output_type(const Stage& stage, const FrameType& in, const Parameters& parameters);
// Returns the rows of the input, clipped to it, that these rows of the output need.
[[nodiscard]] RowRange rows_needed(const Stage& stage, const FrameType& in, const Parameters& parameters,
                                   RowRange out);
// Returns the size of the table that the stage's kernels read or make themselves.
[[nodiscard]] std::int64_t table_bytes(const Stage& stage, const FrameType& in, const Parameters& parameters);
// Returns the number of parts of the table that the operator makes.
[[nodiscard]] std::int64_t table_parts(const Stage& maker, const FrameType& in, const Parameters& parameters);
[[nodiscard]] std::int64_t scratch_bytes(const Stage& stage, const FrameType& in,
                                         const Parameters& parameters);

// Whether alpha bypasses a step unchanged. If the sample types differ, both frames contain alpha.
[[nodiscard]] constexpr bool passes_alpha(const Stage& stage, const FrameType& in, const FrameType& out) {
  return !stage.ports.in.front().alpha && in.sample == out.sample;
}

// Bytes that a step must read and write, counting each sample once; the basis of GB/s in reports.
[[nodiscard]] std::int64_t bytes_moved(const Stage& stage, const FrameType& in, const FrameType& out);

}  // namespace imgpipe
