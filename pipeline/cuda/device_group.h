// Images that go through a device together, on one stream: of an engine one, of a lane as many as share the
// launches of the codecs.
//
//   host     memory | queue ............................................ | wait | judge, queue | wait
//   stream            upload | decode | steps | encode | pixels, results         files
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "images/error.h"
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
  bool is_pinned = false;  // its memory is pinned as it is allocated, and its pixels' has a row for that
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
  // Takes memory, and brings up what decoding needs to know. What is referred to stays until the end.
  DeviceGroup(Context& context, std::vector<GroupImage> images);
  DeviceGroup(const DeviceGroup&) = delete;
  DeviceGroup& operator=(const DeviceGroup&) = delete;

  [[nodiscard]] GroupImage& image(std::size_t i) { return images_[i]; }
  [[nodiscard]] DeviceRun& run(std::size_t i) { return runs_[i]; }

  // From the uploads to what says how large the files are. Uploads, then the resident work, then downloads:
  // each is timed against its own kind, so that no stage pays for the change from the copy engine to the
  // multiprocessors. The memory that encoding needs is taken while the device is at work, or `first`, so that
  // no step's time has a part of that.
  enum class EncodingMemory : std::uint8_t { meanwhile, first };
  void queue(const Passes& passes = {}, EncodingMemory taken = EncodingMemory::meanwhile);
  // Waits for that, and brings the files down. An image that is not in order has no result.
  void finish();
  // Of those whose times are wanted: all that was queued is done.
  void give_spans();
  // The finished image, where no file was made of it or it is kept.
  [[nodiscard]] Image& pixels(std::size_t i) { return pixels_[i]; }

 private:
  [[nodiscard]] bool makes_file(std::size_t i) const;
  void download(std::size_t i, const Passes& passes);
  void drop(std::size_t i);

  Context& context_;
  std::vector<GroupImage> images_;
  std::vector<Image> pixels_;
  std::deque<DeviceRun> runs_;
  std::optional<CodedGroup> codecs_;
  Passes passes_;
};

}  // namespace imgpipe
