// Compares JpegReconstruction on a GPU with the sequential reference: pixels, grey and counts, in groups.
#include <cstdlib>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/image.h"
#include "kernels/jpeg/reconstruction.h"
#include "tests/support/baseline_reference.h"
#include "tests/support/cuda_backend.h"
#include "tests/support/jpeg_scans.h"

#ifdef IMGPIPE_TEST_CUDA

#include <cuda_runtime.h>

#include "pipeline/cuda/cuda_api.h"

namespace imgpipe::test::cuda_jpeg_reconstruction_test {
namespace {

using Random = std::mt19937_64;

// The requested outputs of an image.
struct RequestedOutputs {
  bool pixels = true, grey = false, counts = false;
  Luma luma = Luma::bt601;
};

struct Input {
  BaselineScan scan;
  std::vector<std::int16_t> coefficients;
  RequestedOutputs requested;
  std::string name;
};

// ---- device memory with canaries ----------------------------------------------------------------------

constexpr std::int64_t kGuard = 256;

std::uint8_t canary(std::size_t i) {
  return static_cast<std::uint8_t>((i * 2654435761U) >> 13);
}

// Layout: guard | row | padding | row | padding ... | guard.
class GuardedPlane {
 public:
  GuardedPlane(const Shape& shape, std::int64_t extra_vectors) : shape_(shape) {
    stride_ = (shape.row_bytes() + 15) / 16 * 16 + 16 * extra_vectors;
    before_.resize(static_cast<std::size_t>(stride_ * shape.height + 2 * kGuard));
    for (std::size_t i = 0; i < before_.size(); ++i) before_[i] = canary(i);
    buffer_.reserve(before_.size());
    IMGPIPE_CUDA(cudaMemcpy(buffer_.data(), before_.data(), before_.size(), cudaMemcpyHostToDevice));
  }
  [[nodiscard]] Plane<Sample8, Device> plane() const {
    return {static_cast<Sample8*>(buffer_.data()) + kGuard, shape_.width, shape_.height, stride_,
            shape_.channels};
  }
  // Expects these pixels, and no other changes.
  void expect(const ConstHostPlane& expected, const std::string& what) const {
    std::vector<std::uint8_t> now(before_.size());
    IMGPIPE_CUDA(cudaMemcpy(now.data(), buffer_.data(), now.size(), cudaMemcpyDeviceToHost));
    for (std::size_t i = 0; i < now.size(); ++i) {
      const std::int64_t at = static_cast<std::int64_t>(i) - kGuard;
      const bool inside = at >= 0 && at < stride_ * shape_.height && at % stride_ < shape_.row_bytes();
      const Sample8 want = inside ? expected.row(at / stride_)[at % stride_] : before_[i];
      ASSERT_EQ(now[i], want) << what << (inside ? ": " : ": canary, ") << "row " << at / stride_ << ", byte "
                              << at % stride_ << " of " << shape_.row_bytes() << ", " << shape_.height
                              << " rows";
    }
  }

