// Compares stages that launch once for several images with the reference: images of different sizes, more of
// them than a launch takes.
#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/stage.h"
#include "pipeline/compare.h"
#include "tests/support/cuda_backend.h"
#include "tests/support/images.h"
#include "tests/support/second_images.h"
#include "tests/support/stage_cases.h"

#ifdef IMGPIPE_TEST_CUDA
#include "pipeline/cuda/cuda_api.h"
#endif

namespace imgpipe::test::cuda_group_test {
namespace {

#ifdef IMGPIPE_TEST_CUDA

constexpr std::int64_t kLargestSide = 300;

// The types of a group's images, by colour channels, alpha and layout.
using Groups = std::map<std::tuple<int, bool, Layout>, std::vector<FrameType>>;

Groups groups_of(const Stage& stage, const StageCase& test, Sample sample) {
  Groups groups;
  for (const Size& size : awkward_sizes()) {
    if (std::max(size.width, size.height) > kLargestSide) continue;
    for (const FrameType& type : inputs_of(stage, test, size, sample))
      groups[{type.color_channels, type.alpha, type.layout}].push_back(type);
  }
  return groups;
}

// Launches the kernel for `others` and the calls already on the device.
std::string run_together(const Kernel& kernel, std::span<const StageCall<Host>> others,
                         std::vector<const StageCall<Device>*>& on_device, const CudaLaunch& launch) {
  if (others.empty()) {
    IMGPIPE_CUDA(static_cast<cudaError_t>(run_cuda_group(kernel, on_device, launch)));
    IMGPIPE_CUDA(cudaStreamSynchronize(launch.stream));
    return "";
  }
  const DeviceWork work = [&](const StageCall<Device>& call, const CudaLaunch& next) {
    on_device.push_back(&call);
    return run_together(kernel, others.subspan(1), on_device, next);
  };
  return run_on_cuda(work, others.front());
}

void expect_equal_to_reference(const Stage& stage, const StageCase& test, const Kernel& kernel,
                               const std::vector<FrameType>& types) {
  std::vector<OwnFrame> in, got;
  std::vector<Made> expected;
  std::vector<std::vector<std::byte>> tables;
  std::vector<StageCall<Host>> calls;
  for (std::size_t i = 0; i < types.size(); ++i) {
    fill(in.emplace_back(types[i]).view(), contents()[i % contents().size()], i);
    expected.push_back(made_by_reference(stage, test, in.back().view()));
    got.emplace_back(expected.back().frame.type);
  }
  for (std::size_t i = 0; i < types.size(); ++i) {
    StageCall<Host>& call =
        calls.emplace_back(StageCall<Host>{.in = in[i].view(),
                                           .out = got[i].view(),
                                           .parameters = with_second_image(test.parameters, types[i])});
    std::vector<std::byte>& table = tables.emplace_back(table_for(stage, call));
    call.table = {table.data(), std::ssize(table)};
  }
  std::vector<const StageCall<Device>*> on_device;
  ASSERT_EQ(run_together(kernel, calls, on_device, {}), "");
  for (std::size_t i = 0; i < types.size(); ++i) {
    const Difference difference = compare_frames(expected[i].frame.view(), got[i].view());
    ASSERT_TRUE(difference.identical())
        << "image " << i << ", " << types[i].width << "x" << types[i].height << ": " << difference.text();
  }
}

TEST(CudaGroups, ImagesOfDifferentSizesEqualTheReference) {
  IMGPIPE_NEED_CUDA();
  std::set<std::string_view> tested;
  for (const Stage* const stage : all_stages()) {
    for (const StageCase& test : cases_of(*stage)) {
      for (const Sample sample : {Sample::u8, Sample::u16, Sample::f32}) {
        for (const auto& [kind, types] : groups_of(*stage, test, sample)) {
          const Sample out = output_type(*stage, types.front(), test.parameters).sample;
          const Kernel* const kernel = find_kernel(*stage, Backend::cuda, sample, out);
          if (kernel == nullptr || kernel->cuda_group == nullptr) continue;
          SCOPED_TRACE(test.text + ", " + std::to_string(std::get<0>(kind)) + " colours" +
                       (std::get<1>(kind) ? ", alpha" : "") +
                       (std::get<2>(kind) == Layout::planar ? ", planar" : ", interleaved") + ", " +
                       std::to_string(8 * bytes_per_sample(sample)) + " bits");
          expect_equal_to_reference(*stage, test, *kernel, types);
          if (testing::Test::HasFatalFailure()) return;
          tested.insert(stage->name);
        }
      }
    }
  }
  EXPECT_EQ(tested, (std::set<std::string_view>{"crop", "merge", "normalize", "resize", "split"}));
}

#endif

}  // namespace
}  // namespace imgpipe::test::cuda_group_test
