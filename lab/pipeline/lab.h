// The kernel lab: checks every variant of a stage's ladder against the reference, then times it.
//
//   subject: an image and the right answer -> load() -> check: outputs poisoned, one run, compared
//                                                      time: warm-up, then runs over rotating buffers
//
// A wrong variant is never timed, except with Claim::wrong.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "images/image.h"
#include "lab/kernels/ladders.h"
#include "lab/pipeline/measuring.h"

namespace imgpipe {

// A ladder's input and the result of the sequential reference.
struct LabSubject {
  const Stage* stage = nullptr;
  Parameters parameters;
  Image in;        // interleaved RGB, or one grey plane
  Image expected;  // for stages that write pixels
  // hist: the expected counts, plane after plane. gray: those of `expected`. Others: those of `in`.
  std::vector<std::uint64_t> counts;

  [[nodiscard]] FrameType in_type() const;
  [[nodiscard]] FrameType out_type() const;
  // Returns the type of the frame that `counts` belongs to.
  [[nodiscard]] FrameType counted_type() const;
  // Returns the bytes that the stage must read and write, each sample once.
  [[nodiscard]] std::int64_t bytes() const;
};

// gray takes RGB, hist grey or RGB, the others grey. Throws Error(usage) for other images, for samples other
// than the ladder's, and for 2^32 pixels or more.
[[nodiscard]] LabSubject make_subject(const Ladder& ladder, Image in);

// A variant's result: pixels, if its stage writes pixels, and counts.
struct LabOutput {
  Image out;
  std::vector<std::uint64_t> counts;
};
// Returns the outputs before a run: every pixel is wrong; the counts are the stage's input, or garbage.
[[nodiscard]] LabOutput poisoned_output(const LabSubject& subject);

// Runs variants. Must be used by a single thread.
class LabDevice {
 public:
  virtual ~LabDevice() = default;
  LabDevice(const LabDevice&) = delete;
  LabDevice& operator=(const LabDevice&) = delete;

  [[nodiscard]] virtual std::string name() const = 0;
  // Returns the bytes per second, read plus written, of the device's own copy; measured once.
  [[nodiscard]] virtual double copy_bandwidth() = 0;
  // Returns why a variant cannot run here with these options or this shape of input, or "".
  [[nodiscard]] std::string unmet_requirement(const StageVariant& variant, const LabOptions& options,
                                              const Shape& in);
  // Sets the subject of further runs.
  void load(std::shared_ptr<const LabSubject> subject);
  // Checks and times a variant of the subject's stage. Throws Error(device) if the device fails.
  [[nodiscard]] LabResult run(const StageVariant& variant, const LabOptions& options);

 protected:
  LabDevice() = default;
  [[nodiscard]] const LabSubject& subject() const { return *subject_; }
  // Returns which library or device feature the variant lacks, or "".
  [[nodiscard]] virtual std::string missing(const StageVariant&) { return ""; }
  virtual void prepare() = 0;  // called by load()
  // Runs the variant once; `answer` holds garbage before, and the result after.
  virtual void answer(const StageVariant& variant, const LabOptions& options, LabOutput& answer) = 0;
  [[nodiscard]] virtual std::vector<double> time_us(const StageVariant& variant,
                                                    const LabOptions& options) = 0;
  [[nodiscard]] virtual std::string grid_text(const StageVariant& variant,
                                              const LabOptions& options) const = 0;

 private:
  std::shared_ptr<const LabSubject> subject_;
};

// Runs host variants: the reference on one thread, others on `threads` threads.
[[nodiscard]] std::unique_ptr<LabDevice> make_cpu_lab(int threads);
// Runs CUDA variants on device `index`. Throws Error(device) if the device cannot be used.
[[nodiscard]] std::unique_ptr<LabDevice> make_cuda_lab(int index);

// Folds each group of kBins counts into its first `bins` bins: bin b receives the counts of kBins / bins
// adjacent values; the rest are 0.
[[nodiscard]] std::vector<std::uint64_t> folded(const std::vector<std::uint64_t>& counts, int bins);

// Returns why a variant cannot take these options or this shape of input on any device, or "".
[[nodiscard]] std::string unmet_requirement(const StageVariant& variant, const LabOptions& options,
                                            const Shape& in);

// Compares a variant's pixels (if the stage writes pixels) and counts (hist, and variants with counts_too)
// with the reference. Returns the difference, or "" if the variant keeps its claim.
[[nodiscard]] std::string lab_difference(const StageVariant& variant, const LabSubject& subject,
                                         const ConstHostView& out, const std::vector<std::uint64_t>& counts);

}  // namespace imgpipe
