// A lane without a device: the reference does its stages, and it fails as it is told to.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "images/error.h"
#include "pipeline/batch/batch.h"
#include "pipeline/batch/lane.h"

namespace imgpipe::test {

// What goes wrong. Numbers count this lane's launches from 1; 0: never.
struct LaneFaults {
  bool start = false;                   // does not start
  int breaks_in_launch = 0;             // the first launch of the broken device
  int breaks_in_finish = 0;             // the image whose end is not seen
  std::int64_t room_bytes = 1LL << 40;  // of all slots together; beyond it launch() throws Error(memory)
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

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string device_name() const override { return "test"; }
  [[nodiscard]] std::size_t slots() const override { return used_.size(); }
  [[nodiscard]] LaneLoad most() const override { return {faults_.group, std::int64_t{1} << 40}; }
  [[nodiscard]] bool has_codecs() const override { return faults_.codecs; }
  void start() override;
  void launch(std::size_t slot, std::span<LaneImage* const> images) override;
  void finish(std::size_t slot, std::span<LaneImage* const> images) override;
  void release_memory() override;

 private:
  void finish_one(std::size_t slot, LaneImage& image) const;

  std::string name_;
  LaneFaults faults_;
  std::vector<std::atomic<std::int64_t>> used_;  // bytes, by slot, kept for the next image
  std::vector<std::atomic<int>> number_;         // of the launch, by slot
  int launches_ = 0;
  int finishes_ = 0, images_finished_ = 0;
};

// For BatchSettings::find_lanes, once.
[[nodiscard]] std::function<LaneOffer()> offering(std::vector<std::unique_ptr<Lane>> lanes,
                                                  std::int64_t lane_pixels = 0,
                                                  std::int64_t lane_start_pixels = 0);

}  // namespace imgpipe::test
