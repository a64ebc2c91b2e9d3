// The plan's memory: everything that its steps make and read, with its size and how long it lives. Engines
// and estimates ask here; no engine has rules of its own about alpha, histograms or what may be freed.
//
//   work          gray          hist       contrast      merge
//   pixels    0 --------> 1 ----------------------> 3 ----------> 5
//   alpha                 2 ------------------------------------> (colour only: it goes past contrast)
//   counts                       4 ------------->
//
// Times: the image is decoded at 0, work i happens at i + 1, and what is kept lives to the end.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "pipeline/plan.h"

namespace imgpipe {

// One stage's work on one frame: a step, or a part of a fused step.
struct Work {
  const Step* step = nullptr;  // or the part
  std::size_t index = 0;       // of the step in the plan: whose label the time goes to
};

// A fused step as one work, as devices do it, or as the work of its parts.
enum class FusedSteps { as_one, as_parts };
[[nodiscard]] std::vector<Work> works_of(const Plan& plan, FusedSteps fused);

struct Buffer {
  enum class Holds { pixels, alpha, counts };
  Holds holds = Holds::pixels;
  FrameType type;           // the frame that it is a part of
  std::size_t made_at = 0;  // times
  std::size_t last_read_at = 0;

  // Planes, and what each is: of an interleaved frame one with all channels, alpha included. Of counts: none.
  [[nodiscard]] int planes() const;
  [[nodiscard]] Shape plane() const;
  // Without padding. Counts have 8 bytes each.
  [[nodiscard]] std::int64_t bytes() const;
};

// Which buffers a work reads and writes.
struct WorkBuffers {
  std::size_t pixels_in = 0;
  std::optional<std::size_t> pixels_out, alpha_in, alpha_out, counts_in, counts_out;
  // The frame behind the work.
  std::size_t pixels = 0;
  std::optional<std::size_t> alpha;
};

// What is read after the last work as well.
struct Keep {
  bool source = false;   // the decoded image
  bool outputs = false;  // everything
};

struct Buffers {
  std::vector<Buffer> buffers;     // the decoded image first
  std::vector<WorkBuffers> works;  // by work
  std::size_t result = 0;          // the finished image, one plane

  [[nodiscard]] const Buffer& operator[](std::size_t i) const { return buffers[i]; }
  [[nodiscard]] std::size_t size() const { return buffers.size(); }
};
[[nodiscard]] Buffers buffers_of(const Plan& plan, const std::vector<Work>& works, const Keep& keep = {});

// Places for buffers that live one after the other, and for each the buffers that it is for: two that live at
// one time never have the same. The decoded image has none, and counts have none: they are small, and every
// histogram is kept.
[[nodiscard]] std::vector<std::vector<std::size_t>> places_of(const Buffers& buffers);

// The planes of a frame, as stages are called with them: of pixels, then alpha where it has a plane of its
// own.
template <class Byte, class Where, class PlaneOf>
[[nodiscard]] Frame<Byte, Where> frame_of(const Buffers& buffers, std::size_t pixels,
                                          std::optional<std::size_t> alpha, const PlaneOf& plane) {
  const Buffer& buffer = buffers[pixels];
  Frame<Byte, Where> frame{buffer.type, {}};
  // Alpha that is not handed on does not belong to the frame.
  if (buffer.type.layout == Layout::planar) frame.type.alpha = alpha.has_value();
  for (int i = 0; i < buffer.planes(); ++i) frame.planes[static_cast<std::size_t>(i)] = plane(pixels, i);
  if (alpha) frame.planes[kAlphaPlane] = plane(*alpha, 0);
  return frame;
}

}  // namespace imgpipe
