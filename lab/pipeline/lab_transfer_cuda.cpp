#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <functional>
#include <limits>
#include <utility>

#include "images/error.h"
#include "kernels/stage.h"
#include "lab/pipeline/lab_transfer.h"
#include "pipeline/cuda/cuda_api.h"
#include "pipeline/cuda/device_memory.h"
#include "pipeline/cuda/pinned_memory.h"
#include "pipeline/host/chunk_reading.h"

namespace imgpipe {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kStreams = 4;
constexpr std::int64_t kBandBytes = std::int64_t{8} << 20;  // of RGB per band, in round-chunked

// A pool that keeps freed device memory.
class Pool {
 public:
  explicit Pool(int device) {
    cudaMemPoolProps properties{};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, device};
    IMGPIPE_CUDA(cudaMemPoolCreate(&pool_, &properties));
    std::uint64_t keep = std::numeric_limits<std::uint64_t>::max();
    IMGPIPE_CUDA(cudaMemPoolSetAttribute(pool_, cudaMemPoolAttrReleaseThreshold, &keep));
  }
  ~Pool() { (void)cudaMemPoolDestroy(pool_); }
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  [[nodiscard]] cudaMemPool_t get() const { return pool_; }

 private:
  cudaMemPool_t pool_ = nullptr;
};

class CudaTransferLab final : public TransferLab {
 public:
  CudaTransferLab(int index, const LabSubject& subject)
      : device_(find_cuda_device(index)),
        subject_(subject),
        pinned_(PinnedMemory::When::at_once),
        pool_(index) {
    IMGPIPE_CUDA(cudaSetDevice(index));
    pinned_.use_device(index);
    for (std::unique_ptr<Stream>& stream : streams_) stream = std::make_unique<Stream>();
    const Shape& shape = subject_.in.shape();
    const Shape grey{shape.width, shape.height, 1};
    pinned_rgb_ = Image(shape, &pinned_);
    pinned_grey_ = Image(grey, &pinned_);
    pageable_grey_ = Image(grey);
    copy_pixels(subject_.in.view(), pinned_rgb_.view());
    rgb_memory_.reserve(plane_bytes(shape));
    grey_memory_.reserve(plane_bytes(grey));
    flat_.reserve(static_cast<std::size_t>(shape.bytes()));
    rgb_ = plane_in(rgb_memory_, shape);
    grey_ = plane_in(grey_memory_, grey);
  }

