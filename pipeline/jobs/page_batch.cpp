#include "pipeline/jobs/page_batch.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "images/files/temporary_file.h"
#include "images/text.h"
#include "pipeline/error_of.h"
#include "pipeline/host/scarce_memory.h"
#include "pipeline/jobs/batch_entry.h"
#include "pipeline/jobs/batch_threads.h"

namespace imgpipe {
namespace {

void add_times(const Timeline& timeline, BatchResult& result) {
  for (const Span& span : timeline.spans()) {
    if (const std::optional<Part> part = part_of(span))
      result.busy[static_cast<std::size_t>(*part)] += span.length_ns();
  }
}

}  // namespace

PageBatch::PageBatch(BatchItems items, BatchSettings settings, PageWish wish, UsePages use_pages)
    : items_(std::move(items)),
      settings_(std::move(settings)),
      wish_(std::move(wish)),
      use_pages_(std::move(use_pages)) {
  settings_.before_first_byte = [this](const std::string& output) {
    folders_.make(std::filesystem::path(output).parent_path(), settings_.sync);
  };
  const int wanted = workers_for(settings_, items_.size());
  working_ = wanted;
  workers_ = start_workers(settings_, items_.size(), [this](std::size_t i) { work(i); });
  const std::lock_guard lock(mutex_);
  working_ -= wanted - static_cast<int>(workers_.size());  // those that started may have ended already
  if (!workers_.empty()) return;
  stopping_ = true;
  fatal_ = no_memory();
}

PageBatch::~PageBatch() {
  stop();
  for (std::thread& worker : workers_) worker.join();
}

std::optional<BatchResult> PageBatch::next(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, patience, [this] { return !results_.empty() || working_ == 0; });
  if (results_.empty()) return std::nullopt;
  BatchResult result = std::move(results_.front());
  results_.pop_front();
  return result;
}

bool PageBatch::finished() const {
  const std::lock_guard lock(mutex_);
  return working_ == 0 && results_.empty();
}

void PageBatch::stop() {
  const std::lock_guard lock(mutex_);
  stopping_ = true;
}

std::optional<Error> PageBatch::fatal() const {
  const std::lock_guard lock(mutex_);
  return fatal_;
}

std::int64_t PageBatch::peak_admitted_bytes() const {
  const std::lock_guard lock(mutex_);
  return peak_bytes_;
}

void PageBatch::work(std::size_t number) {
  std::unique_ptr<Engine> engine;
  const std::optional<Error> error = error_of([&] {
    const int workers = workers_for(settings_, items_.size());
    engine = settings_.make_engine(std::max(1, settings_.threads / workers));
    for (;;) {
      std::size_t item = 0;
      {
        const std::lock_guard lock(mutex_);
        if (stopping_ || next_item_ == items_.size()) break;
        item = next_item_++;
      }
      give(process(item, number, *engine));
    }
  });
  const std::lock_guard lock(mutex_);
  if (error && !fatal_) fatal_ = error;
  stopping_ = stopping_ || error.has_value();
  --working_;
  changed_.notify_all();
}

// What killed runs have left of the files that this one writes. Each folder is looked through once.
void PageBatch::remove_what_was_left(const PageRun& run) {
  const PageRange& range = run.range();
  const std::lock_guard lock(stale_mutex_);
  for (std::int64_t number = range.first; number <= range.last; ++number)
    (void)stale_.remove(run.output_of(number));
}

void PageBatch::give(BatchResult result) {
  const std::lock_guard lock(mutex_);
  const bool is_fatal = result.failed == ErrorKind::output || result.failed == ErrorKind::device;
  if (is_fatal && !fatal_) fatal_ = Error(*result.failed, result.reason);
  stopping_ = stopping_ || is_fatal || (result.failed && settings_.fail_fast);
  results_.push_back(std::move(result));
  changed_.notify_all();
}

BatchResult PageBatch::process(std::size_t item, std::size_t worker, Engine& engine) {
  BatchResult result;
  result.item = item;
  const Timeline clock(origin_);
  result.start_ns = clock.now_ns();
  const BatchItem paths = items_[item];
  const PagesUse use = use_pages_ ? use_pages_(item) : PagesUse();
  ImageSettings settings = settings_;
  settings.use_rows = use.use_rows;
  PageRun run({.input = paths.input,
               .output = paths.output,
               .input_name = printable(paths.input),
               .output_name = printable(paths.output),
               .format = paths.format,
               .number = item,
               .made_of = paths.made_of},
              settings, wish_, InputKind::regular_only, origin_);
  run.set_track("worker " + std::to_string(worker + 1));
  // Workers share what images may have.
  if (settings_.memory_is_limit)
    run.set_most_bytes(settings_.memory_bytes / workers_for(settings_, items_.size()));
  const std::optional<Error> error = error_of([&] {
    go_through(run, use, result, engine);
    if (use.accept) naming(printable(paths.input), use.accept);
  });
  result.end_ns = clock.now_ns();
  if (!error) return result;
  result.failed = error->kind();
  result.reason = error->what();
  result.output_bytes = 0;
  return result;
}

void PageBatch::go_through(PageRun& run, const PagesUse& use, BatchResult& result, Engine& engine) {
  result.device = engine.implementation();
  if (result.device == "cuda") result.route = ImageRoute::device;
  run.open([](const Plan&, const ImageHeader&) {});
  if (const std::string damage = run.warning(); !damage.empty()) result.warnings.push_back(damage);
  result.header = run.first_header();
  result.input_bytes = run.input_bytes();
  result.pages = run.range().count();
  if (!use_pages_) remove_what_was_left(run);
  run.measure(engine);
  PageNotes said;
  run.run(engine, {.done = [&](PageDone& page) {
            result.output = page.job.output_shape();
            result.pixels += page.job.header().shape.pixels();
            if (result.depth_loss == DepthLoss::none) result.depth_loss = page.job.depth_loss();
            if (result.lost_profile.empty()) result.lost_profile = page.job.lost_profile();
            if (result.lost_metadata.empty()) result.lost_metadata = page.job.lost_metadata();
            for (ImageNote& note : page.job.notes()) {
              if (note.about != ImageNote::About::depth && !is_notice(note.about) && said.is_new(note))
                result.warnings.push_back(std::move(note.text));
            }
            if (use.page_done) naming(page.name, [&] { use.page_done(page); });
            if (use_pages_ && result.lost_profile.empty()) result.lost_profile = page.job.header().profile;
            if (page.job.in_bands()) result.route = ImageRoute::device_in_bands;
            add_times(page.job.timeline(), result);
            if (settings_.keep_spans)
              result.spans.insert(result.spans.end(), page.job.timeline().spans().begin(),
                                  page.job.timeline().spans().end());
            const std::lock_guard lock(mutex_);
            peak_bytes_ = std::max(peak_bytes_, run.most_needed_bytes());
          }});
  run.finish();
  result.output_bytes = run.output_bytes();
  if (!use_pages_ && !run.makes_stack()) result.last_output = run.output_of(run.range().last);
}

}  // namespace imgpipe
