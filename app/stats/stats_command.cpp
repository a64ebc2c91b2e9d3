// imgpipe stats: finds the images, counts them with a batch that writes no files, and reports the results.
#include <algorithm>
#include <chrono>
#include <optional>
#include <span>
#include <utility>

#include "app/batch/batch_set_up.h"
#include "app/batch/follow_batch.h"
#include "app/exit_code.h"
#include "app/files/text_file.h"
#include "app/jobs/batch_files.h"
#include "app/jobs/result_files.h"
#include "app/jobs/search_report.h"
#include "app/log.h"
#include "app/progress.h"
#include "app/shard/shard.h"
#include "app/signals.h"
#include "app/standard_streams.h"
#include "app/stats/stats_counter.h"
#include "app/stats/stats_options.h"
#include "app/stats/stats_report.h"
#include "app/stats/stats_totals.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/files/temporary_file.h"
#include "images/text.h"
#include "pipeline/jobs/batch.h"

namespace imgpipe {
namespace {

using Clock = std::chrono::steady_clock;

class StatsRun {
 public:
  explicit StatsRun(const StatsOptions& options)
      : options_(options),
        found_(find_inputs(options.input, options.shard)),
        counter_(found_.files.size(), !options.per_image_file.empty(), options.percents, options.bins),
        progress_(Progress::style_for_stderr(!options_.logging.quiet)) {
    totals_.images = found_.files.size();
    totals_.problems = found_.problems;
    totals_.stages = options_.stage_list;
    if (options_.pages) totals_.pages = 0;
    totals_.percents = options.percents;
    totals_.bins = options.bins;
    if (options_.shard) totals_.shard = shard_text(*options_.shard);
  }

  int run() {
    if (totals_.images == 0 && found_.other_shards == 0 && found_.problems.empty())
      throw Error(ErrorKind::usage, nothing_found_text(options_.input, found_));
    log_search(found_);
    if (options_.dry_run) return print_plan();
    check_result_files(files_read(found_, options_.input.files_from), options_.replace,
                       {{"--json", options_.json_file}, {"--per-image", options_.per_image_file}});
    StaleTemporaryFiles stale;
    for (const std::string* path : {&options_.json_file, &options_.per_image_file}) {
      if (!path->empty()) log_removed(stale.remove(*path));
    }
    if (!found_.files.empty()) work();
    report();
    return end_.exit_code(totals_.failed() > 0 ? kExitInput : kExitDone);
  }

 private:
  int print_plan() const {
    std::string text;
    for (const BatchFile& file : found_.files) text += printable(file.input) + "\n";
    text += std::to_string(found_.files.size()) + " to count";
    if (options_.shard) text += ", " + std::to_string(found_.other_shards) + " for other shards";
    print_text(text + "\n");
    return found_.problems.empty() ? kExitDone : kExitInput;
  }

  void work() {
    const SignalGuard signals;
    BatchSettings settings = set_up();
    take_memory(settings);
    if (options_.pages) {
      settings.make_page_consumer = [this](std::size_t input) { return counter_.make_page_consumer(input); };
    } else {
      settings.make_row_consumer = [this](const ImageFiles& files, const Plan& plan) {
        return counter_.use_image(files, plan);
      };
    }
    Batch batch(batch_items(found_.files), std::move(settings));
    end_ = follow(batch, options_.execution.fail_fast, signals,
                  {.ended = [this](const BatchResult& result) { take(result); },
                   .pause = [this] { progress_.show(counts()); }});
    progress_.clear();
    totals_.stopped = end_.stopped;
    log_fatal(end_);
    if (!end_.is_complete) {
      log_error("stopped early: " + totals_.stopped);
      end_process(end_);
    }
    totals_.groups = counter_.groups();
    totals_.float_groups = counter_.float_groups();
    std::ranges::sort(totals_.failures, {}, &StatsFailure::item);
  }

