#include "app/report/count_image.h"

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/stage.h"
#include "pipeline/owned_frame.h"

namespace imgpipe {

Counts count_image(const ConstHostView& pixels, const FloatBins& limits) {
  Frame<const std::byte, Host> frame = frame_of_image(pixels);
  OwnedFrame planar;
  if (frame.type.layout == Layout::interleaved) {
    FrameType planar_type = frame.type;
    planar_type.layout = Layout::planar;
    planar = make_frame(planar_type);
    run_reference(*find_stage("split"), {.in = frame, .out = planar.view()});
    frame = std::as_const(planar).view();
  }
  Counts counts{std::vector<std::uint64_t>(counters(frame.type)), frame.type.sample, limits};
  run_reference(*find_stage("hist"), {.in = frame,
                                      .histogram = histogram_view<Host>(counts.values.data(), frame.type),
                                      .parameters = {{std::bit_cast<std::int64_t>(limits.least),
                                                      std::bit_cast<std::int64_t>(limits.most)}}});
  return counts;
}

}  // namespace imgpipe