 private:
  Shape shape_;
  std::int64_t stride_ = 0;
  std::vector<std::uint8_t> before_;
  DeviceBuffer buffer_;
};

class DeviceImage {
 public:
  DeviceImage(const Input& input, std::int64_t extra_vectors) : input_(input) {
    const std::size_t bytes = input.coefficients.size() * sizeof(std::int16_t);
    coefficients_.reserve(bytes);
    IMGPIPE_CUDA(cudaMemcpy(coefficients_.data(), input.coefficients.data(), bytes, cudaMemcpyHostToDevice));
    const BaselineScan& scan = input.scan;
    if (input.requested.pixels)
      pixels_ =
          std::make_unique<GuardedPlane>(Shape{scan.width, scan.height, scan.components}, extra_vectors);
    if (input.requested.grey)
      grey_ = std::make_unique<GuardedPlane>(Shape{scan.width, scan.height, 1}, extra_vectors + 1);
    counts_.reserve(kBins * sizeof(std::uint64_t));
    IMGPIPE_CUDA(cudaMemset(counts_.data(), 0x5A, kBins * sizeof(std::uint64_t)));
  }
  [[nodiscard]] ReconstructionTask task() const {
    ReconstructionTask task;
    task.scan = &input_.scan;
    task.coefficients = static_cast<const std::int16_t*>(coefficients_.data());
    if (pixels_) task.pixels = pixels_->plane();
    if (grey_) task.grey = grey_->plane();
    task.luma = input_.requested.luma;
    if (input_.requested.counts) task.counts = static_cast<std::uint64_t*>(counts_.data());
    return task;
  }
  void check() const {
    const Image expected = reconstruct_reference(input_.scan, input_.coefficients);
    const ConstHostPlane pixels = expected.view();
    Image grey({pixels.width, pixels.height, 1});
    std::vector<std::uint64_t> counts(kBins);
    for (std::int64_t y = 0; y < pixels.height; ++y) {
      for (std::int64_t x = 0; x < pixels.width; ++x) {
        const Sample8* p = pixels.row(y) + x * pixels.channels;
        const Sample8 g =
            pixels.channels == 1 ? *p : luma_of(luma_weights(input_.requested.luma), p[0], p[1], p[2]);
        grey.view().row(y)[x] = g;
        ++counts[g];
      }
    }
    if (pixels_) pixels_->expect(pixels, input_.name + ", pixels");
    if (grey_) grey_->expect(std::as_const(grey).view(), input_.name + ", grey");
    std::vector<std::uint64_t> got(kBins);
    IMGPIPE_CUDA(cudaMemcpy(got.data(), counts_.data(), kBins * sizeof got[0], cudaMemcpyDeviceToHost));
    for (std::size_t bin = 0; bin < kBins; ++bin) {
      ASSERT_EQ(got[bin], input_.requested.counts ? counts[bin] : 0x5A5A5A5A5A5A5A5AU)
          << input_.name << ", bin " << bin;
    }
  }

