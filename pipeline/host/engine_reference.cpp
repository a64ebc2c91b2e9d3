// The sequential engine: one work after the other over whole images, on the calling thread.
#include <algorithm>
#include <utility>

#include "kernels/stage.h"
#include "pipeline/decode_row.h"
#include "pipeline/device.h"
#include "pipeline/engine.h"
#include "pipeline/file_encoding.h"
#include "pipeline/host/bands.h"
#include "pipeline/host/whole_buffers.h"
#include "pipeline/stage_calls.h"

namespace imgpipe {
namespace {

// A plan's works over whole images, with the buffers between them.
struct WholePlan {
  WholePlan(const Plan& plan, const Keep& keep)
      : works(works_of(plan, FusedSteps::as_parts)), buffers(buffers_of(plan, works, keep)) {}

  std::vector<Work> works;
  Buffers buffers;
};

// Runs the works as often as asked: every one writes the same buffers each time, so that only the first pass
// meets memory that the system has yet to provide.
class ReferenceRun {
 public:
  ReferenceRun(Outcome& outcome, const Keep& keep)
      : outcome_(outcome), plan_(outcome.plan, keep), whole_(plan_.buffers) {
    outcome.histograms.resize(outcome.plan.steps.size());
  }

  void set_source(Image source) { whole_.set(0, std::move(source)); }

  // `last`: what nothing reads any more is freed on the way.
  void run(int pass, bool last) {
    for (std::size_t i = 0; i < plan_.works.size(); ++i) {
      const Step& step = *plan_.works[i].step;
      const StageCall<Host> call = call_of(i);
      {
        const auto span =
            outcome_.timeline.span(outcome_.plan.steps[plan_.works[i].index].label, SpanKind::kernel,
                                   bytes_moved(*step.stage, step.in, step.out), pass);
        step.functions().reference(call);
      }
      for (std::size_t b = 0; last && b < plan_.buffers.size(); ++b) {
        if (plan_.buffers[b].last_read_at <= i + 1) whole_.free(b);
      }
    }
  }

  void finish(const Keep& keep) { whole_.give_to(outcome_, plan_.works, keep); }

 private:
  StageCall<Host> call_of(std::size_t i) {
    const Work& work = plan_.works[i];
    const WorkBuffers& uses = plan_.buffers.works[i];
    if (uses.counts_out) outcome_.histograms[work.index].resize(counters(work.step->out));
    if (uses.pixels_out) whole_.make(*uses.pixels_out);
    if (uses.alpha_out) whole_.make(*uses.alpha_out);
    return stage_call<Host>(
        plan_.works, plan_.buffers, i, host_table(*work.step),
        [this](std::size_t buffer, int plane) { return std::as_const(whole_).plane(buffer, plane); },
        [this](std::size_t step) { return outcome_.histograms[step].data(); },
        [this](std::size_t buffer, int plane) { return whole_.plane(buffer, plane); });
  }

  Outcome& outcome_;
  const WholePlan plan_;
  WholeBuffers whole_;
};

class ReferenceEngine final : public Engine {
 public:
  explicit ReferenceEngine(int threads) : threads_(threads) {}
  [[nodiscard]] std::string_view implementation() const override { return "reference"; }
  [[nodiscard]] std::string device_name() const override { return host_info().processor; }
  [[nodiscard]] double copy_bandwidth() override { return measure_host_copy_bandwidth(1); }

  // While it is decoded; at each work what lives then, with repeat all; while it is encoded.
  [[nodiscard]] MemoryNeed memory_need(const MemoryQuestion& question) const override {
    const WholePlan plan(question.plan, {.source = question.keep_source, .outputs = question.keep_outputs});
    const MemoryNeed writer = writer_need(question);
    std::int64_t most = question.plan.input.bytes() + question.reader.working_bytes(true);
    const std::size_t end = plan.works.size() + 1;
    for (std::size_t time = 1; time <= end; ++time) {
      std::int64_t bytes = time == end ? writer.bytes : found_bytes_of(*plan.works[time - 1].step);
      for (const Buffer& buffer : plan.buffers.buffers) {
        const bool lives = buffer.made_at <= time && (question.repeat > 0 || buffer.last_read_at >= time);
        if (lives && buffer.holds != Buffer::Holds::counts) bytes += buffer.bytes();
      }
      most = std::max(most, bytes);
    }
    return {most + prepared_bytes_of(question.plan), writer.band_bytes, writer.most_bands};
  }

 protected:
  [[nodiscard]] int threads() const override { return threads_.count(); }
  void execute(Job& job, Outcome& outcome) override {
    const Keep keep{.source = job.keep_source, .outputs = job.keep_outputs};
    ReferenceRun run(outcome, keep);
    {
      auto span = outcome.timeline.span("decode", SpanKind::host, outcome.plan.input.bytes());
      Image source(outcome.plan.input);
      job.reader->read_rows(source.untyped_view());
      span.set_name(decode_row(*job.reader));
      outcome.warnings = job.reader->warnings();
      job.reader.reset();
      run.set_source(std::move(source));
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
