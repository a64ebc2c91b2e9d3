#include "pipeline/host/bands.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "kernels/hist/hist.h"
#include "pipeline/contrast_ranges.h"
#include "pipeline/decode_row.h"
#include "pipeline/devices/band_device.h"
#include "pipeline/devices/device_bands.h"
#include "pipeline/host/band_slot.h"
#include "pipeline/host/ordered_run.h"
#include "pipeline/memory_need.h"
#include "pipeline/stage_calls.h"

namespace imgpipe {
namespace {

// Planes of at least this size leave the caches before the next chain reads them.
constexpr std::int64_t kUncachedBytes = std::int64_t{1} << 23;

// Returns the bands for the device; none if the host runs the chain's nodes.
std::optional<DeviceCut> cut_for_device_of(const ChainJob& job, const HostThreads& threads) {
  if (job.device == nullptr || job.chain.first == job.chain.end || job.chain.of_all_rows) return std::nullopt;
  return cut_for_device(job.plan, job.chain, job.writer, job.device->room(), device_slots(threads.count()));
}

void add_counts(const std::uint64_t* more, std::size_t count, std::uint64_t* sums) {
  for (std::size_t i = 0; i < count; ++i) sums[i] += more[i];
}

// Runs a chain: bands are read and written in order, and processed concurrently.
class BandPass {
 public:
  BandPass(const ChainJob& job, HostThreads& threads)
      : job_(job),
        plan_(job.plan),
        threads_(threads),
        cut_(cut_for_device_of(job, threads)),
        bands_(cut_ ? cut_->bands.bands() : BandPlan(job.plan, job.chain, job.writer, threads.count())),
        memory_(job, bands_, threads, cut_.has_value()) {
    decodes_whole_ = job.reader != nullptr && plan_.is_whole(0, job.chain);
    reads_at_once_ = job.reader != nullptr && job.reader->has_bands();
  }

  void run() {
    if (cut_) {
      run_on_device();
    } else {
      run_bands(static_cast<std::size_t>(
          std::clamp<std::int64_t>(bands_.pieces(), 1, bands_at_once(threads_.count()))));
    }
    gather();
  }

 private:
  void run_bands(std::size_t slots) {
    slots_.resize(slots);
    run_in_order(threads_, slots_.size(),
                 {[this](std::size_t slot, int thread) { return next_band(slots_[slot], thread); },
                  [this](std::size_t slot, int thread) { process(slots_[slot], thread); },
                  [this](std::size_t slot, int thread) { end_band(slots_[slot], thread); }});
  }

  void run_on_device() {
    BandTables tables(plan_.program.values.size());
    for (const ValueId value : tables_read_by(plan_, job_.chain)) tables[value] = job_.whole.data(value);
    job_.device->start(cut_->bands, cut_->slots, tables, job_.pass);
    try {
      run_bands(cut_->slots);
    } catch (...) {
      job_.device->stop();  // before the bands' memory is freed
      throw;
    }
  }

  // ---- reading, one band after the other ---------------------------------------------------------------

  // Begins the next band, or rows that no band needs. Returns false after the last.
  bool next_band(BandSlot& slot, int thread) {
    slot.thread = thread;
    slot.places.resize(bands_.places().size());
    slot.is_band = !skip_rows(slot);
    if (!slot.is_band) return true;
    if (next_ == bands_.bands()) return false;
    slot.band = bands_.band(next_);
    if (cut_) slot.device_rows = cut_->bands.rows_of(slot.band);
    slot.rows = cut_ ? slot.device_rows.right : bands_.rows_of(slot.band);
    slot.tops.resize(slot.rows.size());
    if (job_.reader != nullptr) read(slot);
    ++next_;
    last_read_ = &slot;
    return true;
  }

  // Begins to read rows that no band needs, because all of a file is validated. Returns false if a band is
  // next.
  bool skip_rows(BandSlot& slot) {
    if (job_.reader == nullptr || decodes_whole_) return false;
    const std::int64_t rows = bands_.skipped_before(next_, read_);
    if (rows == 0) return false;
    read_rows(slot, read_, memory_.place(slot, 0, 0).untyped_view().rows(0, rows));
    read_ += rows;
    return true;
  }

