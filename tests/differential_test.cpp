// Every stage, every option, every implementation against the oracle: shapes, contents, strides, canaries.
// Driven by the stage table: a stage without an entry below fails the test "EveryStageIsCovered".
#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "images/image.h"
#include "images/simd.h"
#include "kernels/contrast/contrast.h"
#include "kernels/stage.h"
#include "tests/support/cuda_backend.h"
#include "tests/support/images.h"
#include "tests/support/oracle.h"

namespace imgpipe::test {
namespace {

// ---- implementations --------------------------------------------------------------------------------

// Something that can run a stage over host memory; a device's copies its frames there and back. It returns ""
// or what went wrong.
struct Backend {
  std::string name;
  std::function<bool(const Stage&)> has;
  std::function<std::string(const Stage&, const StageCall<Host>&)> run;
};

// Calls are counted by backend, so that a test can prove which implementation ran.
std::map<std::string, int> calls_made;

// Runs a stage by bands of 1, 2, 3... rows. Each gets copies of the rows that it may read and of those that
// it writes, of exactly that size, so that a sanitizer sees a step beyond either.
void run_by_bands(const Stage& stage, const StageCall<Host>& call) {
  const std::int64_t height = call.in.type.height;
  std::int64_t rows = 1;
  for (std::int64_t first = 0; first < height; first += rows++) {
    Band band{first, std::min(height, first + rows), 0, first};
    band.in_top = std::max<std::int64_t>(0, first - stage.reach);
    const std::int64_t in_end = std::min(height, band.end + stage.reach);
    StageCall<Host> part = call;
    std::array<Image, 4> in;
    std::array<Image, 4> out;
    for (std::size_t i = 0; i < 4; ++i) {
      const ConstHostPlane& from = call.in.planes[i];
      const HostPlane& to = call.out.planes[i];
      if (!from.empty()) {
        in[i] = Image({from.width, in_end - band.in_top, from.channels});
        copy_pixels(from.rows(band.in_top, in_end - band.in_top), in[i].view());
        part.in.planes[i] = std::as_const(in[i]).view();
      }
      if (!to.empty()) {
        out[i] = Image({to.width, band.end - first, to.channels});
        part.out.planes[i] = out[i].view();
      }
    }
    stage.cpu(part, band);
    for (std::size_t i = 0; i < 4; ++i) {
      if (!out[i].empty())
        copy_pixels(std::as_const(out[i]).view(), call.out.planes[i].rows(first, band.end - first));
    }
  }
}

std::string run_on_cpu(const std::string& name, const std::string& target, const Stage& stage,
                       const StageCall<Host>& call, bool by_bands) {
  ++calls_made[name];
  use_simd(target);
  if (simd_target() != target) return "ran on " + simd_target();
  if (writes_histogram(stage.writes)) {
    for (std::int64_t c = 0; c < call.histogram.height; ++c) std::fill_n(call.histogram.row(c), kBins, 0);
  }
  if (by_bands) {
    run_by_bands(stage, call);
  } else {
    stage.cpu(call, {0, call.in.type.height, 0, 0});
  }
  use_simd("");
  return "";
}

std::vector<Backend> make_backends() {
  std::vector<Backend> all{{"reference", [](const Stage& stage) { return stage.reference != nullptr; },
                            [](const Stage& stage, const StageCall<Host>& call) {
                              ++calls_made["reference"];
                              stage.reference(call);
                              return std::string();
                            }},
                           {"cuda", [](const Stage&) { return true; },
                            [](const Stage& stage, const StageCall<Host>& call) {
                              ++calls_made["cuda"];
                              return run_on_cuda(stage, call);
                            }}};
  const auto add_cpu = [&all](const std::string& name, const std::string& target, bool by_bands) {
    all.push_back({name, [](const Stage& stage) { return stage.cpu != nullptr; },
                   [=](const Stage& stage, const StageCall<Host>& call) {
                     return run_on_cpu(name, target, stage, call, by_bands);
                   }});
  };
  for (const std::string& target : simd_targets()) add_cpu("cpu_" + target, target, false);
  add_cpu("cpu_bands", simd_targets().front(), true);
  return all;
}

const std::vector<Backend>& backends() {
  static const std::vector<Backend> all = make_backends();
  return all;
}

// ---- options ----------------------------------------------------------------------------------------

struct Case {
  std::string text;
  StageOptions options;
};

const std::vector<std::pair<std::string, Luma>> kLumas{
    {"bt601", Luma::bt601}, {"bt709", Luma::bt709}, {"opencv", Luma::opencv}};
const std::vector<std::pair<std::string, Window>> kWindows{
    {"box", Window::box}, {"triangle", Window::triangle}, {"gauss", Window::gauss}};
const std::vector<std::pair<std::string, Border>> kBorders{
    {"shrink", Border::shrink}, {"replicate", Border::replicate}, {"reflect", Border::reflect}};

std::string name_of(const auto& names, auto value) {
  for (const auto& [name, known] : names) {
    if (known == value) return name;
  }
  return "?";
}

// All values of the options that a stage looks at.
std::vector<Case> cases_of(const Stage& stage) {
  std::vector<Case> cases;
  const StageOptions plain;
  if (stage.name == "gray" || stage.name == "gray+hist") {
    for (const auto& [name, luma] : kLumas) {
      cases.push_back({name, plain});
      cases.back().options.luma = luma;
    }
  } else if (stage.name == "contrast") {
    for (const Stretch stretch : {Stretch::joint, Stretch::each}) {
      for (const auto& [low, high] :
           std::vector<std::pair<MicroPercent, MicroPercent>>{{0, 0},
                                                              {500'000, 500'000},
                                                              {1, 0},
                                                              {30'000'000, 2'000'000},
                                                              {60'000'000, 60'000'000},
                                                              {99'999'999, 99'999'999}}) {
        StageOptions options;
        options.stretch = stretch;
        options.clip_low = low;
        options.clip_high = high;
        cases.push_back({(stretch == Stretch::joint ? "joint " : "each ") + std::to_string(low) + "," +
                             std::to_string(high),
                         options});
      }
    }
  } else if (stage.name == "smooth" || stage.name == "contrast+smooth") {
    for (const auto& [window_name, window] : kWindows) {
      for (const auto& [border_name, border] : kBorders) {
        StageOptions options;
        options.window = window;
        options.border = border;
        // The fused stage stretches as well: every other case each plane by itself and with clipping.
        if (stage.name != "smooth" && cases.size() % 2 == 1) {
          options.stretch = Stretch::each;
          options.clip_low = 3'000'000;
          options.clip_high = 500'000;
        }
        cases.push_back({window_name + " " + border_name, options});
      }
    }
  } else {
    cases.push_back({"", plain});
  }
  return cases;
}

// The frames that a stage accepts.
std::vector<FrameType> inputs_of(const Stage& stage, Size size) {
  std::vector<FrameType> shapes;
  for (const int color : {1, 3}) {
    for (const bool alpha : {false, true}) {
      const bool grey_plane = color == 1 && !alpha;
      if (stage.grey_only && color == 1) continue;  // the plan leaves gray out
      if ((stage.name == "split" || stage.name == "merge") && grey_plane) continue;
      if (stage.in == Layout::interleaved && grey_plane) continue;
      shapes.push_back({size.width, size.height, color, alpha, stage.in});
    }
  }
  return shapes;
}

// ---- the oracle's answers ---------------------------------------------------------------------------

// Channel c of a frame in either layout; c == color_channels is alpha.
Grid channel_of(const Frame<const std::byte, Host>& frame, int c) {
  if (frame.shape.layout == Layout::interleaved) return grid_of(frame.planes[0], c);
  return grid_of(frame.planes[c == frame.shape.color_channels ? kAlphaPlane : static_cast<std::size_t>(c)]);
}

struct Expected {
  std::vector<Grid> channels;                     // colour, then alpha if the stage writes it
  std::vector<std::vector<std::int64_t>> counts;  // of stages that write statistics
};

Expected expected_of(const Stage& stage, const Frame<const std::byte, Host>& in, const StageOptions& options) {
  Expected expected;
  const int colors = in.shape.color_channels;
  for (int c = 0; c < in.shape.channels(); ++c) expected.channels.push_back(channel_of(in, c));
  std::vector<std::vector<std::int64_t>> counts;
  std::vector<std::int64_t> joint(256, 0);
  for (int c = 0; c < colors; ++c) {
    counts.push_back(oracle_counts(expected.channels[static_cast<std::size_t>(c)]));
    for (std::size_t v = 0; v < 256; ++v) joint[v] += counts.back()[v];
  }
  if (stage.grey_only) {
    Grid grey = expected.channels[0];
    for (std::size_t y = 0; y < grey.size(); ++y) {
      for (std::size_t x = 0; x < grey[y].size(); ++x) {
        grey[y][x] = oracle_luma(name_of(kLumas, options.luma), expected.channels[0][y][x],
                                 expected.channels[1][y][x], expected.channels[2][y][x]);
      }
    }
    expected.channels.erase(expected.channels.begin(), expected.channels.begin() + 3);
    expected.channels.insert(expected.channels.begin(), grey);
    if (writes_histogram(stage.writes)) expected.counts = {oracle_counts(grey)};
  } else if (stage.name == "hist") {
    expected.counts = counts;
  } else {
    const bool stretches = stage.reads_histogram;
    const bool smooths = stage.name == "smooth" || stage.name == "contrast+smooth";
    for (int c = 0; c < colors; ++c) {
      Grid& channel = expected.channels[static_cast<std::size_t>(c)];
      const auto& used = options.stretch == Stretch::joint ? joint : counts[static_cast<std::size_t>(c)];
      if (stretches)
        channel = oracle_stretch(channel, oracle_range(used, options.clip_low, options.clip_high));
      if (smooths)
        channel =
            oracle_smooth(channel, name_of(kWindows, options.window), name_of(kBorders, options.border));
    }
  }
  return expected;
}

std::string difference(const Grid& expected, const Grid& got) {
  if (expected.size() != got.size() || expected[0].size() != got[0].size()) return "the sizes differ";
  for (std::size_t y = 0; y < expected.size(); ++y) {
    for (std::size_t x = 0; x < expected[y].size(); ++x) {
      if (expected[y][x] == got[y][x]) continue;
      return "x=" + std::to_string(x) + " y=" + std::to_string(y) + ": expected " +
             std::to_string(expected[y][x]) + ", got " + std::to_string(got[y][x]);
    }
  }
  return "";
}

// ---- one run ----------------------------------------------------------------------------------------

struct Setting {
  std::string content;
  std::int64_t padding = 0;
  std::int64_t offset = 0;
  std::uint64_t seed = 1;
};

void check(const Backend& backend, const Stage& stage, const FrameType& shape, const Case& test,
           const Setting& setting) {
  SCOPED_TRACE(backend.name + " " + std::string(stage.name) + " [" + test.text + "] " +
               std::to_string(shape.width) + "x" + std::to_string(shape.height) + " channels " +
               std::to_string(shape.channels()) + " content " + setting.content + " padding " +
               std::to_string(setting.padding) + " offset " + std::to_string(setting.offset) + " seed " +
               std::to_string(setting.seed));
  GuardedFrame in(shape, setting.padding, setting.offset);
  fill(in.view(), setting.content, setting.seed);
  const bool pixels = writes_pixels(stage.writes);
  FrameType out_shape = pixels ? output_type(stage, shape) : shape;
  FrameType made_shape = out_shape;
  if (!stage.moves_alpha) made_shape.alpha = false;
  GuardedFrame out(made_shape, setting.padding + 3, setting.offset + 1);
  StageCall<Host> call{};
  call.in.type = shape;
  for (std::size_t i = 0; i < 4; ++i) call.in.planes[i] = in.view().planes[i];
  if (pixels) call.out = out.view();
  call.out.type = out_shape;
  call.options = test.options;
  const Expected expected = expected_of(stage, call.in, test.options);
  // Canaries on both sides of the counters; they start as rubbish, because hist must overwrite them.
  const auto bins = static_cast<std::size_t>(kBins * shape.color_channels);
  std::vector<std::uint64_t> counters(bins + 2, 0xDEADBEEF);
  call.histogram = {counters.data() + 1, kBins, out_shape.color_channels, kBins, 1};
  if (stage.reads_histogram) {
    for (int c = 0; c < shape.color_channels; ++c) {
      const auto counts = oracle_counts(channel_of(call.in, c));
      for (int v = 0; v < kBins; ++v)
        call.histogram.row(c)[v] = static_cast<std::uint64_t>(counts[static_cast<std::size_t>(v)]);
    }
  }
  const int before = calls_made[backend.name];
  ASSERT_EQ(backend.run(stage, call), "");
  ASSERT_EQ(calls_made[backend.name], before + 1) << "another implementation ran";
  ASSERT_EQ(in.damage(), "") << "input";
  ASSERT_EQ(out.damage(), "") << "output";
  ASSERT_EQ(counters.front(), 0xDEADBEEF);
  ASSERT_EQ(counters.back(), 0xDEADBEEF);
  for (std::size_t c = 0; c < expected.counts.size(); ++c) {
    for (std::size_t v = 0; v < kBins; ++v) {
      ASSERT_EQ(call.histogram.row(static_cast<std::int64_t>(c))[v],
                static_cast<std::uint64_t>(expected.counts[c][v]))
          << "plane " << c << " bin " << v;
    }
  }
  if (!pixels) return;
  Frame<const std::byte, Host> got{made_shape, {}};
  for (std::size_t i = 0; i < 4; ++i) got.planes[i] = call.out.planes[i];
  for (int c = 0; c < made_shape.channels(); ++c) {
    ASSERT_EQ(difference(expected.channels[static_cast<std::size_t>(c)], channel_of(got, c)), "")
        << "channel " << c;
  }
  // The input is read-only.
  GuardedFrame untouched(shape, setting.padding, setting.offset);
  fill(untouched.view(), setting.content, setting.seed);
  for (std::size_t i = 0; i < in.planes.size(); ++i) {
    ASSERT_EQ(first_difference(std::as_const(untouched.planes[i]).view(), std::as_const(in.planes[i]).view()),
              "")
        << "input plane " << i;
  }
}

// Backend and stage, by number.
class Differential : public testing::TestWithParam<std::pair<std::size_t, std::size_t>> {
 protected:
  [[nodiscard]] const Backend& backend() const { return backends()[GetParam().first]; }
  [[nodiscard]] const Stage& stage() const { return stage_table()[GetParam().second]; }
};

#define IMGPIPE_NEED_BACKEND() \
  if (backend().name == "cuda") IMGPIPE_NEED_CUDA()

TEST_P(Differential, AwkwardShapes) {
  IMGPIPE_NEED_BACKEND();
  {
    for (const Size& size : awkward_sizes()) {
      for (const FrameType& shape : inputs_of(stage(), size)) {
        for (const Case& test : cases_of(stage())) {
          check(backend(), stage(), shape, test, {"noise", 0, 0, 11});
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST_P(Differential, Contents) {
  IMGPIPE_NEED_BACKEND();
  {
    for (const std::string& content : contents()) {
      for (const Size& size : few_sizes()) {
        for (const FrameType& shape : inputs_of(stage(), size)) {
          for (const Case& test : cases_of(stage())) {
            check(backend(), stage(), shape, test, {content, 5, 0, 12});
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST_P(Differential, StridesAndMisalignment) {
  IMGPIPE_NEED_BACKEND();
  {
    for (const std::int64_t padding : {1, 2, 7, 64}) {
      for (const std::int64_t offset : {0, 1, 3, 13, 31}) {
        for (const Size& size : {Size{1, 1}, Size{37, 11}, Size{64, 6}}) {
          for (const FrameType& shape : inputs_of(stage(), size)) {
            check(backend(), stage(), shape, cases_of(stage()).back(), {"noise", padding, offset, 13});
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST_P(Differential, ManySeeds) {
  IMGPIPE_NEED_BACKEND();
  {
    for (std::uint64_t seed = 100; seed < 160; ++seed) {
      const Size size{static_cast<std::int64_t>(seed * 7 % 41 + 1),
                      static_cast<std::int64_t>(seed * 13 % 29 + 1)};
      for (const FrameType& shape : inputs_of(stage(), size)) {
        const std::vector<Case> cases = cases_of(stage());
        check(backend(), stage(), shape, cases[seed % cases.size()],
              {contents()[seed % contents().size()], 0, 0, seed});
        if (HasFatalFailure()) return;
      }
    }
  }
}

std::vector<std::pair<std::size_t, std::size_t>> backend_stages() {
  std::vector<std::pair<std::size_t, std::size_t>> all;
  for (std::size_t b = 0; b < backends().size(); ++b) {
    for (std::size_t i = 0; i < stage_table().size(); ++i) {
      if (backends()[b].has(stage_table()[i])) all.emplace_back(b, i);
    }
  }
  return all;
}

std::string backend_stage_name(const testing::TestParamInfo<std::pair<std::size_t, std::size_t>>& pair) {
  std::string name =
      backends()[pair.param.first].name + "_" + std::string(stage_table()[pair.param.second].name);
  std::ranges::replace(name, '+', '_');
  return name;
}

INSTANTIATE_TEST_SUITE_P(Stages, Differential, testing::ValuesIn(backend_stages()), backend_stage_name);

TEST(DifferentialFrame, EveryStageIsCovered) {
  const std::set<std::string> known{"gray",  "hist",  "contrast",  "smooth",
                                    "split", "merge", "gray+hist", "contrast+smooth"};
  for (const Stage& stage : stage_table()) {
    EXPECT_TRUE(known.contains(std::string(stage.name))) << stage.name << " has no answer in expected_of()";
    EXPECT_FALSE(inputs_of(stage, {5, 5}).empty()) << stage.name;
  }
}

// Every value between every lo and hi, on every SIMD target.
TEST(DifferentialCpu, ContrastForEveryRange) {
  Image in({kBins, 1, 1});
  Image out({kBins, 1, 1});
  for (int v = 0; v < kBins; ++v) in.view().data[v] = static_cast<Sample>(v);
  for (const std::string& target : simd_targets()) {
    use_simd(target);
    for (int lo = 0; lo < kBins; ++lo) {
      for (int hi = lo; hi < kBins; ++hi) {
        std::vector<std::uint64_t> counts(kBins, 0);
        counts[static_cast<std::size_t>(lo)] = 1;
        counts[static_cast<std::size_t>(hi)] = 1;
        const FrameType shape{kBins, 1, 1, false, Layout::planar};
        find_stage("contrast")
            ->cpu({{shape, {std::as_const(in).view(), {}, {}, {}}},
                   {shape, {out.view(), {}, {}, {}}},
                   {counts.data(), kBins, 1, kBins, 1},
                   {}},
                  {0, 1, 0, 0});
        for (int v = 0; v < kBins; ++v)
          ASSERT_EQ(out.view().data[v], stretched(v, lo, hi)) << target << " " << lo << " " << hi << " " << v;
      }
    }
  }
  use_simd("");
}

// The frame must be able to fail: a stage that is wrong in one pixel, or writes beside its plane, is seen.
TEST(DifferentialFrame, SeesAWrongPixelAndAHitCanary) {
  GuardedFrame in({7, 5, 1, false, Layout::planar}, 4, 1);
  GuardedFrame out(in.shape, 4, 1);
  fill(in.view(), "noise", 3);
  for (std::int64_t y = 0; y < 5; ++y) {
    for (std::int64_t x = 0; x < 7; ++x) out.view().planes[0].row(y)[x] = in.view().planes[0].row(y)[x];
  }
  const auto as_const = [](GuardedFrame& frame) { return ConstHostPlane(frame.view().planes[0]); };
  EXPECT_EQ(first_difference(as_const(in), as_const(out)), "");
  out.view().planes[0].row(3)[6] ^= 1;
  EXPECT_NE(first_difference(as_const(in), as_const(out)).find("x=6 y=3"), std::string::npos);
  EXPECT_EQ(out.damage(), "");
  out.view().planes[0].row(3)[7] ^= 1;
  EXPECT_NE(out.damage(), "");
  EXPECT_NE(difference({{1, 2}}, {{1, 3}}), "");
}

}  // namespace
}  // namespace imgpipe::test
