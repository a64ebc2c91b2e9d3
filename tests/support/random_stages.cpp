#include "tests/support/random_stages.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string_view>

#include "images/error.h"
#include "images/unreachable.h"
#include "kernels/stage.h"
#include "pipeline/color_text.h"
#include "pipeline/parameter_text.h"
#include "pipeline/stage_list.h"
#include "tests/support/images.h"

namespace imgpipe::test {
namespace {

// Most integers are at most about the images' size. All others, and decimals, are log-uniform.
std::int64_t random_number(Random& random, const Parameter& row) {
  static constexpr std::array<std::int64_t, 3> kLimits{2, 9, 70};
  const bool is_whole = row.kind == Parameter::Kind::integer || row.kind == Parameter::Kind::real;
  if (is_whole && below(random, 8) != 0) {
    const std::int64_t limit = kLimits[static_cast<std::size_t>(below(random, 3))];
    return row.least + below(random, std::min(row.most - row.least + 1, limit));
  }
  const double magnitudes = std::log2(static_cast<double>(row.most - row.least) + 1);
  const double share = static_cast<double>(below(random, 1 << 20)) / (1 << 20);
  return std::min(row.most, row.least + static_cast<std::int64_t>(std::exp2(share * magnitudes)) - 1);
}

// Half of the colours are names.
std::int64_t random_color(Random& random) {
  const auto names = color_names();
  if (below(random, 2) == 0) return static_cast<std::int64_t>(random() & 0xFFFFFFFF);
  return *parse_color(names[static_cast<std::size_t>(below(random, std::ssize(names)))]);
}

std::int64_t random_number_of(Random& random, const Parameter& row) {
  switch (row.kind) {
    case Parameter::Kind::integer:
    case Parameter::Kind::decimal:
    case Parameter::Kind::choice:
    case Parameter::Kind::operand:
      return random_number(random, row);
    case Parameter::Kind::image:
      break;
    case Parameter::Kind::color:
      return random_color(random);
    case Parameter::Kind::real:
      return std::bit_cast<std::int64_t>(static_cast<double>(random_number(random, row)));
  }
  unreachable();
}

// A name of tests/support/second_images.h.
std::string random_image(Random& random, const Stage& stage) {
  if (stage.name == "colormap") return below(random, 2) == 0 ? "map" : "tall";
  static constexpr std::array<std::string_view, 3> kNames{"grey", "same", "logo"};
  const Port& port = *find_port(stage.ports.in, ValueKind::table);
  const int names = port.placed ? 3 : port.appended ? 1 : 2;
  return std::string(kNames[static_cast<std::size_t>(below(random, names))]);
}

std::string random_value(Random& random, const Stage& stage, const Parameter& row) {
  auto words = std::ssize(row.words);
  // These chains use integers, because most stages reject floats; tests/support/float_chains.h uses floats.
  if (words > 0 && row.words.back() == "float") --words;
  const bool word = row.kind == Parameter::Kind::choice || (words > 0 && below(random, 3) == 0);
  const bool may_be_image = row.kind == Parameter::Kind::image || row.kind == Parameter::Kind::operand;
  if (may_be_image && (row.kind == Parameter::Kind::image || below(random, 2) == 0))
    return random_image(random, stage);
  if (word) return std::string(row.words[static_cast<std::size_t>(below(random, words))]);
  return value_text(row, random_number_of(random, row));
}

// The first parameters of a stage are given more often than the others, which contradict each other.
constexpr std::size_t kUsualParameters = 4;
constexpr int kMaxDraws = 100;

// Most random means and deviations contradict each other.
std::string_view random_means(Random& random) {
  static constexpr std::array<std::string_view, 5> kMeans{":imagenet", ":clip", ":siglip",
                                                          ":mean=0.45:std=0.225", ":mean=-7:std=-0.125"};
  return kMeans[static_cast<std::size_t>(below(random, std::ssize(kMeans)))];
}

bool is_accepted(const std::string& step) {
  try {
    (void)parse_stages(step);
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

std::int64_t below(Random& random, std::int64_t n) {
  return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
}

const std::vector<const Stage*>& selectable_stages() {
  static const std::vector<const Stage*> all = [] {
    std::vector<const Stage*> selectable;
    for (const Stage& stage : stage_table()) {
      if (stage.selectable) selectable.push_back(&stage);
    }
    return selectable;
  }();
  return all;
}

const Stage* any_stage(Random& random) {
  return selectable_stages()[static_cast<std::size_t>(below(random, std::ssize(selectable_stages())))];
}

std::string random_step(Random& random, const Stage& stage) {
  for (int draw = 0;; ++draw) {
    std::string step(stage.name);
    if (stage.tensor != nullptr) step += random_means(random);
    for (std::size_t i = 0; i < stage.parameters.size(); ++i) {
      const Parameter& row = stage.parameters[i];
      // Limits of floats alone keep their presets, because these chains use integers.
      const bool is_real = row.kind == Parameter::Kind::real && row.most == 0;
      if (is_real || (stage.tensor != nullptr && row.name == "preset")) continue;
      const std::int64_t given_of_four = row.required ? 4 : i < kUsualParameters ? 3 : 1;
      if (given_of_four < 4 && below(random, 4) >= given_of_four) continue;
      step += ":" + std::string(row.name) + "=" + random_value(random, stage, row);
    }
    if (draw == kMaxDraws || is_accepted(step)) return step;
  }
}

std::string recorded_step(Random& random) {
  static constexpr std::array<std::string_view, 20> kNames{
      "gray", "hist", "contrast", "smooth",   "threshold", "invert", "gamma", "levels", "resize", "depth",
      "crop", "flip", "rotate",   "equalize", "clahe",     "median", "sobel", "box",    "gauss",  "sharpen"};
  const Stage& stage = *find_stage(kNames[static_cast<std::size_t>(below(random, std::ssize(kNames)))]);
  std::string step(stage.name);
  for (Parameter row : stage.parameters.first(std::min(kUsualParameters, stage.parameters.size()))) {
    if (!row.required && below(random, 4) == 0) continue;
    if (row.name == "method") row.words = row.words.first(3);
    if (row.name == "size") row.words = row.words.first(2);
    if (row.name == "fit") row.words = row.words.first(2);
    step += ":" + std::string(row.name) + "=" + random_value(random, stage, row);
  }
  return step;
}

Shape random_shape(Random& random, Sample sample, int channels) {
  static constexpr std::array<Size, 16> kSizes{{{1, 1},
                                                {1, 2},
                                                {2, 1},
                                                {1, 7},
                                                {7, 1},
                                                {1, 67},
                                                {67, 1},
                                                {3, 3},
                                                {5, 4},
                                                {4, 5},
                                                {17, 9},
                                                {31, 8},
                                                {9, 33},
                                                {37, 29},
                                                {65, 5},
                                                {3, 71}}};
  const Size& size = kSizes[static_cast<std::size_t>(below(random, std::ssize(kSizes)))];
  return {size.width, size.height, channels, sample};
}

}  // namespace imgpipe::test
