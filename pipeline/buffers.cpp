#include "pipeline/buffers.h"

#include <algorithm>

#include "kernels/stage.h"

namespace imgpipe {
namespace {

class Analysis {
 public:
  Analysis(const Plan& plan, const std::vector<Work>& works, const Keep& keep)
      : end_(works.size() + 1), counted_by_(plan.steps.size()) {
    pixels_ = add(Buffer::Holds::pixels, frame_type_of(plan.input), 0);
    for (std::size_t i = 0; i < works.size(); ++i) add_work(works[i], i + 1);
    result_.result = pixels_;
    read(pixels_, end_);
    for (std::size_t i = 0; i < result_.buffers.size(); ++i) {
      if (keep.outputs ? i > 0 || keep.source : i == 0 && keep.source) read(i, end_);
      if (result_.buffers[i].holds == Buffer::Holds::counts) read(i, end_);
    }
  }

  Buffers result() { return std::move(result_); }

 private:
  std::size_t add(Buffer::Holds holds, const FrameType& type, std::size_t time) {
    result_.buffers.push_back({holds, type, time, time});
    return result_.buffers.size() - 1;
  }

  void read(std::size_t buffer, std::size_t time) {
    result_.buffers[buffer].last_read_at = std::max(result_.buffers[buffer].last_read_at, time);
  }

  void add_work(const Work& work, std::size_t time) {
    const Step& step = *work.step;
    const Stage& stage = *step.stage;
    WorkBuffers uses;
    uses.pixels_in = pixels_;
    read(pixels_, time);
    const bool moves_alpha = !passes_alpha(stage, step.in, step.out);
    if (moves_alpha && alpha_ && step.in.layout == Layout::planar) {
      uses.alpha_in = alpha_;
      read(*alpha_, time);
    }
    if (step.counted_by) {
      uses.counts_in = counted_by_[*step.counted_by];
      read(*uses.counts_in, time);
    }
    if (stage.writes_pixels) {
      uses.pixels_out = pixels_ = add(Buffer::Holds::pixels, step.out, time);
      if (moves_alpha) {
        alpha_.reset();
        if (step.out.alpha && step.out.layout == Layout::planar)
          uses.alpha_out = alpha_ = add(Buffer::Holds::alpha, step.out, time);
      }
    }
    if (stage.counts) uses.counts_out = counted_by_[work.index] = add(Buffer::Holds::counts, step.out, time);
    uses.pixels = pixels_;
    uses.alpha = alpha_;
    result_.works.push_back(uses);
  }

  Buffers result_;
  const std::size_t end_;
  std::size_t pixels_ = 0;
  std::optional<std::size_t> alpha_;     // in a plane of its own
  std::vector<std::size_t> counted_by_;  // by step of the plan: its counts
};

}  // namespace

std::vector<Work> works_of(const Plan& plan, FusedSteps fused) {
  std::vector<Work> works;
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const Step& step = plan.steps[i];
    if (step.parts.empty() || fused == FusedSteps::as_one) works.push_back({&step, i});
    if (fused == FusedSteps::as_one) continue;
    for (const Step& part : step.parts) works.push_back({&part, i});
  }
  return works;
}

int Buffer::planes() const {
  if (holds == Holds::counts) return 0;
  return holds == Holds::alpha || type.layout == Layout::interleaved ? 1 : type.color_channels;
}

Shape Buffer::plane() const {
  const bool mixed = holds == Holds::pixels && type.layout == Layout::interleaved;
  return {type.width, type.height, mixed ? type.channels() : 1, type.sample};
}

std::int64_t Buffer::bytes() const {
  if (holds == Holds::counts) return static_cast<std::int64_t>(counters(type) * sizeof(std::uint64_t));
  return planes() * plane().bytes();
}

Buffers buffers_of(const Plan& plan, const std::vector<Work>& works, const Keep& keep) {
  return Analysis(plan, works, keep).result();
}

std::vector<std::vector<std::size_t>> places_of(const Buffers& buffers) {
  std::vector<std::vector<std::size_t>> places;
  std::vector<std::size_t> free_after;  // by place: when its last buffer was last read
  for (std::size_t i = 0; i < buffers.size(); ++i) {
    const Buffer& buffer = buffers[i];
    if (i == 0 || buffer.holds == Buffer::Holds::counts) continue;
    // A work must not write what it reads.
    std::size_t place = 0;
    while (place < free_after.size() && free_after[place] >= buffer.made_at) ++place;
    if (place == free_after.size()) {
      free_after.push_back(0);
      places.emplace_back();
    }
    free_after[place] = buffer.last_read_at;
    places[place].push_back(i);
  }
  return places;
}

}  // namespace imgpipe
