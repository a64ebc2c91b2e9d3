// The plans of one list of stages for images of any shape, and the arrays that hold their results.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "images/codecs/codec.h"
#include "images/tensor.h"
#include "pipeline/jobs/box_reader.h"
#include "pipeline/plan.h"
#include "pipeline/stage_list.h"

namespace imgpipe {

// An array in memory: of an image H x W, or with a channel axis H x W x C or C x H x W.
struct ArrayType {
  Sample sample = Sample::u8;
  std::array<std::int64_t, 3> sides{};  // outermost first; the last is 1 without a channel axis
  bool has_channels = false;
  Shape frame{};  // the rows that hold the array: those of C x H x W are of one plane below the other

  [[nodiscard]] std::span<const std::int64_t> axes() const {
    return std::span(sides).first(has_channels ? 3 : 2);
  }
  friend bool operator==(const ArrayType&, const ArrayType&) = default;
};

// The plan for images of one shape.
struct ArrayPlan {
  Plan plan;
  ArrayType result;
  bool splits = false;  // the plan's result is interleaved, and `result` has a plane per channel
};

struct ArrayStages {
  std::vector<StageRequest> stages{};
  // The position of the channel axis, which then exists even for one channel. None: as normalize makes it,
  // otherwise interleaved, without an axis for one channel.
  std::optional<TensorLayout> layout{};
  std::int64_t max_pixels = std::numeric_limits<std::int64_t>::max();  // of an image that a step makes
  bool fuse = false;                                                   // as make_plan()
};

// Makes plans and keeps the most recently used ones: making one can take milliseconds, for the weights of
// resize. Thread-safe.
class ArrayPlans {
 public:
  // Throws Error(usage) if the layout contradicts normalize.
  explicit ArrayPlans(ArrayStages stages);

  // `flip`: mirrors the image horizontally before normalize, or at the end. Throws as make_plan(), and
  // Error(usage) for a shape without pixels.
  // `header`: of a file, whose profile icc steps read.
  [[nodiscard]] std::shared_ptr<const ArrayPlan> plan_for(const Shape& image, bool flip = false,
                                                          const ImageHeader& header = {});

  // Returns a plan that first crops the image to the box. It is not kept, because boxes rarely recur. Throws
  // as plan_for(), and Error(usage) for a box outside the image.
  [[nodiscard]] std::shared_ptr<const ArrayPlan> plan_for_box(const Shape& image, const Box& box,
                                                              const ImageHeader& header = {}) const;

  [[nodiscard]] const std::vector<StageRequest>& stages() const { return stages_.stages; }
  // The sample type of the tensors that the stages make; none if they make images.
  [[nodiscard]] std::optional<Sample> tensor_sample() const;
  // Whether the results are arrays of C x H x W.
  [[nodiscard]] bool channels_first() const;

 private:
  struct Entry {
    Shape image;
    bool flip = false;
    const SecondImage* profile = nullptr;  // the table of icc, which the plan holds
    std::shared_ptr<const ArrayPlan> plan;
    std::int64_t bytes = 0;
  };

  [[nodiscard]] std::shared_ptr<const ArrayPlan> find(const Shape& image, bool flip,
                                                      const SecondImage* profile);
  void keep(Entry entry);
  [[nodiscard]] std::shared_ptr<const ArrayPlan> make(const Shape& image,
                                                      std::span<const StageRequest> stages) const;

  const ArrayStages stages_;
  std::vector<StageRequest> flipped_;  // with the flip
  // Guarded by fork_mutex().
  std::list<Entry> kept_;  // most recently used first
  std::int64_t kept_bytes_ = 0;
};

}  // namespace imgpipe
