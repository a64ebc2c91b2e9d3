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

// What a stage's prepare() or find() has made for its kernels. Owns nothing.
template <class Where>
struct Prepared {
  const std::byte* data = nullptr;
  std::int64_t bytes = 0;

  // As it was written.
  template <class T>
  [[nodiscard]] const T* as() const {
    return reinterpret_cast<const T*>(data);
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
  Parameters second{};  // of a fused stage: its second part's
  Prepared<Where> prepared{};
  // What the stage's find() has made of the counts of the whole image. Empty: the function finds it itself in
  // `histogram`, as it does on a device.
  Prepared<Where> found{};
  // On a device, of a stage that counts rows (Stage::by_row): the image's row that the planes of `in` begin
  // with, and those of `out`. They may hold a part of the image's rows; the types stay the whole image's.
  std::int64_t in_top = 0, out_top = 0;
  // On a device, where `found` is empty: memory for what Stage::find() would have found, which a function may
  // find itself and leave there for its kernels. Aligned for any type; it holds anything before and after.
  std::byte* finds = nullptr;
};

// Which rows of its output a call on the host's processor makes, and which rows the planes hold: row y of the
// input is row y - in_top of the planes of `in`, row y of the output is row y - out_top of those of `out`.
// The frames' types stay those of the whole images, so that a stage knows where its borders are.
//
//   rows of the input    0 ...... needs(first..end) ...... in.height      planes of `in` hold at least these
//   rows of the output   0 ............ first..end ....... out.height     planes of `out` hold at least these
//
// Of a stage that only counts the rows are the input's.
struct Band {
  std::int64_t first = 0, end = 0;
  std::int64_t in_top = 0;
  std::int64_t out_top = 0;
};

}  // namespace imgpipe
