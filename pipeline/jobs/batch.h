// Many images: several are read, decoded, worked on, encoded and written at the same time, within a budget of
// memory. One that fails costs itself only.
//
//   workers                     lanes (devices)                           workers
//   read, stage   --queue-->  slot: decode, stages, encode    --queue-->  write
//   read, decode  --queue-->  slot: upload, stages, download  --queue-->  encode, write
//   read, decode, stages, encode, write: band by band, where an image goes to no lane
//
// Inputs with pages (BatchSettings::pages) stay with one worker (pipeline/jobs/batch_pages.h).
//
// An image that does not fit into a device goes through it in bands, on a worker; or, where workers help and
// that is estimated to be slower, as if there were no lane.
//
// A lane takes JPEGs, and gives PNGs and JPEGs, as their files have them where it can; several images share
// its launches. Every worker takes what is ready to be encoded before it decodes another image. Without a
// lane an image stays with one worker from its first row to its last, because handing it over would mean to
// hold it whole; a worker has threads of its own for it only while there are fewer images than threads.
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "images/codecs/codec.h"
#include "images/error.h"
#include "pipeline/cost_model.h"
#include "pipeline/engine.h"
#include "pipeline/jobs/image_job.h"
#include "pipeline/jobs/input_job.h"
#include "pipeline/lane.h"
#include "pipeline/plan.h"
#include "pipeline/threads/thread_start.h"
#include "pipeline/timeline.h"

namespace imgpipe {

struct BatchItem {
  std::string input;  // a path
  std::string
      output;  // a path; its folder is made when its first byte is written; with use_rows there is none
  Format format = Format::png;
  std::optional<Provenance> made_of{};  // as ImageFiles has it
};

// The images of a batch, each told when it is asked for: a hundred thousand paths need not be held twice.
class BatchItems {
 public:
  BatchItems() = default;
  BatchItems(std::size_t count, std::function<BatchItem(std::size_t)> item)
      : count_(count), item_(std::move(item)) {}
  BatchItems(std::vector<BatchItem> items)
      : count_(items.size()),
        item_([held = std::make_shared<const std::vector<BatchItem>>(std::move(items))](std::size_t i) {
          return (*held)[i];
        }) {}

  [[nodiscard]] std::size_t size() const noexcept { return count_; }
  // From any thread.
  [[nodiscard]] BatchItem operator[](std::size_t index) const { return item_(index); }

