#include <algorithm>
#include <utility>

#include "pipeline/device.h"
#include "pipeline/engine.h"
#include "pipeline/host/bands.h"

namespace imgpipe {
namespace {

// Views of an interleaved or grey image as a frame.
Frame<const std::byte, Host> frame_of(const Image& image) {
  return {frame_type_of(image.shape()), {image.view(), {}, {}, {}}};
}

// Runs the steps of a plan over a source, as often as asked: every step writes the same frame each time, so
// that only the first pass meets memory that the system has yet to provide.
class StepRunner {
 public:
  StepRunner(const Plan& plan, const Image& source, Outcome& outcome)
      : plan_(plan),
        source_(source),
        outcome_(outcome),
        frames_(plan.steps.size()),
        views_(plan.steps.size()) {
    outcome_.histograms.resize(plan.steps.size());
  }

  // `last`: the frames that nothing reads any more are freed on the way.
  void run(int pass, bool last) {
    Frame<const std::byte, Host> current = frame_of(source_);
    std::size_t current_owner = frames_.size();
    Histogram<Host> histogram;
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      const Step& step = plan_.steps[i];
      if (writes_histogram(step.stage->writes)) histogram = counts_of(i, step);
      StageCall<Host> call{current, {}, histogram, plan_.options};
      if (!writes_pixels(step.stage->writes)) {
        time(i, pass, call);
        continue;
      }
      call.out = output_of(frames_[i], step);
      time(i, pass, call);
      views_[i] = as_input(call.out, step, current);
      if (last && current_owner < frames_.size()) release_color(frames_[current_owner]);
      current = views_[i];
      current_owner = i;
    }
    final_owner_ = current_owner;
  }

  // Hands the frames over to the outcome.
  void finish(bool keep_outputs) {
    outcome_.frames = std::move(frames_);
    outcome_.pixels = source_.view();
    if (final_owner_ < outcome_.frames.size()) {
      outcome_.pixels = std::as_const(outcome_.frames[final_owner_].images[0]).view();
    }
    if (keep_outputs) outcome_.outputs = std::move(views_);
  }

 private:
  void time(std::size_t i, int pass, const StageCall<Host>& call) {
    const Step& step = plan_.steps[i];
    if (!step.parts.empty() && writes_pixels(step.parts[1].stage->writes))
      (void)output_of(between_, step.parts[0]);
    const auto span = outcome_.timeline.span(step.label, SpanKind::kernel,
                                             bytes_moved(*step.stage, step.in, step.out), pass);
    if (step.parts.empty()) {
      step.stage->reference(call);
    } else {
      run_parts(step, call);
    }
  }

  // A fused step by its parts: the reference of what one pass does.
  void run_parts(const Step& step, const StageCall<Host>& call) {
    StageCall<Host> first = call;
    StageCall<Host> second = call;
    if (writes_pixels(step.parts[1].stage->writes)) first.out = output_of(between_, step.parts[0]);
    std::ranges::copy(first.out.planes, second.in.planes.begin());
    second.in.shape = first.out.shape;
    step.parts[0].stage->reference(first);
    step.parts[1].stage->reference(second);
  }

  Histogram<Host> counts_of(std::size_t i, const Step& step) {
    std::vector<std::uint64_t>& counts = outcome_.histograms[i];
    counts.resize(static_cast<std::size_t>(kBins) * static_cast<std::size_t>(step.out.color_channels));
    return {counts.data(), kBins, step.out.color_channels, kBins, 1};
  }

  // Stages that pass alpha on get no plane of their own for it.
  static Frame<std::byte, Host> output_of(OwnedFrame& frame, const Step& step) {
    FrameType shape = step.out;
    if (!step.stage->moves_alpha) shape.alpha = false;
    if (frame.shape != shape || frame.images[0].empty()) frame = make_frame(shape);
    Frame<std::byte, Host> out = frame.view();
    out.shape = step.out;
    return out;
  }

  static Frame<const std::byte, Host> as_input(const Frame<std::byte, Host>& out, const Step& step,
                                            const Frame<const std::byte, Host>& before) {
    Frame<const std::byte, Host> frame{out.shape, {}};
    std::ranges::copy(out.planes, frame.planes.begin());
    if (!step.stage->moves_alpha) frame.planes[kAlphaPlane] = before.planes[kAlphaPlane];
    return frame;
  }

  static void release_color(OwnedFrame& frame) {
    for (std::size_t c = 0; c < kAlphaPlane; ++c) frame.images[c] = Image();
  }

  const Plan& plan_;
  const Image& source_;
  Outcome& outcome_;
  OwnedFrame between_;                            // the parts of a fused step
  std::vector<OwnedFrame> frames_;                // by step; empty for statistics
  std::vector<Frame<const std::byte, Host>> views_;  // the same with alpha that was passed on
  std::size_t final_owner_ = 0;
};

std::int64_t bytes_of(const FrameType& frame) {
  return frame.pixels() * frame.channels();
}

class ReferenceEngine final : public Engine {
 public:
  explicit ReferenceEngine(int threads) : threads_(threads) {}
  [[nodiscard]] std::string_view implementation() const override { return "reference"; }
  [[nodiscard]] std::string device_name() const override { return host_info().processor; }
  [[nodiscard]] double copy_bandwidth() override { return measure_host_copy_bandwidth(1); }
  // The decoded image stays to the end; of the others those on both sides of a step, or all.
  [[nodiscard]] MemoryNeed memory_need(const MemoryQuestion& question) const override {
    std::int64_t steps = 0;
    for (const Step& step : question.plan.steps) {
      std::int64_t bytes = bytes_of(step.in) + bytes_of(step.out);
      for (const Step& part : step.parts) bytes += bytes_of(part.out);
      steps = std::max(steps, bytes);
    }
    if (question.repeat > 0 || question.keep_outputs) steps += bytes_of_steps(question.plan);
    const MemoryNeed writer = writer_need(question);
    const std::int64_t kept = question.repeat > 0 || question.keep_outputs ? bytes_of_steps(question.plan)
                                                                           : question.plan.output.samples();
    // Where an earlier step made a plane of alpha, it stays with what that step made.
    const std::int64_t alpha = question.plan.input.has_alpha() ? question.plan.input.pixels() : 0;
    return {question.plan.input.samples() + alpha +
                std::max({question.reader.working_bytes(true), steps, kept + writer.bytes}),
            writer.band_bytes, writer.most_bands};
  }

 protected:
  [[nodiscard]] int threads() const override { return threads_.count(); }
  void execute(Job& job, Outcome& outcome) override {
    Image source;
    {
      const auto span = outcome.timeline.span("decode", SpanKind::host, outcome.plan.input.samples());
      source = Image(outcome.plan.input);
      job.reader->read_rows(source.view());
      outcome.warnings = job.reader->warnings();
      job.reader.reset();
    }
    StepRunner runner(outcome.plan, source, outcome);
    if (job.repeat > 0) runner.run(kWarmUpPass, false);
    const int passes = std::max(1, job.repeat);
    for (int pass = 0; pass < passes; ++pass) runner.run(pass, pass == passes - 1 && !job.keep_outputs);
    runner.finish(job.keep_outputs);
    const bool source_is_result = outcome.pixels.data == std::as_const(source).view().data;
    if (job.keep_source || source_is_result) outcome.source = std::move(source);
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
