// Rungs of a CUDA device, timed by events on a stream of their own.
#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "images/error.h"
#include "kernels/stage.h"
#include "lab/kernels/delay.h"
#include "lab/pipeline/lab.h"
#include "lab/pipeline/rung_needs.h"
#include "lab/pipeline/toolkit_library.h"
#include "pipeline/cuda/cuda_api.h"
#include "pipeline/cuda/device_memory.h"

namespace imgpipe {
namespace {

constexpr double kCudaBudgetUs = 200'000;  // of a rung's timed runs
constexpr int kBatch = 64;                 // runs that are queued at a time: well below what a stream takes
constexpr std::size_t kMostCudaSets = 512;

// Room for the input and the output of a run, on a boundary that planes want.
std::size_t rounded(std::size_t bytes) {
  return (bytes + kPitchBytes - 1) / kPitchBytes * kPitchBytes;
}

class CudaLab final : public LabDevice {
 public:
  explicit CudaLab(int index) : device_(find_cuda_device(index)) {
    IMGPIPE_CUDA(cudaSetDevice(index));
    stream_ = std::make_unique<Stream>();
    int l2_bytes = 0;
    IMGPIPE_CUDA(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, index));
    // Twice the cache lies between two uses of a buffer.
    rotating_bytes_ = 3 * static_cast<std::size_t>(std::max(l2_bytes, 1 << 20));
  }

  [[nodiscard]] std::string name() const override { return device_.name; }
  [[nodiscard]] double copy_bandwidth() override {
    if (copy_bandwidth_ <= 0) copy_bandwidth_ = measure_device_copy_bandwidth(*stream_);
    return copy_bandwidth_;
  }

 private:
  // Set `i`: the input's plane, then the output's.
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
    call.finds = static_cast<std::byte*>(finds_.data());
    return call;
  }

  // Loaded when a rung first asks for it.
  const NppLibrary& npp() {
    if (!npp_) npp_.emplace();
    return *npp_;
  }

  [[nodiscard]] std::string missing(const Rung& rung) override {
    const std::string lacks = device_lacks(rung);
    return lacks.empty() && rung.needs_npp ? npp().missing() : lacks;
  }

  void prepare() override {
    const auto bytes_of = [](const Image& image) {
      return image.empty() ? 0 : rounded(static_cast<std::size_t>(device_bytes(image.shape())));
    };
    in_bytes_ = bytes_of(subject().in);
    set_bytes_ = in_bytes_ + bytes_of(subject().expected);
    set_count_ = std::clamp<std::size_t>((rotating_bytes_ + set_bytes_ - 1) / set_bytes_, 2, kMostCudaSets);
    sets_.reserve(set_count_ * set_bytes_);
    counts_.reserve(subject().counts.size() * sizeof(std::uint64_t) + 1);
    finds_.reserve(
        static_cast<std::size_t>(finds_bytes(*subject().stage, subject().in_type(), subject().parameters)));
    copy_to_device(plane(0, false), subject().in.untyped_view(), *stream_);
    for (std::size_t set = 1; set < set_count_; ++set) {
      IMGPIPE_CUDA(cudaMemcpyAsync(plane(set, false).data, plane(0, false).data, in_bytes_,
                                   cudaMemcpyDeviceToDevice, stream_->get()));
    }
    send_counts(subject().counts);
    IMGPIPE_CUDA(cudaStreamSynchronize(stream_->get()));
  }

  void send_counts(const std::vector<std::uint64_t>& counts) {
    if (counts.empty()) return;
    IMGPIPE_CUDA(cudaMemcpyAsync(counts_.data(), counts.data(), counts.size() * sizeof(std::uint64_t),
                                 cudaMemcpyHostToDevice, stream_->get()));
  }

  RungLaunch launch_of(const Rung& rung, const LabOptions& options) {
    RungLaunch launch;
    launch.stream = stream_->get();
    launch.multiprocessors = device_.multiprocessors;
    if (rung.grid != Grid::own) launch.block = options.block;
    if (rung.grid == Grid::any || rung.grid == Grid::one_a_bin) launch.blocks = options.blocks;
    if (rung.needs_npp) launch.npp = npp().functions();
    launch.own = rung.own;
    if (rung.scratch_bytes != nullptr) scratch_.reserve(rung.scratch_bytes(subject().in_type(), launch));
    launch.scratch = scratch_.data();
    return launch;
  }