 private:
  const Input& input_;
  DeviceBuffer coefficients_, counts_;
  std::unique_ptr<GuardedPlane> pixels_, grey_;
};

// ---- groups -------------------------------------------------------------------------------------------

// `multiprocessors`: the number reported to the launch; 0: the device's.
void expect_equal(const std::vector<Input>& inputs, int multiprocessors = 0) {
  std::vector<std::unique_ptr<DeviceImage>> images;
  std::vector<ReconstructionTask> tasks;
  for (const Input& input : inputs) {
    images.push_back(std::make_unique<DeviceImage>(input, static_cast<std::int64_t>(images.size() % 3)));
    tasks.push_back(images.back()->task());
  }
  const JpegReconstruction reconstruction(tasks);
  std::vector<std::byte> upload(reconstruction.memory().upload_bytes);
  reconstruction.write_upload(upload.data());
  // No memory follows the group's, so compute-sanitizer detects accesses past its end.
  DeviceBuffer memory;
  memory.reserve(reconstruction.memory().bytes);
  const Stream stream;
  if (multiprocessors == 0)
    IMGPIPE_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  for (int round = 0; round < 2; ++round) {
    IMGPIPE_CUDA(cudaMemcpy(memory.data(), upload.data(), upload.size(), cudaMemcpyHostToDevice));
    IMGPIPE_CUDA(cudaDeviceSynchronize());
    ASSERT_EQ(reconstruction.launch(static_cast<std::byte*>(memory.data()), {stream.get(), multiprocessors}),
              0);
    IMGPIPE_CUDA(cudaStreamSynchronize(stream.get()));
  }
  for (const auto& image : images) {
    image->check();
    if (testing::Test::HasFatalFailure()) return;
  }
}

Input make_input(Sampling sampling, std::int64_t width, std::int64_t height, CoefficientPattern kind,
                 const RequestedOutputs& requested, Random& random) {
  const int max_step = kind == CoefficientPattern::extreme ? 65535 : random() % 3 == 0 ? 255 : 20;
  Input input;
  input.scan = make_scan(sampling, width, height, max_step, random);
  input.coefficients = make_coefficients(input.scan, kind, random);
  input.requested = requested;
  input.name =
      name_of(sampling) + " " + std::to_string(width) + "x" + std::to_string(height) + " " + name_of(kind);
  return input;
}

RequestedOutputs requested_outputs(std::uint64_t seed) {
  constexpr std::array<Luma, 3> kLumas{Luma::bt601, Luma::bt709, Luma::opencv};
  const std::uint64_t which = seed % 4;
  return {which != 1, which != 0, which != 0 && seed % 5 != 0, kLumas[seed % 3]};
}

class Reconstruction : public testing::TestWithParam<Sampling> {};

TEST_P(Reconstruction, EverySmallSize) {
  IMGPIPE_NEED_CUDA();
  Random random(1);
  std::uint64_t seed = 0;
  for (std::int64_t width = 1; width <= 36; ++width) {
    std::vector<Input> inputs;
    for (const std::int64_t height : {1, 2, 3, 7, 8, 9, 15, 16, 17, 18, 31, 33}) {
      const CoefficientPattern kind = kCoefficients[seed % kCoefficients.size()];
      inputs.push_back(make_input(GetParam(), width, height, kind, requested_outputs(seed), random));
      ++seed;
    }
    expect_equal(inputs, static_cast<int>(width % 3));
    if (HasFatalFailure()) return;
  }
}

TEST_P(Reconstruction, EveryKindOfCoefficients) {
  IMGPIPE_NEED_CUDA();
  Random random(2);
  for (const CoefficientPattern kind : kCoefficients) {
    for (const std::pair<int, int>& size : {std::pair(517, 130), std::pair(64, 64), std::pair(1, 700),
                                            std::pair(3000, 1), std::pair(1025, 65)}) {
      expect_equal({make_input(GetParam(), size.first, size.second, kind, {true, true, true}, random)});
      if (HasFatalFailure()) return;
    }
  }
}

TEST_P(Reconstruction, LargeImage) {
  IMGPIPE_NEED_CUDA();
  Random random(3);
  for (const Luma luma : {Luma::bt709, Luma::opencv}) {
    expect_equal(
        {make_input(GetParam(), 2711, 1533, CoefficientPattern::mixed, {true, true, true, luma}, random)});
    if (HasFatalFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Samplings, Reconstruction, testing::ValuesIn(kSamplings),
                         [](const auto& each) { return "of_" + name_of(each.param); });

TEST(ReconstructionGroups, AllKindsAndSizes) {
  IMGPIPE_NEED_CUDA();
  Random random(4);
  for (const int images : {2, 33, 400}) {
    std::vector<Input> inputs;
    for (int i = 0; i < images; ++i) {
      const std::int64_t most = images < 100 && i % 5 == 0 ? 700 : 60;
      const auto side = [&] { return static_cast<std::int64_t>(1 + random() % static_cast<unsigned>(most)); };
      const std::int64_t width = side();
      inputs.push_back(make_input(kSamplings[random() % 5], width, side(), kCoefficients[random() % 7],
                                  requested_outputs(random()), random));
    }
    for (const int multiprocessors : {0, 1, 7}) {
      expect_equal(inputs, multiprocessors);
      if (HasFatalFailure()) return;
    }
  }
}

TEST(ReconstructionGroups, EmptyGroupsAndOutputs) {
  IMGPIPE_NEED_CUDA();
  expect_equal({});
  Random random(5);
  Input input = make_input(Sampling::s420, 100, 50, CoefficientPattern::noise, {false, false, false}, random);
  expect_equal({input});
}

// An image of one colour: all pixels are counted in the same bins.
TEST(ReconstructionGroups, CountsOfOneColour) {
  IMGPIPE_NEED_CUDA();
  Random random(6);
  for (const Sampling sampling : kSamplings) {
    Input input = make_input(sampling, 1200, 801, CoefficientPattern::constant, {false, true, true}, random);
    std::fill(input.coefficients.begin(), input.coefficients.end(), std::int16_t{0});
    expect_equal({input});
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace imgpipe::test::cuda_jpeg_reconstruction_test

#else

namespace imgpipe::test::cuda_jpeg_reconstruction_test {
namespace {

TEST(Reconstruction, NeedsCuda) {
  IMGPIPE_NEED_CUDA();
}

}  // namespace
}  // namespace imgpipe::test::cuda_jpeg_reconstruction_test

#endif
