// Processes one image, from a file in memory or an array of pixels, into an array.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "images/codecs/codec.h"
#include "pipeline/jobs/array_plans.h"
#include "pipeline/jobs/box_reader.h"
#include "pipeline/runner.h"

namespace imgpipe {

struct ArraySource {
  // Opens a file; its bytes stay valid until `close`. Empty: the image is `pixels`.
  std::function<std::unique_ptr<Reader>(const DecodeOptions&)> open{};
  // Frees the bytes that `open` made, once their reader has ended; may be empty. The file can be opened
  // again.
  std::function<void()> close{};
  // Whether the file that `open` opened is still open, because the reader reads its rows from the disk; may
  // be empty.
  std::function<bool()> is_on_disk{};
  ConstHostView pixels{};
  std::optional<Box> box{};  // the part of the image that the stages get
  bool flip = false;         // mirrors the result horizontally, before normalize
};

// An image that is opened and planned, but not decoded.
class ArrayJob {
 public:
  // Throws Error(input), and Error(usage) if the stages do not accept the image, or for a box outside it.
  ArrayJob(const ArraySource& source, ArrayPlans& plans, const DecodeOptions& decode);

  [[nodiscard]] const ArrayType& result() const { return plan_->result; }
  // The host memory that run() takes with that many CPU threads, including the result.
  [[nodiscard]] std::int64_t needed_bytes(int threads) const;
  // Writes the result to `out`, of the shape result().frame. Call it once. Throws like Runner::run(). A
  // report receives the warnings about accepted damage.
  void run(Runner& runner, HostView out, RunReport* report = nullptr);

 private:
  std::unique_ptr<Reader> reader_;
  ConstHostView pixels_;
  std::shared_ptr<const ArrayPlan> plan_;
};

}  // namespace imgpipe
