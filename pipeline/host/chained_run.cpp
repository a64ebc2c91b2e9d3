#include "pipeline/host/chained_run.h"

#include <algorithm>
#include <limits>
#include <utility>
#include <vector>

#include "kernels/gray/gray.h"
#include "kernels/stage.h"
#include "pipeline/devices/band_device.h"
#include "pipeline/file_encoding.h"
#include "pipeline/host/bands.h"
#include "pipeline/host/ordered_run.h"
#include "pipeline/stage_calls.h"

namespace imgpipe {
namespace {

// Whether only the file is kept.
bool is_streamed(const MemoryEstimateRequest& question) {
  return question.writer != nullptr && question.repeat == 0 && !question.keep_source &&
         !question.keep_outputs && !question.keep_pixels && !question.target_in_memory;
}

// Whether only pixels are kept, which come from or go to the caller's memory.
bool is_between_arrays(const MemoryEstimateRequest& question) {
  return (question.source_in_memory || question.target_in_memory) && question.repeat == 0 &&
         !question.keep_source && !question.keep_outputs;
}

Keep keep_of(const MemoryEstimateRequest& question) {
  return {.source = question.keep_source, .outputs = question.keep_outputs};
}

// On a device chains are as long as possible, whatever is kept.
ChainLength length_of(const MemoryEstimateRequest& question, bool on_device) {
  if (!on_device) {
    const bool longest = is_streamed(question) || is_between_arrays(question);
    return longest ? ChainLength::longest : ChainLength::step;
  }
  const bool keeps_source = question.repeat > 0 || question.keep_source;
  return keeps_source ? ChainLength::longest_on_device_after_decoding : ChainLength::longest_on_device;
}

ChainedPlan chained_plan(const MemoryEstimateRequest& question, bool on_device) {
  const ChainLength length = length_of(question, on_device);
  const bool grey_rows = length == ChainLength::longest && !question.source_in_memory &&
                         question.reader.has_grey_rows() && begins_with_gray(question.plan);
  return {question.plan, is_streamed(question), keep_of(question), length, grey_rows};
}

// Estimates the memory held at one time. While a chain runs: the whole images that it or a later one reads,
// its bands, and the reader and writer; after that, unless the plan is streamed, the encoding of the result.
class ChainsMemory {
 public:
  ChainsMemory(const MemoryEstimateRequest& question, bool on_device)
      : question_(question), on_device_(on_device), plan_(chained_plan(question, on_device)) {}

  [[nodiscard]] MemoryNeed need() {
    for (const Chain& chain : plan_.chains) add_chain(chain);
    if (!plan_.streamed) {
      const MemoryNeed writer = writer_need(question_);
      add(whole_bytes(plan_.program.nodes.size(), plan_.program.nodes.size() + 1) + constants_, 0, writer);
      bands_ = std::max(bands_, writer.max_bands);
    }
    need_.max_bands = bands_;
    return need_;
  }

 private:
  void add_chain(const Chain& chain) {
    const bool to_writer = plan_.streamed && chain.last;
    const Writer* const writer = to_writer ? question_.writer : nullptr;
    if (on_device_ && chain.first < chain.end && !chain.of_all_rows) {
      add_device_chain(chain, writer);
      return;
    }
    const BandPlan bands(plan_, chain, writer, 1);
    const std::int64_t reader = chain.decodes ? question_.reader.working_bytes(false) : 0;
    const std::int64_t read = chain.decodes ? question_.reader.band_bytes(bands.rows_read()) : 0;
    std::int64_t tables = 0;
    std::int64_t part = 0;  // counters for one part of a table made from pixels
    for (const Node& node : plan_.tables_of(chain)) {
      tables += plan_.program.values[*node.table_out()].bytes();
      if (node.stage->table_parts == nullptr) continue;
      part = std::max(part, node.in.bins() * static_cast<std::int64_t>(sizeof(std::uint64_t)));
      bands_ = std::max(bands_, node.stage->table_parts(node.in, node.parameters));
    }
    add(whole_bytes(chain.first, plan_.end_time(chain)) + constants_ + tables + reader,
        std::max(bands.band_bytes() + counts_bytes(chain) + read, part),
        to_writer ? writer_need(question_, bands.rows()) : MemoryNeed());
    // With strips, the number of bands does not depend on the number of threads.
    bands_ = std::max(
        bands_, bands.strips() ? bands.pieces() : max_bands(bands.pieces() * bands.rows(), bands.rows()));
  }

