// The arguments of a stage's functions. Kernels include this; the table of stages is kernels/stage.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/cuda_launch.h"
#include "kernels/frame.h"
#include "kernels/parameter_values.h"

namespace imgpipe {

// A lookup table for kernels, aligned for any type. A view for its writer and its readers; owns nothing.
template <class Where>
struct Table {
  std::byte* data = nullptr;
  std::int64_t bytes = 0;

  template <class T>
  [[nodiscard]] T* as() const {
    return reinterpret_cast<T*>(data);
  }
};

// The arguments of a step's function. Planes of `in` and `out` never overlap.
template <class Where>
struct StageCall {
  Frame<const std::byte, Where> in{};
  Frame<std::byte, Where> out{};  // not written by stages without pixel output
  // bins() x color_channels counters of `in`, written by stages that count, read by those that need counts.
  // For a fused stage: the counters that one of its component stages writes or reads.
  Histogram<Where> histogram{};
  Parameters parameters{};
  Table<Where> table{};  // written by an operator that makes tables, read by kernels (table_maker())
  // For a stage with Stage::by_row on a device, whose planes may hold only some of the image's rows: the rows
  // of the image at which the planes of `in` and of `out` begin.
  std::int64_t in_top = 0, out_top = 0;
  // On a device: Stage::scratch_bytes() of memory, aligned for any type, of undefined contents.
  std::byte* scratch = nullptr;
};

// Calls for images of any sizes, so that tables differ too; stage, parameters, sample types, channels and
// layouts are the same. Not empty.
using DeviceCalls = std::span<const StageCall<Device>* const>;

// The output rows that a call on the host makes, and the rows that the planes hold: row y of the input is row
// y - in_top of the planes of `in`, and row y of the output is row y - out_top of those of `out`. The frames'
// types describe the whole images, so that stages can locate the borders.
//
//   rows of the input    0 ...... needs(first..end) ...... in.height      planes of `in` hold at least these
//   rows of the output   0 ............ first..end ....... out.height     planes of `out` hold at least these
//
// For stages that only count, the rows of the input; for tables, their parts (Stage::table_parts).
struct Band {
  std::int64_t first = 0, end = 0;
  std::int64_t in_top = 0;
  std::int64_t out_top = 0;
  // Whether the output rows may bypass the caches, because they leave them before they are read.
  bool bypasses_caches = false;
};

}  // namespace imgpipe