  LabResult run(const TransferVariant& variant, const LabOptions& options) override {
    constexpr RunRule kRule{.budget_us = 300'000, .least = 5};
    return measured("-", {.wrong = checked(variant.kind)},
                    [&] { return times_of(options, kRule, [&] { return timed(variant.kind); }); });
  }

 private:
  static std::size_t plane_bytes(const Shape& shape) { return static_cast<std::size_t>(device_bytes(shape)); }
  static Plane<Sample8, Device> plane_in(const DeviceBuffer& memory, const Shape& shape) {
    return DeviceView(static_cast<std::byte*>(memory.data()), shape, device_stride_bytes(shape))
        .as<Sample8>();
  }
  [[nodiscard]] const Stream& stream(std::size_t i = 0) const { return *streams_[i]; }
  void wait() const {
    for (const std::unique_ptr<Stream>& each : streams_) IMGPIPE_CUDA(cudaStreamSynchronize(each->get()));
  }

  // Returns an unpadded image in device memory.
  [[nodiscard]] Plane<Sample8, Device> flat(const Shape& shape) const {
    return DeviceView(static_cast<std::byte*>(flat_.data()), shape, shape.row_bytes()).as<Sample8>();
  }

  void gray(const Plane<Sample8, Device>& from, const Plane<Sample8, Device>& to, const Stream& on) {
    const FrameType in{from.width, from.height, 3, false, Layout::interleaved};
    const FrameType out{from.width, from.height, 1, false, Layout::planar};
    IMGPIPE_CUDA(static_cast<cudaError_t>(
        run_cuda(*find_stage("gray"), {.in = {in, {from, {}, {}, {}}}, .out = {out, {to, {}, {}, {}}}},
                 {on.get(), device_.multiprocessors})));
  }

  // Uploads the image from pageable memory: the host fills one chunk while another is copied.
  void up_ring() {
    const ConstHostPlane from = subject_.in.view();
    const std::int64_t rows = std::clamp<std::int64_t>(
        static_cast<std::int64_t>(kChunkBytes) / from.shape().row_bytes(), 1, from.height);
    std::size_t slot = 0;
    for (std::int64_t first = 0; first < from.height; first += rows, slot = (slot + 1) % kRingChunks) {
      const std::int64_t count = std::min(rows, from.height - first);
      if (ring_[slot].empty()) ring_[slot] = Image({from.width, rows, from.channels}, &pinned_);
      if (first >= static_cast<std::int64_t>(kRingChunks) * rows) ring_free_[slot].wait();
      const HostPlane chunk = ring_[slot].view().rows(0, count);
      copy_pixels(from.rows(first, count), chunk);
      copy_to_device(rgb_.rows(first, count), chunk, stream());
      ring_free_[slot].record(stream());
    }
  }

  void round_serial() {
    copy_to_device(rgb_, std::as_const(pinned_rgb_).view(), stream());
    gray(rgb_, grey_, stream());
    copy_to_host(pinned_grey_.view(), grey_, stream());
  }

  // Bands use the streams in turn: up, gray, down.
  void round_chunked() {
    const ConstHostPlane from = std::as_const(pinned_rgb_).view();
    const std::int64_t rows = std::clamp<std::int64_t>(kBandBytes / from.shape().row_bytes(), 1, from.height);
    std::size_t on = 0;
    for (std::int64_t first = 0; first < from.height; first += rows, on = (on + 1) % kStreams) {
      const std::int64_t count = std::min(rows, from.height - first);
      copy_to_device(rgb_.rows(first, count), from.rows(first, count), stream(on));
      gray(rgb_.rows(first, count), grey_.rows(first, count), stream(on));
      copy_to_host(pinned_grey_.view().rows(first, count), grey_.rows(first, count), stream(on));
    }
  }

  // Allocates the memory, calls `use` with it, and frees it.
  void make(Transfer kind, const std::function<void(void*)>& use = {}) {
    const auto bytes = static_cast<std::size_t>(subject_.in.shape().bytes());
    void* memory = nullptr;
    if (kind == Transfer::make_device) {
      IMGPIPE_CUDA(cudaMalloc(&memory, bytes));
      if (use) use(memory);
      IMGPIPE_CUDA(cudaFree(memory));
    } else if (kind == Transfer::make_device_pool) {
      IMGPIPE_CUDA(cudaMallocFromPoolAsync(&memory, bytes, pool_.get(), stream().get()));
      if (use) use(memory);
      IMGPIPE_CUDA(cudaFreeAsync(memory, stream().get()));
      IMGPIPE_CUDA(cudaStreamSynchronize(stream().get()));
    } else if (kind == Transfer::make_pinned) {
      IMGPIPE_CUDA(cudaHostAlloc(&memory, bytes, cudaHostAllocPortable));
      if (use) use(memory);
      IMGPIPE_CUDA(cudaFreeHost(memory));
    } else {
      PinnedMemory fresh(PinnedMemory::When::at_once, 0);
      fresh.use_device(device_.index);
      memory = fresh.allocate(bytes, 64);
      if (use) use(memory);
      fresh.deallocate(memory, bytes, 64);
    }
  }

  void start(Transfer kind) {
    const Shape& shape = subject_.in.shape();
    const Shape grey{shape.width, shape.height, 1};
    switch (kind) {
      case Transfer::up_pageable:
        return copy_flat_up(subject_.in.view());
      case Transfer::up_pinned:
        return copy_flat_up(std::as_const(pinned_rgb_).view());
      case Transfer::up_pinned_2d:
        return copy_to_device(rgb_, std::as_const(pinned_rgb_).view(), stream());
      case Transfer::up_ring:
        return up_ring();
      case Transfer::down_pageable:
        return copy_flat_down(pageable_grey_.view(), grey);
      case Transfer::down_pinned:
        return copy_flat_down(pinned_grey_.view(), grey);
      case Transfer::down_pinned_2d:
        return copy_to_host(pinned_grey_.view(), grey_, stream());
      case Transfer::round_serial:
        return round_serial();
      case Transfer::round_chunked:
        return round_chunked();
      default:
        return make(kind);
    }
  }

  void copy_flat_up(const ConstHostView& from) {
    IMGPIPE_CUDA(cudaMemcpyAsync(flat_.data(), from.data,
                                 static_cast<std::size_t>(from.height * from.stride_bytes),
                                 cudaMemcpyHostToDevice, stream().get()));
  }
  void copy_flat_down(const HostPlane& to, const Shape& shape) {
    IMGPIPE_CUDA(cudaMemcpyAsync(to.data, flat_.data(), static_cast<std::size_t>(shape.bytes()),
                                 cudaMemcpyDeviceToHost, stream().get()));
  }

  // Runs once; returns the difference from the expected bytes, or "".
  std::string checked(Transfer kind) {
    const Shape& shape = subject_.in.shape();
    const ConstHostPlane right_grey = subject_.expected.view();
    if (kind >= Transfer::make_device) {
      bool holds = false;
      const auto bytes = static_cast<std::size_t>(shape.bytes());
      make(kind, [&](void* memory) {
        Sample8 last = 0;
        IMGPIPE_CUDA(cudaMemsetAsync(memory, 0x5A, bytes, stream().get()));
        IMGPIPE_CUDA(cudaMemcpyAsync(&last, static_cast<Sample8*>(memory) + bytes - 1, 1, cudaMemcpyDefault,
                                     stream().get()));
        IMGPIPE_CUDA(cudaStreamSynchronize(stream().get()));
        holds = last == 0x5A;
      });
      return holds ? "" : "the memory does not hold what was written to it";
    }
    const bool goes_up = kind <= Transfer::up_pinned_2d;
    const bool goes_down = kind >= Transfer::down_pageable && kind <= Transfer::down_pinned_2d;
    const Plane<Sample8, Device> flat_grey = flat({shape.width, shape.height, 1});
    for (const HostView& grey : {pinned_grey_.untyped_view(), pageable_grey_.untyped_view()})
      std::memset(grey.data, 0xA5, static_cast<std::size_t>(grey.height * grey.stride_bytes));
    IMGPIPE_CUDA(cudaMemset(rgb_memory_.data(), 0xA5, plane_bytes(shape)));
    if (goes_up) IMGPIPE_CUDA(cudaMemset(flat_.data(), 0xA5, static_cast<std::size_t>(shape.bytes())));
    if (goes_down) {
      copy_to_device(grey_, right_grey, stream());
      copy_to_device(flat_grey, right_grey, stream());
    }
    IMGPIPE_CUDA(cudaDeviceSynchronize());
    start(kind);
    wait();
    if (!goes_up)
      return difference(right_grey, kind == Transfer::down_pageable ? std::as_const(pageable_grey_).view()
                                                                    : std::as_const(pinned_grey_).view());
    const bool padded = kind == Transfer::up_pinned_2d || kind == Transfer::up_ring;
    Image back(shape);
    copy_to_host(back.view(), padded ? rgb_ : flat(shape), stream());
    wait();
    return difference(subject_.in.view(), std::as_const(back).view());
  }

  static std::string difference(const ConstHostPlane& right, const ConstHostPlane& got) {
    std::int64_t rows = 0;
    for (std::int64_t y = 0; y < right.height; ++y) {
      if (std::memcmp(right.row(y), got.row(y), static_cast<std::size_t>(right.shape().row_bytes())) != 0)
        ++rows;
    }
    return rows == 0 ? "" : std::to_string(rows) + (rows == 1 ? " row differs" : " rows differ");
  }

  double timed(Transfer kind) {
    const bool by_events = kind != Transfer::up_ring && kind < Transfer::round_serial;
    const Clock::time_point begun = Clock::now();
    if (by_events) before_.record(stream());
    start(kind);
    if (by_events) after_.record(stream());
    wait();
    if (!by_events) return std::chrono::duration<double, std::micro>(Clock::now() - begun).count();
    float ms = 0;
    IMGPIPE_CUDA(cudaEventElapsedTime(&ms, before_.get(), after_.get()));
    return 1e3 * static_cast<double>(ms);
  }

  CudaDevice device_;
  const LabSubject& subject_;
  PinnedMemory pinned_;
  Pool pool_;
  std::array<std::unique_ptr<Stream>, kStreams> streams_;
  Event before_, after_;
  Image pinned_rgb_, pinned_grey_, pageable_grey_;
  std::array<Image, kRingChunks> ring_;
  std::array<Event, kRingChunks> ring_free_;
  DeviceBuffer rgb_memory_, grey_memory_, flat_;
  Plane<Sample8, Device> rgb_, grey_;
};

}  // namespace

std::unique_ptr<TransferLab> make_transfer_lab(int index, const LabSubject& subject) {
  return std::make_unique<CudaTransferLab>(index, subject);
}

}  // namespace imgpipe