 private:
  std::size_t count_ = 0;
  std::function<BatchItem(std::size_t)> item_;
};

// The devices of a batch. Images go to whichever is free.
struct LaneCapacity {
  std::vector<std::unique_ptr<Lane>> lanes;
  // Where the workers help: images of fewer pixels are theirs.
  std::int64_t lane_pixels = 0;
  // Lanes are started when the images so far let expect that so many pixels will go to them.
  std::int64_t lane_start_pixels = 0;
  // A further lane is started when the workers have lost so much time, each, because those that run were
  // full. 0: all lanes start together.
  std::chrono::milliseconds lane_patience{0};
  // What an image costs a lane, where the workers help: some of the images that do not fit into the device go
  // through it in bands by that.
  LinearCost lane_cost;
  std::string note;  // for the user: what was found, and why that
  // Makes the lanes' threads. A lane whose threads are not to be had is broken.
  ThreadStarter start_thread = imgpipe::start_thread;
};

// What takes the rows of an input's pages where no files are made of them. It lives until the input has
// ended.
struct PagesUse {
  std::function<RowUse(const ImageFiles& files, const Shape& shape)> use_rows;  // as in ImageSettings
  std::function<void(const ItemDone&)> page_done;  // after each page, in their order
  std::function<void()> accept;                    // once, when all are in order
};
// Asked for each input, by its number and from any thread. At most one for each worker lives at a time. What
// its functions throw fails the input.
using UsePages = std::function<PagesUse(std::size_t item)>;

struct BatchSettings : ImageSettings {
  int jobs = 1;     // images that workers are at, at a time
  int threads = 1;  // that workers share while there are fewer images than threads
  // Bytes that the images on their way may need by their headers. With `memory_is_limit` an image that needs
  // more by itself fails; without, it runs alone.
  std::int64_t memory_bytes = std::int64_t{1} << 30;
  bool memory_is_limit = false;
  // Makes the engine of images that go to no lane, one for each worker.
  std::function<std::unique_ptr<Engine>(int threads)> make_engine = make_cpu_engine;
  // Set: inputs go through with their pages. There are no lanes then.
  std::optional<PageRequest> pages;
  UsePages use_pages;  // with pages, in place of use_rows; not set: files are made of them
  // With pages: why the workers have these engines, where that is not what was asked for.
  std::string device_note;
  // Finds the devices, on a thread of its own, because looking for them can take longer than an image. Where
  // it is not set there are none. What it throws is as if a lane had not started.
  std::function<LaneCapacity()> find_lanes;
  // The lanes decode and encode, as far as is known before they are found.
  bool lanes_have_codecs = false;
  // Where images that go to a lane are decoded to; nullptr: ordinary memory.
  std::shared_ptr<std::pmr::memory_resource> lane_memory;
  // What the lanes do not do at once (they are starting, busy or broken) the workers do; without, the workers
  // wait, and the batch ends when the last lane is broken.
  bool host_helps = false;
  bool fail_fast = false;   // end with the first image that fails
  bool keep_spans = false;  // give every image's spans
};

// What an image's time goes to. Their names are in part_name().
enum class Part { read, decode, upload, kernels, download, encode, write };
inline constexpr std::size_t kParts = 7;
[[nodiscard]] std::string_view part_name(Part part);
using PartTimes = std::array<std::int64_t, kParts>;  // nanoseconds, by part

// Where an image was worked on: by the host; by a device, all of it in the device's memory, or in bands
// because it does not fit; by the host because it does not fit into the device.
enum class ImageRoute { host, device, device_in_bands, host_for_memory };
// "host", "device", "device_bands", "host_no_device_memory".
[[nodiscard]] std::string_view route_name(ImageRoute route);

struct Interval {
  std::int64_t start_ns = 0, end_ns = 0;
};

struct BatchResult {
  std::size_t item = 0;
  std::optional<ErrorKind> failed;  // of the image; no output was written then
  std::string reason;               // with the path that it is about
  std::string device;               // "cpu", "reference" or a lane's name; empty when it came to none
  ImageRoute route = ImageRoute::host;
  ImageHeader header;  // as far as it was read
  Shape output{0, 0, 1};
  DepthLoss depth_loss = DepthLoss::none;
  std::string lost_profile, lost_metadata;         // as ImageJob has them
  std::int64_t input_bytes = 0, output_bytes = 0;  // of the files
  std::int64_t pages = 0;                          // with --pages: how many were done; else 0
  std::int64_t needed_bytes = 0;                   // with --pages: by the page that needed most
  std::int64_t pixels = 0;                         // of them all
  std::string last_output;                         // of the last, where each has a file of its own
  std::vector<std::string> warnings;               // with the path
  std::int64_t start_ns = 0, end_ns = 0;           // since the batch was made
  PartTimes busy{};
  PartTimes lane_busy{};      // of that, a lane
  bool lane_encoded = false;  // at least some of the file's strips
  // When a lane was at it: from the first span to the last. Zero without a lane.
  std::array<Interval, kParts> on_lane{};
  std::vector<Span> spans;  // with keep_spans; their tracks say which worker and which slot
};

class Batch {
 public:
  // Starts at once. Paths of items must be told apart already (no two outputs alike, none an input).
  Batch(BatchItems items, BatchSettings settings);
  // Drops what has not begun and waits for the rest.
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  // The next image that is done, in the order of their ends; nullopt when none is within `patience`, or when
  // there are no more. One thread takes results.
  [[nodiscard]] std::optional<BatchResult> next(std::chrono::milliseconds patience);
  // No image is on its way, none will be, and next() has given all results.
  [[nodiscard]] bool finished() const;
  // Begins no more images; those on their way go on.
  void stop();

  // LaneCapacity::note, once it is known; empty before.
  [[nodiscard]] std::string lane_note() const;
  // Lines for the user about devices that could not be used, each once.
  [[nodiscard]] std::vector<std::string> take_notes();
  // The error that ended the batch before all images were done: of a device or of the output side.
  [[nodiscard]] std::optional<Error> fatal() const;
  // The lanes that have been started, and what they are.
  [[nodiscard]] std::vector<std::string> devices() const;
  // How many images workers are at, at a time: BatchSettings::jobs, but no more than there are images, and
  // fewer where the system gives no more threads. Without one it is the thread that calls next(), which then
  // may take as long as an image.
  [[nodiscard]] int workers() const;
  // The most bytes that admitted images needed at one time; with pages, that one page needed.
  [[nodiscard]] std::int64_t peak_admitted_bytes() const;

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace imgpipe
