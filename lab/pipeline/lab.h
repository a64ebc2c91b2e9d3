// The kernel lab: every rung of a stage's ladder over one image, first held against the reference, then
// timed.
//
//   subject: an image and the right answer -> load() -> check: outputs poisoned, one run, compared
//                                                      time: warm-up, then runs over rotating buffers
//
// A rung that is wrong is never timed, unless it says itself that it is.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "images/image.h"
#include "lab/kernels/ladders.h"
#include "lab/pipeline/measuring.h"

namespace imgpipe {

// A ladder's input and what the sequential reference makes of it.
struct LabSubject {
  const Stage* stage = nullptr;
  Parameters parameters;
  Image in;        // interleaved RGB, or one grey plane
  Image expected;  // of stages that write pixels
  // hist: the right counts, plane after plane. gray: those of `expected`. All others: those of `in`.
  std::vector<std::uint64_t> counts;

  [[nodiscard]] FrameType in_type() const;
  [[nodiscard]] FrameType out_type() const;
  // The frame that `counts` are of.
  [[nodiscard]] FrameType counted_type() const;
  // Bytes that the stage must read and write, each sample once.
  [[nodiscard]] std::int64_t bytes() const;
};

// gray takes RGB, hist grey or RGB, the others grey. Throws Error(usage) for another image, for other samples
// than the ladder's, and for 2^32 pixels or more.
[[nodiscard]] LabSubject make_subject(const Ladder& ladder, Image in);

// What a rung leaves behind: pixels (of stages that write some) and counts.
struct LabAnswer {
  Image out;
  std::vector<std::uint64_t> counts;
};
// Before a rung has run: no pixel is right; the counts are those that the stage reads, or rubbish.
[[nodiscard]] LabAnswer spoiled_answer(const LabSubject& subject);

// Something that runs rungs. One thread uses it.
class LabDevice {
 public:
  virtual ~LabDevice() = default;
  LabDevice(const LabDevice&) = delete;
  LabDevice& operator=(const LabDevice&) = delete;

  [[nodiscard]] virtual std::string name() const = 0;
  // Bytes a second, read plus written, of the device's own copy; measured once.
  [[nodiscard]] virtual double copy_bandwidth() = 0;
  // Why a rung cannot run here, with these options or over an image of this shape; "" when it can.
  [[nodiscard]] std::string unmet_need(const Rung& rung, const LabOptions& options, const Shape& in);
  // What run() works on from now on.
  void load(std::shared_ptr<const LabSubject> subject);
  // Checks and times a rung of the subject's stage. Throws Error(device) when the device breaks.
  [[nodiscard]] LabResult run(const Rung& rung, const LabOptions& options);

 protected:
  LabDevice() = default;
  [[nodiscard]] const LabSubject& subject() const { return *subject_; }
  // Why a library that the rung calls cannot be used, or what the device lacks; "" when nothing is missing.
  [[nodiscard]] virtual std::string missing(const Rung&) { return ""; }
  virtual void prepare() = 0;  // after load()
  // The rung's answer into these, from outputs that held rubbish.
  virtual void answer(const Rung& rung, const LabOptions& options, LabAnswer& answer) = 0;
  [[nodiscard]] virtual std::vector<double> time_us(const Rung& rung, const LabOptions& options) = 0;
  [[nodiscard]] virtual std::string grid_text(const Rung& rung, const LabOptions& options) const = 0;

 private:
  std::shared_ptr<const LabSubject> subject_;
};

// Rungs of the processor: reference, and cpu on `threads` threads of its own.
[[nodiscard]] std::unique_ptr<LabDevice> make_cpu_lab(int threads);
// Rungs of CUDA device `index`. Throws Error(device) when it cannot be used.
[[nodiscard]] std::unique_ptr<LabDevice> make_cuda_lab(int index);

// The counts of 64 bins, say, from those of 256: bin b gets those of kBins / bins values; the rest are 0.
[[nodiscard]] std::vector<std::uint64_t> folded(const std::vector<std::uint64_t>& counts, int bins);

// Why a rung cannot take these options, or an image of this shape, on any device; "" when it can.
[[nodiscard]] std::string unmet_need(const Rung& rung, const LabOptions& options, const Shape& in);

// What is wrong with a rung's output, "" when it keeps its claim: pixels (stages that write some) and counts
// (hist, and rungs that count too).
[[nodiscard]] std::string lab_difference(const Rung& rung, const LabSubject& subject,
                                         const ConstHostView& out, const std::vector<std::uint64_t>& counts);

}  // namespace imgpipe
