#include "tests/support/host_lane.h"

#include <chrono>
#include <cstring>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "pipeline/engine.h"

namespace imgpipe::test {
namespace {

// Its device's memory is the host's.
void copy_dense(const ConstHostView& from, const DenseArray& to) {
  const std::int64_t size = bytes_per_sample(from.sample);
  for (std::int64_t y = 0; y < from.height; ++y) {
    for (std::int64_t x = 0; x < from.width; ++x) {
      for (std::int64_t c = 0; c < from.channels; ++c) {
        const std::int64_t column = to.mirrored ? from.width - 1 - x : x;
        const std::int64_t at = to.planar ? (c * from.height + y) * from.width + column
                                          : (y * from.width + column) * from.channels + c;
        std::memcpy(to.data + at * size, from.row(y) + (x * from.channels + c) * size,
                    static_cast<std::size_t>(size));
      }
    }
  }
}

}  // namespace

HostLane::HostLane(std::string name, LaneFaults faults, std::size_t slots)
    : name_(std::move(name)), faults_(faults), used_(slots), number_(slots), on_their_way_(slots) {}

HostLane::~HostLane() {
  for (const HostBandDevice& device : band_devices_) EXPECT_EQ(device.faults, std::vector<std::string>());
}

void HostLane::start() {
  std::this_thread::sleep_for(std::chrono::milliseconds(faults_.start_ms));
  if (faults_.start) throw Error(ErrorKind::device, "it does not start");
}

void HostLane::launch(std::size_t slot, std::span<LaneImage* const> images) {
  ++launches_;
  if (launches_ == faults_.no_memory_in_launch) throw Error(ErrorKind::memory, "not enough device memory");
  if (faults_.breaks_in_launch > 0 && launches_ >= faults_.breaks_in_launch)
    throw Error(ErrorKind::device, "it broke");
  std::int64_t need = 0;
  for (const LaneImage* const image : images)
    need += image->plan->input.samples() + image->plan->output.samples();
  std::int64_t others = 0;
  for (std::size_t i = 0; i < used_.size(); ++i) others += i == slot ? 0 : used_[i].load();
  if (others + need > faults_.room_bytes) throw Error(ErrorKind::memory, "not enough device memory");
  used_[slot] = need;
  on_their_way_[slot] = true;
  number_[slot] = launches_;
}

void HostLane::finish(std::size_t slot, std::span<LaneImage* const> images) {
  on_their_way_[slot] = false;
  ++finishes_;
  if (finishes_ == faults_.no_memory_in_finish) throw Error(ErrorKind::memory, "not enough memory");
  if (faults_.breaks_in_finish > 0 && number_[slot] >= faults_.breaks_in_finish)
    throw Error(ErrorKind::device, "it broke");
  std::this_thread::sleep_for(std::chrono::milliseconds(faults_.image_ms));
  for (LaneImage* const image : images) {
    if (image->coded.jpeg) {
      image->coded.is_intact = false;
    } else if (++images_finished_ == faults_.no_memory_for_one) {
      image->error = Error(ErrorKind::memory, "not enough memory for it");
    } else {
      finish_one(slot, *image);
    }
  }
}

void HostLane::finish_one(std::size_t slot, LaneImage& image) const {
  const std::unique_ptr<Engine> engine = make_reference_engine();
  const View<const std::byte, Device>& other = image.device_source;
  const ConstHostView source = other.empty() ? std::as_const(image.source).untyped_view()
                                             : ConstHostView(other.data, other.shape(), other.stride_bytes);
  Job job;
  job.reader = make_memory_reader(source);
  job.plan = *image.plan;
  const Outcome outcome = engine->run(std::move(job));
  if (outcome.error) std::rethrow_exception(outcome.error);
  if (image.device_result.data != nullptr) {
    copy_dense(outcome.pixels, image.device_result);
  } else {
    image.pixels = Image(image.plan->output);
    copy_pixels(outcome.pixels, image.pixels.untyped_view());
  }
  for (const auto& [part, kind] :
       {std::pair{"upload", SpanKind::transfer}, std::pair{"gray", SpanKind::kernel},
        std::pair{"download", SpanKind::transfer}}) {
    const std::int64_t now = image.timeline.now_ns();
    image.timeline.add({part, name_ + " slot " + std::to_string(slot + 1), kind, now, now + 1, 1, 0});
  }
}

void HostLane::release_memory() {
  for (const auto& is_busy : on_their_way_) EXPECT_FALSE(is_busy);
  for (auto& bytes : used_) bytes = 0;
}

std::unique_ptr<Engine> HostLane::make_band_engine(int threads) {
  for (const auto& is_busy : on_their_way_) EXPECT_FALSE(is_busy);
  HostBandDevice& device = band_devices_.emplace_back(
      faults_.band_bytes < 0 ? faults_.room_bytes : faults_.band_bytes, Queued::on_wait);
  if (faults_.breaks_in_bands) device.fails_at = 1;
  return std::make_unique<HostBandEngine>(device, threads);
}

std::function<LaneCapacity()> offering(std::vector<std::unique_ptr<Lane>> lanes, std::int64_t lane_pixels,
                                       std::int64_t lane_start_pixels) {
  auto offer = std::make_shared<LaneCapacity>();
  offer->lanes = std::move(lanes);
  offer->lane_pixels = lane_pixels;
  offer->lane_start_pixels = lane_start_pixels;
  return [offer] { return std::move(*offer); };
}

}  // namespace imgpipe::test
