// Compares every implementation of every stage with the reference, for every golden case of the stage:
// shapes, contents, strides, canaries; floats under a hostile floating-point environment. golden_test
// compares the reference with the oracle. The stage table drives the tests: a stage without cases or
// functions fails "EveryStageIsComplete".
#include <algorithm>
#include <array>
#include <cstdlib>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/image.h"
#include "images/simd.h"
#include "kernels/stage.h"
#include "pipeline/stage_list.h"
#include "tests/support/cuda_backend.h"
#include "tests/support/hostile_floats.h"
#include "tests/support/images.h"
#include "tests/support/sanitizers.h"
#include "tests/support/second_images.h"
#include "tests/support/stage_cases.h"

namespace imgpipe::test::differential_test {
namespace {

constexpr std::array kSamples{Sample::u8, Sample::u16, Sample::f32};

// ---- implementations --------------------------------------------------------------------------------

// Runs a stage on host memory; a device copies its frames there and back. Returns "" or the error.
struct Backend {
  std::string name;
  imgpipe::Backend of;
  std::function<std::string(const Stage&, const StageCall<Host>&)> run;
};

#ifdef IMGPIPE_TEST_CUDA
constexpr bool kHasCuda = true;
#else
constexpr bool kHasCuda = false;
#endif

// Number of calls by backend, so that a test can prove which implementation ran.
std::map<std::string, int> calls_made;

// Copies rows of a plane; returns an empty image for an empty plane.
Image copy_of_rows(const ConstHostView& plane, const RowRange& rows) {
  if (plane.empty()) return {};
  Image copy({plane.width, rows.count(), plane.channels, plane.sample});
  copy_pixels(plane.rows(rows.first, rows.count()), copy.untyped_view());
  return copy;
}

// Runs a stage in bands of 1, 2, 3, ... rows. Each band gets copies of exactly the rows that it may read and
// write, so that a sanitizer detects other accesses.
void run_by_bands(const Stage& stage, const StageCall<Host>& call) {
  const std::int64_t height = makes_pixels(stage) ? call.out.type.height : call.in.type.height;
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
    run_cpu(stage, part, {made.first, made.end, read.first, made.first});
    for (std::size_t i = 0; i < 4; ++i) {
      if (!out[i].empty())
        copy_pixels(std::as_const(out[i]).untyped_view(), call.out.planes[i].rows(first, made.count()));
    }
  }
}

enum class Rows { by_bands, at_once, at_once_bypassing_caches };
std::string run_on_cpu(const std::string& name, const std::string& target, const Stage& stage,
                       const StageCall<Host>& call, Rows rows) {
  ++calls_made[name];
  use_simd(target);
  if (simd_target() != target) return "ran on " + simd_target();
  if (makes_counts(stage)) {
    std::fill_n(call.histogram.data, call.histogram.stride * call.histogram.height, 0);
  }
  if (rows == Rows::by_bands) {
    run_by_bands(stage, call);
  } else {
    run_cpu(stage, call,
            {0, makes_pixels(stage) ? call.out.type.height : call.in.type.height, 0, 0,
             rows == Rows::at_once_bypassing_caches});
  }
  use_simd("");
  return "";
}

std::vector<Backend> make_backends() {
  std::vector<Backend> all{
      {"cuda", imgpipe::Backend::cuda, [](const Stage& stage, const StageCall<Host>& call) {
         ++calls_made["cuda"];
         return run_on_cuda(stage, call);
       }}};
  // This backend detects writes of the reference outside its plane. A sanitizer already detects them when the
  // expected result is computed.
  if (!kSanitized) {
    all.push_back(
        {"reference", imgpipe::Backend::reference, [](const Stage& stage, const StageCall<Host>& call) {
           ++calls_made["reference"];
           run_reference(stage, call);
           return std::string();
         }});
  }
  const auto add_cpu = [&all](const std::string& name, const std::string& target, Rows rows) {
    all.push_back({name, imgpipe::Backend::cpu, [=](const Stage& stage, const StageCall<Host>& call) {
                     return run_on_cpu(name, target, stage, call, rows);
                   }});
  };
  bool bypasses = true;  // every other one, the first of which runs by bands too
  for (const std::string& target : simd_targets()) {
    add_cpu("cpu_" + target, target, bypasses ? Rows::at_once_bypassing_caches : Rows::at_once);
    bypasses = !bypasses;
  }
  add_cpu("cpu_bands", simd_targets().front(), Rows::by_bands);
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

// A stage, its input and parameters, and the reference's result. The table is made once for all backends,
// because it takes most of the time with 16-bit samples.
struct Trial {
  const Stage& stage;
  const FrameType& type;
  const StageCase& test;
  const Setting& setting;
  Made expected;
  // Between two canaries: the input's counts for a stage that reads counts, space for a stage that counts.
  std::vector<std::uint64_t> counters;
  std::vector<std::byte> table{};   // empty if the stage has none, or before the first backend
  bool device_makes_table = false;  // makes a table of counts if its kernel reads one

  [[nodiscard]] std::string text() const {
    return std::string(stage.name) + " [" + test.text + "] " + std::to_string(type.width) + "x" +
           std::to_string(type.height) + " channels " + std::to_string(type.channels()) + " bits " +
           std::to_string(8 * bytes_per_sample(type.sample)) +
           (type.layout == Layout::interleaved ? " interleaved" : "") + " content " + setting.content +
           " padding " + std::to_string(setting.padding) + " offset " + std::to_string(setting.offset) +
           " seed " + std::to_string(setting.seed);
  }
};

// Stages of floats must neither depend on the floating-point environment nor change it.
template <class Run>
void run_hostile(const FrameType& in, const FrameType& out, const Run& run) {
  if (!is_float(in.sample) && !is_float(out.sample)) return run();
  const HostileFloats environment;
  run();
  const bool is_kept = environment.is_set();
  ASSERT_TRUE(is_kept) << "the environment of floats has changed";
}

std::vector<std::uint64_t> counters_of(const Stage& stage, const StageCase& test, const FrameType& made,
                                       const Frame<const std::byte, Host>& in) {
  const int planes =
      makes_counts(stage) && makes_pixels(stage) ? made.color_channels : in.type.color_channels;
  std::vector<std::uint64_t> counters(static_cast<std::size_t>(in.type.bins() * planes) + 2, 0xDEADBEEF);
  if (reads_counts(stage, test.parameters)) std::ranges::copy(counts_of(in), counters.begin() + 1);
  return counters;
}

void check(const Backend& backend, Trial& trial, GuardedFrame& in, const GuardedFrame& untouched) {
  auto& [stage, type, test, setting, expected, counters, table, device_makes_table] = trial;
  SCOPED_TRACE(backend.name + " " + trial.text());
  const FrameType& made = expected.frame.type;
  GuardedFrame out(makes_pixels(stage) ? made : type, setting.padding + 3, setting.offset + 1);
  StageCall<Host> call{};
  call.in = in.view();
  if (makes_pixels(stage)) call.out = out.view();
  call.parameters = with_second_image(test.parameters, type);
  // Garbage, which hist must overwrite.
  if (makes_counts(stage)) std::ranges::fill(counters, 0xDEADBEEF);
  const std::int64_t bins = type.bins();
  call.histogram = {counters.data() + 1, bins, (std::ssize(counters) - 2) / bins, bins, 1};
  if (table.empty()) table = table_for(stage, call);
  if (!device_makes_table) call.table = {table.data(), std::ssize(table)};
  const int before = calls_made[backend.name];
  std::string failure;
  run_hostile(type, made, [&] { failure = backend.run(stage, call); });
  ASSERT_EQ(failure, "");
  ASSERT_EQ(calls_made[backend.name], before + 1) << "another implementation ran";
  ASSERT_EQ(in.damage(), "") << "input";
  ASSERT_EQ(out.damage(), "") << "output";
  ASSERT_EQ(counters.front(), 0xDEADBEEF);
  ASSERT_EQ(counters.back(), 0xDEADBEEF);
  for (std::size_t i = 0; i < expected.counts.size(); ++i) {
    ASSERT_EQ(call.histogram.data[i], expected.counts[i]) << "counter " << i;
  }
  for (const std::size_t i : plane_indices(made)) {
    if (!makes_pixels(stage)) break;
    ASSERT_EQ(first_difference(expected.frame.planes[i].untyped_view(), call.out.planes[i]), "")
        << "plane " << i;
  }
  // The input must be unchanged.
  for (std::size_t i = 0; i < in.planes.size(); ++i) {
    ASSERT_EQ(
        first_difference(untouched.planes[i].untyped_view(), std::as_const(in.planes[i]).untyped_view()), "")
        << "input plane " << i;
  }
}

// Compares every backend of the stage with the reference, which is the slowest, so it runs once for all.
void check(const std::vector<const Backend*>& backends, const Stage& stage, const FrameType& type,
           const StageCase& test, const Setting& setting) {
  GuardedFrame in(type, setting.padding, setting.offset);
  fill(in.view(), setting.content, setting.seed);
  const GuardedFrame untouched = in;
  Made expected = made_by_reference(stage, test, in.view());
  std::vector<std::uint64_t> counters = counters_of(stage, test, expected.frame.type, in.view());
  Trial trial{stage, type, test, setting, std::move(expected), std::move(counters)};
  for (const Backend* backend : backends) {
    trial.device_makes_table =
        backend->name == "cuda" && reads_counts(stage, test.parameters) && setting.seed % 2 == 1;
    check(*backend, trial, in, untouched);
    if (testing::Test::HasFatalFailure()) return;
  }
}

// A stage on the host's backends or on the device.
struct Tested {
  bool on_device = false;
  const Stage* stage = nullptr;
  Sample sample = Sample::u8;
};

bool has_kernel(const Stage& stage, imgpipe::Backend backend, Sample in) {
  return std::ranges::any_of(
      stage.kernels, [&](const Kernel& kernel) { return kernel.backend == backend && kernel.in == in; });
}

// Returns the backends with kernels of a stage: those of the host, or the device's. The reference has already
// computed the expected result; running it `again` only shows that it writes nowhere else.
enum class Reference { again, once };
std::vector<const Backend*> backends_of(const Tested& tested, Reference reference) {
  std::vector<const Backend*> some;
  for (const Backend& backend : backends()) {
    if (reference == Reference::once && backend.name == "reference") continue;
    const bool here = (backend.name == "cuda") == tested.on_device;
    if (here && has_kernel(*tested.stage, backend.of, tested.sample)) some.push_back(&backend);
  }
  return some;
}

class Differential : public testing::TestWithParam<Tested> {
 protected:
  [[nodiscard]] const Stage& stage() const { return *GetParam().stage; }
  // Checks all types of frames of this size that a case can have.
  void check_all(const StageCase& test, Size size, const Setting& setting,
                 Reference reference = Reference::again) const {
    for (const FrameType& type : inputs_of(stage(), test, size, GetParam().sample)) {
      check(backends_of(GetParam(), reference), stage(), type, test, setting);
      if (HasFatalFailure()) return;
    }
  }
};

#define IMGPIPE_NEED_BACKENDS() \
  if (GetParam().on_device) IMGPIPE_NEED_CUDA()

TEST_P(Differential, AwkwardShapes) {
  IMGPIPE_NEED_BACKENDS();
  for (const Size& size : awkward_sizes()) {
    for (const StageCase& test : cases_of(stage())) {
      check_all(test, size, {"noise", 0, 0, 11}, Reference::once);
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(Differential, Contents) {
  IMGPIPE_NEED_BACKENDS();
  for (const std::string& content : contents()) {
    for (const Size& size : {Size{1, 1}, Size{5, 5}, Size{64, 17}, Size{97, 89}}) {
      for (const StageCase& test : cases_of(stage())) {
        check_all(test, size, {content, 5, 0, 12}, Reference::once);
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(Differential, StridesAndMisalignment) {
  IMGPIPE_NEED_BACKENDS();
  for (const std::int64_t padding : {1, 2, 7, 64}) {
    for (const std::int64_t offset : {0, 1, 3, 13, 31}) {
      for (const Size& size : {Size{1, 1}, Size{37, 11}, Size{64, 6}, Size{331, 2}}) {
        check_all(cases_of(stage()).back(), size, {"noise", padding, offset, 13});
        if (HasFatalFailure()) return;
      }
    }
  }
}

TEST_P(Differential, ManySeeds) {
  IMGPIPE_NEED_BACKENDS();
  const std::vector<StageCase> cases = cases_of(stage());
  for (std::uint64_t seed = 100; seed < 160; ++seed) {
    const Size size{static_cast<std::int64_t>(seed * 7 % 41 + 1),
                    static_cast<std::int64_t>(seed * 13 % 29 + 1)};
    check_all(cases[seed % cases.size()], size, {contents()[seed % contents().size()], 0, 0, seed});
    if (HasFatalFailure()) return;
  }
}

// Also true for CUDA stages in a build without CUDA, so that their tests are reported as skipped.
bool is_tested(const Tested& tested) {
  return !backends_of(tested, Reference::again).empty();
}

std::vector<Tested> tested_stages() {
  std::vector<Tested> all;
  for (const bool on_device : {false, true}) {
    for (const Stage* const stage : all_stages()) {
      for (const Sample sample : kSamples) {
        const Tested tested{on_device, stage, sample};
        if (is_tested(tested) && !cases_of(*stage).empty()) all.push_back(tested);
      }
    }
  }
  return all;
}

std::string name_of(const Tested& tested) {
  std::string name = (tested.on_device ? "cuda_" : "host_") + std::string(tested.stage->name);
  if (tested.sample == Sample::u16) name += "_16_bits";
  if (tested.sample == Sample::f32) name += "_floats";
  std::ranges::replace(name, '+', '_');
  return name;
}
void PrintTo(const Tested& tested, std::ostream* out) {
  *out << name_of(tested);
}
std::string backend_stage_name(const testing::TestParamInfo<Tested>& tested) {
  return name_of(tested.param);
}

INSTANTIATE_TEST_SUITE_P(Stages, Differential, testing::ValuesIn(tested_stages()), backend_stage_name);

TEST(DifferentialFrame, EveryStageIsComplete) {
  for (const Stage* const tested : all_stages()) {
    const Stage& stage = *tested;
    const bool fused = !parts_of(stage).empty();
    EXPECT_FALSE(cases_of(stage).empty()) << stage.name << " has no cases in tests/golden";
    for (const Sample sample : {Sample::u8, Sample::u16}) {
      const auto lacks = [&](const char* backend) {
        return std::string(stage.name) + " has no " + backend + " for samples of " +
               std::to_string(8 * bytes_per_sample(sample)) + " bits";
      };
      EXPECT_TRUE(fused || has_kernel(stage, imgpipe::Backend::reference, sample)) << lacks("reference");
      EXPECT_TRUE(fused || has_kernel(stage, imgpipe::Backend::cpu, sample)) << lacks("cpu version");
      EXPECT_EQ(has_kernel(stage, imgpipe::Backend::cuda, sample), !fused || sample == Sample::u8)
          << lacks("CUDA version");
    }
    for (const Kernel& kernel : stage.kernels) {
      EXPECT_EQ(kernel.reference != nullptr, kernel.backend == imgpipe::Backend::reference) << stage.name;
      EXPECT_EQ(kernel.cpu != nullptr, kernel.backend == imgpipe::Backend::cpu) << stage.name;
      EXPECT_EQ(kernel.cuda != nullptr, kHasCuda && kernel.backend == imgpipe::Backend::cuda) << stage.name;
    }
    if (stage.name == "trim") continue;  // it runs as crop; golden_test covers the rectangle
    for (const StageCase& test : cases_of(stage)) {
      EXPECT_TRUE(std::ranges::any_of(kSamples,
                                      [&](Sample sample) {
                                        return !inputs_of(stage, test, {5, 5}, sample).empty();
                                      }))
          << stage.name << " does nothing with " << test.text;
    }
  }
}

// The checks can fail: they detect one wrong pixel, and a write outside the plane.
TEST(DifferentialFrame, DetectsAWrongPixelAndADamagedCanary) {
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
}  // namespace imgpipe::test::differential_test