  // Assumes bands of the maximum height: those for one thread, which has several in progress. With more
  // threads, bands have fewer rows.
  void add_device_chain(const Chain& chain, const Writer* writer) {
    const DeviceCapacity room{std::numeric_limits<std::int64_t>::max() / 2,
                              [](const Shape& shape) { return shape.row_bytes(); }};
    const DeviceCut cut = cut_for_device(plan_, chain, writer, room, device_slots(1));
    const BandPlan& bands = cut.bands.bands();
    const std::int64_t read = chain.decodes ? bands.rows_read() * plan_.plan.input.row_bytes() +
                                                  question_.reader.band_bytes(bands.rows_read())
                                            : cut.bands.input_bytes();
    const std::int64_t reader = chain.decodes ? question_.reader.working_bytes(false) : 0;
    const std::int64_t band = read + cut.bands.output_bytes() + 2 * counts_bytes(chain);
    const auto more = static_cast<std::int64_t>(device_slots(1)) - 1;
    add(whole_bytes(chain.first, plan_.end_time(chain)) + constants_ + reader + more * band, band,
        writer == nullptr ? MemoryNeed() : writer_need(question_, bands.rows()));
    bands_ = std::max(bands_, max_bands(bands.pieces() * bands.rows(), bands.rows()));
  }

  // The bytes of the whole values held at times `first` to `end`: those made no later than `end`, read after
  // `first`, and read by a later chain than the one that makes them. With repeat all are kept.
  [[nodiscard]] std::int64_t whole_bytes(std::size_t first, std::size_t end) const {
    const bool made_before = question_.repeat > 0 && end > 0;  // by the previous pass; passes do not decode
    std::int64_t bytes = 0;
    for (ValueId i = 0; i < plan_.program.values.size(); ++i) {
      const Lifetime& life = plan_.program.lives[i];
      const bool lives = made_before || (life.made_at <= end && life.last_read_at > first);
      if (lives && crosses_chains(i) && !is_callers(i)) bytes += plan_.program.values[i].bytes();
    }
    return bytes;
  }

  // The bytes of a band's counters.
  [[nodiscard]] std::int64_t counts_bytes(const Chain& chain) const {
    std::int64_t bytes = 0;
    for (const Node& node : plan_.nodes_of(chain)) {
      if (const auto counts = node.counts_out()) bytes += plan_.program.values[*counts].bytes();
    }
    return bytes;
  }

  // Whether the caller has the memory of a value.
  [[nodiscard]] bool is_callers(ValueId value) const {
    if (value == 0 && question_.keep_source) return false;
    const std::vector<ValueId>& results = plan_.program.results;
    if (question_.target_in_memory && value == results.back()) return true;
    return question_.source_in_memory && value == 0 && std::ranges::find(results, value) == results.end();
  }

  [[nodiscard]] bool crosses_chains(ValueId value) const {
    return std::ranges::any_of(plan_.chains, [&](const Chain& chain) {
      return plan_.made_in(value, chain) && plan_.is_whole(value, chain);
    });
  }

  // Takes the maximum of each member. Their sum is never less than the need of any chain.
  void add(std::int64_t bytes, std::int64_t band, const MemoryNeed& writer) {
    need_.bytes = std::max(need_.bytes, bytes + band + writer.bytes);
    need_.band_bytes = std::max(need_.band_bytes, band + writer.band_bytes);
  }

  const MemoryEstimateRequest& question_;
  const bool on_device_;
  const ChainedPlan plan_;
  const std::int64_t constants_ = table_bytes_of(question_.plan);
  std::int64_t bands_ = 1;
  MemoryNeed need_;
};

class ChainedRun {
 public:
  ChainedRun(Job& job, Outcome& outcome, HostThreads& threads, BandDevice* device,
             std::pmr::memory_resource* memory)
      : job_(job),
        outcome_(outcome),
        threads_(threads),
        device_(device),
        memory_(is_between_arrays(memory_estimate_request(job, outcome.plan))
                    ? memory
                    : std::pmr::new_delete_resource()),
        plan_(chained_plan(memory_estimate_request(job, outcome.plan), device != nullptr)),
        whole_(plan_.program, outcome.histograms, memory_) {
    outcome.histograms.resize(outcome.plan.steps.size());
    if (plan_.grey_rows)
      job.reader->use_grey_rows(GrayParameters(outcome.plan.operations.front().parameters).luma);
    whole_.use_memory_of(job);
  }