  [[nodiscard]] BatchSettings set_up() const {
    ImageSettings image;
    image.stages = options_.stages;
    image.keep_metadata = true;
    image.decode = options_.decode;
    std::optional<PageRequest> pages;
    if (options_.pages) pages = PageRequest{*options_.pages, {}};
    return set_up_batch(options_.execution, std::move(image), std::move(pages), found_.files.size()).settings;
  }

  // Deducts the memory for rows and pages from that for images.
  void take_memory(BatchSettings& settings) {
    std::int64_t kept = 0;
    if (!options_.per_image_file.empty()) {
      const auto files = static_cast<std::int64_t>(found_.files.size());
      const bool grows = options_.pages.has_value();  // the number of pages is unknown
      const std::int64_t rows = settings.memory_bytes / 4;
      if (grows && settings.memory_is_limit) counter_.set_max_row_bytes(rows);
      kept += grows ? rows : files * counter_.row_bytes();
    }
    if (options_.pages) kept += settings.jobs * counter_.pages_bytes();
    settings.memory_bytes -= std::min(kept, settings.memory_bytes / 2);
  }

  void take(const BatchResult& result) {
    const BatchFile& file = found_.files[result.item];
    if (!result.warnings.empty() || result.failed) progress_.clear();
    for (const std::string& warning : result.warnings) log_warning(warning, subject_of(warning, file));
    if (result.failed) {
      log_error(result.reason, subject_of(result.reason, file));
      totals_.failures.push_back({result.item, &file, *result.failed, result.reason});
      return;
    }
    ++totals_.counted;
    const ImageHeader& header = result.header;
    if (totals_.pages) {
      *totals_.pages += result.pages;
      pixels_ += result.pixels;
    } else {
      counter_.image_done(result);
      pixels_ += header.shape.pixels();
    }
    if (header.bits_per_sample > 8 && is_byte(header.shape.sample))
      note(totals_.reduced, result.item, std::to_string(header.bits_per_sample) + " bits");
    if (!result.unpreserved_profile.empty()) note(totals_.profiles, result.item, result.unpreserved_profile);
  }

  [[nodiscard]] RunCounts counts() const {
    return {.total = totals_.images + totals_.problems.size(),
            .done = totals_.counted,
            .failed = totals_.failed(),
            .skipped = 0,
            .pixels = pixels_,
            .seconds = std::chrono::duration<double>(Clock::now() - start_).count()};
  }

  // The example is the first by name, whatever the order of completion.
  void note(BatchTotals::CountWithExample& noted, std::size_t item, const std::string& what) {
    std::size_t& first = &noted == &totals_.reduced ? first_reduced_ : first_profile_;
    if (noted.images++ > 0 && first < item) return;
    first = item;
    noted.example = printable(found_.files[item].name()) + " (" + what + ")";
  }

  // Prints partial statistics but does not write them: a file could not show that it is incomplete.
  void report() const {
    const bool is_whole = totals_.stopped.empty();
    const std::string& rows = options_.per_image_file;
    if (is_whole && !rows.empty())
      naming(output_name(rows), [&] { write_stats_images(totals_, found_.files, counter_.rows(), rows); });
    if (is_whole && !options_.json_file.empty()) write_text(options_.json_file, stats_json(totals_));
    if (!is_whole && (!options_.json_file.empty() || !options_.per_image_file.empty()))
      log_warning("no results written because not all images were counted");
    log_summary(stats_head(totals_), counts());
    if (options_.logging.quiet) return;
    print_table(stats_table(totals_), options_.json_file == kStandardStream || rows == kStandardStream);
  }

  const StatsOptions& options_;
  BatchFiles found_;
  StatsTotals totals_;
  StatsCounter counter_;
  std::size_t first_reduced_ = 0, first_profile_ = 0;  // items; meaningless while none is noted
  std::int64_t pixels_ = 0;
  Progress progress_;
  Clock::time_point start_ = Clock::now();
  BatchEnd end_;
};

}  // namespace

int run_stats(const StatsOptions& options) {
  if (options.shard) log_always(shard_text(*options.shard));
  return StatsRun(options).run();
}

}  // namespace imgpipe
