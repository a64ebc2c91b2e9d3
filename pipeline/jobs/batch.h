// Processes many images: reads, decodes, processes, encodes and writes several concurrently, within a memory
// budget. A failure affects one image only.
//
//   workers                     lanes (devices)                           workers
//   read, stage   --queue-->  slot: decode, stages, encode    --queue-->  write
//   read, decode  --queue-->  slot: upload, stages, download  --queue-->  encode, write
//   read, decode, stages, encode, write: band by band, for an image without a lane
//
// Inputs with pages (BatchSettings::pages) stay with one worker (pipeline/jobs/batch_pages.h).
//
// An image that does not fit into a device goes through it in bands, on a worker. If workers help and the
// estimate says that bands are slower, it goes through the host.
//
// A lane decodes JPEG files and encodes PNG and JPEG files itself if it can; several images share a launch.
// Every worker encodes finished images before it decodes another. Without a lane an image stays with one
// worker, because a handover would need the whole image in memory. A worker has several threads for an image
// only while there are fewer images than threads.
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
  std::string input;   // a path
  std::string output;  // a path, its directory made before the first byte; none with make_row_consumer
  Format format = Format::png;
  std::optional<Provenance> made_of{};  // as in ImageFiles
  // As in ImageFiles. Without pages only.
  std::shared_ptr<const std::vector<std::byte>> content{};
  bool stays_in_memory = false;
  std::vector<AlsoFile> also{};  // as in ImageFiles; without lanes
};

// The inputs of a batch, each made on request, so that a hundred thousand paths are not stored twice.
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
  // Callable from any thread.
  [[nodiscard]] BatchItem operator[](std::size_t index) const { return item_(index); }

 private:
  std::size_t count_ = 0;
  std::function<BatchItem(std::size_t)> item_;
};

// The devices of a batch. Images go to whichever is free.
struct LaneCapacity {
  std::vector<std::unique_ptr<Lane>> lanes;
  // If the workers help, they process images with fewer pixels than this.
  std::int64_t lane_pixels = 0;
  // Lanes start once the images seen so far suggest that this many pixels will go to them.
  std::int64_t lane_start_pixels = 0;
  // Another lane starts once full lanes have cost each worker this much time. 0: all lanes start together.
  std::chrono::milliseconds lane_patience{0};
  // The cost of an image on a lane; decides which images go in bands if the workers help.
  LinearCost lane_cost;
  std::string note;  // for the user: which devices were found and chosen, and why
  // Makes the lanes' threads. A lane without threads is broken.
  ThreadStarter start_thread = imgpipe::start_thread;
};

// Consumes the rows of an input's pages in place of output files. Lives until the input has ended.
struct PageConsumer {
  std::function<RowConsumer(const ImageFiles& files, const Plan& plan)>
      make_row_consumer;                               // as in ImageSettings
  std::function<void(const FinishedItem&)> page_done;  // called after each page, in page order
  std::function<void()> accept;                        // called once, when all pages are valid
};
// Called for each input, with its number, from any thread; at most one consumer per worker exists at a time.
// Exceptions of its functions fail the input.
using MakePageConsumer = std::function<PageConsumer(std::size_t item)>;

struct BatchSettings : ImageSettings {
  int jobs = 1;     // images that workers process at a time
  int threads = 1;  // shared by the workers while there are fewer images than threads
  // Limits the total need of all images in progress. An image that needs more fails if `memory_is_limit` is
  // set; otherwise it runs alone.
  std::int64_t memory_bytes = std::int64_t{1} << 30;
  bool memory_is_limit = false;
  // Makes the engine for images without a lane, one for each worker.
  std::function<std::unique_ptr<Engine>(int threads)> make_engine = make_cpu_engine;
  // Set: the pages of each input are processed, without lanes.
  std::optional<PageRequest> pages;
  // Each worker processes whole inputs on its engine, without lanes; always the case with pages.
  bool engine_per_worker = false;
  MakePageConsumer
      make_page_consumer;  // with pages, instead of make_row_consumer; not set: pages become files
  // Without lanes: why the workers' engines differ from the requested ones.
  std::string device_note;
  // Finds the devices, on a separate thread, because that can take longer than an image. Not set: there are
  // none. An exception counts as a lane that did not start.
  std::function<LaneCapacity()> find_lanes;
  // Whether the lanes are expected to decode and encode, before they are found.
  bool lanes_have_codecs = false;
  // Memory for the decoded images of lanes; nullptr: ordinary memory.
  std::shared_ptr<std::pmr::memory_resource> lane_memory;
  // The workers process images that the lanes cannot take at once (they are starting, busy or broken). If
  // false, the workers wait, and the batch ends when the last lane is broken.
  bool host_helps = false;
  bool fail_fast = false;             // the first image that fails ends the batch
  std::function<bool()> is_hopeless;  // whether a failure ends the batch; called from any thread
  bool keep_spans = false;            // results hold the images' spans
};