  // Reads up to the last row that the band needs; the last band reads on to the end of the image if that is
  // near. With a reader that has bands, only begins to read. Neighbouring bands then both read the rows that
  // they share, because the previous band may not have them yet. If the chain decodes into a whole image,
  // bands share no rows, because the chain at most counts the image's pixels.
  void read(BandSlot& slot) {
    const std::int64_t end = bands_.read_end(next_, slot.rows[0], read_);
    if (decodes_whole_) {
      read_rows(slot, read_, job_.whole.plane(0, 0).rows(read_, end - read_));
      read_ = end;
      return;
    }
    Image& image = memory_.place(slot, 0, 0);
    const std::int64_t top = slot.rows[0].count() == 0 ? read_ : std::min(slot.rows[0].first, read_);
    if (!reads_at_once_) keep_rows_of_before(image.untyped_view(), top);
    slot.tops[0] = top;
    const std::int64_t from = reads_at_once_ ? top : read_;
    read_rows(slot, from, image.untyped_view().rows(from - top, end - from));
    read_ = end;
  }

  // Copies the rows from `top` on that the previous band has read. Both bands may use the same memory.
  void keep_rows_of_before(const HostView& to, std::int64_t top) const {
    if (top == read_) return;
    const ConstHostView from = last_read_->places[*bands_.place_of(0)][0].untyped_view();
    const std::int64_t from_top = last_read_->tops[0];
    for (std::int64_t y = top; y < read_; ++y) {
      std::memmove(to.row(y - top), from.row(y - from_top), static_cast<std::size_t>(to.row_bytes()));
    }
  }

  // Reads `rows`, from row `first` of the image on, or begins to read them.
  void read_rows(BandSlot& slot, std::int64_t first, const HostView& rows) {
    slot.reads = {};
    if (rows.height == 0) return;
    if (reads_at_once_) {
      job_.reader->begin_band(first, rows.height);
      slot.reads_from = first;
      slot.reads = rows;
      slot.new_bytes = (first + rows.height - read_) * rows.row_bytes();
      return;
    }
    decode(slot, rows.bytes(), [&] { job_.reader->read_rows(rows); });
  }

  // Records the time under the name of the decoder that is current at the end.
  template <class Action>
  void decode(BandSlot& slot, std::int64_t bytes, const Action& action) {
    memory_.timed(slot, "decode", SpanKind::host, bytes, action);
    slot.spans.back().name =
        decode_row(*job_.reader, plan_.grey_rows ? plan_.plan.steps.front().label : std::string_view());
  }

  // ---- processing, several bands at once ---------------------------------------------------------------

  void process(BandSlot& slot, int thread) {
    slot.thread = thread;
    if (slot.reads.height > 0) {
      decode(slot, slot.new_bytes, [&] { job_.reader->read_band(slot.reads_from, slot.reads); });
    }
    if (!slot.is_band) return;
    if (cut_) {
      begin_on_device(slot);
      // A single thread begins further bands before it waits for this one.
      if (threads_.count() > 1) finish_on_device(slot);
      return;
    }
    for (std::size_t i = job_.chain.first; i < job_.chain.end; ++i) run_node(slot, i);
    if (job_.writer == nullptr) return;
    slot.result = memory_.rows_of(slot, plan_.program.results.back(), 0, slot.band);
    encode_strips(slot);
  }

  void encode_strips(BandSlot& slot) {
    if (!bands_.strips()) return;
    memory_.timed(slot, "encode", SpanKind::host, slot.result.bytes(), [&] {
      const std::int64_t rows = slot.result.height;
      for (std::int64_t top = 0; top < rows; top += bands_.strip_rows()) {
        job_.writer->write_strip(slot.band.first + top,
                                 slot.result.rows(top, std::min(bands_.strip_rows(), rows - top)));
      }
    });
  }

