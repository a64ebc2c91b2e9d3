// Stages that map samples process an interleaved image without alpha as one plane (as_one_plane()). Compares
// random lists of such stages, and of stages that move pixels or convert samples, with the same stages on
// each channel alone: the reference, and the CPU engine with many bands, threads and instruction sets.
#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "images/simd.h"
#include "kernels/stage.h"
#include "pipeline/engine.h"
#include "tests/support/float_chains.h"
#include "tests/support/images.h"

namespace imgpipe::test::mapped_samples_test {
namespace {

constexpr std::size_t kLists = 400;
constexpr std::array<std::string_view, 3> kMoves{"crop", "flip", "rotate"};
constexpr std::array<std::string_view, 3> kDepths{"depth:8", "depth:16", "depth:float"};

// A list of steps, and the part of it that alpha passes through.
struct Lists {
  std::string all, of_alpha;
};

bool is_accepted(const std::string& list, const Shape& shape) {
  try {
    (void)make_plan(parse_stages(list), shape);
    return true;
  } catch (const Error&) {
    return false;
  }
}

std::string joined(const std::string& list, const std::string& step) {
  return list == kNoStages ? step : list + "," + step;
}

template <class All>
auto any(Random& random, const All& all) {
  return all[static_cast<std::size_t>(below(random, std::ssize(all)))];
}

// Colours of padding and second images differ by channel.
bool is_alike(std::string_view step) {
  const auto has = [step](std::string_view text) { return step.find(text) != std::string_view::npos; };
  return !has("pad=") && !has("grey") && !has("same");
}

Lists random_lists(Random& random, const Shape& shape) {
  static const std::vector<const Stage*> maps = [] {
    std::vector<const Stage*> some = selectable_stages();
    std::erase_if(some, [](const Stage* stage) {
      return !stage->maps_samples || stage->sums_planes || makes_counts(*stage);
    });
    return some;
  }();
  Lists lists{std::string(kNoStages), std::string(kNoStages)};
  for (std::int64_t left = 1 + below(random, 5); left > 0; --left) {
    const std::int64_t kind = below(random, 6);
    const std::string step = kind == 0   ? random_step(random, *find_stage(any(random, kMoves)))
                             : kind == 1 ? std::string(any(random, kDepths))
                                         : random_step(random, *any(random, maps));
    if (!is_alike(step) || !is_accepted(joined(lists.all, step), shape)) continue;
    lists.all = joined(lists.all, step);
    if (kind < 2) lists.of_alpha = joined(lists.of_alpha, step);
  }
  return lists;
}

// Copies channel `from` of an image to channel `to` of another of equal size and samples.
void copy_channel(const ConstHostView& source, int from, const HostView& target, int to) {
  const std::int64_t bytes = bytes_per_sample(source.sample);
  for (std::int64_t y = 0; y < source.height; ++y) {
    for (std::int64_t x = 0; x < source.width; ++x) {
      std::copy_n(source.row(y) + (x * source.channels + from) * bytes, bytes,
                  target.row(y) + (x * target.channels + to) * bytes);
    }
  }
}

// Returns the result of the lists on each channel alone.
Image made_by_channels(Engine& engine, const Lists& lists, const Image& image, const Shape& output) {
  Image made(output);
  const Shape shape = image.shape();
  for (int c = 0; c < shape.channels; ++c) {
    Image channel({shape.width, shape.height, 1, shape.sample});
    copy_channel(image.untyped_view(), c, channel.untyped_view(), 0);
    const std::string& list = c < shape.color_channels() ? lists.all : lists.of_alpha;
    const Image one = made_by(engine, {list, channel.shape()}, channel, {"", 0, false, true});
    copy_channel(std::as_const(one).untyped_view(), 0, made.untyped_view(), c);
  }
  return made;
}

TEST(MappedSamples, EqualThoseOfEachChannelAlone) {
  Random random(20261127);
  const std::unique_ptr<Engine> reference = make_reference_engine();
  const std::array<std::unique_ptr<Engine>, 2> cpu{make_cpu_engine(1), make_cpu_engine(3)};
  const std::vector<std::string> targets = simd_targets();
  std::size_t as_one_plane = 0;
  for (std::size_t i = 0; i < kLists; ++i) {
    use_simd(targets[i % targets.size()]);
    const Shape shape =
        random_shape(random, static_cast<Sample>(below(random, 3)), static_cast<int>(1 + below(random, 4)));
    const Lists lists = random_lists(random, shape);
    const std::uint64_t seed = random() % 1'000'000;
    const FloatChain chain{lists.all, shape, seed};
    SCOPED_TRACE(chain.text());
    const Image image = noise_image(shape, seed);
    const Plan plan = make_plan(parse_stages(lists.all), shape);
    const bool has_one_plane = std::ranges::any_of(plan.operations, [](const Operation& one) {
      return is_one_plane(*one.stage, one.in, one.parameters);
    });
    if (has_one_plane) ++as_one_plane;
    const Image expected = made_by_channels(*reference, lists, image, plan.output);
    for (Engine* const engine : {reference.get(), cpu[0].get(), cpu[1].get()}) {
      for (const FloatRun& how : {FloatRun{"rows", 0, false, false}, FloatRun{"strips", 2, true, false},
                                  FloatRun{"all outputs kept", 0, false, true}}) {
        SCOPED_TRACE(std::string(engine->implementation()) + ", " + how.name);
        const Image got = made_by(*engine, chain, image, how);
        ASSERT_EQ(first_difference(expected.untyped_view(), got.untyped_view()), "");
      }
    }
  }
  use_simd("");
  EXPECT_GT(as_one_plane, kLists / 8);
}

}  // namespace
}  // namespace imgpipe::test::mapped_samples_test
