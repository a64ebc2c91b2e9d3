// A lane without a device: the reference runs its stages, and it fails on demand.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "images/error.h"
#include "pipeline/jobs/batch.h"
#include "pipeline/lane.h"
#include "tests/support/host_band_device.h"

namespace imgpipe::test {

// The faults to inject. Numbers count this lane's launches from 1; 0: never.
struct LaneFaults {
  bool start = false;                   // it fails to start
  int breaks_in_launch = 0;             // launches from this one on fail with a device error
  int breaks_in_finish = 0;             // finish() fails for launches from this one on
  std::int64_t room_bytes = 1LL << 40;  // of all slots together; beyond it, launch() throws Error(memory)
  std::int64_t band_bytes = -1;         // the limit for bands; -1: room_bytes
  bool breaks_in_bands = false;         // it breaks in the second band of an image
  int start_ms = 0;                     // time that starting takes
  int image_ms = 0;                     // minimum time per image
  std::size_t group = 1;                // images per launch, at most
  int no_memory_in_launch = 0;  // the number of the launch, or of the finish(), that runs out of memory
  int no_memory_in_finish = 0;
  int no_memory_for_one = 0;  // the number of the image that alone runs out of memory when it is finished
  bool codecs = false;        // it accepts JPEGs undecoded, but refuses to decode any
};

class HostLane final : public Lane {
 public:
  explicit HostLane(std::string name, LaneFaults faults = {}, std::size_t slots = 3);
  ~HostLane() override;  // expects that bands were used according to BandDevice's rules
  HostLane(const HostLane&) = delete;
  HostLane& operator=(const HostLane&) = delete;

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string device_name() const override { return "test"; }
  [[nodiscard]] std::size_t slots() const override { return used_.size(); }
  [[nodiscard]] LaneLoad most() const override { return {faults_.group, std::int64_t{1} << 40}; }
  [[nodiscard]] bool has_codecs() const override { return faults_.codecs; }
  void start() override;
  void launch(std::size_t slot, std::span<LaneImage* const> images) override;
  void finish(std::size_t slot, std::span<LaneImage* const> images) override;
  void release_memory() override;
  [[nodiscard]] std::unique_ptr<Engine> make_band_engine(int threads) override;

 private:
  void finish_one(std::size_t slot, LaneImage& image) const;

  std::string name_;
  LaneFaults faults_;
  std::vector<std::atomic<std::int64_t>> used_;  // bytes by slot, kept for the next image
  std::vector<std::atomic<int>> number_;         // of the launch, by slot
  std::vector<std::atomic<bool>> on_their_way_;  // by slot
  std::deque<HostBandDevice> band_devices_;
  int launches_ = 0;
  int finishes_ = 0, images_finished_ = 0;
};

// Returns a function for BatchSettings::find_lanes, which may be called once.
[[nodiscard]] std::function<LaneCapacity()> offering(std::vector<std::unique_ptr<Lane>> lanes,
                                                     std::int64_t lane_pixels = 0,
                                                     std::int64_t lane_start_pixels = 0);

}  // namespace imgpipe::test
