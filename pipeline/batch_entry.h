// An image of a batch, with the one who works on it.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "images/input_file.h"
#include "images/output_file.h"
#include "pipeline/batch.h"

namespace imgpipe {

struct BatchEntry final : LaneImage {
  InputFile input;  // the reader's
  std::unique_ptr<Reader> reader;
  std::unique_ptr<Writer> writer;
  std::unique_ptr<OutputFile> output;
  ByteSink sink;  // to the output, where it is written as it is made
  bool to_lane = false;
  bool lane_was_full = false;  // a worker does the stages that a lane was meant to do
  std::int64_t need_bytes = 0;
  // Of the batch's memory: its file until it is admitted, all that it needs from then on.
  struct Counted {
    std::int64_t file_bytes = 0, admitted_bytes = 0;
  } counted;
  BatchResult result;
  // Where the result goes when it is one of those that have ended: there may be no memory left then.
  std::list<BatchResult> ended = std::list<BatchResult>(1);

  // Gives back what is large: the image has failed.
  void let_go() noexcept;
};
using EntryPointer = std::unique_ptr<BatchEntry>;

// An upper bound of what an opened image needs, by its header: its file, what its decoder holds by itself,
// the images between stages, and the encoded file. `host` is the engine of images that go to no lane.
[[nodiscard]] std::int64_t bytes_needed(const BatchEntry& entry, const Engine& host);

// The error of an image that needs more than `budget_bytes` by itself.
[[nodiscard]] Error over_budget(const BatchItem& item, std::int64_t bytes, std::int64_t budget_bytes);

// What the timeline says of an image that has ended: BatchResult::end_ns, busy and on_lane.
void add_up_times(BatchEntry& entry);

}  // namespace imgpipe
