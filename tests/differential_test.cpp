// Every stage with every case of its row in tests/golden/oracle.py, every implementation against the
// reference, which golden.json holds to that oracle: shapes, contents, strides, canaries. Driven by the stage
// table: one without cases or functions fails "EveryStageIsComplete".
#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/image.h"
#include "images/simd.h"
#include "kernels/contrast/contrast.h"
#include "kernels/stage.h"
#include "pipeline/stage_list.h"
#include "tests/support/cuda_backend.h"
#include "tests/support/images.h"
#include "tests/support/oracle.h"
#include "tests/support/sanitizers.h"
#include "tests/support/stage_cases.h"

namespace imgpipe::test {
namespace {

// ---- implementations --------------------------------------------------------------------------------

// Something that can run a stage over host memory; a device's copies its frames there and back. It returns ""
// or what went wrong.
struct Backend {
  std::string name;
  std::function<bool(const StageFunctions&)> has;
  std::function<std::string(const Stage&, const StageCall<Host>&)> run;
};

#ifdef IMGPIPE_TEST_CUDA
constexpr bool kHasCuda = true;
#else
constexpr bool kHasCuda = false;
#endif

// Calls are counted by backend, so that a test can prove which implementation ran.
std::map<std::string, int> calls_made;

// Copies of rows of a plane; empty for an empty one.
Image copy_of_rows(const ConstHostView& plane, const RowRange& rows) {
  if (plane.empty()) return {};
  Image copy({plane.width, rows.count(), plane.channels, plane.sample});
  copy_pixels(plane.rows(rows.first, rows.count()), copy.untyped_view());
  return copy;
}

// Runs a stage by bands of 1, 2, 3... rows. Each gets copies of the rows that it may read and of those that
// it writes, of exactly that size, so that a sanitizer sees a step beyond either.
void run_by_bands(const Stage& stage, const StageCall<Host>& call) {
  const std::int64_t height = stage.writes_pixels ? call.out.type.height : call.in.type.height;
  std::int64_t rows = 1;
  for (std::int64_t first = 0; first < height; first += rows++) {
    const RowRange made{first, std::min(height, first + rows)};
    const RowRange read = rows_needed(stage, call.in.type, call.parameters, made);
    StageCall<Host> part = call;
    std::array<Image, 4> in;
    std::array<Image, 4> out;
    for (std::size_t i = 0; i < 4; ++i) {
      in[i] = copy_of_rows(call.in.planes[i], read);
      out[i] = copy_of_rows(call.out.planes[i], made);
      if (!in[i].empty()) part.in.planes[i] = std::as_const(in[i]).untyped_view();
      if (!out[i].empty()) part.out.planes[i] = out[i].untyped_view();
    }
    functions(stage, call.in.type.sample).cpu(part, {made.first, made.end, read.first, made.first});
    for (std::size_t i = 0; i < 4; ++i) {
      if (!out[i].empty())
        copy_pixels(std::as_const(out[i]).untyped_view(), call.out.planes[i].rows(first, made.count()));
    }
  }
}

std::string run_on_cpu(const std::string& name, const std::string& target, const Stage& stage,
                       const StageCall<Host>& call, bool by_bands) {
  ++calls_made[name];
  use_simd(target);
  if (simd_target() != target) return "ran on " + simd_target();
  if (stage.counts) {
    std::fill_n(call.histogram.data, call.histogram.stride * call.histogram.height, 0);
  }
  if (by_bands) {
    run_by_bands(stage, call);
  } else {
    functions(stage, call.in.type.sample)
        .cpu(call, {0, stage.writes_pixels ? call.out.type.height : call.in.type.height, 0, 0});
  }
  use_simd("");
  return "";
}

std::vector<Backend> make_backends() {
  std::vector<Backend> all{{"reference", [](const StageFunctions& of) { return of.reference != nullptr; },
                            [](const Stage& stage, const StageCall<Host>& call) {
                              ++calls_made["reference"];
                              functions(stage, call.in.type.sample).reference(call);
                              return std::string();
                            }},
                           {"cuda", [](const StageFunctions& of) { return of.cuda != nullptr; },
                            [](const Stage& stage, const StageCall<Host>& call) {
                              ++calls_made["cuda"];
                              return run_on_cuda(stage, call);
                            }}};
  const auto add_cpu = [&all](const std::string& name, const std::string& target, bool by_bands) {
    all.push_back({name, [](const StageFunctions& of) { return of.cpu != nullptr; },
                   [=](const Stage& stage, const StageCall<Host>& call) {
                     return run_on_cpu(name, target, stage, call, by_bands);
                   }});
  };
  // Sanitized: the widest vectors, and plain C++; all of them take an hour there.
  const std::vector<std::string> targets = simd_targets();
  for (const std::string& target : targets) {
    if (!kSanitized || target == targets.front() || target == targets.back())
      add_cpu("cpu_" + target, target, false);
  }
  add_cpu("cpu_bands", simd_targets().front(), true);
  return all;
}

const std::vector<Backend>& backends() {
  static const std::vector<Backend> all = make_backends();
  return all;
}

// ---- one run ----------------------------------------------------------------------------------------

struct Setting {
  std::string content;
  std::int64_t padding = 0;
  std::int64_t offset = 0;
  std::uint64_t seed = 1;
};

// What the stage finds in the pixels: its parts, the last of them first.
Prepared<Host> find_in_pixels(const Stage& stage, const StageCall<Host>& call, std::vector<std::byte>& to) {
  for (std::int64_t part = stage.find_parts(call.in.type, call.parameters); part-- > 0;)
    stage.find_part(call.in, call.parameters, part, to.data());
  return {to.data(), std::ssize(to)};
}

void check(const Backend& backend, const Stage& stage, const FrameType& type, const StageCase& test,
           const Setting& setting) {
  SCOPED_TRACE(backend.name + " " + std::string(stage.name) + " [" + test.text + "] " +
               std::to_string(type.width) + "x" + std::to_string(type.height) + " channels " +
               std::to_string(type.channels()) + " bits " + std::to_string(8 * sample_bytes(type.sample)) +
               (type.layout == Layout::interleaved ? " interleaved" : "") + " content " + setting.content +
               " padding " + std::to_string(setting.padding) + " offset " + std::to_string(setting.offset) +
               " seed " + std::to_string(setting.seed));
  GuardedFrame in(type, setting.padding, setting.offset);
  fill(in.view(), setting.content, setting.seed);
  Made expected = made_by_reference(stage, test, in.view());
  const FrameType& made = expected.frame.type;
  GuardedFrame out(stage.writes_pixels ? made : type, setting.padding + 3, setting.offset + 1);
  const std::vector<std::byte> table = prepared_table(stage, type, test.parameters);
  StageCall<Host> call{};
  call.in = in.view();
  if (stage.writes_pixels) call.out = out.view();
  call.parameters = test.parameters;
  call.second = test.second;
  call.prepared = {table.data(), static_cast<std::int64_t>(table.size())};
  // Canaries on both sides of the counters; they start as rubbish, because hist must overwrite them.
  const int planes = stage.counts && stage.writes_pixels ? made.color_channels : type.color_channels;
  const std::int64_t bins = type.bins();
  std::vector<std::uint64_t> counters(static_cast<std::size_t>(bins * planes) + 2, 0xDEADBEEF);
  if (reads_histogram(stage, test.parameters)) std::ranges::copy(counts_of(call.in), counters.begin() + 1);
  call.histogram = {counters.data() + 1, bins, planes, bins, 1};
  // Every other run with what find() makes of the counts: functions take either.
  std::vector<std::byte> found(static_cast<std::size_t>(found_bytes(stage, type, test.parameters)));
  if (setting.seed % 2 == 0 && !found.empty() && reads_histogram(stage, test.parameters)) {
    stage.find(type, test.parameters, call.histogram, found.data());
    call.found = {found.data(), std::ssize(found)};
  }
  if (stage.find_part != nullptr) call.found = find_in_pixels(stage, call, found);
  const int before = calls_made[backend.name];
  ASSERT_EQ(backend.run(stage, call), "");
  ASSERT_EQ(calls_made[backend.name], before + 1) << "another implementation ran";
  ASSERT_EQ(in.damage(), "") << "input";
  ASSERT_EQ(out.damage(), "") << "output";
  ASSERT_EQ(counters.front(), 0xDEADBEEF);
  ASSERT_EQ(counters.back(), 0xDEADBEEF);
  for (std::size_t i = 0; i < expected.counts.size(); ++i) {
    ASSERT_EQ(call.histogram.data[i], expected.counts[i]) << "counter " << i;
  }
  for (const std::size_t i : plane_indices(made)) {
    if (!stage.writes_pixels) break;
    ASSERT_EQ(first_difference(expected.frame.view().planes[i], call.out.planes[i]), "") << "plane " << i;
  }
  // The input is read-only.
  GuardedFrame untouched(type, setting.padding, setting.offset);
  fill(untouched.view(), setting.content, setting.seed);
  for (std::size_t i = 0; i < in.planes.size(); ++i) {
    ASSERT_EQ(first_difference(std::as_const(untouched.planes[i]).untyped_view(),
                               std::as_const(in.planes[i]).untyped_view()),
              "")
        << "input plane " << i;
  }
}

// Backend and stage, by number.
struct Tested {
  std::size_t backend = 0, stage = 0;
  SampleType sample = SampleType::u8;
};

class Differential : public testing::TestWithParam<Tested> {
 protected:
  [[nodiscard]] const Backend& backend() const { return backends()[GetParam().backend]; }
  [[nodiscard]] const Stage& stage() const { return stage_table()[GetParam().stage]; }
  [[nodiscard]] std::vector<FrameType> inputs(const StageCase& test, Size size) const {
    return inputs_of(stage(), test, size, GetParam().sample);
  }
};

#define IMGPIPE_NEED_BACKEND() \
  if (backend().name == "cuda") IMGPIPE_NEED_CUDA()

TEST_P(Differential, AwkwardShapes) {
  IMGPIPE_NEED_BACKEND();
  {
    for (const Size& size : awkward_sizes()) {
      for (const StageCase& test : cases_of(stage())) {
        for (const FrameType& type : inputs(test, size)) {
          check(backend(), stage(), type, test, {"noise", 0, 0, 11});
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
        for (const StageCase& test : cases_of(stage())) {
          for (const FrameType& type : inputs(test, size)) {
            check(backend(), stage(), type, test, {content, 5, 0, 12});
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
          const StageCase test = cases_of(stage()).back();
          for (const FrameType& type : inputs(test, size)) {
            check(backend(), stage(), type, test, {"noise", padding, offset, 13});
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
      const std::vector<StageCase> cases = cases_of(stage());
      const StageCase& test = cases[seed % cases.size()];
      for (const FrameType& type : inputs(test, size)) {
        check(backend(), stage(), type, test, {contents()[seed % contents().size()], 0, 0, seed});
        if (HasFatalFailure()) return;
      }
    }
  }
}

// What a build without CUDA cannot run is shown as skipped.
bool is_tested(const Backend& backend, const Stage& stage, SampleType sample) {
  const bool fused = !stage.fuses[0].empty();
  if (backend.name == "cuda" && !kHasCuda) return !fused || sample == SampleType::u8;
  return backend.has(functions(stage, sample));
}

std::vector<Tested> backend_stages() {
  std::vector<Tested> all;
  for (std::size_t b = 0; b < backends().size(); ++b) {
    for (std::size_t i = 0; i < stage_table().size(); ++i) {
      const Stage& stage = stage_table()[i];
      for (const SampleType sample : {SampleType::u8, SampleType::u16}) {
        if (is_tested(backends()[b], stage, sample) && !cases_of(stage).empty())
          all.push_back({b, i, sample});
      }
    }
  }
  return all;
}

std::string name_of(const Tested& tested) {
  std::string name = backends()[tested.backend].name + "_" + std::string(stage_table()[tested.stage].name);
  if (tested.sample == SampleType::u16) name += "_16_bits";
  std::ranges::replace(name, '+', '_');
  return name;
}
void PrintTo(const Tested& tested, std::ostream* out) {
  *out << name_of(tested);
}
std::string backend_stage_name(const testing::TestParamInfo<Tested>& tested) {
  return name_of(tested.param);
}

INSTANTIATE_TEST_SUITE_P(Stages, Differential, testing::ValuesIn(backend_stages()), backend_stage_name);

TEST(DifferentialFrame, EveryStageIsComplete) {
  for (const Stage& stage : stage_table()) {
    const bool fused = !stage.fuses[0].empty();
    EXPECT_FALSE(cases_of(stage).empty()) << stage.name << " has no row in tests/golden/oracle.py";
    EXPECT_TRUE(fused || stage.u8.reference != nullptr) << stage.name << " has no reference";
    EXPECT_TRUE(fused || stage.u8.cpu != nullptr) << stage.name << " has no cpu version";
    EXPECT_TRUE(!kHasCuda || stage.u8.cuda != nullptr) << stage.name << " has no CUDA version";
    EXPECT_TRUE(!kHasCuda || fused || stage.u16.cuda != nullptr)
        << stage.name << " has no CUDA version of 16 bits";
    EXPECT_TRUE(fused || stage.u16.reference != nullptr) << stage.name << " has no reference of 16 bits";
    EXPECT_TRUE(fused || stage.u16.cpu != nullptr) << stage.name << " has no cpu version of 16 bits";
    for (const StageCase& test : cases_of(stage)) {
      EXPECT_FALSE(inputs_of(stage, test, {5, 5}).empty() &&
                   inputs_of(stage, test, {5, 5}, SampleType::u16).empty())
          << stage.name << " does nothing with " << test.text;
    }
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
        const FrameType type{kBins, 1, 1, false, Layout::planar};
        StageCall<Host> call{};
        call.in = {type, {std::as_const(in).view(), {}, {}, {}}};
        call.out = {type, {out.view(), {}, {}, {}}};
        call.histogram = {counts.data(), kBins, 1, kBins, 1};
        contrast_cpu(call, {0, 1, 0, 0});
        for (int v = 0; v < kBins; ++v)
          ASSERT_EQ(out.view().data[v], stretched(v, lo, hi)) << target << " " << lo << " " << hi << " " << v;
      }
    }
  }
  use_simd("");
}

// Every value of a frame of 16 bits; `stage` makes `out` of it.
template <class To>
std::vector<To> made_of_every_value(const Stage& stage, const Parameters& parameters,
                                    const std::vector<std::uint64_t>& counts) {
  constexpr std::int64_t kValues = 65536;
  std::vector<Sample16> in(kValues);
  for (std::size_t v = 0; v < in.size(); ++v) in[v] = static_cast<Sample16>(v);
  std::vector<To> out(kValues);
  const FrameType type{kValues, 1, 1, false, Layout::planar, SampleType::u16};
  StageCall<Host> call{};
  call.in = {type, {Plane<const Sample16, Host>{in.data(), kValues, 1, kValues, 1}, {}, {}, {}}};
  call.out = {output_type(stage, type, parameters),
              {Plane<To, Host>{out.data(), kValues, 1, kValues, 1}, {}, {}, {}}};
  call.parameters = parameters;
  std::vector<std::uint64_t> counted = counts;
  if (!counted.empty()) call.histogram = histogram_view<Host>(counted.data(), type);
  stage.u16.cpu(call, {0, 1, 0, 0});
  return out;
}

template <class To>
void expect_stretched(const std::string& target, const Parameters& parameters, std::size_t lo,
                      std::size_t hi) {
  std::vector<std::uint64_t> counts(65536, 0);
  counts[lo] = counts[hi] = 1;
  const std::vector<To> made = made_of_every_value<To>(*find_stage("contrast"), parameters, counts);
  for (std::size_t v = 0; v < made.size(); ++v) {
    const To expected =
        stretched<To, Sample16>(static_cast<int>(v), static_cast<int>(lo), static_cast<int>(hi));
    ASSERT_EQ(made[v], expected) << target << " " << lo << " " << hi << " " << v;
  }
}

// Every value between limits of every size, and at random, on every SIMD target.
TEST(DifferentialCpu, ContrastOf16BitsForManyRanges) {
  std::vector<std::pair<std::size_t, std::size_t>> ranges{
      {0, 65535}, {1, 65535}, {0, 65534}, {65534, 65535}, {7, 7}};
  for (std::size_t span = 1; span < 65536; span = span * 2 + (span % 3 == 0 ? 1 : 0)) {
    for (const std::size_t near : {span - 1, span, span + 1}) {
      if (near > 0 && near < 65536) ranges.emplace_back(0, near);
      if (near > 0 && near < 65000) ranges.emplace_back(535, 535 + near);
    }
  }
  std::mt19937 random(16);
  for (int i = 0; i < 40; ++i) {
    const std::size_t a = random() % 65536;
    const std::size_t b = random() % 65536;
    ranges.emplace_back(std::min(a, b), std::max(a, b));
  }
  const Parameters same = parse_stages("contrast").front().parameters;
  const Parameters narrow = parse_stages("contrast:to=8").front().parameters;
  for (const std::string& target : simd_targets()) {
    use_simd(target);
    for (const auto& [lo, hi] : ranges) {
      expect_stretched<Sample16>(target, same, lo, hi);
      expect_stretched<Sample>(target, narrow, lo, hi);
      if (HasFatalFailure()) return;
    }
  }
  use_simd("");
}

TEST(DifferentialCpu, DepthOfEveryValue) {
  const Parameters narrow = parse_stages("depth:8").front().parameters;
  for (const std::string& target : simd_targets()) {
    use_simd(target);
    const std::vector<Sample> made = made_of_every_value<Sample>(*find_stage("depth"), narrow, {});
    for (std::uint32_t v = 0; v < 65536; ++v)
      ASSERT_EQ(made[v], (v * 255 + 32767) / 65535) << target << " " << v;
  }
  use_simd("");
}

// The frame must be able to fail: a stage that is wrong in one pixel, or writes beside its plane, is seen.
TEST(DifferentialFrame, SeesAWrongPixelAndAHitCanary) {
  GuardedFrame in({7, 5, 1, false, Layout::planar}, 4, 1);
  GuardedFrame out(in.shape, 4, 1);
  fill(in.view(), "noise", 3);
  copy_pixels(in.view().planes[0], out.view().planes[0]);
  const auto difference = [&] { return first_difference(in.planes[0].view(), out.planes[0].view()); };
  EXPECT_EQ(difference(), "");
  out.planes[0].view().row(3)[6] ^= 1;
  EXPECT_NE(difference().find("x=6 y=3"), std::string::npos);
  EXPECT_EQ(out.damage(), "");
  out.planes[0].view().row(3)[7] ^= 1;
  EXPECT_NE(out.damage(), "");
}

}  // namespace
}  // namespace imgpipe::test
