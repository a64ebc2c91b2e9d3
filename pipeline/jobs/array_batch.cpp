#include "pipeline/jobs/array_batch.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <mutex>
#include <utility>

#include "images/memory/available_memory.h"
#include "pipeline/error_of.h"

namespace imgpipe {
namespace {

std::string text_of(const ArrayType& type) {
  std::string text;
  for (const std::int64_t side : type.axes()) text += (text.empty() ? "" : "x") + std::to_string(side);
  return text + " (" + std::to_string(8 * bytes_per_sample(type.sample)) + " bits per sample)";
}

class ArrayBatch {
 public:
  ArrayBatch(std::span<const ArraySource> sources, ArrayPlans& plans, const DecodeOptions& decode,
             BatchThreads& threads, const BatchOptions& options)
      : sources_(sources),
        plans_(plans),
        decode_(decode),
        threads_(threads),
        target_(options.target),
        stops_(options.stop_at_error),
        memory_(options.memory) {
    batch_.items.resize(sources.size());
    if (target_) batch_.type = target_->type;
  }

  BatchedArrays run() {
    threads_.run(sources_.size(), [this](Runner& runner) {
      while (!(stops_ && failed_)) {
        const std::size_t i = next_++;
        if (i >= sources_.size()) break;
        BatchedArray& item = batch_.items[i];
        item.error = error_of([&] { run_one(i, item, runner); });
        if (sources_[i].close) sources_[i].close();
        if (!item.error) continue;
        item.pixels = {};
        item.memory = {};
        failed_ = true;
      }
    });
    if (!(stops_ && failed_)) finish();
    return std::move(batch_);
  }

 private:
  void run_one(std::size_t i, BatchedArray& item, Runner& runner) {
    ArrayJob job(sources_[i], plans_, decode_);
    item.type = job.result();
    item.pixels = memory_for(i, item);
    // Only a report has the reader's warnings.
    RunReport report;
    const bool may_warn = sources_[i].open && decode_.accept != Acceptance::strict;
    job.run(runner, item.pixels, may_warn ? &report : nullptr);
    item.warnings = std::move(report.warnings);
  }

  HostView memory_for(std::size_t i, BatchedArray& item) {
    if (target_) {
      if (item.type.sample != target_->type.sample ||
          !std::ranges::equal(item.type.axes(), target_->type.axes()))
        throw Error(ErrorKind::usage, "out: the result is " + text_of(item.type) + ", but the rows are " +
                                          text_of(target_->type));
    } else {
      make_rows(item.type);
      if (batch_.type != item.type) {
        check_available(item.type.frame.bytes());
        item.memory = Image(item.type.frame, memory_);
        return item.memory.untyped_view();
      }
    }
    return row(i);
  }

  // Makes the rows for the first result. If memory does not suffice, every result gets separate memory: they
  // may have other sizes.
  void make_rows(const ArrayType& type) {
    const std::lock_guard lock(mutex_);
    if (std::exchange(made_rows_, true)) return;
    const auto no_rows = error_of([&] { allocate_rows(type); });
    if (!no_rows) batch_.type = type;
  }

  void allocate_rows(const ArrayType& type) {
    Shape all = type.frame;
    all.height *= static_cast<std::int64_t>(sources_.size());
    check_available(all.bytes());
    batch_.rows = Image(all, memory_);
  }

  [[nodiscard]] HostView row(std::size_t i) {
    const auto number = static_cast<std::int64_t>(i);
    if (target_) {
      HostView view = target_->first;
      view.data += number * target_->stride_bytes;
      return view;
    }
    const std::int64_t height = batch_.type->frame.height;
    return batch_.rows.untyped_view().rows(number * height, height);
  }

  void finish() {
    const auto has_result = [](const BatchedArray& item) { return !item.error; };
    const auto first = std::ranges::find_if(batch_.items, has_result);
    const bool agree =
        first != batch_.items.end() && std::ranges::all_of(batch_.items, [&](const auto& item) {
          return !has_result(item) || item.type == first->type;
        });
    if (agree && !target_ && batch_.type != first->type) collect(first->type);
    if (!agree && !target_) batch_.type.reset();
    if (!batch_.type) return;
    for (std::size_t i = 0; i < batch_.items.size(); ++i) {
      if (batch_.items[i].error) blacken(row(i));
    }
  }

  // Copies all results into rows, if the rows were made for an image that failed, or could not be made.
  void collect(const ArrayType& type) {
    batch_.rows = {};
    allocate_rows(type);
    batch_.type = type;
    for (std::size_t i = 0; i < batch_.items.size(); ++i) {
      BatchedArray& item = batch_.items[i];
      if (item.error) continue;
      copy_pixels(item.pixels, row(i));
      item.pixels = row(i);
      item.memory = {};
    }
  }

  static void blacken(const HostView& view) {
    for (std::int64_t y = 0; y < view.height; ++y)
      std::memset(view.row(y), 0, static_cast<std::size_t>(view.row_bytes()));
  }

  const std::span<const ArraySource> sources_;
  ArrayPlans& plans_;
  const DecodeOptions& decode_;
  BatchThreads& threads_;
  const std::optional<BatchTarget>& target_;
  const bool stops_;
  std::pmr::memory_resource* const memory_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;
  bool made_rows_ = false;
  BatchedArrays batch_;
};

}  // namespace

BatchThreads::BatchThreads(std::string device, int threads, std::int64_t device_memory_bytes)
    : device_(std::move(device)), count_(threads), device_memory_bytes_(device_memory_bytes) {}

Runner& BatchThreads::runner() {
  make_runners(1);
  return *runners_.front();
}

void BatchThreads::run(std::size_t parts, const std::function<void(Runner&)>& work) {
  const int active = static_cast<int>(std::min(parts, static_cast<std::size_t>(count_)));
  if (active == 0) return;
  make_runners(active);
  if (active == 1) {
    work(*runners_.front());
    return;
  }
  if (!threads_) threads_ = std::make_unique<HostThreads>(count_);
  std::atomic<std::size_t> next = 0;  // any of the threads take part
  threads_->run(active, [&](int) { work(*runners_[next++]); });
}

void BatchThreads::trim() {
  for (const auto& runner : runners_) runner->trim();
}

void BatchThreads::make_runners(int active) {
  const int each = count_ / active;
  if (each != threads_each_) runners_.clear();
  threads_each_ = each;
  while (std::ssize(runners_) < active)
    runners_.push_back(std::make_unique<Runner>(
        RunnerSettings{.device = device_, .threads = each, .device_memory_bytes = device_memory_bytes_}));
}

BatchedArrays run_array_batch(std::span<const ArraySource> sources, ArrayPlans& plans,
                              const DecodeOptions& decode, BatchThreads& threads,
                              const BatchOptions& options) {
  return ArrayBatch(sources, plans, decode, threads, options).run();
}

}  // namespace imgpipe
