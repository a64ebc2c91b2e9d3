// One band of a chain on its way, and where its rows lie: read for it, made by it, or in a whole image.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/devices/device_bands.h"
#include "pipeline/host/bands.h"

namespace imgpipe {

// With the memory that it needs; used for one band after the other.
struct BandSlot {
  bool is_band = false;  // else rows that no band needs
  RowRange band;
  std::vector<RowRange> rows;                      // by value
  HostView reads;                                  // rows that are begun at the reader, to be read yet
  std::int64_t reads_from = 0;                     // the first of them in the image
  std::int64_t new_bytes = 0;                      // of them: those that no band before reads
  int thread = 0;                                  // that is at it
  std::vector<std::array<Image, 3>> places;        // BandPlan::places()
  std::vector<std::int64_t> tops;                  // by value: the image's row that its place begins with
  std::vector<std::vector<std::uint64_t>> counts;  // by node of the chain
  ConstHostView result;                            // the band as the writer takes it
  std::vector<Span> spans;
  // With a device: its rows, and what goes up and comes down, in staging memory.
  BandRows device_rows;
  Image up, down;
  std::vector<BandPart> outputs;
  std::vector<HostView> output_views;
};

// The rows of a chain's bands in memory. All that it is given must outlive it.
class BandMemory {
 public:
  BandMemory(const ChainJob& job, const BandPlan& bands, const HostThreads& threads, bool on_device)
      : job_(job), plan_(job.plan), bands_(bands), threads_(threads), on_device_(on_device) {}

  // Records how long `action` takes.
  template <class Action>
  void timed(BandSlot& slot, const std::string& name, SpanKind kind, std::int64_t bytes,
             const Action& action) const {
    const std::int64_t start = job_.timeline.now_ns();
    action();
    slot.spans.push_back({name, job_.timeline.track_of(slot.thread, threads_.count()), kind, start,
                          job_.timeline.now_ns(), bytes, job_.pass});
  }

  // Plane i of the place that a band has for a value.
  [[nodiscard]] Image& place(BandSlot& slot, ValueId value, int i) const;
  // Rows that are there already: made by this band, read for it, or in a whole image.
  [[nodiscard]] ConstHostView rows_of(const BandSlot& slot, ValueId value, int plane,
                                      const RowRange& rows) const;
  // Whether a band holds its rows by itself. Not where an image is there in place of a reader.
  [[nodiscard]] bool is_in_band(const BandSlot& slot, ValueId value) const;
  // Where a node writes these rows.
  [[nodiscard]] HostView target_of(BandSlot& slot, ValueId value, int plane, const RowRange& rows) const;
  // Brings the band's own rows into the whole image, where it has made them next to others.
  void copy_to_whole(const BandSlot& slot, ValueId value) const;
  // This slot's own counters for a node.
  [[nodiscard]] std::uint64_t* own_counts(BandSlot& slot, std::size_t node) const;

 private:
  const ChainJob& job_;
  const ChainedPlan& plan_;
  const BandPlan& bands_;
  const HostThreads& threads_;
  bool on_device_;
};

}  // namespace imgpipe
