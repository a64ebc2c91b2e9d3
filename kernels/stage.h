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

// Which rows of an image a call on the host's processor works on, and which of them the planes hold: row y of
// the image is row y - in_top of the planes of `in` and row y - out_top of those of `out`. The frames' shapes
// stay those of the whole image, so that a stage knows where its borders are.
//
//   image row   0 ......... first-reach ...[ first ......... end )... end+reach ......... height
//   in holds                in_top <= this |    to be made   |  this <= in_top + its planes' height
struct Band {
  std::int64_t first = 0, end = 0;
  std::int64_t in_top = 0;
  std::int64_t out_top = 0;
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
  int reach;                  // rows above and below its own that a row of the output needs, inside the image
  Layout in, out;             // the layouts that it reads and writes
  std::string_view fuses[2];  // the stages whose work it does in one pass; empty for all others
  void (*reference)(
      const StageCall<Host>&);  // sequential, written to be read; nullptr: the fused stages' own
  // SIMD, on the calling thread, for the rows of a band. Bands of one image may be made at once by several
  // threads. A stage that writes statistics adds the band's to what is in `histogram`. nullptr: the fused
  // stages' own, which are their parts, band by band.
  void (*cpu)(const StageCall<Host>&, const Band&);
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
