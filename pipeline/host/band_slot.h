// A band of a chain in progress, and its rows in memory: in the band's own planes, or in a whole image.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "pipeline/devices/device_bands.h"
#include "pipeline/host/bands.h"

namespace imgpipe {

// The state and memory of one band; reused by later bands.
struct BandSlot {
  bool is_band = false;  // false: rows that no band needs
  RowRange band;
  std::vector<RowRange> rows;                      // by ValueId
  HostView reads;                                  // memory for rows begun by begin_band() but not yet read
  std::int64_t reads_from = 0;                     // image row of the first row of `reads`
  std::int64_t new_bytes = 0;                      // bytes of `reads` that no earlier band also reads
  int thread = 0;                                  // the thread processing the band
  std::vector<std::array<Image, 3>> places;        // BandPlan::places()
  std::vector<std::int64_t> tops;                  // by ValueId: the first image row in its place
  std::vector<std::vector<std::uint64_t>> counts;  // by node of the chain
  ConstHostView result;                            // the band's rows for the writer
  std::vector<Span> spans;
  // For a device: its rows, and the staging memory for uploads and downloads.
  BandRows device_rows;
  Image up, down;
  std::vector<BandPart> outputs;
  std::vector<HostView> output_views;
};

// Locates the rows of a chain's bands in memory. All arguments of the constructor must outlive it.
class BandMemory {
 public:
  BandMemory(const ChainJob& job, const BandPlan& bands, const HostThreads& threads, bool on_device)
      : job_(job), plan_(job.plan), bands_(bands), threads_(threads), on_device_(on_device) {}

  template <class Action>
  void timed(BandSlot& slot, const std::string& name, SpanKind kind, std::int64_t bytes,
             const Action& action) const {
    const std::int64_t start = job_.timeline.now_ns();
    action();
    slot.spans.push_back({name, job_.timeline.track_of(slot.thread, threads_.count()), kind, start,
                          job_.timeline.now_ns(), bytes, job_.pass});
  }

  // Plane i of the band's place for a value, which is allocated when first used.
  [[nodiscard]] Image& place(BandSlot& slot, ValueId value, int i) const;
  // Rows that already exist: made by this band, read for it, or in a whole image.
  [[nodiscard]] ConstHostView rows_of(const BandSlot& slot, ValueId value, int plane,
                                      const RowRange& rows) const;
  // Whether the band's place holds the rows. False if a whole image replaces the reader.
  [[nodiscard]] bool is_in_band(const BandSlot& slot, ValueId value) const;
  // The memory to which a node writes these rows.
  [[nodiscard]] HostView target_of(BandSlot& slot, ValueId value, int plane, const RowRange& rows) const;
  // Copies the band's share to the whole image, if needed and if the node has not written it there.
  void copy_to_whole(const BandSlot& slot, ValueId value) const;
  // The slot's counters for a node, which all its bands share.
  [[nodiscard]] std::uint64_t* own_counts(BandSlot& slot, std::size_t node) const;

 private:
  const ChainJob& job_;
  const ChainedPlan& plan_;
  const BandPlan& bands_;
  const HostThreads& threads_;
  bool on_device_;
};

}  // namespace imgpipe
