// flip, rotate, crop and pad beyond the tests of every stage: pixels of 1 to 8 bytes, both layouts, bands,
// combinations.
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/simd.h"
#include "kernels/crop/trim.h"
#include "kernels/shared/color.h"
#include "kernels/stage.h"
#include "pipeline/engine.h"
#include "tests/support/cuda_backend.h"
#include "tests/support/images.h"

namespace imgpipe::test::geometry_test {
namespace {

Image noise(const Shape& shape, unsigned seed) {
  Image image(shape);
  std::mt19937 random(seed);
  const HostView view = image.untyped_view();
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t i = 0; i < view.row_bytes(); ++i) view.row(y)[i] = static_cast<std::byte>(random());
  }
  return image;
}

// Returns the first byte at which two images differ; empty: none.
std::string difference(const Image& expected, const Image& got) {
  if (expected.shape() != got.shape()) return "the shapes differ";
  const Shape& shape = expected.shape();
  for (std::int64_t y = 0; y < shape.height; ++y) {
    const std::byte* const a = expected.untyped_view().row(y);
    const std::byte* const b = got.untyped_view().row(y);
    for (std::int64_t i = 0; i < shape.row_bytes(); ++i) {
      if (a[i] != b[i]) return "y=" + std::to_string(y) + " byte " + std::to_string(i);
    }
  }
  return "";
}

std::int64_t floored_half(std::int64_t n) {
  return (n - (n & 1)) / 2;
}
// Rounds halves to the nearest even integer.
std::int64_t even_half(std::int64_t n) {
  return std::lrint(static_cast<double>(n) / 2);
}

// Maps output pixel (x, y) to its source pixel, or to one outside the image, which is white; a second,
// independent implementation of the documentation.
using From = std::function<std::pair<std::int64_t, std::int64_t>(std::int64_t x, std::int64_t y)>;

struct Move {
  std::string step;
  bool swaps_sides = false;
  std::int64_t width = 0, height = 0;  // of crop and pad; 0: another step
  std::function<From(std::int64_t width, std::int64_t height)> from;
};

const std::vector<Move>& moves() {
  using P = std::pair<std::int64_t, std::int64_t>;
  static const std::vector<Move> all{
      {"flip", false, 0, 0, [](auto w, auto) { return [=](auto x, auto y) {
                                                 return P{w - 1 - x, y};
                                               }; }},
      {"flip:vertical", false, 0, 0,
       [](auto, auto h) { return [=](auto x, auto y) {
                            return P{x, h - 1 - y};
                          }; }},
      {"rotate:90", true, 0, 0, [](auto, auto h) { return [=](auto x, auto y) {
                                                     return P{y, h - 1 - x};
                                                   }; }},
      {"rotate:180", false, 0, 0,
       [](auto w, auto h) { return [=](auto x, auto y) {
                              return P{w - 1 - x, h - 1 - y};
                            }; }},
      {"rotate:270", true, 0, 0,
       [](auto w, auto) { return [=](auto x, auto y) {
                            return P{w - 1 - y, x};
                          }; }},
      {"crop:1x1", false, 1, 1,
       [](auto w, auto h) { return [=](auto x, auto y) {
                              return P{x + (w - 1) / 2, y + (h - 1) / 2};
                            }; }},
      {"crop:17x9+3+5", false, 17, 9,
       [](auto, auto) { return [](auto x, auto y) {
                          return P{x + 3, y + 5};
                        }; }},
      {"crop:33x2:x=0", false, 33, 2,
       [](auto, auto h) { return [=](auto x, auto y) {
                            return P{x, y + (h - 2) / 2};
                          }; }},
      {"crop:100x31+29+0", false, 100, 31,
       [](auto, auto) { return [](auto x, auto y) {
                          return P{x + 29, y};
                        }; }},
      {"crop:16x70+16+1", false, 16, 70,
       [](auto, auto) { return [](auto x, auto y) {
                          return P{x + 16, y + 1};
                        }; }},
      {"crop:40x50+7+60:pad=white", false, 40, 50,
       [](auto, auto) { return [](auto x, auto y) {
                          return P{x + 7, y + 60};
                        }; }},
      {"crop:70x35:pad=white", false, 70, 35,
       [](auto w, auto h) {
         return [=](auto x, auto y) { return P{x + floored_half(w - 70), y + floored_half(h - 35)}; };
       }},
      {"crop:33x2:rule=torchvision:pad=white", false, 33, 2,
       [](auto w, auto h) {
         return [=](auto x, auto y) {
           return P{x + (w < 33 ? (w - 33) / 2 : even_half(w - 33)),
                    y + (h < 2 ? (h - 2) / 2 : even_half(h - 2))};
         };
       }},
      {"pad:131x130:white", false, 131, 130,
       [](auto w, auto h) {
         return [=](auto x, auto y) { return P{x - even_half(131 - w), y - even_half(130 - h)}; };
       }},
      {"pad:1003x131:white:bottom-left", false, 1003, 131, [](auto, auto h) {
         return [=](auto x, auto y) { return P{x, y - (131 - h)}; };
       }}};
  return all;
}

