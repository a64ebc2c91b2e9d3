#include "pipeline/host/bands.h"

#include <algorithm>
#include <string>
#include <utility>

#include "pipeline/engine.h"
#include "pipeline/host/band_layout.h"
#include "pipeline/host/ordered_run.h"
#include "pipeline/memory_need.h"

namespace imgpipe {

namespace {

bool is_empty(const Frame<std::byte, Host>& frame) {
  return frame.planes[0].empty();
}

}  // namespace

// What runs a chain: bands are read and written in order, and worked on at the same time.
class BandPass {
 public:
  BandPass(const ChainJob& job, HostThreads& threads)
      : job_(job),
        threads_(threads),
        layout_(band_layout(job.source_shape, job.links, job.sink.writer, threads.count())) {}

  void run() {
    const std::int64_t bands = (job_.source_shape.height + layout_.rows - 1) / layout_.rows;
    slots_.resize(
        static_cast<std::size_t>(std::clamp<std::int64_t>(bands, 1, bands_at_once(threads_.count()))));
    run_in_order(threads_, slots_.size(),
                 {[this](std::size_t slot, int thread) { return next_band(slots_[slot], thread); },
                  [this](std::size_t slot, int thread) { process(slots_[slot], thread); },
                  [this](std::size_t slot, int thread) { end_band(slots_[slot], thread); }});
    gather();
  }

 private:
  // One band on its way, with the memory that it needs; used for one band after the other.
  struct Slot {
    std::int64_t first = 0, end = 0;  // rows of the image
    int thread = 0;                   // that is at it
    Image decoded;
    std::vector<OwnedFrame> between;  // by link
    std::vector<std::vector<std::uint64_t>> counts;
    ConstHostPlane result;  // the rows first..end-1 as the writer takes them
    std::vector<Span> spans;
  };

  // Records how long `work` takes.
  template <class Work>
  void timed(Slot& slot, const std::string& name, SpanKind kind, std::int64_t bytes, const Work& work) {
    const std::int64_t start = job_.timeline.now_ns();
    work();
    slot.spans.push_back({name, track(slot.thread), kind, start, job_.timeline.now_ns(), bytes, job_.pass});
  }

  [[nodiscard]] std::string track(int thread) const {
    const std::string& whose = job_.timeline.track();
    if (threads_.count() == 1) return whose;
    return (whose == "host" ? "" : whose + " ") + "cpu " + std::to_string(thread);
  }

  // The next band of the source; false behind the last.
  bool next_band(Slot& slot, int thread) {
    if (next_row_ >= job_.source_shape.height) return false;
    slot.thread = thread;
    slot.first = next_row_;
    slot.end = std::min(job_.source_shape.height, next_row_ + layout_.rows);
    next_row_ = slot.end;
    if (job_.source.reader != nullptr) {
      const HostPlane rows = decode_target(slot);
      timed(slot, "decode", SpanKind::host, rows.height * rows.row_samples(),
            [&] { job_.source.reader->read_rows(rows); });
    }
    return true;
  }

  // Straight into the sink where no link writes pixels.
  [[nodiscard]] HostPlane decode_target(Slot& slot) const {
    const std::int64_t rows = slot.end - slot.first;
    if (decodes_in_place(layout_, !is_empty(job_.sink.image)))
      return job_.sink.image.planes[0].rows(slot.first, rows);
    const Shape& shape = job_.source_shape;
    if (slot.decoded.empty())
      slot.decoded = Image({shape.width, std::min(layout_.rows, shape.height), shape.channels});
    return slot.decoded.view().rows(0, rows);
  }

  void process(Slot& slot, int thread) {
    slot.thread = thread;
    // The rows that `current` holds are those from `top` on.
    Frame<const std::byte, Host> current = job_.source.image;
    std::int64_t top = 0;
    if (job_.source.reader != nullptr) {
      current = {frame_type_of(job_.source_shape), {decode_target(slot), {}, {}, {}}};
      top = slot.first;
    }
    for (std::size_t i = 0; i < job_.links.size(); ++i) {
      const ChainLink& link = job_.links[i];
      StageCall<Host> call{current, {}, {}, job_.plan.options};
      call.in.type = link.in;
      Band band{slot.first, slot.end, top, 0};
      if (writes_histogram(link.stage->writes)) call.histogram = counts_of(slot, i);
      if (link.stage->reads_histogram) call.histogram = complete_counts(link);
      if (writes_pixels(link.stage->writes)) {
        band.first = std::max<std::int64_t>(0, slot.first - layout_.reach_after[i]);
        band.end = std::min(link.in.height, slot.end + layout_.reach_after[i]);
        call.out = output_of(slot, i, band);
      }
      const std::int64_t bytes =
          bytes_moved(*link.stage, link.in, link.out) / link.in.height * (slot.end - slot.first);
      timed(slot, job_.plan.steps[link.step].label, SpanKind::kernel, bytes,
            [&] { link.stage->cpu(call, band); });
      if (!writes_pixels(link.stage->writes)) continue;
      const ConstHostPlane alpha = current.planes[kAlphaPlane];
      std::ranges::copy(call.out.planes, current.planes.begin());
      current.shape = link.out;
      // Alpha that the stage does not move is still counted from the old top.
      if (!link.stage->moves_alpha) {
        current.planes[kAlphaPlane] =
            alpha.empty() ? alpha : alpha.rows(band.out_top - top, band.end - band.out_top);
      }
      top = band.out_top;
    }
    if (!job_.sink.image.planes[kAlphaPlane].empty()) keep_alpha(slot, current.planes[kAlphaPlane], top);
    if (job_.sink.writer == nullptr) return;
    slot.result = current.planes[0].rows(slot.first - top, slot.end - slot.first);
    if (!layout_.strips) return;
    timed(slot, "encode", SpanKind::host, slot.result.height * slot.result.row_samples(),
          [&] { job_.sink.writer->write_strip(slot.first, slot.result); });
  }

