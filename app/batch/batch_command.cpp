#include "app/batch/batch_command.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <utility>

#include "app/batch/archive_batch.h"
#include "app/batch/batch_plan.h"
#include "app/batch/batch_report.h"
#include "app/batch/batch_report_files.h"
#include "app/batch/batch_set_up.h"
#include "app/batch/batch_totals.h"
#include "app/batch/follow_batch.h"
#include "app/batch/tensor_output.h"
#include "app/exit_code.h"
#include "app/files/lost_outputs.h"
#include "app/image/one_input.h"
#include "app/jobs/archive_files.h"
#include "app/jobs/batch_files.h"
#include "app/jobs/result_files.h"
#include "app/jobs/search_report.h"
#include "app/jobs/updates.h"
#include "app/log.h"
#include "app/process_options/options_digest.h"
#include "app/process_options/tensor_options.h"
#include "app/progress.h"
#include "app/report/image_report.h"
#include "app/report/report_names.h"
#include "app/shard/shard.h"
#include "app/signals.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/files/temporary_file.h"
#include "images/text.h"
#include "pipeline/error_of.h"
#include "pipeline/jobs/batch.h"
#include "pipeline/plan.h"

namespace imgpipe {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kDrainTimeout{50};  // if no result arrives for this long, none is left

class BatchRun {
 public:
  explicit BatchRun(const ProcessOptions& options)
      : options_(options),
        files_(options.output.is_archive  ? find_archives(options)
               : options.output.is_tensor ? find_tensor_inputs(options)
                                          : find_batch_files(options)),
        progress_(Progress::style_for_stderr(!options.logging.quiet)),
        reports_(options) {
    check_output_formats(options, files_);
    check_results(options, files_);
    check_results_replaceable(options, files_.files, files_.names_of_all_shards);
    totals_.images = files_.files.size();
    totals_.problems = files_.problems;
    totals_.skipped_inputs = files_.skipped_inputs;
    totals_.other_shards = files_.other_shards;
    totals_.shard_list = files_.shard_list;
    if (options.shard) totals_.shard = shard_text(*options.shard);
    if (!files_.shard_list.empty()) totals_.shard += " of list " + files_.shard_list;
    if (files_.list_is_empty) totals_.note = printable(options.input.files_from) + ": the list is empty";
    const bool resumes = options.output.skip_existing || options.output.update;
    if (!options.output.is_tensor)
      totals_.go_on = resumes ? "run the same command" : "run the same command with --skip-existing";
    totals_.options_digest = options_digest(options, options.output.format);
    // An image with its own report is checked in run_as_image(), which also checks that the report exists.
    if (options.output.skip_existing || (options.output.update && !is_reported_as_image(options)))
      set_finished_aside();
    if (options.output.update) totals_.skipped_label = "up to date";
    if (options.output.is_archive)
      totals_.images = totals_.skipped;  // others are counted when they are found
    has_ended_.resize(files_.files.size());
    is_done_.resize(files_.files.size());
  }

  int run(const EngineFactory& factory) {
    const bool nothing =
        files_.files.empty() && totals_.skipped == 0 && files_.other_shards == 0 && files_.problems.empty();
    if (nothing && !files_.list_is_empty && !options_.dry_run)
      throw Error(ErrorKind::usage, nothing_found_text(options_.input, files_));
    log_search(files_, options_.output.name);
    if (options_.dry_run) {
      print_dry_run(options_, files_, totals_);
      return files_.problems.empty() ? kExitDone : kExitInput;
    }
    if (is_reported_as_image(options_)) return run_as_image(factory);
    const bool makes_directory = !options_.output.is_tensor && !makes_one_archive_;
    reports_.open(!files_.files.empty() && makes_directory, totals_);
    if (options_.output.update && !files_.files.empty())
      stamps_ = std::make_unique<UpdateStamps>(options_, true);
    reports_.add_skipped(skipped_, options_.output.update ? "up to date" : "output already exists");
    reports_.add_problems(files_.problems);
    if (!files_.files.empty()) work();
    report_lost_outputs();
    sync_outputs();
    report();
    return exit_code();
  }

