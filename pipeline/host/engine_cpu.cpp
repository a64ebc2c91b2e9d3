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
#include "pipeline/device.h"
#include "pipeline/engine.h"
#include "pipeline/host/band_layout.h"
#include "pipeline/host/bands.h"

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

// Nothing is kept but the file.
bool is_streamed(const MemoryQuestion& question) {
  return question.writer != nullptr && question.repeat == 0 && !question.keep_source &&
         !question.keep_outputs && !question.keep_pixels;
}

// What lives at one time: the images on both sides of a chain, none where rows go straight to a writer, the
// bands between them, and who gives and who takes the rows; where they are kept, all images before.
class ChainsMemory {
 public:
  ChainsMemory(const MemoryQuestion& question, bool streamed)
      : question_(question), streamed_(streamed), chains_(chains_of(question.plan, streamed)) {}

  [[nodiscard]] MemoryNeed need() {
    for (std::size_t i = 0; i < chains_.size(); ++i) add_chain(i);
    if (!streamed_) {
      const MemoryNeed writer = writer_need(question_);
      add(kept_ + before_, 0, writer);
      bands_ = std::max(bands_, writer.most_bands);
    }
    need_.most_bands = bands_;
    return need_;
  }

 private:
  void add_chain(std::size_t i) {
    const std::vector<ChainLink>& links = chains_[i];
    const bool to_writer = streamed_ && i + 1 == chains_.size();
    const Writer* const writer = to_writer ? question_.writer : nullptr;
    Shape source = question_.plan.input;
    if (i > 0) source.channels = 1;  // of what is read from an image, bands hold nothing
    const BandLayout layout = band_layout(source, links, writer, 1);
    const bool to_image = !to_writer && (layout.last_pixels > 0 || i == 0);
    std::int64_t after = 0;
    if (to_image && layout.last_pixels == 0) after = question_.plan.input.samples();
    if (to_image && layout.last_pixels > 0) after = bytes_of(links[layout.last_pixels - 1].out);
    const std::int64_t reader = i == 0 ? question_.reader.working_bytes(false) : 0;
    add(kept_ + before_ + after + reader, band_bytes(source, links, layout, i == 0, to_image),
        to_writer ? writer_need(question_, layout.rows) : MemoryNeed());
    bands_ = std::max(bands_, most_bands(source.height, layout.rows));
    if (!to_image) return;
    const bool all = question_.repeat > 0 || question_.keep_outputs;
    if (all || (question_.keep_source && before_is_source_)) kept_ += before_;
    before_ = after;
    before_is_source_ = i == 0 && layout.last_pixels == 0;
  }

  static std::int64_t bytes_of(const FrameType& frame) { return frame.pixels() * frame.channels(); }

  // The largest of the one and the largest of the other: never less than both together.
  void add(std::int64_t bytes, std::int64_t band, const MemoryNeed& writer) {
    need_.bytes = std::max(need_.bytes, bytes + band + writer.bytes);
    need_.band_bytes = std::max(need_.band_bytes, band + writer.band_bytes);
  }

  const MemoryQuestion& question_;
  const bool streamed_;
  const std::vector<std::vector<ChainLink>> chains_;
  std::int64_t kept_ = 0, before_ = 0;
  bool before_is_source_ = false;
  std::int64_t bands_ = 1;
  MemoryNeed need_;
};

// One image's way through its chains.
class CpuRun {
 public:
  CpuRun(Job& job, Outcome& outcome, HostThreads& threads)
      : job_(job),
        outcome_(outcome),
        threads_(threads),
        streamed_(is_streamed({outcome.plan, *job.reader, job.writer.get(), job.sink != nullptr, job.repeat,
                               job.keep_source, job.keep_outputs, job.keep_pixels})),
        chains_(chains_of(outcome.plan, streamed_)) {
    outcome.histograms.resize(outcome.plan.steps.size());
    outcome.frames.resize(outcome.plan.steps.size());
    if (job.keep_outputs) outcome.outputs.resize(outcome.plan.steps.size());
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
    Frame<const std::byte, Host> image = {};
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
      chain.sink.image = {frame_type_of(source_.shape()), {source_.view(), {}, {}, {}}};
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

  Frame<std::byte, Host> output_of(const ChainLink& link, bool alpha) {
    FrameType shape = link.out;
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
  [[nodiscard]] MemoryNeed memory_need(const MemoryQuestion& question) const override {
    return ChainsMemory(question, is_streamed(question)).need();
  }

 protected:
  [[nodiscard]] int threads() const override { return threads_.count(); }
  void execute(Job& job, Outcome& outcome) override { CpuRun(job, outcome, threads_).run(); }

 private:
  HostThreads threads_;
};

}  // namespace

std::unique_ptr<Engine> make_cpu_engine(int threads) {
  return std::make_unique<CpuEngine>(threads);
}

}  // namespace imgpipe
