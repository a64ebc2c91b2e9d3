// The common interface of all devices: takes a job, returns a finished image.
#pragma once

#include <array>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "images/codecs/codec.h"
#include "images/image.h"
#include "pipeline/memory_need.h"
#include "pipeline/plan.h"
#include "pipeline/timeline.h"

namespace imgpipe {

// Takes the bytes of a file while it is encoded, in order, from one thread at a time. An exception ends the
// job.
using ByteSink = std::function<void(std::span<const std::byte>)>;

// The readers of the counts. Where they need only the least and the greatest sample (needs_only_extremes()),
// the counts may be those of these two alone.
enum class CountsFor {
  caller,  // complete counts are returned
  timing,  // the caller shows the times of steps that it named: these count completely
  steps,
};

struct Job {
  std::unique_ptr<Reader> reader;  // its header().shape is plan.input
  // The reader's image, if the caller has it in memory: engines of the host read it there. It must stay
  // unchanged until run() returns.
  ConstHostView source{};
  // Memory of the caller for the last result: of shape plan.output, rows of any stride. Must not overlap
  // `source`. Outcome::pixels is then this memory.
  HostView target{};
  Plan plan;
  Timeline timeline;
  int repeat = 0;             // 0: run once; N: a warm-up pass, then N passes over the same input
  bool keep_source = false;   // return the decoded image
  bool keep_outputs = false;  // return every step's output
  CountsFor counts_for = CountsFor::caller;
  // Return the last result. If false and there is a writer, the result need not exist as a whole.
  bool keep_pixels = true;
  std::optional<MemoryNeed> need;  // the result of memory_need(), if already computed
  std::unique_ptr<Writer> writer;  // encodes the last result, if given
  // With a writer: the destination of the file, if set; the caller must then apply Outcome::file's patches.
  ByteSink sink;
};

struct Outcome {
  std::exception_ptr error;  // if set, only the timeline is valid, up to the failure
  // The last result, of shape plan.output; its memory is Job::target, or in `memory` or `source`.
  ConstHostView pixels;
  std::vector<ConstHostView> results;  // in order of plan.results, `pixels` last; the others are always set
  EncodedFile file;  // with a writer: the parts of the last result's file that no sink took, and patches
  Plan plan;
  Timeline timeline;
  // By step: bins x planes counts, empty where none. The planes are those of counted_type().
  std::vector<std::vector<std::uint64_t>> histograms;
  Image source;                                       // with keep_source: the decoded image
  std::vector<Frame<const std::byte, Host>> outputs;  // with keep_outputs, by step; empty for statistics
  std::vector<Image> memory;                          // storage of results and outputs
  std::vector<std::string> warnings;                  // the reader's
  bool in_bands = false;  // in bands through a device, because memory did not suffice for the whole image
};

// Returns the parameters of a job for memory estimates. `plan`: the job's plan, which Engine::run() moves out
// of the job.
[[nodiscard]] inline MemoryEstimateRequest memory_estimate_request(const Job& job, const Plan& plan) {
  return {.plan = plan,
          .reader = *job.reader,
          .writer = job.writer.get(),
          .handed_on = job.sink != nullptr,
          .repeat = job.repeat,
          .keep_source = job.keep_source,
          .keep_outputs = job.keep_outputs,
          .keep_pixels = job.keep_pixels,
          .source_in_memory = !job.source.empty(),
          .target_in_memory = !job.target.empty()};
}

// Runs one job at a time. Not thread-safe.
class Engine {
 public:
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // The name for the report: "reference".
  [[nodiscard]] virtual std::string_view implementation() const = 0;
  // The name of the processor; known after the first outcome.
  [[nodiscard]] virtual std::string device_name() const = 0;
  // Measures the device's copy bandwidth between two large buffers, in bytes per second, read plus written; 0
  // if the device is unusable. Must be called outside of timed work.
  [[nodiscard]] virtual double copy_bandwidth() = 0;
  // The host memory that a job takes.
  [[nodiscard]] virtual MemoryNeed memory_need(const MemoryEstimateRequest& question) const;
  // Returns when the job is done. Errors are returned in the outcome, not thrown, so that failed jobs report
  // their times, too. If memory does not suffice for the estimate, the error is Error(memory), and nothing
  // has been allocated. The engine accepts further jobs after any error, except that a CUDA engine stays
  // failed after Error(device).
  [[nodiscard]] Outcome run(Job job);
  // The number of threads that share the work of an image.
  [[nodiscard]] virtual int threads() const { return 1; }
  // Returns memory that the engine keeps for further jobs.
  virtual void trim() {}

 protected:
  Engine() = default;
  // Runs a job; its plan and timeline are already in the outcome. Exceptions become the outcome's error.
  virtual void execute(Job& job, Outcome& outcome) = 0;
  // The bytes of memory_need() that the engine keeps already.
  [[nodiscard]] virtual std::int64_t kept_bytes() const { return 0; }

 private:
  // Throws Error(memory) if memory does not suffice even with Reader::use_less_memory().
  void check_memory(Job& job, const Plan& plan) const;
};

// Runs the reference stages sequentially on the calling thread; `threads` threads encode.
[[nodiscard]] std::unique_ptr<Engine> make_reference_engine(int threads = 1);

// Runs SIMD stages on bands of rows, on `threads` threads including the caller's. A job with a writer and
// without repeat, keep_source, keep_outputs and keep_pixels runs band by band from reader to writer, and
// holds whole images only between chains (pipeline/chains.h). So does a job with a source or target in
// memory, without repeat, keep_source and keep_outputs; the engine keeps its buffers for the next such job.
[[nodiscard]] std::unique_ptr<Engine> make_cpu_engine(int threads);

// Runs on CUDA device `index`, or kAnyCudaDevice. The context is created on another thread; if that fails,
// outcomes have Error(device). `threads` threads decode and encode. An image that would take more than
// `memory_bytes` of device memory (0: than is free), or more host memory than is available, goes through the
// device in bands of rows. Outcomes use memory of the engine and must not outlive it. After Error(device) the
// engine processes no further image. The calling thread's current device is preserved. In a build without
// CUDA: throws Error(device).
[[nodiscard]] std::unique_ptr<Engine> make_cuda_engine(int index, int threads = 1,
                                                       std::int64_t memory_bytes = 0);

// Returns a reader of pixels in memory; `image` must outlive it.
[[nodiscard]] std::unique_ptr<Reader> make_memory_reader(ConstHostView image);

}  // namespace imgpipe