  // Brings alpha into the sink where the link that moved it wrote into a buffer, because a later one writes
  // the sink. `top`: the image's row that alpha begins with.
  void keep_alpha(const Slot& slot, const ConstHostPlane& alpha, std::int64_t top) const {
    const std::int64_t rows = slot.end - slot.first;
    const ConstHostPlane from = alpha.rows(slot.first - top, rows);
    const HostPlane to = job_.sink.image.planes[kAlphaPlane].rows(slot.first, rows);
    if (from.data != to.data) copy_pixels(from, to);
  }

  void end_band(Slot& slot, int thread) {
    slot.thread = thread;
    if (job_.sink.writer == nullptr) return;
    if (!layout_.strips) {
      timed(slot, "encode", SpanKind::host, slot.result.height * slot.result.row_samples(),
            [&] { job_.sink.writer->write_rows(slot.result); });
    }
    if (job_.sink.bytes) hand_on(slot);
  }

  // What is finished of the file goes on at once: it need never be there as a whole.
  void hand_on(Slot& slot) {
    const EncodedFile finished = job_.sink.writer->take_finished();
    if (finished.parts.empty()) return;
    timed(slot, "write", SpanKind::host, static_cast<std::int64_t>(finished.size_bytes()), [&] {
      for (const std::vector<std::byte>& part : finished.parts) job_.sink.bytes(part);
    });
  }

  // Rows band.first..band.end-1 of what a link writes: in the sink, or in a buffer of the slot.
  [[nodiscard]] Frame<std::byte, Host> output_of(Slot& slot, std::size_t i, Band& band) const {
    const ChainLink& link = job_.links[i];
    if (i + 1 == layout_.last_pixels && !is_empty(job_.sink.image)) {
      // The sink holds the whole image; a view of this band keeps the counting of rows the same for all.
      Frame<std::byte, Host> frame = job_.sink.image;
      for (HostPlane& plane : frame.planes) {
        if (!plane.empty()) plane = plane.rows(band.first, band.end - band.first);
      }
      band.out_top = band.first;
      frame.shape = link.out;
      return frame;
    }
    slot.between.resize(job_.links.size());
    OwnedFrame& buffer = slot.between[i];
    if (buffer.images[0].empty()) buffer = make_frame(band_frame(link, layout_, i));
    Frame<std::byte, Host> frame = buffer.view();
    frame.shape = link.out;
    band.out_top = band.first;
    return frame;
  }

  // This slot's own counters; gather() adds them up.
  [[nodiscard]] Histogram<Host> counts_of(Slot& slot, std::size_t i) const {
    slot.counts.resize(job_.links.size());
    std::vector<std::uint64_t>& counts = slot.counts[i];
    const int planes = job_.links[i].in.color_channels;
    counts.resize(static_cast<std::size_t>(kBins * planes));
    return {counts.data(), kBins, planes, kBins, 1};
  }

  // The counts of the step before, complete.
  [[nodiscard]] Histogram<Host> complete_counts(const ChainLink& link) const {
    const Step& step = job_.plan.steps[link.step];
    // A fused step that both counts and stretches does not exist: the counts are of an earlier step.
    std::size_t from = link.step;
    while (from-- > 0) {
      if (writes_histogram(job_.plan.steps[from].stage->writes)) break;
    }
    return {job_.histograms[from].data(), kBins, step.in.color_channels, kBins, 1};
  }

  void gather() {
    for (std::size_t i = 0; i < job_.links.size(); ++i) {
      const ChainLink& link = job_.links[i];
      if (!writes_histogram(link.stage->writes)) continue;
      std::vector<std::uint64_t>& counts = job_.histograms[link.step];
      counts.assign(static_cast<std::size_t>(kBins * link.in.color_channels), 0);
      for (const Slot& slot : slots_) {
        if (slot.counts.empty() || slot.counts[i].empty()) continue;
        for (std::size_t bin = 0; bin < counts.size(); ++bin) counts[bin] += slot.counts[i][bin];
      }
    }
    for (Slot& slot : slots_) {
      for (Span& span : slot.spans) job_.timeline.add(std::move(span));
    }
  }

  const ChainJob& job_;
  HostThreads& threads_;
  const BandLayout layout_;
  std::int64_t next_row_ = 0;
  std::vector<Slot> slots_;
};

void run_chain(const ChainJob& job, HostThreads& threads) {
  BandPass(job, threads).run();
}

EncodedFile encode_image(ConstHostPlane pixels, Writer& writer, HostThreads& threads, Timeline& timeline,
                         const ByteSink& sink) {
  const Plan plan;
  std::vector<std::vector<std::uint64_t>> none;
  run_chain({plan,
             pixels.shape(),
             {nullptr, {frame_type_of(pixels.shape()), {pixels, {}, {}, {}}}},
             {},
             {{}, &writer, sink},
             none,
             timeline,
             0},
            threads);
  return finish_file(writer, timeline, sink);
}

EncodedFile finish_file(Writer& writer, Timeline& timeline, const ByteSink& sink) {
  EncodedFile file;
  {
    const auto span = timeline.span("encode", SpanKind::host);
    file = writer.finish();
  }
  if (!sink) return file;
  const auto span = timeline.span("write", SpanKind::host, static_cast<std::int64_t>(file.size_bytes()));
  for (const std::vector<std::byte>& part : file.parts) sink(part);
  return {};
}

bool is_large_file(const Writer& writer) {
  constexpr std::int64_t kHeldBytes = std::int64_t{8} << 20;
  return writer.working_bytes() > kHeldBytes;
}

}  // namespace imgpipe
