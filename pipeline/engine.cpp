#include "pipeline/engine.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "images/available_memory.h"
#include "images/error.h"

namespace imgpipe {
namespace {

class MemoryReader final : public Reader {
 public:
  explicit MemoryReader(ConstHostPlane image) : image_(image) { header_.shape = image.shape(); }

 protected:
  void read_next_rows(HostPlane rows) override {
    copy_pixels(image_.rows(next_row_, rows.height), rows);
    next_row_ += rows.height;
  }

 private:
  ConstHostPlane image_;
  std::int64_t next_row_ = 0;
};

}  // namespace

void Engine::submit(Job job) {
  jobs_.push_back(std::move(job));
}

// The decoded image, and those on both sides of a step.
std::int64_t Engine::stage_bytes(const Plan& plan) const {
  std::int64_t most = 0;
  for (const Step& step : plan.steps) {
    most = std::max(most, step.in.pixels() * step.in.channels() + step.out.pixels() * step.out.channels());
  }
  return plan.input.samples() + most;
}

Outcome Engine::next() {
  if (jobs_.empty()) throw std::logic_error("next() without a job");
  Job job = std::move(jobs_.front());
  jobs_.pop_front();
  Outcome outcome;
  outcome.plan = std::move(job.plan);
  outcome.timeline = std::move(job.timeline);
  try {
    run(job, outcome);
  } catch (...) {
    outcome.error = std::current_exception();
    outcome.pixels = {};
  }
  return outcome;
}

Frame<Sample, Host> OwnedFrame::view() {
  Frame<Sample, Host> frame{shape, {}};
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (!images[i].empty()) frame.planes[i] = images[i].view();
  }
  return frame;
}

Frame<const Sample, Host> OwnedFrame::view() const {
  Frame<const Sample, Host> frame{shape, {}};
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (!images[i].empty()) frame.planes[i] = images[i].view();
  }
  return frame;
}

void check_stage_memory(std::int64_t bytes) {
  const std::int64_t available = available_memory_bytes_for(bytes);
  if (bytes <= available) return;
  throw Error(ErrorKind::memory, "not enough memory: the stages need " + std::to_string(bytes) + " bytes, " +
                                     std::to_string(available) + " are available");
}

OwnedFrame make_frame(const FrameShape& shape) {
  OwnedFrame frame;
  frame.shape = shape;
  if (shape.layout == Layout::interleaved) {
    frame.images[0] = Image({shape.width, shape.height, shape.channels()});
    return frame;
  }
  for (std::size_t c = 0; c < static_cast<std::size_t>(shape.color_channels); ++c) {
    frame.images[c] = Image({shape.width, shape.height, 1});
  }
  if (shape.alpha) frame.images[kAlphaPlane] = Image({shape.width, shape.height, 1});
  return frame;
}

std::unique_ptr<Reader> make_memory_reader(ConstHostPlane image) {
  return std::make_unique<MemoryReader>(image);
}

}  // namespace imgpipe
