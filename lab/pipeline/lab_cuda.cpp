#include <algorithm>
#include <optional>
#include <utility>

#include "kernels/stage.h"
#include "lab/pipeline/device_requirements.h"
#include "lab/pipeline/lab.h"
#include "lab/pipeline/timed_device.h"
#include "lab/pipeline/toolkit_library.h"
#include "pipeline/cuda/cuda_api.h"
#include "pipeline/cuda/device_memory.h"

namespace imgpipe {
namespace {

constexpr std::size_t kMaxCudaSets = 512;

class CudaLab final : public LabDevice {
 public:
  explicit CudaLab(int index) : device_(index) {}

  [[nodiscard]] std::string name() const override { return device_.info().name; }
  [[nodiscard]] double copy_bandwidth() override {
    if (copy_bandwidth_ <= 0) copy_bandwidth_ = measure_device_copy_bandwidth(device_.stream());
    return copy_bandwidth_;
  }

 private:
  // Set `i` is the input's plane, then the output's.
  [[nodiscard]] DeviceView plane(std::size_t set, bool output) const {
    const Shape shape = output ? subject().expected.shape() : subject().in.shape();
    auto* base = static_cast<std::byte*>(sets_.data()) + set * set_bytes_ + (output ? in_bytes_ : 0);
    return {base, shape, device_stride_bytes(shape)};
  }

  [[nodiscard]] StageCall<Device> call_of(std::size_t set) const {
    StageCall<Device> call{.parameters = subject().parameters};
    call.in.type = subject().in_type();
    call.in.planes[0] = plane(set, false);
    call.out.type = subject().out_type();
    if (!subject().expected.empty()) call.out.planes[0] = plane(set, true);
    call.histogram =
        histogram_view<Device>(static_cast<std::uint64_t*>(counts_.data()), subject().counted_type());
    // The product's function uses a table or scratch memory, not both.
    call.table.data = call.scratch = static_cast<std::byte*>(work_.data());
    return call;
  }

  // Launches the variant. If it is the product's function and reads a table, first launches the stage that
  // makes the table, as the product does.
  void launch_all(const StageVariant& variant, const StageCall<Device>& call,
                  const VariantLaunch& launch) const {
    const Stage* const maker = table_maker(*subject().stage, call.parameters, Backend::cuda,
                                           call.in.type.sample, call.out.type.sample);
    if (variant.cuda != nullptr && maker != nullptr)
      IMGPIPE_CUDA(static_cast<cudaError_t>(run_cuda(*maker, call, launch)));
    IMGPIPE_CUDA(static_cast<cudaError_t>(launch_variant(variant, call, launch)));
  }

  // Loads NPP when a variant first needs it.
  const NppLibrary& npp() {
    if (!npp_) npp_.emplace();
    return *npp_;
  }

  [[nodiscard]] std::string missing(const StageVariant& variant) override {
    const std::string lacks = missing_device_feature(variant);
    return lacks.empty() && variant.needs_npp ? npp().missing() : lacks;
  }

  void prepare() override {
    const auto bytes_of = [](const Image& image) {
      return image.empty()
                 ? 0
                 : aligned_bytes(static_cast<std::size_t>(device_bytes(image.shape())), kPitchBytes);
    };
    in_bytes_ = bytes_of(subject().in);
    set_bytes_ = in_bytes_ + bytes_of(subject().expected);
    set_count_ =
        std::clamp<std::size_t>((device_.rotating_bytes() + set_bytes_ - 1) / set_bytes_, 2, kMaxCudaSets);
    sets_.reserve(set_count_ * set_bytes_);
    counts_.reserve(subject().counts.size() * sizeof(std::uint64_t) + 1);
    const Stage& stage = *subject().stage;
    work_.reserve(
        static_cast<std::size_t>(std::max(table_bytes(stage, subject().in_type(), subject().parameters),
                                          scratch_bytes(stage, subject().in_type(), subject().parameters))));
    copy_to_device(plane(0, false), subject().in.untyped_view(), device_.stream());
    for (std::size_t set = 1; set < set_count_; ++set) {
      IMGPIPE_CUDA(cudaMemcpyAsync(plane(set, false).data, plane(0, false).data, in_bytes_,
                                   cudaMemcpyDeviceToDevice, device_.stream().get()));
    }
    send_counts(subject().counts);
    device_.wait();
  }

  void send_counts(const std::vector<std::uint64_t>& counts) {
    device_.copy_up(counts_.data(), counts.data(), counts.size() * sizeof(std::uint64_t));
  }

  VariantLaunch launch_of(const StageVariant& variant, const LabOptions& options) {
    VariantLaunch launch;
    static_cast<CudaLaunch&>(launch) = device_.launch();
    if (variant.grid != Grid::own) launch.block = options.block;
    if (variant.grid == Grid::any || variant.grid == Grid::one_per_bin) launch.blocks = options.blocks;
    if (variant.needs_npp) launch.npp = npp().functions();
    launch.own = variant.own;
    if (variant.scratch_bytes != nullptr)
      scratch_.reserve(variant.scratch_bytes(subject().in_type(), launch));
    launch.scratch = scratch_.data();
    return launch;
  }

  void answer(const StageVariant& variant, const LabOptions& options, LabOutput& answer) override {
    const StageCall<Device> call = call_of(0);
    const VariantLaunch launch = launch_of(variant, options);
    if (!answer.out.empty())
      copy_to_device(plane(0, true), std::as_const(answer.out).untyped_view(), device_.stream());
    send_counts(answer.counts);
    launch_all(variant, call, launch);
    if (variant.collect != nullptr) IMGPIPE_CUDA(static_cast<cudaError_t>(variant.collect(call, launch)));
    if (!answer.out.empty()) copy_to_host(answer.out.untyped_view(), call.out.planes[0], device_.stream());
    device_.copy_down(answer.counts.data(), counts_.data(), answer.counts.size() * sizeof(std::uint64_t));
    device_.wait();
  }

  std::vector<double> time_us(const StageVariant& variant, const LabOptions& options) override {
    const VariantLaunch launch = launch_of(variant, options);
    return device_.times_of_queued(options, {},
                                   [&] { launch_all(variant, call_of(next_set_++ % set_count_), launch); });
  }

  [[nodiscard]] std::string grid_text(const StageVariant& variant, const LabOptions& options) const override {
    if (variant.grid == Grid::own || (options.block == 0 && options.blocks == 0)) return "own";
    const std::string block = options.block == 0 ? "own" : std::to_string(options.block);
    if (variant.grid == Grid::covering) return block + " x covering";
    return block + " x " + (options.blocks == 0 ? "own" : std::to_string(options.blocks));
  }

  TimedDevice device_;
  double copy_bandwidth_ = 0;
  DeviceBuffer sets_, counts_, work_, scratch_;
  std::size_t in_bytes_ = 0, set_bytes_ = 0, set_count_ = 0, next_set_ = 0;
  std::optional<NppLibrary> npp_;
};

}  // namespace

std::unique_ptr<LabDevice> make_cuda_lab(int index) {
  return std::make_unique<CudaLab>(index);
}

}  // namespace imgpipe
