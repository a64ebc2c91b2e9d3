// What the functions of a stage are called with. Kernels include this; the table of stages is
// kernels/stage.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "kernels/cuda_launch.h"
#include "kernels/frame.h"
#include "kernels/parameter_values.h"

namespace imgpipe {

// A table that kernels look values up in, aligned for any type. A view for its writer and its readers alike;
// owns nothing.
template <class Where>
struct Table {
  std::byte* data = nullptr;
  std::int64_t bytes = 0;

  template <class T>
  [[nodiscard]] T* as() const {
    return reinterpret_cast<T*>(data);
  }
};

// What a step's function is called with. Planes of `in` and `out` never overlap.
template <class Where>
struct StageCall {
  Frame<const std::byte, Where> in{};
  Frame<std::byte, Where> out{};  // stages that write no pixels leave it alone
  // bins() x color_channels counters of `in`, written by stages that count, read by those that need counts.
  // Of a fused stage: those that one of its parts writes or reads.
  Histogram<Where> histogram{};
  Parameters parameters{};
  Table<Where> table{};  // written by an operator that makes tables, read by kernels (table_maker())
  // On a device, of a stage that counts rows (Stage::by_row): the image's row that the planes of `in` begin
  // with, and those of `out`. They may hold a part of the image's rows; the types stay the whole image's.
  std::int64_t in_top = 0, out_top = 0;
  // On a device: Stage::scratch_bytes() of memory, aligned for any type, that holds anything before and
  // after.
  std::byte* scratch = nullptr;
};

// Which rows of its output a call on the host's processor makes, and which rows the planes hold: row y of the
// input is row y - in_top of the planes of `in`, row y of the output is row y - out_top of those of `out`.
// The frames' types stay those of the whole images, so that a stage knows where its borders are.
//
//   rows of the input    0 ...... needs(first..end) ...... in.height      planes of `in` hold at least these
//   rows of the output   0 ............ first..end ....... out.height     planes of `out` hold at least these
//
// Of a stage that only counts the rows are the input's. Of a table they are its parts (Stage::table_parts).
struct Band {
  std::int64_t first = 0, end = 0;
  std::int64_t in_top = 0;
  std::int64_t out_top = 0;
};

}  // namespace imgpipe
