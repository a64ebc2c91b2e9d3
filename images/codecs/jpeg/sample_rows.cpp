#include "images/codecs/jpeg/sample_rows.h"

#include <algorithm>
#include <cstring>

#include "images/rounded_up.h"

namespace imgpipe {
namespace {

constexpr std::int64_t kLine = 64;

}  // namespace

SampleLayout::SampleLayout(const BaselineScan& scan) : scan_(scan) {
  for (int i = 0; i < scan.components; ++i) {
    const auto c = static_cast<std::size_t>(i);
    const ScanComponent& component = scan.component[c];
    begin_[c] = bytes_ + kSampleMargin;
    // An odd number of cache lines, so that the rows of a block do not all map to the same cache set.
    stride_[c] = rounded_up(scan.mcus_across * component.across * component.side + 2 * kSampleMargin, kLine);
    if (stride_[c] / kLine % 2 == 0) stride_[c] += kLine;
    bytes_ += stride_[c] * component.down * component.side;
  }
}

void SampleLayout::reconstruct(std::span<const BlockRun> runs, std::uint8_t* memory) const {
  std::array<BlockTarget, 6> targets{};
  std::size_t next = 0;
  for (int c = 0; c < scan_.components; ++c) {
    const ScanComponent& component = scan_.component[static_cast<std::size_t>(c)];
    const std::int64_t stride = stride_[static_cast<std::size_t>(c)];
    for (int i = 0; i < component.across * component.down; ++i) {
      const int x = i % component.across * component.side;
      const int y = i / component.across * component.side;
      targets[next++] = {.steps = component.steps.data(),
                         .component = c,
                         .samples = row(memory, c, y) + x,
                         .stride = stride,
                         .mcu_step = std::int64_t{component.across} * component.side,
                         .side = component.side};
    }
  }
  for (const BlockRun& run : runs) reconstruct_blocks(std::span(targets).first(next), run);
  for (int c = 1; c < scan_.components; ++c) {
    const ScanComponent& component = scan_.component[static_cast<std::size_t>(c)];
    for (std::int64_t y = 0; y < std::int64_t{component.down} * component.side; ++y)
      fill_edges(row(memory, c, y), component.width);
  }
}

void SampleLayout::make_rows(std::int64_t first, const HostView& rows,
                             std::span<std::uint8_t* const> mcu_rows, std::int64_t first_mcu_row,
                             std::optional<Luma> luma) const {
  const auto sample_row = [&](int c, std::int64_t y) {
    const ScanComponent& component = scan_.component[static_cast<std::size_t>(c)];
    const std::int64_t in_mcu = std::int64_t{component.down} * component.side;
    return row(mcu_rows[static_cast<std::size_t>(y / in_mcu - first_mcu_row)], c, y % in_mcu);
  };
  for (std::int64_t i = 0; i < rows.height; ++i) {
    const std::int64_t y = first + i;
    auto* out = reinterpret_cast<std::uint8_t*>(rows.row(i));
    const std::uint8_t* const samples = sample_row(0, y);
    if (scan_.sampling == Sampling::grey) {
      std::memcpy(out, samples, static_cast<std::size_t>(scan_.width));
      continue;
    }
    const bool halved = scan_.interpolation_rows() > 0;
    const std::int64_t near = halved ? y / 2 : y;
    const bool lower = halved && y % 2 != 0;
    const std::int64_t far =
        halved ? std::clamp<std::int64_t>(near + (lower ? 1 : -1), 0, scan_.component[1].height - 1) : near;
    const SampleRows from{.y = samples,
                          .cb_near = sample_row(1, near),
                          .cb_far = sample_row(1, far),
                          .cr_near = sample_row(2, near),
                          .cr_far = sample_row(2, far),
                          .lower = lower};
    if (luma)
      make_grey_row(*luma, scan_.upsampling(), from, scan_.width, out);
    else
      make_rgb_row(scan_.upsampling(), from, scan_.width, out);
  }
}

}  // namespace imgpipe
