// A batch that is under way, whatever goes through it: images, or inputs with their pages.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "pipeline/jobs/batch.h"

namespace imgpipe {

// See Batch.
class RunningBatch {
 public:
  virtual ~RunningBatch() = default;
  RunningBatch(const RunningBatch&) = delete;
  RunningBatch& operator=(const RunningBatch&) = delete;

  [[nodiscard]] virtual std::optional<BatchResult> next(std::chrono::milliseconds patience) = 0;
  [[nodiscard]] virtual bool finished() const = 0;
  virtual void stop() = 0;
  [[nodiscard]] virtual std::string lane_note() const = 0;
  [[nodiscard]] virtual std::vector<std::string> take_notes() = 0;
  [[nodiscard]] virtual std::optional<Error> fatal() const = 0;
  [[nodiscard]] virtual std::vector<std::string> devices() const = 0;
  [[nodiscard]] virtual int workers() const = 0;
  [[nodiscard]] virtual std::int64_t peak_admitted_bytes() const = 0;

 protected:
  RunningBatch() = default;
};

template <class Kind>
class RunningBatchOf final : public RunningBatch {
 public:
  template <class... Arguments>
  explicit RunningBatchOf(Arguments&&... arguments) : batch_(std::forward<Arguments>(arguments)...) {}

  std::optional<BatchResult> next(std::chrono::milliseconds patience) override {
    return batch_.next(patience);
  }
  bool finished() const override { return batch_.finished(); }
  void stop() override { batch_.stop(); }
  std::string lane_note() const override { return batch_.lane_note(); }
  std::vector<std::string> take_notes() override { return batch_.take_notes(); }
  std::optional<Error> fatal() const override { return batch_.fatal(); }
  std::vector<std::string> devices() const override { return batch_.devices(); }
  int workers() const override { return batch_.workers(); }
  std::int64_t peak_admitted_bytes() const override { return batch_.peak_admitted_bytes(); }

 private:
  Kind batch_;
};

}  // namespace imgpipe
