// The engine without a GPU: the plan's steps, cut into chains that each run band by band.
//
//   gray,hist,contrast,smooth of an RGB file       reader -> gray -> hist -> grey image -> contrast -> smooth
//   -> writer
//
// A chain ends where the next stage needs the whole image before it: contrast needs the histogram, and smooth
// the rows below, of what is still being decoded. For reports by stage (--cpu, --repeat, --keep-stages) every
// step is a chain.
#include <algorithm>
#include <utility>

#include "images/simd.h"
#include "pipeline/bands.h"
#include "pipeline/device.h"
#include "pipeline/engine.h"

namespace imgpipe {
namespace {

// Rows that a chain may need around a band. Each smooth adds two above and two below, which are made twice.
constexpr int kMostReach = 4 * kRadius;

std::vector<ChainLink> links_of(const Plan& plan) {
  std::vector<ChainLink> links;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    if (step.parts.empty()) links.push_back({step.stage, i, step.in, step.out});
    for (const Step& part : step.parts) links.push_back({part.stage, i, part.in, part.out});
  }
  return links;
}

// The links in chains. `streamed`: as long as can be, the first of them fed by the reader; else one chain for
// every step, behind an empty one that decodes.
std::vector<std::vector<ChainLink>> chains_of(const Plan& plan, bool streamed) {
  std::vector<std::vector<ChainLink>> chains(1);
  int reach = 0;
  for (const ChainLink& link : links_of(plan)) {
    const bool first_chain = chains.size() == 1;
    bool cut = link.stage->reads_histogram || reach + link.stage->reach > (first_chain ? 0 : kMostReach);
    if (!streamed) cut = first_chain || chains.back().back().step != link.step;
    if (cut) {
      chains.emplace_back();
      reach = 0;
    }
    chains.back().push_back(link);
    reach += link.stage->reach;
  }
  return chains;
}

// The images on both sides of a chain live at once; none is there where rows go straight to a writer.
std::int64_t bytes_of_chains(const std::vector<std::vector<ChainLink>>& chains, const Plan& plan,
                             bool streamed) {
  std::int64_t most = 0;
  std::int64_t before = 0;
  for (std::size_t i = 0; i < chains.size(); ++i) {
    const bool to_writer = streamed && i + 1 == chains.size();
    std::int64_t after = i == 0 ? plan.input.samples() : before;
    for (const ChainLink& link : chains[i]) after = link.out.pixels() * link.out.channels();
    if (to_writer) after = 0;
    most = std::max(most, before + after);
    before = after;
  }
  return most;
}

// One image's way through its chains.
class CpuRun {
 public:
  CpuRun(Job& job, Outcome& outcome, HostThreads& threads)
      : job_(job),
        outcome_(outcome),
        threads_(threads),
        streamed_(job.writer && job.repeat == 0 && !job.keep_source && !job.keep_outputs && !job.keep_pixels),
        chains_(chains_of(outcome.plan, streamed_)) {
    outcome.histograms.resize(outcome.plan.steps.size());
    outcome.frames.resize(outcome.plan.steps.size());
    if (job.keep_outputs) outcome.outputs.resize(outcome.plan.steps.size());
    check_memory();
  }

  void run() {
    run_chain_of(0, 0, true);
    outcome_.warnings = job_.reader->warnings();
    job_.reader.reset();
    const Current decoded = current_;
    const int passes = std::max(1, job_.repeat);
    for (int pass = job_.repeat > 0 ? kWarmUpPass : 0; pass < passes; ++pass) {
      current_ = decoded;
      for (std::size_t i = 1; i < chains_.size(); ++i) run_chain_of(i, pass, pass == passes - 1);
    }
    finish();
  }

 private:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  // The image between two chains. Its colour is that of outcome_.frames[owner], or of source_ (kNone); a
  // plane of alpha is that of outcome_.frames[alpha_owner], which is an earlier one where no stage has moved
  // it since.
  struct Current {
    Frame<const Sample, Host> image = {};
    std::size_t owner = kNone;
    std::size_t alpha_owner = kNone;
  };

