// False colours: grey becomes RGB of 8 bits by one of 256 colours (maps.cpp), or those of an image. 16-bit
// samples are first rounded to 8 bits as depth does.
#pragma once

#include <array>
#include <cstdint>

#include "kernels/pixel.h"
#include "kernels/stage_call.h"

namespace imgpipe {

enum class ColorMap : std::uint8_t { viridis, magma, turbo };  // the words -1, -2 and -3

using ColorMapColors = std::array<std::uint32_t, kBins>;  // 0xRRGGBB
[[nodiscard]] const ColorMapColors& colors_of(ColorMap map);

// Rejects images with colours, and maps that are not 256x1 or 1x256 pixels of 8 bits without alpha. The
// output has no alpha.
[[nodiscard]] std::string_view colormap_infer(const FrameType& in, const Parameters&, FrameType& out);

// The table: kBins samples for each of R, G and B.
[[nodiscard]] std::int64_t colormap_table_bytes(const FrameType& in, const Parameters& parameters);
void colormap_table(const StageCall<Host>& call, const Band& band);

// in: planar, grey, alpha is ignored; out: planar, RGB of 8 bits; table: the output of colormap_table().
void colormap_reference(const StageCall<Host>& call);

void colormap_cpu(const StageCall<Host>& call, const Band& band);

CudaStatus colormap_cuda(const StageCall<Device>& call, const CudaLaunch& launch);

}  // namespace imgpipe