Image expected_of(const Move& move, const Image& in) {
  Shape shape = in.shape();
  const From from = move.from(shape.width, shape.height);
  if (move.swaps_sides) std::swap(shape.width, shape.height);
  if (move.width > 0) shape.width = move.width;
  if (move.height > 0) shape.height = move.height;
  Image out(shape);
  const auto pixel = static_cast<std::size_t>(shape.channels * bytes_per_sample(shape.sample));
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const auto [from_x, from_y] = from(x, y);
      std::byte* const to = out.untyped_view().row(y) + x * static_cast<std::int64_t>(pixel);
      const bool inside =
          from_x >= 0 && from_x < in.shape().width && from_y >= 0 && from_y < in.shape().height;
      if (inside) {
        std::memcpy(to, in.untyped_view().row(from_y) + from_x * static_cast<std::int64_t>(pixel), pixel);
      } else {
        std::memset(to, 0xFF, pixel);  // white
      }
    }
  }
  return out;
}

std::vector<Shape> shapes_of(const Size& size) {
  std::vector<Shape> shapes;
  for (const Sample sample : {Sample::u8, Sample::u16}) {
    for (int channels = 1; channels <= 4; ++channels)
      shapes.push_back({size.width, size.height, channels, sample});
  }
  return shapes;
}

// Sizes around vectors of 16 to 64 bytes, tiles of 32 to 128 pixels and groups of 64 rows.
const std::vector<Size> kSizes{{1, 1},   {1, 2},    {2, 1},     {1, 37},    {37, 1},   {3, 5},    {8, 8},
                               {15, 17}, {16, 16},  {17, 15},   {31, 33},   {32, 32},  {33, 31},  {64, 65},
                               {65, 64}, {127, 66}, {128, 128}, {129, 130}, {131, 71}, {257, 40}, {5, 300},
                               {300, 5}, {97, 89},  {1000, 3},  {130, 257}};

std::string named(const Move& move, const Shape& shape) {
  return move.step + " of " + std::to_string(shape.width) + "x" + std::to_string(shape.height) + " with " +
         std::to_string(shape.channels) + " channels of " +
         std::to_string(8 * bytes_per_sample(shape.sample)) + " bits";
}

bool fits(const Move& move, const Shape& shape) {
  const StageRequest request = parse_stages(move.step).front();
  const FrameType in = frame_type_of(shape);
  FrameType out = in;
  return request.stage->infer == nullptr || request.stage->infer(in, request.parameters, out).empty();
}

