#include "pipeline/engine.h"

#include <algorithm>
#include <utility>

#include "images/error.h"
#include "images/memory/available_memory.h"

namespace imgpipe {
namespace {

class MemoryReader final : public Reader {
 public:
  explicit MemoryReader(ConstHostPlane image) : image_(image) { header_.shape = image.shape(); }

 protected:
  void read_next_rows(HostView rows) override {
    copy_pixels(image_.rows(next_row_, rows.height), rows);
    next_row_ += rows.height;
  }

 private:
  ConstHostPlane image_;
  std::int64_t next_row_ = 0;
};

}  // namespace

// Of a device: the decoded image while it goes up, the finished one, and what is kept of the steps.
MemoryNeed Engine::memory_need(const MemoryQuestion& question) const {
  const std::int64_t source = question.plan.input.samples();
  std::int64_t kept = question.repeat > 0 || question.keep_source ? source : 0;
  if (question.keep_outputs) kept += bytes_of_steps(question.plan);
  const MemoryNeed writer = writer_need(question);
  return {kept + source + question.plan.output.samples() +
              std::max(question.reader.working_bytes(false), writer.bytes),
          writer.band_bytes, writer.most_bands};
}

Outcome Engine::run(Job job) {
  Outcome outcome;
  outcome.plan = std::move(job.plan);
  outcome.timeline = std::move(job.timeline);
  try {
    const MemoryNeed need = memory_need({outcome.plan, *job.reader, job.writer.get(), job.sink != nullptr,
                                         job.repeat, job.keep_source, job.keep_outputs, job.keep_pixels});
    check_available(need.with_threads(threads()));
    execute(job, outcome);
  } catch (...) {
    Outcome failed;
    failed.error = std::current_exception();
    failed.timeline = std::move(outcome.timeline);
    return failed;
  }
  return outcome;
}

Frame<std::byte, Host> OwnedFrame::view() {
  Frame<std::byte, Host> frame{shape, {}};
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (!images[i].empty()) frame.planes[i] = images[i].view();
  }
  return frame;
}

Frame<const std::byte, Host> OwnedFrame::view() const {
  Frame<const std::byte, Host> frame{shape, {}};
  for (std::size_t i = 0; i < images.size(); ++i) {
    if (!images[i].empty()) frame.planes[i] = images[i].view();
  }
  return frame;
}

OwnedFrame make_frame(const FrameType& shape) {
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
