// The threads that drive a batch's lanes: one of each lane launches, one waits for what is done.
//
//   push() --> queue --> launcher of whichever lane has a free slot --> slot: a group of images
//                                                                         |
//                                    events.finished <-- collector <------+
#pragma once

#include <chrono>
#include <condition_variable>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "images/error.h"
#include "pipeline/batch/batch_entry.h"
#include "pipeline/lane.h"
#include "pipeline/threads/thread_start.h"

namespace imgpipe {

// Called from the lanes' threads, and `broken` from callers of start(), lost() and use_alone() too; with no
// lock of the crew held. Each image ends in exactly one of the first five.
struct LaneEvents {
  std::function<void(EntryPointer, const std::string& lane)> finished;
  std::function<void(EntryPointer, const Error&)> failed;  // the image's own fault
  std::function<void(EntryPointer)> returned;              // not done: its lane broke
  std::function<void(EntryPointer)> refused;  // not done: the device cannot decode it, or lacks the memory to
  // Not done: too little memory, for this image alone. `on_device`: the whole of the device's was free.
  std::function<void(EntryPointer, bool on_device)> too_large;
  // A lane did not start or broke; `last`: none is left.
  std::function<void(const std::string& lane, const Error&, bool last)> broken;
  std::function<void()> changed;  // a lane became ready, or the queue shorter
};

class LaneCrew {
 public:
  // `patience`, `start_thread`: of LaneOffer.
  LaneCrew(std::vector<std::unique_ptr<Lane>> lanes, std::chrono::nanoseconds patience, LaneEvents events,
           ThreadStarter start_thread);
  ~LaneCrew() { end(); }
  LaneCrew(const LaneCrew&) = delete;
  LaneCrew& operator=(const LaneCrew&) = delete;

  // Starts the first lane, or without patience all of them, each on threads of its own; once. Where no lane
  // is left that works, the next one is started by itself; one whose threads are not to be had is broken.
  void start();
  // How long each worker has waited so far because the lanes were full. Beyond `patience` since a lane
  // last was started, became ready or broke, another is started. Where the lanes are not what a batch waits
  // for, it would only cost: its start, and a second registration of every block of pinned memory (two H200
  // with 32 processors, 2026-11-21: 0.15 s, and 2.3 ms in place of 1.0 for an image of 8 MP).
  void lost(std::chrono::nanoseconds each);
  // Drops what is queued and waits for what has been launched; the threads have then ended, and no event
  // comes any more. While it waits they still do, and may ask this crew.
  void end();
  // Queues an image. False, and the image stays, when every lane is broken.
  [[nodiscard]] bool push(EntryPointer& image);
  // Calls `use` with a lane that has no image on its way and holds no idle memory; waits until there is one.
  // A lane for which `use` returns an error breaks. False: it broke, or every lane had.
  [[nodiscard]] bool use_alone(const std::function<std::optional<Error>(Lane&)>& use);
  // How often the slots of the lanes that are started could be filled with what waits.
  [[nodiscard]] double waiting() const;
  // Of the lanes that are started.
  [[nodiscard]] std::size_t slots() const;
  // All lanes take images as their files have them.
  [[nodiscard]] bool has_codecs() const;
  // A lane that takes images has none, and none waits.
  [[nodiscard]] bool is_idle() const;
  // At least one lane takes images.
  [[nodiscard]] bool ready() const;
  // "cuda:0 (NVIDIA H200)", of the lanes that started.
  [[nodiscard]] std::vector<std::string> devices() const;

 private:
  struct Running {
    std::size_t slot;
    std::list<EntryPointer> images;
    std::vector<LaneImage*> group;  // of these
  };
  struct Member {
    std::unique_ptr<Lane> lane;
    std::vector<std::size_t> free;
    std::vector<Running> running;  // with room for every slot
    bool started = false, ready = false, broken = false, launching = true;
    bool in_use = false;  // by a caller of use_alone()
    std::thread launcher, collector;
  };

  // What is left to say about a lane that broke when the lock is released.
  struct Broken {
    std::string lane;
    Error error;
    bool last;
    std::list<EntryPointer> left;  // of the queue; the last one's
  };

  [[nodiscard]] std::size_t count_ready() const;
  void start_next(std::vector<Broken>& broken);
  [[nodiscard]] std::optional<Error> start_threads_of(Member& member);
  void mark_broken(Member& member, const Error& error, std::vector<Broken>& broken);
  void say(std::vector<Broken> broken);
  void launch_all(Member& member);
  [[nodiscard]] std::list<EntryPointer> take_group(const LaneLoad& most);
  void launch_group(Member& member, std::size_t slot, std::list<EntryPointer> images);
  [[nodiscard]] std::optional<Error> try_launch(Member& member, Running& running);
  void queue_again(std::list<EntryPointer>& images);
  void end_images(Member& member, std::list<EntryPointer> images, const std::optional<Error>& error,
                  bool had_all_memory = false);
  void collect_all(Member& member);
  void break_lane(Member& member, const Error& error);
  void give_back(Member& member, std::size_t slot);

  const std::chrono::nanoseconds patience_;
  LaneEvents events_;
  const ThreadStarter start_thread_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  bool closing_ = false;
  std::list<EntryPointer> queue_;
  std::int64_t queued_pixels_ = 0;
  std::vector<Member> members_;
  std::size_t ready_before_ = 0;             // when lost() last looked
  std::chrono::nanoseconds lost_before_{0};  // when a lane last was started, became ready or broke
};

}  // namespace imgpipe