void for_every_move(const std::function<void(const Move&, const Image&)>& action) {
  for (const Size& size : kSizes) {
    for (const Shape& shape : shapes_of(size)) {
      const Image in = noise(shape, 7);
      for (const Move& move : moves()) {
        if (!fits(move, shape)) continue;
        SCOPED_TRACE(named(move, shape));
        action(move, in);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

StageCall<Host> call_of(const StageRequest& request, const Image& in, Image& out) {
  StageCall<Host> call;
  call.in.type = frame_type_of(in.shape());
  call.out.type = output_type(*request.stage, call.in.type, request.parameters);
  call.in.planes[0] = in.untyped_view();
  call.out.planes[0] = out.untyped_view();
  call.parameters = request.parameters;
  return call;
}

TEST(Geometry, ReferenceMovesPixelsOfEverySize) {
  for_every_move([](const Move& move, const Image& in) {
    const Image expected = expected_of(move, in);
    Image out(expected.shape());
    const StageRequest request = parse_stages(move.step).front();
    run_reference(*request.stage, call_of(request, in, out));
    ASSERT_EQ(difference(expected, out), "");
  });
}

// Each band has exactly the rows it needs, so that a sanitizer detects accesses beyond them.
TEST(Geometry, CpuMovesPixelsOfEverySizeByBandsOnEveryTarget) {
  for (const std::string& target : simd_targets()) {
    use_simd(target);
    ASSERT_EQ(simd_target(), target);
    for_every_move([&](const Move& move, const Image& in) {
      const Image expected = expected_of(move, in);
      const StageRequest request = parse_stages(move.step).front();
      const std::int64_t height = expected.shape().height;
      for (const std::int64_t rows : {std::int64_t{1}, std::int64_t{7}, std::int64_t{65}, height}) {
        Image out(expected.shape());
        for (std::int64_t first = 0; first < height; first += rows) {
          const RowRange made{first, std::min(height, first + rows)};
          StageCall<Host> call = call_of(request, in, out);
          const RowRange read = rows_needed(*request.stage, call.in.type, request.parameters, made);
          Shape part = in.shape();
          part.height = read.count();
          Image held(part);
          copy_pixels(in.untyped_view().rows(read.first, read.count()), held.untyped_view());
          part = out.shape();
          part.height = made.count();
          Image band(part);
          call.in.planes[0] = std::as_const(held).untyped_view();
          call.out.planes[0] = band.untyped_view();
          run_cpu(*request.stage, call, {made.first, made.end, read.first, made.first});
          copy_pixels(std::as_const(band).untyped_view(), out.untyped_view().rows(first, made.count()));
        }
        ASSERT_EQ(difference(expected, out), "") << target << ", bands of " << rows;
      }
    });
  }
  use_simd("");
}

TEST(Geometry, CudaMovesPixelsOfEverySize) {
  IMGPIPE_NEED_CUDA();
  for_every_move([](const Move& move, const Image& in) {
    const Image expected = expected_of(move, in);
    Image out(expected.shape());
    const StageRequest request = parse_stages(move.step).front();
    StageCall<Host> call = call_of(request, in, out);
    call.in.type.layout = call.out.type.layout = Layout::interleaved;
    std::uint64_t no_counts[1] = {};
    call.histogram = {no_counts, 1, 1, 1, 1};
    ASSERT_EQ(run_on_cuda(*request.stage, call), "");
    ASSERT_EQ(difference(expected, out), "");
  });
}

// ---- together ---------------------------------------------------------------------------------------

Image made_by(Engine& engine, const std::string& stages, const Image& in) {
  Job job;
  job.reader = make_memory_reader(in.untyped_view());
  job.plan = stages.empty() ? make_plan({}, in.shape()) : make_plan(parse_stages(stages), in.shape());
  const Outcome outcome = engine.run(std::move(job));
  if (outcome.error) std::rethrow_exception(outcome.error);
  Image out(outcome.pixels.shape());
  copy_pixels(outcome.pixels, out.untyped_view());
  return out;
}

struct EquivalentChains {
  const char *one, *other;
};
// Chains that give equal results on images of 61x47 pixels.
const std::vector<EquivalentChains> kEquivalentChains{
    {"rotate:90,rotate:90,rotate:90,rotate:90", ""},
    {"rotate:90,rotate:270", ""},
    {"rotate:180,rotate:180", ""},
    {"flip,flip", ""},
    {"flip:vertical,flip:vertical", ""},
    {"flip,flip:vertical", "rotate:180"},
    {"rotate:90,rotate:90", "rotate:180"},
    {"rotate:90,rotate:180", "rotate:270"},
    {"rotate:90,flip", "flip:vertical,rotate:90"},
    {"rotate:90,flip", "rotate:270,flip:vertical"},
    {"crop:40x30+5+6,crop:9x8+7+3", "crop:9x8+12+9"},
    {"crop:40x30", "crop:40x30+10+8"},
    {"crop:61x47+0+0", ""},
    {"flip,crop:9x8+7+3", "crop:9x8+45+3,flip"},
    {"flip:vertical,crop:9x8+7+3", "crop:9x8+7+36,flip:vertical"},
    {"rotate:90,crop:9x8+7+3", "crop:8x9+3+31,rotate:90"},
    {"rotate:270,crop:9x8+7+3", "crop:8x9+50+7,rotate:270"}};

TEST(Geometry, EquivalentChainsAreEqualOnEveryEngine) {
  std::vector<std::unique_ptr<Engine>> engines;
  engines.push_back(make_reference_engine());
  engines.push_back(make_cpu_engine(1));
  engines.push_back(make_cpu_engine(3));
  for (const Shape& shape : shapes_of({61, 47})) {
    const Image in = noise(shape, 3);
    for (const EquivalentChains& same : kEquivalentChains) {
      for (const auto& engine : engines) {
        SCOPED_TRACE(std::string(same.one) + " and " + same.other + " on " +
                     std::string(engine->implementation()));
        ASSERT_EQ(difference(made_by(*engine, same.other, in), made_by(*engine, same.one, in)), "");
      }
    }
  }
}

TEST(Geometry, EquivalentChainsAreEqualOnCuda) {
  IMGPIPE_NEED_CUDA();
  const auto engine = make_cuda_engine(0);
  for (const Shape& shape : shapes_of({61, 47})) {
    const Image in = noise(shape, 3);
    for (const EquivalentChains& same : kEquivalentChains) {
      SCOPED_TRACE(std::string(same.one) + " and " + same.other);
      ASSERT_EQ(difference(made_by(*engine, same.other, in), made_by(*engine, same.one, in)), "");
    }
  }
}

// A second implementation of the documentation: the bounds of all pixels that differ.
template <class T>
std::vector<std::int64_t> bounds_of(const Plane<const T, Host>& in, int fuzz, const int* background) {
  std::vector<std::int64_t> xs, ys;
  for (std::int64_t y = 0; y < in.height; ++y) {
    for (std::int64_t i = 0; i < in.row_samples(); ++i) {
      if (std::abs(in.row(y)[i] - background[i % in.channels]) <= fuzz) continue;
      xs.push_back(i / in.channels);
      ys.push_back(y);
    }
  }
  if (xs.empty()) return {};
  const auto [left, right] = std::ranges::minmax(xs);
  const auto [top, bottom] = std::ranges::minmax(ys);
  return {left, top, right - left + 1, bottom - top + 1};
}

template <class T>
void expect_trimmed(std::mt19937& random) {
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  Image image({1 + below(20), 1 + below(12), 1 + below(4), sample_type_of<T>});
  const Plane<T, Host> pixels = image.untyped_view().as<T>();
  const int levels = 1 + below(4);
  const auto level = [&] { return static_cast<T>(kLargest<T> - 2 * (below(4) == 0 ? below(levels) : 0)); };
  const std::int64_t from = below(12), to = below(12);  // all other rows are white
  for (std::int64_t y = 0; y < pixels.height; ++y) {
    for (std::int64_t i = 0; i < pixels.row_samples(); ++i)
      pixels.row(y)[i] = y >= from && y <= to ? level() : static_cast<T>(kLargest<T>);
  }
  const bool corner = below(2) == 0;
  int background[4];
  for (int c = 0; c < pixels.channels; ++c) background[c] = corner ? pixels.row(0)[c] : kLargest<T>;
  const int fuzz = below(6);
  TrimBox box(TrimParameters(Parameters{{fuzz, corner ? kTrimCorner : kWhiteColor}}));
  for (std::int64_t y = 0; y < pixels.height;) {
    const std::int64_t rows = std::min<std::int64_t>(1 + below(4), pixels.height - y);
    box.add(pixels.rows(y, rows));
    y += rows;
  }
  EXPECT_EQ(box.rows(), pixels.height);
  const std::vector<std::int64_t> expected = bounds_of<T>(pixels, fuzz, background);
  const std::vector<std::int64_t> got{box.x(), box.y(), box.width(), box.height()};
  ASSERT_EQ(box.empty() ? std::vector<std::int64_t>() : got, expected);
}

TEST(Geometry, TrimFindsTheBoundsOfWhatDiffers) {
  std::mt19937 random(20261126);
  for (int i = 0; i < 300; ++i) {
    expect_trimmed<Sample8>(random);
    expect_trimmed<Sample16>(random);
  }
}

}  // namespace
}  // namespace imgpipe::test::geometry_test
