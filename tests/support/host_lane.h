// A lane without a device: the reference does its stages, and it fails as it is told to.
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

// What goes wrong. Numbers count this lane's launches from 1; 0: never.
struct LaneFaults {
  bool start = false;                   // does not start
  int breaks_in_launch = 0;             // the first launch of the broken device
  int breaks_in_finish = 0;             // the image whose end is not seen
  std::int64_t room_bytes = 1LL << 40;  // of all slots together; beyond it launch() throws Error(memory)
  std::int64_t band_bytes = -1;         // what bands may take; -1: room_bytes
  bool breaks_in_bands = false;         // in the second band of an image
  int start_ms = 0;                     // how long starting takes
  int image_ms = 0;                     // how long an image takes at least
  std::size_t group = 1;                // images in a launch, at most
  int no_memory_in_launch = 0;          // these launches and ends have too little memory
  int no_memory_in_finish = 0;
  int no_memory_for_one = 0;  // the image of this number that comes to its end has too little of its own
  bool codecs = false;        // it takes JPEGs as they are, and refuses to decode them all
};

class HostLane final : public Lane {
 public:
  explicit HostLane(std::string name, LaneFaults faults = {}, std::size_t slots = 3);
  ~HostLane() override;  // expects that bands were used as BandDevice's rules have it
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
  std::vector<std::atomic<std::int64_t>> used_;  // bytes, by slot, kept for the next image
  std::vector<std::atomic<int>> number_;         // of the launch, by slot
  std::vector<std::atomic<bool>> on_their_way_;  // by slot
  std::deque<HostBandDevice> band_devices_;
  int launches_ = 0;
  int finishes_ = 0, images_finished_ = 0;
};

// For BatchSettings::find_lanes, once.
[[nodiscard]] std::function<LaneCapacity()> offering(std::vector<std::unique_ptr<Lane>> lanes,
                                                     std::int64_t lane_pixels = 0,
                                                     std::int64_t lane_start_pixels = 0);

}  // namespace imgpipe::test
