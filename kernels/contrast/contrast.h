// Contrast stretch: the values between lo and hi spread over 0..255 (Gonzalez and Woods, Digital Image
// Processing, 3.2.4). lo and hi come from the histogram: the first bin from either end at which the
// count of pixels from that end exceeds the clipped share.
#pragma once

#include <array>

#include "kernels/contrast/stretch.h"
#include "kernels/stage_call.h"

namespace imgpipe {

// One lo and hi over all colour planes together, or one for each.
enum class Stretch : std::uint8_t { joint, each };

inline constexpr std::array<std::string_view, 2> kStretchNames{"joint", "each"};  // as Stretch
inline constexpr std::int64_t kMostClip = 100 * kOnePercent - 1;
inline constexpr std::array kContrastParameters{
    Parameter{.name = "clip",
              .help = "Percent of pixels that contrast may saturate at each end",
              .kind = Parameter::Kind::decimal,
              .most = kMostClip,
              .option = "clip"},
    Parameter{.name = "clip-high",
              .help = "Another percentage for the bright end",
              .kind = Parameter::Kind::decimal,
              .most = kMostClip,
              .like_previous = true},
    Parameter{.name = "stretch",
              .help = "Contrast of colour: joint (one range) or each plane its own",
              .words = kStretchNames,
              .option = "stretch"},
};
struct ContrastParameters {
  explicit constexpr ContrastParameters(const Parameters& values)
      : clip_low(values[0]), clip_high(values[1]), stretch(values.as<Stretch>(2)) {}
  MicroPercent clip_low, clip_high;
  Stretch stretch;
};
// Its counts are those of the frame that it gets.
[[nodiscard]] bool contrast_reads_histogram(const Parameters& parameters);

struct StretchRange {
  int lo = 0;
  int hi = 0;  // hi <= lo: the plane stays as it is
};

// The range of the plane `c` (Stretch::each), or of all planes together (Stretch::joint, any c).
// histogram: the kBins x planes counts of the image.
[[nodiscard]] StretchRange stretch_range(const Histogram<Host>& histogram,
                                         const ContrastParameters& parameters, int c);

// in, out: planar, same shape; histogram: the counts of the whole image `in`.
void contrast_reference(const StageCall<Host>& call);

// The same in SIMD.
void contrast_cpu(const StageCall<Host>& call, const Band& band);

// The same on a CUDA device; lo and hi are found there.
CudaStatus contrast_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
