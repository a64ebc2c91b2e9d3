#include "tests/support/jpeg_scans.h"

#include <algorithm>

namespace imgpipe::test {
namespace {

using Random = std::mt19937_64;

std::int16_t extreme_value(Random& random) {
  static constexpr std::array<int, 9> kEdges{-32768, -32767, -1, 0, 1, 16383, 16384, 32766, 32767};
  if (random() % 2 == 0) return static_cast<std::int16_t>(kEdges[random() % kEdges.size()]);
  return static_cast<std::int16_t>(random() & 0xFFFF);
}

std::int16_t small_value(Random& random, int most) {
  return static_cast<std::int16_t>(static_cast<int>(random() % static_cast<unsigned>(2 * most + 1)) - most);
}

void fill_block(CoefficientPattern kind, Random& random, std::span<std::int16_t> block) {
  const bool wild = random() % 16 == 0;
  const auto value = [&] { return wild ? extreme_value(random) : small_value(random, 30); };
  block[0] = wild ? extreme_value(random) : small_value(random, 900);
  const std::size_t rows = kind == CoefficientPattern::constant ? 0
                           : kind == CoefficientPattern::flat   ? 1
                           : kind == CoefficientPattern::upper  ? 4
                                                                : 8;
  for (std::size_t i = 1; i < rows * kBlockSide; ++i) {
    if (kind == CoefficientPattern::photograph && random() % (1 + i / 8 + i % 8) > 0) continue;
    if (kind == CoefficientPattern::flat && random() % 2 == 0) continue;
    block[i] = kind == CoefficientPattern::extreme ? extreme_value(random) : value();
  }
  if (kind == CoefficientPattern::extreme) block[0] = extreme_value(random);
}

}  // namespace

std::string name_of(Sampling sampling) {
  static constexpr std::array<const char*, 5> kNames{"grey", "444", "422", "420", "440"};
  return kNames[static_cast<std::size_t>(sampling)];
}

std::string name_of(CoefficientPattern kind) {
  static constexpr std::array<const char*, 7> kNames{"photograph", "noise",    "extreme", "flat",
                                                     "upper",      "constant", "mixed"};
  return kNames[static_cast<std::size_t>(kind)];
}

BaselineScan make_scan(Sampling sampling, std::int64_t width, std::int64_t height, int max_step,
                       Random& random) {
  BaselineScan scan;
  scan.width = width;
  scan.height = height;
  scan.sampling = sampling;
  scan.components = sampling == Sampling::grey ? 1 : 3;
  const int across = sampling == Sampling::s422 || sampling == Sampling::s420 ? 2 : 1;
  const int down = sampling == Sampling::s440 || sampling == Sampling::s420 ? 2 : 1;
  scan.component[0].across = across;
  scan.component[0].down = down;
  scan.mcu_width = kBlockSide * across;
  scan.mcu_height = kBlockSide * down;
  scan.mcus_across = (width + scan.mcu_width - 1) / scan.mcu_width;
  scan.mcu_rows = (height + scan.mcu_height - 1) / scan.mcu_height;
  scan.blocks_in_mcu = 0;
  for (int c = 0; c < scan.components; ++c) {
    ScanComponent& component = scan.component[static_cast<std::size_t>(c)];
    component.width = (width * component.across + across - 1) / across;
    component.height = (height * component.down + down - 1) / down;
    for (std::uint16_t& step : component.steps)
      step = static_cast<std::uint16_t>(1 + random() % static_cast<unsigned>(max_step));
    for (int i = 0; i < component.across * component.down; ++i)
      scan.component_of_block[static_cast<std::size_t>(scan.blocks_in_mcu++)] = static_cast<std::uint8_t>(c);
  }
  return scan;
}

std::size_t coefficients_of(const BaselineScan& scan) {
  return static_cast<std::size_t>(scan.mcus() * scan.blocks_in_mcu) * kBlockSamples;
}

std::vector<std::int16_t> make_coefficients(const BaselineScan& scan, CoefficientPattern kind,
                                            Random& random) {
  std::vector<std::int16_t> all(coefficients_of(scan));
  CoefficientPattern of_run = kind;
  std::size_t run = 0;
  for (std::size_t i = 0; i < all.size(); i += kBlockSamples) {
    if (kind == CoefficientPattern::mixed && run-- == 0) {
      of_run = static_cast<CoefficientPattern>(random() % 6);
      run = random() % 40;
    }
    fill_block(of_run, random, std::span(all).subspan(i, kBlockSamples));
  }
  return all;
}

}  // namespace imgpipe::test