  // Whether a band's rows of a value go to a large plane, and nothing reads them before the next chain.
  [[nodiscard]] bool leaves(const BandSlot& slot, ValueId value) const {
    if (!bands_.in_place(value, slot.rows[value], slot.band)) return false;
    if (job_.whole.plane(value, 0).bytes() < kUncachedBytes) return false;
    if (bands_.to_writer() && value == plan_.program.results.back()) return false;
    return std::ranges::none_of(plan_.nodes_of(job_.chain), [value](const Node& node) {
      return std::ranges::find(node.inputs, value, &Connection::value) != node.inputs.end();
    });
  }

  void run_node(BandSlot& slot, std::size_t i) {
    const Node& node = plan_.program.nodes[i];
    const Connection* const made = node.pixels_out();
    const RowRange own = bands_.own(slot.band, node.in.height);
    const RowRange out = made != nullptr ? slot.rows[made->value] : own;
    const RowRange in = made != nullptr ? node.rows_needed(out) : own;
    const auto call = stage_call<Host>(
        plan_.program, node,
        [&](ValueId value, int plane) { return memory_.rows_of(slot, value, plane, in); },
        [&](ValueId value) {
          return node.counts_out() == value ? reinterpret_cast<std::byte*>(memory_.own_counts(slot, i))
                                            : job_.whole.data(value);
        },
        [&](ValueId value, int plane) { return memory_.target_of(slot, value, plane, out); });
    const Band band{out.first, out.end, in.first, out.first, made != nullptr && leaves(slot, made->value)};
    const bool only_extremes = needs_only_extremes(plan_.plan, node, job_.counts_for);
    memory_.timed(slot, plan_.plan.steps[node.step].label, SpanKind::kernel,
                  bands_.bytes_moved(node, slot.band),
                  [&] { only_extremes ? hist_extremes_cpu(call, band) : run_cpu(*node.stage, call, band); });
    if (made == nullptr) return;
    memory_.copy_to_whole(slot, made->value);
    if (made->alpha) memory_.copy_to_whole(slot, *made->alpha);
  }

  // ---- processing on a device --------------------------------------------------------------------------

  [[nodiscard]] std::size_t number_of(const BandSlot& slot) const {
    return static_cast<std::size_t>(&slot - slots_.data());
  }

  HostView take_staging(Image& memory, std::int64_t& used, const BandPart& part) const {
    const Shape shape = cut_->bands.part_shape(part);
    std::byte* const data = memory.untyped_view().data + used;
    constexpr std::int64_t kUnit = DeviceBands::kPartAlignment;
    used += (shape.bytes() + kUnit - 1) / kUnit * kUnit;
    return {data, shape, shape.row_bytes()};
  }

  void need_staging(BandSlot& slot, Image& memory, std::int64_t bytes) {
    if (!memory.empty() || bytes == 0) return;
    memory_.timed(slot, "pin", SpanKind::host, 0, [&] {
      memory = Image({bytes, 1, 1}, job_.device->staging());
    });
  }

  void begin_on_device(BandSlot& slot) {
    std::vector<ConstHostView> views;
    std::int64_t used = 0;
    for (const BandPart& part : cut_->bands.inputs(slot.device_rows)) {
      views.push_back(memory_.rows_of(slot, part.value, part.plane, part.rows));
      if (memory_.is_in_band(slot, part.value)) continue;  // read directly into staging memory
      need_staging(slot, slot.up, cut_->bands.input_bytes());
      const HostView staged = take_staging(slot.up, used, part);
      memory_.timed(slot, "staging", SpanKind::host, 2 * staged.bytes(),
                    [&] { copy_pixels(views.back(), staged); });
      views.back() = staged;
    }
    slot.outputs = cut_->bands.outputs(slot.device_rows);
    slot.output_views.clear();
    need_staging(slot, slot.down, cut_->bands.output_bytes());
    used = 0;
    for (const BandPart& part : slot.outputs)
      slot.output_views.push_back(take_staging(slot.down, used, part));
    job_.device->begin(number_of(slot), slot.device_rows, views, slot.output_views);
  }

