// The reference engine: runs one node after the other on whole images, on the calling thread.
#include <algorithm>
#include <utility>

#include "pipeline/decode_row.h"
#include "pipeline/device.h"
#include "pipeline/engine.h"
#include "pipeline/file_encoding.h"
#include "pipeline/host/bands.h"
#include "pipeline/host/whole_buffers.h"
#include "pipeline/stage_calls.h"

namespace imgpipe {
namespace {

// Reuses memory in all passes, so that only the first causes page faults.
class ReferenceRun {
 public:
  ReferenceRun(Outcome& outcome, const Keep& keep)
      : outcome_(outcome),
        program_(lower(outcome.plan, kReferenceTarget, keep)),
        whole_(program_, outcome.histograms) {
    outcome.histograms.resize(outcome.plan.steps.size());
  }

  void use_memory_of(const Job& job) { whole_.use_memory_of(job); }

  void read(Reader& reader, Timeline::Running& span) {
    whole_.make(0);
    reader.read_rows(whole_.plane(0, 0));
    span.set_name(decode_row(reader));
    outcome_.warnings = reader.warnings();
  }

  // `last`: frees each value after its last use.
  void run(int pass, bool last) {
    for (std::size_t i = 0; i < program_.nodes.size(); ++i) {
      const Node& node = program_.nodes[i];
      const StageCall<Host> call = call_of(node);
      {
        const auto span = outcome_.timeline.span(outcome_.plan.steps[node.step].label, SpanKind::kernel,
                                                 node.bytes_moved(), pass);
        run_reference(*node.stage, call);
      }
      for (ValueId value = 0; last && value < program_.lives.size(); ++value) {
        if (program_.lives[value].last_read_at <= i + 1) whole_.free(value);
      }
    }
  }

  void finish(const Keep& keep) { whole_.give_to(outcome_, keep); }

 private:
  StageCall<Host> call_of(const Node& node) {
    if (const auto counts = node.counts_out()) whole_.counts(*counts).resize(counters(node.out));
    if (const Connection* const made = node.pixels_out()) {
      whole_.make(made->value);
      if (made->alpha) whole_.make(*made->alpha);
    }
    return stage_call<Host>(
        program_, node,
        [this](ValueId value, int plane) { return std::as_const(whole_).plane(value, plane); },
        [this](ValueId value) { return whole_.data(value); },
        [this](ValueId value, int plane) { return whole_.plane(value, plane); });
  }

  Outcome& outcome_;
  const Program program_;
  WholeBuffers whole_;
};

class ReferenceEngine final : public Engine {
 public:
  explicit ReferenceEngine(int threads) : threads_(threads) {}
  [[nodiscard]] std::string_view implementation() const override { return "reference"; }
  [[nodiscard]] std::string device_name() const override { return host_processor(); }
  [[nodiscard]] double copy_bandwidth() override { return measure_host_copy_bandwidth(1); }

  // The maximum of decoding, each node, and encoding. At a node: the live values (with repeat, all values
  // made so far), and a table that the stage makes internally.
  [[nodiscard]] MemoryNeed memory_need(const MemoryEstimateRequest& question) const override {
    const Program program = lower(question.plan, kReferenceTarget,
                                  {.source = question.keep_source, .outputs = question.keep_outputs});
    const MemoryNeed writer = writer_need(question);
    std::int64_t most = question.plan.input.bytes() + question.reader.working_bytes(true);
    const std::size_t end = program.nodes.size() + 1;
    for (std::size_t time = 1; time <= end; ++time) {
      std::int64_t bytes = time == end ? writer.bytes : 0;
      if (time < end && !program.nodes[time - 1].table_in()) {
        const Node& node = program.nodes[time - 1];
        bytes = table_bytes(*node.stage, node.in, node.parameters);
      }
      for (ValueId i = 0; i < program.values.size(); ++i) {
        const Value& value = program.values[i];
        const Lifetime& life = program.lives[i];
        const bool lives = life.made_at <= time && (question.repeat > 0 || life.last_read_at >= time);
        if (lives && value.is_image()) bytes += value.bytes();
      }
      most = std::max(most, bytes);
    }
    return {most + table_bytes_of(question.plan), writer.band_bytes, writer.max_bands};
  }

 protected:
  [[nodiscard]] int threads() const override { return threads_.count(); }
  void execute(Job& job, Outcome& outcome) override {
    const Keep keep{.source = job.keep_source, .outputs = job.keep_outputs};
    ReferenceRun run(outcome, keep);
    run.use_memory_of(job);
    if (job.source.empty()) {
      auto span = outcome.timeline.span("decode", SpanKind::host, outcome.plan.input.bytes());
      run.read(*job.reader, span);
      job.reader.reset();
    }
    if (job.repeat > 0) run.run(kWarmUpPass, false);
    const int passes = std::max(1, job.repeat);
    for (int pass = 0; pass < passes; ++pass) run.run(pass, pass + 1 == passes);
    run.finish(keep);
    if (job.writer)
      outcome.file = encode_image(outcome.pixels, *job.writer, threads_, outcome.timeline, job.sink);
  }

 private:
  HostThreads threads_;
};

}  // namespace

std::unique_ptr<Engine> make_reference_engine(int threads) {
  return std::make_unique<ReferenceEngine>(threads);
}

}  // namespace imgpipe