 private:
  // Processes one image with its own report. Writes no report if the image needs no work.
  int run_as_image(const EngineFactory& factory) {
    if (!skipped_.empty() && !options_.logging.quiet)
      print_table(printable(skipped_.front().output) + ": already exists; skipped\n",
                  reports_to_stdout(options_));
    if (files_.files.empty()) return kExitDone;
    const BatchFile& file = files_.files.front();
    ProcessOptions one = with_output_file(options_);
    one.batch_options.clear();
    one.output.skip_existing = false;
    int code = kExitDone;
    if (const std::optional<Error> error = error_of([&] { code = run_image(one, factory); })) {
      log_error(error->what(), subject_of(error->what(), file));
      totals_.failures.push_back({.file = &file, .kind = error->kind()});
      code = exit_code_of(error->kind());
    }
    reports_.write_failed(totals_);
    return code;
  }

  // Moves the files that need no work from files_ to skipped_.
  void set_finished_aside() {
    std::deque<BatchFile> left;
    for (BatchFile& file : files_.files) {
      const bool finished = options_.output.update ? file.is_up_to_date() : file.output_exists;
      (finished ? skipped_ : left).push_back(std::move(file));
    }
    files_.files = std::move(left);
    totals_.skipped = skipped_.size();
  }

  void work() {
    remove_stale_files();
    start_ = Clock::now();
    const SignalGuard signals;
    BatchSetUp set_up = set_up_batch(options_, files_.files.size());
    if (!files_.stamped_outputs.empty()) {
      set_up.settings.before_write = [this, check = set_up.settings.before_write](const std::string& output,
                                                                                  const Mark& mark) {
        if (!files_.stamped_outputs.contains(output)) check(output, mark);
      };
    }
    if (options_.output.is_tensor) {
      tensor_ = std::make_unique<TensorOutput>(options_, files_.files);
      tensor_->consume_rows(set_up.settings);
    }
    totals_.devices = set_up.devices;
    totals_.jobs = set_up.settings.jobs;
    if (!options_.output.is_archive)
      totals_.jobs = static_cast<int>(std::min(static_cast<std::size_t>(totals_.jobs), files_.files.size()));
    totals_.memory_bytes = set_up.settings.memory_bytes;
    if (options_.output.is_archive) {
      archives_ = std::make_unique<ArchiveBatch>(options_, files_.files, set_up.settings, signals, totals_,
                                                 archive_events());
      batch_ = std::make_unique<Batch>(std::move(set_up.settings));
      archives_->begin(*batch_);
    } else {
      batch_ = std::make_unique<Batch>(batch_items(files_.files), std::move(set_up.settings));
    }
    report_workers();
    end_ = follow(*batch_, options_.execution.fail_fast, signals,
                  {.ended = [this](BatchResult& result) { take(result); },
                   .pause = [this] { pause(); },
                   .feed = [this] { return archives_ && archives_->feed(); }});
    progress_.clear();
    if (archives_) finish_archives();
    log_notes();
    totals_.wall_s = std::chrono::duration<double>(Clock::now() - start_).count();
    totals_.peak_admitted_bytes = batch_->peak_admitted_bytes();
    for (const std::string& device : batch_->devices()) totals_.devices.push_back(device);
    totals_.device_why = batch_->lane_note();
    if (!totals_.device_why.empty()) log_detail(totals_.device_why);
    totals_.stopped = end_.stopped;
    log_fatal(end_);
    if (!end_.is_complete) abandon();
    batch_.reset();
    if (tensor_) finish_tensor();
  }

  void finish_tensor() {
    const std::string file = printable(options_.output.path);
    const std::optional<Error> error = error_of([&] {
      const std::string why = tensor_->finish(totals_);
      if (tensor_->has_mixed_shapes()) throw Error(ErrorKind::usage, file + ": not written; " + why);
      if (!why.empty()) log_error(file + ": not written; " + why);
    });
    if (!error) return;
    log_error(error->what());
    if (!end_.fatal) end_.fatal = error;
    totals_.stopped = error->what();
  }

