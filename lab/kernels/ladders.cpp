#include "lab/kernels/ladders.h"

#include <algorithm>
#include <array>

#include "kernels/median/median.h"
#include "kernels/stage.h"
#include "lab/kernels/ladder_rows.h"

namespace imgpipe {
namespace {

Ladder ladder(std::string_view name, std::string_view stage, std::span<const StageVariant> variants,
              Sample sample = Sample::u8) {
  return {name, stage, variants, sample, presets(find_stage(stage)->parameters)};
}

constexpr Parameters kMedian5{{1}};
static_assert(MedianParameters(kMedian5).radius == 2);

}  // namespace

std::span<const Ladder> ladder_table() {
  static const std::array kLadders{
      ladder("gray", "gray", gray_ladder()),
      ladder("hist", "hist", hist_ladder()),
      ladder("contrast", "contrast", contrast_ladder()),
      ladder("smooth", "smooth", smooth_ladder()),
      ladder("equalize", "equalize", equalize_ladder()),
      ladder("clahe", "clahe", clahe_ladder()),
      ladder("median", "median", median_ladder()),
      Ladder{"median5", "median", median_ladder(), Sample::u8, kMedian5},
      ladder("gray16", "gray", gray16_ladder(), Sample::u16),
      ladder("hist16", "hist", hist16_ladder(), Sample::u16),
      ladder("contrast16", "contrast", contrast16_ladder(), Sample::u16),
      ladder("smooth16", "smooth", smooth16_ladder(), Sample::u16),
  };
  return kLadders;
}

const Ladder* find_ladder(std::string_view name) {
  const std::span<const Ladder> ladders = ladder_table();
  const auto found = std::ranges::find(ladders, name, &Ladder::name);
  return found == ladders.end() ? nullptr : &*found;
}

bool is_production(const StageVariant& variant, const Ladder& ladder) {
  const auto product = [&](Backend backend) {
    return *find_kernel(*find_stage(ladder.stage), backend, ladder.sample, ladder.sample);
  };
  return (variant.cpu != nullptr && variant.cpu == product(Backend::cpu).cpu) ||
         (variant.cuda != nullptr && variant.cuda == product(Backend::cuda).cuda);
}

}  // namespace imgpipe