  void run() {
    run_one(plan_.chains.front(), 0, true);
    outcome_.warnings = job_.reader->warnings();
    job_.reader.reset();
    const int passes = std::max(1, job_.repeat);
    for (int pass = job_.repeat > 0 ? kWarmUpPass : 0; pass < passes; ++pass) {
      for (std::size_t i = 1; i < plan_.chains.size(); ++i)
        run_one(plan_.chains[i], pass, pass + 1 == passes);
    }
    finish();
  }

 private:
  // `last`: frees values that no later chain reads.
  void run_one(const Chain& chain, int pass, bool last) {
    Timeline& timeline = outcome_.timeline;
    for (const Node& node : plan_.tables_of(chain)) {
      const std::int64_t start = timeline.now_ns();
      make_table(node);
      // Tables for a device's bands have no row.
      if (device_ == nullptr || chain.of_all_rows)
        timeline.add({outcome_.plan.steps[node.step].label, timeline.track(), SpanKind::kernel, start,
                      timeline.now_ns(), 0, pass});
    }
    run_chain({.plan = plan_,
               .chain = chain,
               .reader = chain.decodes && job_.source.empty() ? job_.reader.get() : nullptr,
               .writer = plan_.streamed && chain.last ? job_.writer.get() : nullptr,
               .sink = job_.sink,
               .whole = whole_,
               .timeline = outcome_.timeline,
               .counts_for = job_.counts_for,
               .pass = pass,
               .device = device_,
               .memory = memory_},
              threads_);
    for (const Node& node : plan_.tables_of(chain)) whole_.free(*node.table_out());
    if (!last) return;
    for (ValueId i = 0; i < plan_.program.lives.size(); ++i) {
      if (plan_.program.lives[i].last_read_at <= plan_.end_time(chain)) whole_.free(i);
    }
  }

  // Makes a table from complete counts or from all pixels; all threads share its parts.
  void make_table(const Node& node) {
    whole_.make(*node.table_out());
    const auto call = stage_call<Host>(
        plan_.program, node, [this](ValueId value, int i) { return std::as_const(whole_).plane(value, i); },
        [this](ValueId value) { return whole_.data(value); },
        [this](ValueId value, int i) { return whole_.plane(value, i); });
    const Stage& stage = *node.stage;
    const std::int64_t parts = table_parts(stage, node.in, node.parameters);
    std::vector<std::int64_t> part_of(
        static_cast<std::size_t>(std::min<std::int64_t>(parts, bands_at_once(threads_.count()))));  // slots
    std::int64_t next = 0;
    run_in_order(threads_, part_of.size(),
                 {[&](std::size_t slot, int) {
                    part_of[slot] = next++;
                    return part_of[slot] < parts;
                  },
                  [&](std::size_t slot, int) {
                    run_cpu(stage, call, {part_of[slot], part_of[slot] + 1});
                  },
                  [](std::size_t, int) {}});
  }

  void finish() {
    whole_.give_to(outcome_, {.source = job_.keep_source, .outputs = job_.keep_outputs});
    if (plan_.streamed)
      outcome_.file = finish_file(*job_.writer, outcome_.timeline, job_.sink);
    else if (job_.writer)
      outcome_.file = encode_image(outcome_.pixels, *job_.writer, threads_, outcome_.timeline, job_.sink);
  }

  Job& job_;
  Outcome& outcome_;
  HostThreads& threads_;
  BandDevice* device_;
  std::pmr::memory_resource* memory_;
  const ChainedPlan plan_;
  WholeBuffers whole_;
};

}  // namespace

void run_chains(Job& job, Outcome& outcome, HostThreads& threads, BandDevice* device,
                std::pmr::memory_resource* memory) {
  ChainedRun(job, outcome, threads, device, memory).run();
}

MemoryNeed chains_need(const MemoryEstimateRequest& question, bool on_device) {
  return ChainsMemory(question, on_device).need();
}

}  // namespace imgpipe