  void finish_on_device(BandSlot& slot) {
    job_.device->finish(number_of(slot), slot.spans);
    for (std::size_t i = job_.chain.first; i < job_.chain.end; ++i) {
      const Node& node = plan_.program.nodes[i];
      if (!node.counts_out()) continue;
      std::uint64_t* const sums = memory_.own_counts(slot, i);
      add_counts(job_.device->counts(number_of(slot), i), counters(node.out), sums);
    }
    if (job_.writer != nullptr) slot.result = device_result(slot);
    for (std::size_t i = 0; i < slot.outputs.size(); ++i) {
      const BandPart& part = slot.outputs[i];
      if (!plan_.is_whole(part.value, job_.chain)) continue;
      const HostView to = job_.whole.plane(part.value, part.plane).rows(part.rows.first, part.rows.count());
      memory_.timed(slot, "staging", SpanKind::host, 2 * to.bytes(),
                    [&] { copy_pixels(slot.output_views[i], to); });
    }
    if (job_.writer != nullptr) encode_strips(slot);
  }

  // Returns the band's rows for the writer: downloaded, or made before this chain.
  [[nodiscard]] ConstHostView device_result(const BandSlot& slot) const {
    for (std::size_t i = 0; i < slot.outputs.size(); ++i) {
      if (slot.outputs[i].value == plan_.program.results.back()) return slot.output_views[i];
    }
    return memory_.rows_of(slot, plan_.program.results.back(), 0, slot.band);
  }

  // ---- writing, one band after the other ---------------------------------------------------------------

  void end_band(BandSlot& slot, int thread) {
    slot.thread = thread;
    if (!slot.is_band) return;
    if (cut_ && threads_.count() == 1) finish_on_device(slot);
    if (job_.writer == nullptr) return;
    if (!bands_.strips()) {
      memory_.timed(slot, "encode", SpanKind::host, slot.result.bytes(),
                    [&] { job_.writer->write_rows(slot.result); });
    }
    if (job_.sink) hand_on(slot);
  }

  // Passes finished parts of the file to the sink, so that it never has to be held as a whole.
  void hand_on(BandSlot& slot) {
    const EncodedFile finished = job_.writer->take_finished();
    if (finished.parts.empty()) return;
    memory_.timed(slot, "write", SpanKind::host, static_cast<std::int64_t>(finished.size_bytes()), [&] {
      for (const std::vector<std::byte>& part : finished.parts) job_.sink(part);
    });
  }

  void gather() {
    for (std::size_t i = job_.chain.first; i < job_.chain.end; ++i) {
      const Node& node = plan_.program.nodes[i];
      if (!node.counts_out()) continue;
      std::vector<std::uint64_t>& counts = job_.whole.counts(*node.counts_out());
      counts.clear();
      for (BandSlot& slot : slots_) {
        if (slot.counts.empty()) continue;
        std::vector<std::uint64_t>& more = slot.counts[i - job_.chain.first];
        if (counts.empty()) {
          counts = std::move(more);
        } else {
          add_counts(more.data(), more.size(), counts.data());
        }
      }
    }
    for (BandSlot& slot : slots_) {
      for (Span& span : slot.spans) job_.timeline.add(std::move(span));
    }
  }

  const ChainJob& job_;
  const ChainedPlan& plan_;
  HostThreads& threads_;
  const std::optional<DeviceCut> cut_;
  const BandPlan bands_;
  const BandMemory memory_;
  bool decodes_whole_ = false;
  bool reads_at_once_ = false;           // each band is read on its own thread
  std::int64_t next_ = 0;                // index of the next band
  std::int64_t read_ = 0;                // first row not read yet
  const BandSlot* last_read_ = nullptr;  // the previous band
  std::vector<BandSlot> slots_;
};

}  // namespace

void run_chain(const ChainJob& job, HostThreads& threads) {
  const bool moves_nothing = job.reader == nullptr && job.writer == nullptr;
  if (moves_nothing && job.chain.first == job.chain.end) return;
  for (ValueId i = 0; i < job.plan.program.values.size(); ++i) {
    if (job.plan.made_in(i, job.chain) && job.plan.is_whole(i, job.chain)) job.whole.make(i);
  }
  BandPass(job, threads).run();
}

}  // namespace imgpipe
