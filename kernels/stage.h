// A stage is data: one row of the table in stages.cpp.
#pragma once

#include <span>
#include <string_view>

#include "kernels/cuda_launch.h"
#include "kernels/frame.h"
#include "kernels/pixel.h"

namespace imgpipe {

// One lo and hi over all colour planes together, or one for each.
enum class Stretch { joint, each };

struct StageOptions {
  Luma luma = Luma::bt601;
  MicroPercent clip_low = 0;
  MicroPercent clip_high = 0;
  Stretch stretch = Stretch::joint;
  Window window = Window::box;
  Border border = Border::shrink;
};

// What a stage is called with. `in` and `out` never overlap, but for planes that the stage passes on.
template <class Where>
struct StageCall {
  Frame<const Sample, Where> in;
  Frame<Sample, Where> out;    // stages that write statistics leave it alone
  Histogram<Where> histogram;  // kBins x color_channels; written by hist, read by contrast
  StageOptions options;
};

enum class Writes { pixels, statistics, both };

[[nodiscard]] constexpr bool writes_pixels(Writes writes) {
  return writes != Writes::statistics;
}
[[nodiscard]] constexpr bool writes_histogram(Writes writes) {
  return writes != Writes::pixels;
}

struct Stage {
  std::string_view name;     // as --stages takes it and the report shows it
  std::string_view summary;  // for --help
  Writes writes;
  bool selectable;            // by --stages; the others are put in by the plan
  bool grey_only;             // what it writes has one colour channel
  bool reads_histogram;       // needs the counts of the very image that it gets
  bool moves_alpha;           // reads and writes alpha; the others pass the alpha plane on untouched
  Layout in, out;             // the layouts that it reads and writes
  std::string_view fuses[2];  // the stages whose work it does in one pass; empty for all others
  void (*reference)(
      const StageCall<Host>&);  // sequential, written to be read; nullptr: the fused stages' own
  // On a CUDA device, asynchronously; nullptr in a build without CUDA.
  CudaStatus (*cuda)(const StageCall<Device>&, const CudaLaunch&);
};

// Every stage there is. The only list of stage names.
[[nodiscard]] std::span<const Stage> stage_table();

// nullptr when there is none of that name.
[[nodiscard]] const Stage* find_stage(std::string_view name);

// The frame that a stage makes of a frame.
[[nodiscard]] FrameShape output_shape(const Stage& stage, FrameShape in);

// Bytes that a stage must read and write, each sample once; what GB/s in the report is based on.
[[nodiscard]] std::int64_t bytes_moved(const Stage& stage, const FrameShape& in, const FrameShape& out);

}  // namespace imgpipe