  void report_workers() {
    const int asked = std::exchange(totals_.jobs, batch_->workers());
    if (totals_.jobs < asked)
      warn("cannot start more threads; processing " + std::to_string(totals_.jobs) + " of " +
           std::to_string(asked) + " images at a time");
  }

  void pause() {
    reports_.flush();
    if (stamps_) stamps_->flush();
    log_notes();
    progress_.show(totals_.counts(std::chrono::duration<double>(Clock::now() - start_).count()));
  }

  void log_notes() {
    for (const std::string& note : batch_->take_notes()) warn(note);
  }

  [[nodiscard]] ArchiveBatch::Events archive_events() {
    return {.ended = [this](const BatchResult& result, const BatchFile& file) { report(result, file); },
            .lost =
                [this](const BatchFile& file) {
                  totals_.add_lost(file, kNoArchiveReason);
                  reports_.add_lost(file, kNoArchiveReason);
                },
            .unfinished =
                [this](const BatchFile& file) {
                  --totals_.done;
                  reports_.add_not_done(file, end_.stopped);
                },
            .archive_ended =
                [this](std::size_t archive, bool is_done) {
                  has_ended_[archive] = true;
                  is_done_[archive] = is_done;
                  if (is_done) reports_.settle(files_.files[archive]);
                  if (is_done || !options_.execution.fail_fast) return;
                  batch_->stop();
                  totals_.stopped = "an archive failed (--fail-fast)";
                }};
  }

  void finish_archives() {
    if (end_.stopped.empty()) end_.stopped = totals_.stopped;
    archives_->finish();
    totals_.images += static_cast<std::size_t>(std::ranges::count(has_ended_, false));
  }

  void take(BatchResult& result) {
    if (archives_) return archives_->take(result);
    const BatchFile& file = files_.files[result.item];
    if (!result.last_output.empty()) last_outputs_[result.item] = result.last_output;
    has_ended_[result.item] = true;
    is_done_[result.item] = !result.failed;
    if (stamps_ && !result.failed) stamps_->add(file);
    report(result, file);
  }

  void report(const BatchResult& result, const BatchFile& file) {
    totals_.add(result, file);
    for (const std::string& warning : result.warnings) warn(warning, &file);
    if (!result.failed && totals_.reduced.images == 1 && result.depth_loss != DepthLoss::none)
      warn(printable(file.input) + ": " +
               depth_warning(result.depth_loss, result.header.bits_per_sample, file.format) +
               "; further such images are only counted",
           &file);
    if (result.failed) {
      progress_.clear();
      log_error(result.reason, subject_of(result.reason, file));
    }
    reports_.add(file, result);
  }

  // Other processes may remove outputs while the batch runs; an image without its output is not done.
  void report_lost_outputs() {
    if (tensor_ && !totals_.tensor) return;  // it was not written
    std::vector<const BatchFile*> done;
    std::vector<std::string> outputs;
    for (std::size_t i = 0; i < files_.files.size(); ++i) {
      if (!is_done_[i] || files_.files[i].output == kStandardStream) continue;
      const auto of_pages = last_outputs_.find(i);
      const std::vector<std::string> written =
          of_pages == last_outputs_.end() ? output_paths(files_.files[i]) : std::vector{of_pages->second};
      done.insert(done.end(), written.size(), &files_.files[i]);
      outputs.insert(outputs.end(), written.begin(), written.end());
    }
    const std::vector<std::size_t> missing = missing_files(outputs);
    const BatchFile* lost = nullptr;
    for (const std::size_t i : missing) {
      if (std::exchange(lost, done[i]) == done[i]) continue;  // another output of the same image
      if (!archives_) totals_.add_lost(*done[i], kLostReason);
      reports_.add_lost(*done[i], kLostReason);
      const std::string text = printable(outputs[i]) + ": " + kLostReason;
      log_error(text, subject_of(text, *done[i]));
    }
    outputs_lost_ = missing.size();
  }

