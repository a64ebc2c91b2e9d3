// Images that a device processes together, on one stream: one image of an engine, or a lane's images, which
// share the codecs' launches.
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
#include "kernels/layout/dense.h"
#include "pipeline/coded_image.h"
#include "pipeline/cuda/coded_group.h"
#include "pipeline/cuda/device_run.h"

namespace imgpipe {

struct GroupImage {
  const Plan& plan;
  Timeline& timeline;
  CodedImage& coded;  // the parts that the device decodes and encodes, and its results
  std::string track = kDeviceTrack;
  const Image* source = nullptr;    // uploaded in every pass; nullptr: decoded or uploaded already
  ConstDeviceView device_source{};  // copied in every pass, if set
  DenseArray device_result{};       // receives the last result, which is then not downloaded
  bool keep_outputs = false, keep_pixels = false;
  bool steps_apart = false;  // the device's decoder leaves the first steps to their own kernels
  bool is_pinned = false;    // its memory is pinned when allocated, and pinning its pixels has a time row
  std::vector<std::vector<std::uint64_t>>* histograms = nullptr;  // by step; nullptr: not downloaded
  std::optional<Error>* error = nullptr;  // receives a memory error of its file; nullptr: it is thrown
};

// Passes first to end - 1.
struct Passes {
  int first = 0, end = 1;
};

// The functions are called in this order, each at most once. All throw Error(memory) or Error(device).
class DeviceGroup {
 public:
  // Takes memory and uploads the tables for decoding. The referenced objects must outlive the group.
  DeviceGroup(Context& context, std::vector<GroupImage> images);
  DeviceGroup(const DeviceGroup&) = delete;
  DeviceGroup& operator=(const DeviceGroup&) = delete;

  [[nodiscard]] GroupImage& image(std::size_t i) { return images_[i]; }
  [[nodiscard]] DeviceRun& run(std::size_t i) { return runs_[i]; }

  // Queues all work up to the sizes of the files: uploads, then the resident work, then downloads. Each kind
  // is timed separately, so that no stage includes the switch from the copy engine to the multiprocessors.
  // Memory for encoding is allocated while the device works (`meanwhile`), or before all work (`first`), so
  // that no step's time includes it.
  enum class EncodingMemory : std::uint8_t { meanwhile, first };
  void queue(const Passes& passes = {}, EncodingMemory taken = EncodingMemory::meanwhile);
  // Waits for the queued work and downloads the files. An image with an irregular file has no result.
  void finish();
  // Adds the spans to the timelines. All queued work must have finished.
  void record_spans();
  // The results of image i's plan. The last one is empty if a file was made from it and it is not kept.
  [[nodiscard]] std::vector<Image>& results(std::size_t i) { return results_[i]; }

 private:
  // Consecutive images share launches up to this size, so that the L2 cache holds a step's output for the
  // next step.
  static constexpr std::int64_t kSharedPixels = std::int64_t{4} << 20;

  void launch_steps(int pass);
  [[nodiscard]] bool makes_file(std::size_t i) const;
  void copy_results();
  void download(std::size_t i, std::size_t result, const Passes& passes);
  void drop(std::size_t i);

  Context& context_;
  std::vector<GroupImage> images_;
  std::vector<std::vector<Image>> results_;  // by image
  DeviceTables tables_;
  std::deque<DeviceRun> runs_;
  std::optional<CodedGroup> codecs_;
  Passes passes_;
};

}  // namespace imgpipe