  // With `last`, the frames that nothing reads any more are freed on the way.
  void run_chain_of(std::size_t index, int pass, bool last) {
    const std::vector<ChainLink>& links = chains_[index];
    ChainJob chain{outcome_.plan,       outcome_.plan.input, {},  links, {},
                   outcome_.histograms, outcome_.timeline,   pass};
    if (index == 0) {
      chain.source.reader = job_.reader.get();
    } else {
      chain.source.image = current_.image;
      chain.source_shape = {current_.image.shape.width, current_.image.shape.height, 1};
    }
    if (streamed_ && index + 1 == chains_.size()) {
      chain.sink.writer = job_.writer.get();
      chain.sink.bytes = job_.sink;
      run_chain(chain, threads_);
      return;
    }
    const auto writes = std::ranges::find_if(links.rbegin(), links.rend(), [](const ChainLink& link) {
      return writes_pixels(link.stage->writes);
    });
    Current next = current_;
    if (writes != links.rend()) {
      const bool alpha =
          std::ranges::any_of(links, [](const ChainLink& link) { return link.stage->moves_alpha; });
      chain.sink.image = output_of(*writes, alpha);
      next.owner = writes->step;
      if (alpha) next.alpha_owner = writes->step;
    } else if (index == 0) {
      source_ = Image(outcome_.plan.input);
      chain.sink.image = {frame_shape_of(source_.shape()), {source_.view(), {}, {}, {}}};
      next.image = {chain.sink.image.shape, {std::as_const(source_).view(), {}, {}, {}}};
    }
    run_chain(chain, threads_);
    if (writes != links.rend()) {
      next.image = {writes->out, {}};
      std::ranges::copy(chain.sink.image.planes, next.image.planes.begin());
      if (next.alpha_owner == current_.alpha_owner)
        next.image.planes[kAlphaPlane] = current_.image.planes[kAlphaPlane];
      if (last && !job_.keep_outputs && index > 0) release(current_, next);
      if (job_.keep_outputs) outcome_.outputs[writes->step] = next.image;
    }
    current_ = next;
  }

  Frame<Sample, Host> output_of(const ChainLink& link, bool alpha) {
    FrameShape shape = link.out;
    if (!alpha) shape.alpha = false;
    OwnedFrame& frame = outcome_.frames[link.step];
    if (frame.images[0].empty()) frame = make_frame(shape);
    return frame.view();
  }

  // Frees what `next` does not use of the image before it.
  void release(const Current& image, const Current& next) {
    if (image.owner == kNone) {
      if (!job_.keep_source) source_ = Image();
      return;
    }
    std::array<Image, 4>& planes = outcome_.frames[image.owner].images;
    for (std::size_t c = 0; c < kAlphaPlane; ++c) planes[c] = Image();
    if (image.alpha_owner != kNone && image.alpha_owner != next.alpha_owner)
      outcome_.frames[image.alpha_owner].images[kAlphaPlane] = Image();
  }

  void finish() {
    if (streamed_) {
      outcome_.frames.clear();
      source_ = Image();
      outcome_.file = finish_file(*job_.writer, outcome_.timeline, job_.sink);
      return;
    }
    outcome_.pixels = current_.image.planes[0];
    if (job_.keep_source || current_.owner == kNone) outcome_.source = std::move(source_);
    if (job_.writer)
      outcome_.file = encode_image(outcome_.pixels, *job_.writer, threads_, outcome_.timeline, job_.sink);
  }

  void check_memory() const { check_stage_memory(bytes_of_chains(chains_, outcome_.plan, streamed_)); }

  Job& job_;
  Outcome& outcome_;
  HostThreads& threads_;
  bool streamed_;
  std::vector<std::vector<ChainLink>> chains_;
  Image source_;
  Current current_;
};

class CpuEngine final : public Engine {
 public:
  explicit CpuEngine(int threads) : threads_(threads) {}

  [[nodiscard]] std::string_view implementation() const override { return "cpu"; }
  [[nodiscard]] std::string device_name() const override {
    const int count = threads_.count();
    return host_info().processor + ", " + std::to_string(count) + (count == 1 ? " thread, " : " threads, ") +
           simd_target();
  }
  [[nodiscard]] double copy_bandwidth() override { return measure_host_copy_bandwidth(threads_.count()); }
  [[nodiscard]] std::int64_t stage_bytes(const Plan& plan) const override {
    return bytes_of_chains(chains_of(plan, true), plan, true);
  }

 protected:
  void run(Job& job, Outcome& outcome) override { CpuRun(job, outcome, threads_).run(); }

 private:
  HostThreads threads_;
};

}  // namespace

std::unique_ptr<Engine> make_cpu_engine(int threads) {
  return std::make_unique<CpuEngine>(threads);
}

}  // namespace imgpipe