  // Call before completing any report that relies on the outputs.
  void sync_outputs() {
    const std::optional<Error> error = error_of([&] { options_.output.sync->sync_names(); });
    if (!error) return;
    if (!end_.fatal) end_.fatal = error;
    totals_.stopped = error->what();
    log_error(error->what());
  }

  void warn(const std::string& text, const BatchFile* file = nullptr) {
    progress_.clear();
    log_warning(text, file == nullptr ? LogSubject() : subject_of(text, *file));
  }

  // Drops images in progress after the grace period. Reports are written once no further output can appear,
  // so that they cover all outputs.
  [[noreturn]] void abandon() {
    block_new_outputs();
    // Take the results of images whose outputs are in place. Failures from here on are due to
    // block_new_outputs().
    while (std::optional<BatchResult> result = batch_->next(kDrainTimeout)) {
      if (!result->failed && !archives_) take(*result);
    }
    sync_outputs();
    try {
      report();
    } catch (const Error& error) {
      log_error(error.what());
    }
    end_process(end_);
  }

  void remove_stale_files() const {
    StaleTemporaryFiles stale;
    std::size_t removed = 0;
    for (const BatchFile& file : files_.files) {
      if (file.output == kStandardStream) continue;
      for (const std::string& output : output_paths(file)) removed += stale.remove(output);
    }
    if (options_.output.is_tensor) removed += stale.remove(tensor_names_file(options_.output));
    log_removed(removed);
  }

  void report() {
    reports_.write_whole_files(totals_);
    finish_reports();
  }

  // Completes the open reports and stdout.
  void finish_reports() {
    const std::optional<Error> of_stamps = error_of([&] {
      if (stamps_) stamps_->close();
    });
    const std::optional<Error> of_reports = error_of([&] { reports_.close(totals_, not_done()); });
    const std::optional<Error> of_names = error_of([&] { options_.output.sync->sync_names(); });
    const std::optional<Error>& error = of_reports ? of_reports : of_stamps ? of_stamps : of_names;
    log_summary(batch_head(totals_), totals_.counts(totals_.wall_s));
    // A report on stdout must be the only text there.
    if (!options_.logging.quiet) print_table(batch_table(totals_, options_), stdout_is_taken_);
    if (error) throw Error(*error);
  }

  [[nodiscard]] std::vector<const BatchFile*> not_done() const {
    std::vector<const BatchFile*> files;
    for (std::size_t i = 0; i < files_.files.size(); ++i) {
      if (!has_ended_[i]) files.push_back(&files_.files[i]);
    }
    return files;
  }

  [[nodiscard]] int exit_code() const {
    return end_.exit_code(outputs_lost_ > 0 ? kExitOutput : totals_.failed() > 0 ? kExitInput : kExitDone);
  }

  const ProcessOptions& options_;
  const bool makes_one_archive_ = options_.output.is_archive && makes_one_archive(options_);
  const bool stdout_is_taken_ = reports_to_stdout(options_) || options_.output.path == kStandardStream;
  BatchFiles files_;
  std::deque<BatchFile> skipped_;
  std::vector<bool> has_ended_, is_done_;            // indexed by file
  std::map<std::size_t, std::string> last_outputs_;  // by file, if each page has its own output
  std::size_t outputs_lost_ = 0;
  BatchTotals totals_;
  Progress progress_;
  BatchReportFiles reports_;
  std::unique_ptr<UpdateStamps> stamps_;  // only with --update
  Clock::time_point start_;
  std::unique_ptr<TensorOutput> tensor_;  // only with --tensor
  std::unique_ptr<Batch> batch_;
  std::unique_ptr<ArchiveBatch> archives_;  // only if the inputs are archives
  BatchEnd end_;
};

}  // namespace

int run_batch(const ProcessOptions& options, const EngineFactory& factory) {
  check_batch_options(options);
  if (options.shard) log_always(shard_text(*options.shard));
  return BatchRun(options).run(factory);
}

}  // namespace imgpipe