  void answer(const Rung& rung, const LabOptions& options, LabAnswer& answer) override {
    const StageCall<Device> call = call_of(0);
    const RungLaunch launch = launch_of(rung, options);
    if (!answer.out.empty())
      copy_to_device(plane(0, true), std::as_const(answer.out).untyped_view(), *stream_);
    send_counts(answer.counts);
    IMGPIPE_CUDA(static_cast<cudaError_t>(launch_rung(rung, call, launch)));
    if (rung.collect != nullptr) IMGPIPE_CUDA(static_cast<cudaError_t>(rung.collect(call, launch)));
    if (!answer.out.empty()) copy_to_host(answer.out.untyped_view(), call.out.planes[0], *stream_);
    if (!answer.counts.empty()) {
      IMGPIPE_CUDA(cudaMemcpyAsync(answer.counts.data(), counts_.data(),
                                   answer.counts.size() * sizeof(std::uint64_t), cudaMemcpyDeviceToHost,
                                   stream_->get()));
    }
    IMGPIPE_CUDA(cudaStreamSynchronize(stream_->get()));
  }

  // Queues so many runs, each between two events, behind a delay that lasts until they are queued.
  void queue_runs(const Rung& rung, const RungLaunch& launch, int runs, std::int64_t delay_ns) {
    IMGPIPE_CUDA(static_cast<cudaError_t>(delay_cuda(launch, delay_ns)));
    while (events_.size() < 2 * static_cast<std::size_t>(runs)) events_.emplace_back();
    for (std::size_t i = 0; i < static_cast<std::size_t>(runs); ++i) {
      const StageCall<Device> call = call_of(next_set_++ % set_count_);
      events_[2 * i].record(*stream_);
      IMGPIPE_CUDA(static_cast<cudaError_t>(launch_rung(rung, call, launch)));
      events_[2 * i + 1].record(*stream_);
    }
  }

  void take_times(int runs, std::vector<double>& times) {
    events_[2 * static_cast<std::size_t>(runs) - 1].wait();
    for (std::size_t i = 0; i < static_cast<std::size_t>(runs); ++i) {
      float ms = 0;
      IMGPIPE_CUDA(cudaEventElapsedTime(&ms, events_[2 * i].get(), events_[2 * i + 1].get()));
      times.push_back(1e3 * static_cast<double>(ms));
    }
  }

  std::vector<double> time_us(const Rung& rung, const LabOptions& options) override {
    using Clock = std::chrono::steady_clock;
    constexpr int kWarmUps = 3;
    const RungLaunch launch = launch_of(rung, options);
    const Clock::time_point start = Clock::now();
    queue_runs(rung, launch, kWarmUps, 0);
    const std::int64_t queued_ns = (Clock::now() - start) / std::chrono::nanoseconds(1);
    std::vector<double> warm_ups;
    take_times(kWarmUps, warm_ups);
    const double run_us = *std::ranges::min_element(warm_ups);
    const int runs = options.repeat > 0 ? options.repeat : runs_within(kCudaBudgetUs, run_us, 5, 200);
    std::vector<double> times;
    for (int done = 0; done < runs; done += kBatch) {
      const int batch = std::min(kBatch, runs - done);
      queue_runs(rung, launch, batch, queued_ns / kWarmUps * batch + 20'000);
      take_times(batch, times);
    }
    return times;
  }

  [[nodiscard]] std::string grid_text(const Rung& rung, const LabOptions& options) const override {
    if (rung.grid == Grid::own || (options.block == 0 && options.blocks == 0)) return "own";
    const std::string block = options.block == 0 ? "own" : std::to_string(options.block);
    if (rung.grid == Grid::covering) return block + " x covering";
    return block + " x " + (options.blocks == 0 ? "own" : std::to_string(options.blocks));
  }

  CudaDevice device_;
  std::unique_ptr<Stream> stream_;
  std::size_t rotating_bytes_ = 0;
  double copy_bandwidth_ = 0;
  DeviceBuffer sets_, counts_, finds_, scratch_;
  std::size_t in_bytes_ = 0, set_bytes_ = 0, set_count_ = 0, next_set_ = 0;
  std::vector<Event> events_;
  std::optional<NppLibrary> npp_;
};

}  // namespace

std::unique_ptr<LabDevice> make_cuda_lab(int index) {
  return std::make_unique<CudaLab>(index);
}

}  // namespace imgpipe