// The parts of an image's time; part_name() has their names.
enum class Part { read, decode, upload, kernels, download, encode, write };
inline constexpr std::size_t kParts = 7;
[[nodiscard]] std::string_view part_name(Part part);
using PartTimes = std::array<std::int64_t, kParts>;  // nanoseconds, by part

// Where an image was processed: on the host; on a device; on a device in bands, because it did not fit; or on
// the host, because it did not fit into the device.
enum class ImageRoute { host, device, device_in_bands, host_for_memory };
// "host", "device", "device_bands", "host_no_device_memory".
[[nodiscard]] std::string_view route_name(ImageRoute route);

struct Interval {
  std::int64_t start_ns = 0, end_ns = 0;
};

// The file of a BatchItem::also.
struct AlsoResult {
  Shape output{0, 0, 1};
  std::int64_t bytes = 0;  // with --pages: of all pages
  EncodedFile file;        // of an output that stays in memory
  FileHashes hashes{};
};

struct BatchResult {
  std::size_t item = 0;
  std::optional<ErrorKind> failed;  // set: the image has no output
  std::string reason;               // including the path concerned
  std::string device;               // "cpu", "reference" or a lane's name; empty: the image reached none
  ImageRoute route = ImageRoute::host;
  ImageHeader header;  // as far as it was read
  Shape output{0, 0, 1};
  std::optional<TensorType> tensor{};  // if the output is one
  DepthLoss depth_loss = DepthLoss::none;
  std::string unpreserved_profile, unpreserved_metadata;  // as in ImageJob
  std::int64_t input_bytes = 0, output_bytes = 0;         // of the files
  std::int64_t pages = 0;                                 // with --pages: pages processed, otherwise 0
  std::int64_t needed_bytes = 0;                          // with --pages: the largest need of a page
  std::int64_t pixels = 0;                                // of all pages
  std::string last_output;                                // with --pages to files: the path of the last file
  std::vector<std::string> warnings;                      // including the path
  std::int64_t start_ns = 0, end_ns = 0;                  // since the batch was constructed
  PartTimes busy{};
  PartTimes lane_busy{};      // the lane's share of `busy`
  bool lane_encoded = false;  // the lane encoded at least some of the file's strips
  // From the first span on a lane to the last. Zero without a lane.
  std::array<Interval, kParts> on_lane{};
  std::vector<Span> spans;       // with keep_spans; their tracks name the worker and the slot
  EncodedFile file;              // of an output that stays in memory
  std::vector<AlsoResult> also;  // of an image that is done
  // Of an image that is done, with ImageSettings::hash; as of InputJob.
  FileHashes input_hashes, output_hashes;

  // The size of the files in memory.
  [[nodiscard]] std::int64_t held_bytes() const;
};

class Batch {
 public:
  // Starts at once. Precondition: no two outputs are equal, and none is an input.
  Batch(BatchItems items, BatchSettings settings);
  // Starts with a list that grows: by add(), until end_list().
  explicit Batch(BatchSettings settings);
  // Drops images that have not begun, and waits for the others.
  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  // Adds the image with the next number. The batch drops the item, and its content, when the image ends.
  void add(BatchItem item);
  void end_list();
  // Outputs that stay in memory count as memory of the batch until they are released.
  void release_file(std::int64_t bytes);
  // Ends the batch early with this error, as fatal() returns it.
  void abort(const Error& error);

  // Returns the next ended image, in order of completion; nullopt if none ends within `patience`, or if there
  // are no more. Only one thread may call this.
  [[nodiscard]] std::optional<BatchResult> next(std::chrono::milliseconds patience);
  // Whether no image is or will be in progress, and next() has returned all results.
  [[nodiscard]] bool finished() const;
  // Begins no more images; those in progress continue.
  void stop();

  // LaneCapacity::note, once it is known; empty before.
  [[nodiscard]] std::string lane_note() const;
  // Returns the pending lines for the user about devices that could not be used, and removes them, so that
  // each is reported once.
  [[nodiscard]] std::vector<std::string> take_notes();
  // The error that ended the batch before all images were done: a device error, an output error or a lack of
  // memory.
  [[nodiscard]] std::optional<Error> fatal() const;
  // The names of the lanes that became ready.
  [[nodiscard]] std::vector<std::string> devices() const;
  // Images that workers process at a time: BatchSettings::jobs, limited by the number of images and of
  // threads that the system provides. If it provides none, the caller of next() is the worker, and next() may
  // take as long as an image, or an input with pages.
  [[nodiscard]] int workers() const;
  // The peak of the total memory need of admitted images, in bytes; with pages, the largest need of one page.
  [[nodiscard]] std::int64_t peak_admitted_bytes() const;

 private:
  class Work;
  std::unique_ptr<Work> work_;
};

}  // namespace imgpipe
