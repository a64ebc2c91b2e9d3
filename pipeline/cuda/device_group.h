// Images that go through a device together, on one stream: of an engine one, of a lane as many as share the
// launches of the codecs.
//
//   host     memory | queue ............................................ | wait | judge, queue | wait
//   stream            upload | decode | steps | encode | pixels, results         files
#pragma once

#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/coded_image.h"
#include "pipeline/cuda/coded_group.h"
#include "pipeline/cuda/device_run.h"

namespace imgpipe {

struct GroupImage {
  const Plan& plan;
  Timeline& timeline;
  CodedImage& coded;  // what the device decodes and encodes itself, and what it made
  DeviceRun::Decoded decoded = DeviceRun::Decoded::on_host;
  std::string track = kDeviceTrack;
  const Image* source = nullptr;  // goes up in every pass; nullptr: does not, or is there
  bool keep_outputs = false, keep_pixels = false;
  bool times_pinning = false;                                     // has a row for the memory of its pixels
  std::vector<std::vector<std::uint64_t>>* histograms = nullptr;  // by step, if they come down
  std::optional<Error>* error = nullptr;  // gets too little memory for its file alone; without it is thrown
};

// From `first` on, before `end`.
struct Passes {
  int first = 0, end = 1;
};

// The functions are called in this order, each once at most. All throw Error(memory) or Error(device).
class DeviceGroup {
 public:
  // Takes memory, and brings up what decoding needs to know. `done`: to wait by; without it the host spins.
  // What is referred to stays until the end.
  DeviceGroup(Context& context, std::vector<GroupImage> images, const Event* done = nullptr);
  DeviceGroup(const DeviceGroup&) = delete;
  DeviceGroup& operator=(const DeviceGroup&) = delete;

  [[nodiscard]] GroupImage& image(std::size_t i) { return images_[i]; }
  [[nodiscard]] DeviceRun& run(std::size_t i) { return runs_[i]; }

  // Takes the memory that encoding needs before any work is queued, so that no step's time has a part of it.
  // Without this, queue() does that while the device is at work.
  void prepare_encoding();
  // From the uploads to what says how large the files are. Uploads, then the resident work, then downloads:
  // each is timed against its own kind, so that no stage pays for the change from the copy engine to the
  // multiprocessors.
  void queue(const Passes& passes = {});
  // Waits for that, and brings the files down. An image that is not in order has no result.
  void finish();
  // Of those whose times are wanted: all that was queued is done.
  void give_spans();
  // The finished image, where no file was made of it or it is kept.
  [[nodiscard]] Image& pixels(std::size_t i) { return pixels_[i]; }

 private:
  [[nodiscard]] bool makes_file(std::size_t i) const;
  void download(std::size_t i, const Passes& passes);
  void collect(std::size_t i);
  void drop(std::size_t i);
  void mark_end();
  void wait() const;

  Context& context_;
  std::vector<GroupImage> images_;
  const Event* done_;
  std::vector<Image> pixels_;
  std::deque<DeviceRun> runs_;
  std::optional<CodedGroup> codecs_;
  Passes passes_;
  bool encoding_is_prepared_ = false;
  std::size_t end_ = 0;  // a mark, without done_
};

}  // namespace imgpipe
