// One interface over every device: a job goes in, a finished image comes out.
#pragma once

#include <array>
#include <exception>
#include <functional>
#include <memory>
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

// Takes the bytes of a file as they are made, in their order, from one thread at a time. What it throws ends
// the job.
using ByteSink = std::function<void(std::span<const std::byte>)>;

struct Job {
  std::unique_ptr<Reader> reader;  // its header().shape is plan.input
  Plan plan;
  Timeline timeline;
  int repeat = 0;             // 0: run once; N: a warm-up pass, then N passes over the same input
  bool keep_source = false;   // give the decoded image back
  bool keep_outputs = false;  // give every step's output back
  // Give the last result back; without it and with a writer it need never exist as a whole.
  bool keep_pixels = true;
  std::unique_ptr<Writer> writer;  // encodes the last result, if given
  // With a writer: where the file goes, if given; who gives it applies Outcome::file's patches.
  ByteSink sink;
};

struct Outcome {
  std::exception_ptr error;  // set: beside it there is only the timeline, as far as the job came
  ConstHostView pixels;      // the last result, of shape plan.output; its memory is in `memory` or `source`
  std::vector<ConstHostView> results;  // by plan.results, `pixels` last; all others are always given
  EncodedFile file;  // with a writer: the last result encoded, as far as no sink took it, and patches
  Plan plan;
  Timeline timeline;
  std::vector<std::vector<std::uint64_t>> histograms;  // by step: bins x planes counts, empty where none
  Image source;                                        // with keep_source: the decoded image
  std::vector<Frame<const std::byte, Host>> outputs;   // with keep_outputs, by step; empty for statistics
  std::vector<Image> memory;                           // behind results and outputs
  std::vector<std::string> warnings;                   // the reader's
  bool in_bands = false;                               // through a device, which has no memory for all of it
};

// What of a job says how much memory it takes; `plan` is the job's.
[[nodiscard]] inline MemoryQuestion memory_question(const Job& job, const Plan& plan) {
  return {.plan = plan,
          .reader = *job.reader,
          .writer = job.writer.get(),
          .handed_on = job.sink != nullptr,
          .repeat = job.repeat,
          .keep_source = job.keep_source,
          .keep_outputs = job.keep_outputs,
          .keep_pixels = job.keep_pixels};
}

// Does one job after the other. One thread uses an engine.
class Engine {
 public:
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // What does the work, as the report names it: "reference".
  [[nodiscard]] virtual std::string_view implementation() const = 0;
  // The processor that does it; known after the first outcome.
  [[nodiscard]] virtual std::string device_name() const = 0;
  // Bytes a second, read plus written, of the device's own copy between two large buffers; 0 when the
  // device cannot be used. Measures now: call it outside of what is timed.
  [[nodiscard]] virtual double copy_bandwidth() = 0;
  // What a job takes of the host's memory.
  [[nodiscard]] virtual MemoryNeed memory_need(const MemoryQuestion& question) const;
  // Returns when the job is done. Its errors are in the outcome and not thrown, so that the times of a job
  // that failed are told too; Error(memory) is among them where it needs more than is available: nothing was
  // allocated then. After any of them the engine takes the next job.
  [[nodiscard]] Outcome run(Job job);

 protected:
  Engine() = default;
  // Does a job, whose plan and timeline are in the outcome already. What it throws becomes the outcome's
  // error.
  virtual void execute(Job& job, Outcome& outcome) = 0;
  // That share the work of an image.
  [[nodiscard]] virtual int threads() const { return 1; }

 private:
  // Throws Error(memory) where there is too little even for a reader that takes as little as it can.
  void check_memory(Job& job, const Plan& plan) const;
};

// The sequential reference on the calling thread; `threads` encode.
[[nodiscard]] std::unique_ptr<Engine> make_reference_engine(int threads = 1);

// SIMD stages over bands on `threads` threads, the caller's among them. A job without repeat, keep_source,
// keep_outputs and keep_pixels runs band by band from its reader to its writer: a whole image is held only
// where a stage needs the histogram of what is being decoded.
[[nodiscard]] std::unique_ptr<Engine> make_cpu_engine(int threads);

// CUDA device `index`, or kAnyCudaDevice. Its context is being made on another thread when this returns; a
// failure there is the outcome's Error(device). Outcomes hold memory of the engine: they must not outlive it.
// After an error of the device no further image comes from the engine. `threads` encode. An image that would
// take more than `memory_bytes` of the device (0: than is free), or more host memory than is available, goes
// through it in bands of rows. The calling thread's current device stays. In a build without CUDA: throws
// Error(device).
[[nodiscard]] std::unique_ptr<Engine> make_cuda_engine(int index, int threads = 1,
                                                       std::int64_t memory_bytes = 0);

// A reader over pixels that are in memory already; `image` must outlive it.
[[nodiscard]] std::unique_ptr<Reader> make_memory_reader(ConstHostView image);

}  // namespace imgpipe
