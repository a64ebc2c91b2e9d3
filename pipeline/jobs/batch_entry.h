// An image of a batch in progress. One thread or queue owns it at a time.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <vector>

#include "images/formats/pending_input.h"
#include "pipeline/jobs/batch.h"
#include "pipeline/jobs/host_assist.h"
#include "pipeline/jobs/image_job.h"

namespace imgpipe {

struct BatchEntry {
  std::optional<ImageJob> job;  // set when a worker opens it; none with pages
  bool to_lane = false;
  bool lane_decodes = false;                           // the lane decodes the file's scan
  std::unique_ptr<HostAssist::Assistance> assistance;  // set: a worker does the work of a lane
  std::optional<MemoryNeed> host_need;                 // Job::need, if it was opened for the host
  MemoryNeed need;                                     // including its file
  std::int64_t outside_bytes = 0;                      // the part of `need` not from the block pool
  // The image's share of the batch's memory: its file until it is admitted, then all of its need.
  struct Counted {
    std::int64_t file_bytes = 0, admitted_bytes = 0, outside_bytes = 0;
  } counted;
  BatchResult result;
  [[nodiscard]] bool in_bands() const { return result.route == ImageRoute::device_in_bands; }
  // Allocated in advance for the result, because there may be no memory left at the end.
  std::list<BatchResult> ended = std::list<BatchResult>(1);
};
using EntryPointer = std::unique_ptr<BatchEntry>;

// The input and output of item `number`, with their names in messages.
[[nodiscard]] ImageFiles image_files(const BatchItem& item, std::size_t number);

// The bytes in memory, or the file.
[[nodiscard]] PendingInput pending_input(const ImageFiles& files, const DecodeOptions& options);

// The part that a span's time belongs to; nullopt: none.
[[nodiscard]] std::optional<Part> part_of(const Span& span);

// The memory need of an opened image, including its file. `host`: the engine of images without a lane.
[[nodiscard]] MemoryNeed need_of(BatchEntry& entry, const Engine& host);

// The pixels of an opened image, decoded or finished, whichever is more; 16-bit pixels count twice.
[[nodiscard]] std::int64_t lane_pixels(const BatchEntry& entry);

// The bytes of an opened image, decoded or finished, whichever is more. A device holds at least these.
[[nodiscard]] std::int64_t max_image_bytes(const BatchEntry& entry);

// The part of the need that does not come from the block pool: memory that libraries allocate and, for an
// image that goes to a lane, pinned memory.
[[nodiscard]] std::int64_t outside_pool_bytes(const BatchEntry& entry);

// The notes that a batch reports as warnings. Deep samples, and profiles and metadata that are not preserved,
// are excluded: the batch's summary counts them.
[[nodiscard]] std::vector<ImageNote> warnings_of(const ImageJob& image);

// Copies them to the result, in place of the former ones.
void keep_warnings(BatchEntry& entry);

// Copies the properties of the planned output to the result.
void record_output(BatchEntry& entry);

// Adds the files of ImageFiles::also that the job has written.
void add_also_results(const ImageJob& image, BatchResult& result);

// The time of an ended image's work that a lane would have done.
[[nodiscard]] std::int64_t lane_work_ns(const BatchResult& result);

// Derives BatchResult::end_ns, busy, lane_busy and on_lane of an ended image from its timeline.
void add_up_times(BatchEntry& entry);

}  // namespace imgpipe
