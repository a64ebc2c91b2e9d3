// The threads that drive a batch's lanes: one of each lane launches, one waits for what is done.
//
//   push() --> queue --> launcher of whichever lane has a free slot --> slot --> collector -->
//   events.finished
#pragma once

#include <atomic>
#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "images/error.h"
#include "pipeline/lane.h"

namespace imgpipe {

// Called from the lanes' threads, with no lock held. Each image ends in exactly one of the first three.
struct LaneEvents {
  std::function<void(std::unique_ptr<LaneImage>, const std::string& lane)> finished;
  std::function<void(std::unique_ptr<LaneImage>, const Error&)> failed;  // the image's own fault
  std::function<void(std::unique_ptr<LaneImage>)> returned;              // not done: its lane broke
  // A lane did not start or broke; `last`: none is left.
  std::function<void(const std::string& lane, const Error&, bool last)> broken;
  std::function<void()> changed;  // a lane became ready, or the queue shorter
};

class LaneCrew {
 public:
  LaneCrew(std::vector<std::unique_ptr<Lane>> lanes, LaneEvents events);
  ~LaneCrew() { end(); }
  LaneCrew(const LaneCrew&) = delete;
  LaneCrew& operator=(const LaneCrew&) = delete;

  // Makes the threads, which start the lanes; once.
  void start();
  // Drops what is queued and waits for what has been launched; the threads have then ended, and no event
  // comes any more. While it waits they still do, and may ask this crew.
  void end();
  // Queues an image. False, and the image stays, when every lane is broken.
  [[nodiscard]] bool push(std::unique_ptr<LaneImage>& image);
  [[nodiscard]] std::size_t waiting() const;
  [[nodiscard]] std::size_t slots() const noexcept { return slots_; }
  // At least one lane takes images.
  [[nodiscard]] bool ready() const;
  // "cuda:0 (NVIDIA H200)", of the lanes that started.
  [[nodiscard]] std::vector<std::string> devices() const;

 private:
  struct Running {
    std::size_t slot;
    std::unique_ptr<LaneImage> image;
  };
  struct Member {
    std::unique_ptr<Lane> lane;
    std::vector<std::size_t> free;
    std::deque<Running> running;
    bool ready = false, broken = false, launching = true;
    std::thread launcher, collector;
  };

  void launch_all(Member& member);
  void launch_one(Member& member, std::size_t slot, std::unique_ptr<LaneImage> image);
  void collect_all(Member& member);
  void break_lane(Member& member, const Error& error);
  void give_back(Member& member, std::size_t slot);

  LaneEvents events_;
  std::size_t slots_ = 0;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool closing_ = false;
  std::deque<std::unique_ptr<LaneImage>> queue_;
  std::vector<Member> members_;
};

}  // namespace imgpipe
