// The engine without a GPU: the plan's works in chains that each run band by band (pipeline/host/chains.h).
// For reports by stage (--cpu, --repeat, --keep-stages) every step is a chain.
#include <algorithm>
#include <utility>

#include "images/simd.h"
#include "kernels/stage.h"
#include "pipeline/device.h"
#include "pipeline/engine.h"
#include "pipeline/host/bands.h"

namespace imgpipe {
namespace {

// Nothing is kept but the file.
bool is_streamed(const MemoryQuestion& question) {
  return question.writer != nullptr && question.repeat == 0 && !question.keep_source &&
         !question.keep_outputs && !question.keep_pixels;
}

Keep keep_of(const MemoryQuestion& question) {
  return {.source = question.keep_source, .outputs = question.keep_outputs};
}

// What is held at one time: while a chain runs, the whole images that it or a later one reads, its bands, and
// who gives and who takes the rows; then what is encoded.
class ChainsMemory {
 public:
  explicit ChainsMemory(const MemoryQuestion& question)
      : question_(question), plan_(question.plan, is_streamed(question), keep_of(question)) {}

  [[nodiscard]] MemoryNeed need() {
    for (const Chain& chain : plan_.chains) add_chain(chain);
    if (!plan_.streamed) {
      const MemoryNeed writer = writer_need(question_);
      add(whole_bytes(plan_.works.size(), plan_.works.size() + 1) + prepared_, 0, writer);
      bands_ = std::max(bands_, writer.most_bands);
    }
    need_.most_bands = bands_;
    return need_;
  }

 private:
  void add_chain(const Chain& chain) {
    const bool to_writer = plan_.streamed && chain.last;
    const BandPlan bands(plan_, chain, to_writer ? question_.writer : nullptr, 1);
    const std::int64_t reader = chain.decodes ? question_.reader.working_bytes(false) : 0;
    const std::int64_t read = chain.decodes ? question_.reader.band_bytes(bands.rows_read()) : 0;
    add(whole_bytes(chain.first, plan_.end_time(chain)) + prepared_ + reader, bands.band_bytes() + read,
        to_writer ? writer_need(question_, bands.rows()) : MemoryNeed());
    // Strips are the same for any number of threads.
    bands_ = std::max(
        bands_, bands.strips() ? bands.bands() : most_bands(bands.bands() * bands.rows(), bands.rows()));
  }

  // Buffers that are held as a whole while works at these times run: made before their end, and read by a
  // later chain than the one that makes them, now or later. With repeat all stay.
  [[nodiscard]] std::int64_t whole_bytes(std::size_t first, std::size_t end) const {
    std::int64_t bytes = 0;
    for (std::size_t i = 0; i < plan_.buffers.buffers.size(); ++i) {
      const Buffer& buffer = plan_.buffers.buffers[i];
      const bool lives = buffer.made_at <= end && (question_.repeat > 0 || buffer.last_read_at > first);
      if (lives && crosses_chains(i)) bytes += buffer.bytes();
    }
    return bytes;
  }

  [[nodiscard]] bool crosses_chains(std::size_t buffer) const {
    return std::ranges::any_of(plan_.chains, [&](const Chain& chain) {
      return plan_.made_in(buffer, chain) && plan_.is_whole(buffer, chain);
    });
  }

  // The largest of the one and the largest of the other: never less than both together.
  void add(std::int64_t bytes, std::int64_t band, const MemoryNeed& writer) {
    need_.bytes = std::max(need_.bytes, bytes + band + writer.bytes);
    need_.band_bytes = std::max(need_.band_bytes, band + writer.band_bytes);
  }

  const MemoryQuestion& question_;
  const ChainedPlan plan_;
  const std::int64_t prepared_ = prepared_bytes_of(question_.plan);
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
        plan_(outcome.plan, is_streamed(memory_question(job, outcome.plan)),
              keep_of(memory_question(job, outcome.plan))),
        whole_(plan_.buffers) {
    outcome.histograms.resize(outcome.plan.steps.size());
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
  // With `last` what nothing reads any more is freed behind the chain.
  void run_one(const Chain& chain, int pass, bool last) {
    run_chain({.plan = plan_,
               .chain = chain,
               .reader = chain.decodes ? job_.reader.get() : nullptr,
               .writer = plan_.streamed && chain.last ? job_.writer.get() : nullptr,
               .sink = job_.sink,
               .whole = whole_,
               .histograms = outcome_.histograms,
               .timeline = outcome_.timeline,
               .pass = pass},
              threads_);
    if (!last) return;
    for (std::size_t i = 0; i < plan_.buffers.buffers.size(); ++i) {
      if (plan_.buffers.buffers[i].last_read_at <= plan_.end_time(chain)) whole_.free(i);
    }
  }

  void finish() {
    if (plan_.streamed) {
      outcome_.file = finish_file(*job_.writer, outcome_.timeline, job_.sink);
      return;
    }
    if (job_.keep_outputs) {
      for (std::size_t i = 0; i < plan_.works.size(); ++i) {
        const Work& work = plan_.works[i];
        outcome_.outputs.resize(work.index + 1);
        if (work.step->stage->writes_pixels)
          outcome_.outputs[work.index] = whole_.frame(plan_.buffers.works[i]);
      }
    }
    outcome_.pixels = std::as_const(whole_).plane(plan_.buffers.result, 0);
    if (job_.keep_source || plan_.buffers.result == 0) outcome_.source = whole_.take(0);
    outcome_.memory = whole_.take_all();
    if (job_.writer)
      outcome_.file = encode_image(outcome_.pixels, *job_.writer, threads_, outcome_.timeline, job_.sink);
  }

  Job& job_;
  Outcome& outcome_;
  HostThreads& threads_;
  const ChainedPlan plan_;
  WholeBuffers whole_;
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
    return ChainsMemory(question).need();
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
