#include "app/pages/pages_command.h"

#include <chrono>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <utility>

#include <unistd.h>

#include "app/batch/progress.h"
#include "app/exit_code.h"
#include "app/image_comparison.h"
#include "app/image_page.h"
#include "app/image_results.h"
#include "app/image_set_up.h"
#include "app/image_settings.h"
#include "app/log.h"
#include "app/pages/pages_report.h"
#include "app/print.h"
#include "app/report/report_names.h"
#include "app/report/trace_file.h"
#include "app/signals.h"
#include "app/standard_streams.h"
#include "images/error.h"
#include "images/files/output_file.h"
#include "images/files/temporary_file.h"
#include "images/text.h"
#include "pipeline/device.h"
#include "pipeline/pages/page_run.h"

namespace imgpipe {
namespace {

class PagesRun {
 public:
  PagesRun(const ProcessOptions& options, const EngineFactory& factory)
      : options_(options),
        format_(output_format(options.output.path, options.output.format)),
        stdout_is_taken_(goes_to_stdout(options.output.path) || reports_to_stdout(options)),
        choice_(options, factory),
        settings_(image_settings(options)),
        pages_(image_files(options, input_name(options.input.path)), settings_,
               {*options.pages, options.stages.series_steps}, InputKind::any, start_),
        progress_(Progress::way_here(!options.logging.quiet)) {
    if (!options.reports.stages_folder.empty())
      throw Error(ErrorKind::usage, options.pages->alone
                                        ? "--keep-stages does not go with range=series: leave out one of them"
                                        : "--keep-stages is for one image: choose a page with --pages N");
    if (wants_page(options))
      throw Error(
          ErrorKind::usage,
          "--report FILE.html is for one image: choose a page with --pages N, or report as .json or .csv");
    check_paths(options, format_, in_use_);
    pages_.set_most_bytes(options.execution.memory_bytes);
    choice_.begin();
    facts_.options = &options;
    facts_.output_format = format_;
  }

  int run() {
    log_removed(stale_.remove(options_.output.path));  // before this run has a temporary file of its own
    pages_.open([this](const Plan& plan, const ImageHeader& header) { judge(plan, header); });
    if (const std::string damage = pages_.warning(); !damage.empty()) warn(damage);
    engine_ = &choice_.engine(pages_.most_pixels(), not_on_cuda_);
    facts_.input = pages_.first_header();
    take_facts();
    if (!options_.output.new_folder.empty())
      make_result_folder(options_.output.new_folder, options_.output.sync.get());
    if (!options_.reports.trace_file.empty())
      trace_.emplace(options_.reports.trace_file, options_.output.sync.get());
    signal_line_.emplace();
    tell_signal();
    measure();
    begin_pass();
    pages_.run(*engine_,
               {.wishes = [this] { return wishes(); }, .done = [this](PageDone& page) { take(page); }});
    signal_line_.reset();
    progress_.clear();
    for (const std::string& warning : take_device_warnings()) warn(warning);
    pages_.finish();
    work_on();
    take_facts();
    if (const std::int64_t bytes = pages_.passed_over_bytes(); bytes > 0)
      warn(input_name(options_.input.path) +
           ": skipped bytes after JPEGs with Exif, which are not images: " + std::to_string(bytes));
    if (trace_) trace_->close();
    if (histogram_) write_histogram(options_, *histogram_);
    report();
    if (sums_.identical) return kExitDone;
    const std::string wrong =
        input_name(options_.input.path) + ": " + sums_.implementation + " differs from the reference";
    log_error(wrong, subject_of(wrong, options_));
    return kExitDifference;
  }

 private:
  void judge(const Plan& plan, const ImageHeader& header) {
    if (const Step* const lacking = step_without_cuda(plan); lacking != nullptr && not_on_cuda_.empty())
      not_on_cuda_ = why_not_on_cuda(*lacking);
    // Of a stream when it is at work already.
    if (engine_ != nullptr && !not_on_cuda_.empty()) engine_ = &choice_.engine(0, not_on_cuda_);
    check_histogram(options_, plan);
    if (!facts_.pages) {
      say_plan(plan);
      facts_.pages.emplace();
    } else if (header.shape != first_shape_) {
      facts_.pages->same_input = false;
    }
    if (first_shape_.width == 0) first_shape_ = header.shape;
  }

  void take_facts() {
    facts_.input_bytes = pages_.input_bytes();
    facts_.output_bytes = pages_.output_bytes();
    facts_.pages->in_file = pages_.pages_in_file();
    facts_.pages->first = pages_.range().first;
    facts_.pages->last = pages_.range().last;
    facts_.pages->stack = pages_.makes_stack();
  }

  // A first pass over all pages, where the range is that of the series.
  void measure() {
    if (options_.stages.series_steps.empty()) return;
    const Timeline timeline(start_);
    const std::int64_t begin = timeline.now_ns();
    begin_pass();
    pages_.measure(*engine_, [this](const ImageHeader& header) {
      if (pass_.done == pass_.total) begin_pass();  // another contrast step
      page_done(header);
    });
    progress_.clear();
    sums_.rows.push_back({.name = "range", .time_ms = static_cast<double>(timeline.now_ns() - begin) / 1e6});
    for (const std::size_t step : options_.stages.series_steps) {
      series_.push_back(pages_.stages()[step]);
      sums_.notes.push_back("contrast: lo " + std::to_string(series_.back().parameters[0]) + ", hi " +
                            std::to_string(series_.back().parameters[1]) + ", of the series");
    }
  }

  // A pass over all pages: one for each contrast step with range=series, then the one that writes.
  void begin_pass() {
    const auto [first, last] = pages_.range();
    const bool is_endless = last == std::numeric_limits<std::int64_t>::max();  // a stream
    const std::size_t passes = options_.stages.series_steps.size() + 1;
    ++pass_number_;
    pass_start_ = Timeline::Clock::now();
    pass_ = {.total = is_endless ? 0 : static_cast<std::size_t>(last - first + 1), .unit = "pages"};
    if (passes > 1) pass_.pass = "pass " + std::to_string(pass_number_) + " of " + std::to_string(passes);
    show_progress();
  }

  void page_done(const ImageHeader& header) {
    ++pass_.done;
    pass_.pixels += header.shape.pixels();
    show_progress();
  }

  void show_progress() {
    if (pass_.total == 1) return;
    const auto seconds_since = [now = Timeline::Clock::now()](Timeline::Clock::time_point then) {
      return std::chrono::duration<double>(now - then).count();
    };
    pass_.seconds = seconds_since(pass_start_);
    progress_.show(pass_, seconds_since(start_));
  }

  // What a signal writes as the last line: it ends the run at once, and finished pages stay.
  void tell_signal() {
    if (options_.logging.quiet) return;
    const auto [first, last] = pages_.range();
    const bool is_endless = last == std::numeric_limits<std::int64_t>::max();
    const RunCounts counts{.total = is_endless ? 0 : static_cast<std::size_t>(last - first + 1),
                           .done = finished_,
                           .seconds = static_cast<double>(Timeline(start_).now_ns()) / 1e9,
                           .unit = "pages"};
    std::string text = "stopped by a signal: " + std::to_string(finished_);
    if (!is_endless) text += " of " + std::to_string(counts.total);
    text += " pages finished";
    if (pages_.makes_stack()) text += "; OUTPUT was not written, because it would not be complete";
    const bool has_bar = Progress::way_here(true) == Progress::Way::bar;
    signal_line_->set((has_bar ? "\r\x1b[K" : "") + summary_line(text, counts));
  }

  [[nodiscard]] Job wishes() const {
    Job job;
    job.repeat = options_.reports.repeat;
    job.keep_source = options_.reports.compare;
    job.keep_outputs = options_.reports.compare;
    job.keep_pixels = !options_.reports.histogram_file.empty();
    return job;
  }

  void warn(const std::string& text) {
    log_warning(text, subject_of(text, options_));
    facts_.warnings.push_back(text);
  }

  // Once for all pages.
  void say(const ImageNote& note) {
    if (!said_.is_new(note)) return;
    progress_.clear();
    (is_notice(note.about) ? log_notice : log_warning)(note.text, subject_of(note.text, options_));
    facts_.warnings.push_back(note.text);
  }

  // What follows the page is no time of the work's.
  void take(PageDone& page) {
    ++finished_;
    tell_signal();
    const double wall_ms = work_on();
    if (pages_.makes_files()) log_removed(stale_.remove(pages_.output_of(page.number)));
    for (const ImageNote& note : page.job.notes()) say(note);
    PageEntry entry{.number = page.number,
                    .output = pages_.makes_files() ? pages_.output_of(page.number) : "",
                    .input = page.job.header().shape,
                    .written = page.job.output_shape(),
                    .bits_per_sample = page.job.header().bits_per_sample,
                    .output_bytes = page.job.output_bytes(),
                    .wall_ms = wall_ms,
                    .ranges = contrast_ranges(page.outcome)};
    if (entries_.empty()) {
      facts_.output = entry.written;
      facts_.depth_loss = page.job.depth_loss();
    }
    facts_.pages->same_output = facts_.pages->same_output && entry.written == facts_.output;
    if (!options_.reports.histogram_file.empty()) add_histogram(page, entry);
    Comparison comparison;
    if (options_.reports.compare) comparison = compare_with_reference(options_, page.job, page.outcome);
    const ImageReport report =
        make_image_report({.timeline = &page.job.timeline(),
                           .plan = &page.outcome.plan,
                           .wall_ms = wall_ms,
                           .reference = options_.reports.compare ? &comparison.reference.timeline : nullptr,
                           .differences = options_.reports.compare ? &comparison.differences : nullptr,
                           .decoded = comparison.decoded,
                           .library_decode_ms = comparison.library_decode_ms});
    entry.identical = report.identical;
    add_page(sums_, report, page.number);
    if (trace_) trace_->add(report.spans, page.name);
    entries_.push_back(std::move(entry));
    page_done(page.job.header());
    resumed_ = Timeline::Clock::now();
  }

  // Since the last page: it is the work's time. Returns it.
  double work_on() {
    const Timeline::Clock::time_point now = Timeline::Clock::now();
    const double ms = std::chrono::duration<double, std::milli>(now - std::exchange(resumed_, now)).count();
    wall_ms_ += ms;
    return ms;
  }

  void add_histogram(const PageDone& page, const PageEntry& entry) {
    const PageFacts& facts = *facts_.pages;
    const std::string name =
        input_name(std::filesystem::path(options_.input.path).filename().string()) +
        (pages_.is_stream() ? ", images from " + std::to_string(facts.first)
                            : ", pages " + std::to_string(facts.first) + "-" + std::to_string(facts.last));
    HistogramPair pair = histogram_pair(name, page.outcome, entry.ranges);
    if (!histogram_) {
      histogram_ = std::move(pair);
      histogram_->ranges.clear();  // each page has its own
    } else {
      add_counts(*histogram_, pair, page.number);
    }
  }

  void report() {
    const bool wants_report = !options_.logging.quiet || !options_.reports.files.empty();
    finish_pages(sums_, wall_ms_, wants_report ? engine_->copy_bandwidth() : 0);
    sums_.implementation = engine_->implementation();
    sums_.device_why = choice_.why();
    sums_.processor = engine_->device_name();
    for (std::string& line : range_lines(entries_)) sums_.notes.push_back(std::move(line));
    for (const std::string& file : options_.reports.files) {
      const std::string text = is_json_report(file) ? pages_report_json(sums_, facts_, entries_, series_)
                                                    : image_report_csv(sums_);
      naming(output_name(file),
             [&] { write_file(file, std::as_bytes(std::span(text)), options_.output.sync.get()); });
    }
    options_.output.sync->sync_names();
    if (options_.logging.quiet) return;
    const int fd = stdout_is_taken_ ? STDERR_FILENO : STDOUT_FILENO;
    print_table(image_report_table(sums_, facts_, wants_color(fd, options_.logging.no_color)),
                stdout_is_taken_);
  }

  Timeline::Clock::time_point start_ = Timeline::Clock::now();
  Timeline::Clock::time_point resumed_ = start_;
  double wall_ms_ = 0;  // of the work, without comparisons
  const ProcessOptions& options_;
  Format format_;
  FilesInUse in_use_;
  bool stdout_is_taken_;  // by the stack or a report; found before OUTPUT is a new file
  EngineChoice choice_;
  Engine* engine_ = nullptr;
  ImageSettings settings_;
  PageRun pages_;
  Progress progress_;
  RunCounts pass_;
  std::size_t pass_number_ = 0;
  std::size_t finished_ = 0;  // pages
  std::optional<SignalLine> signal_line_;
  Timeline::Clock::time_point pass_start_;
  std::string not_on_cuda_;
  Shape first_shape_{0, 0, 1};
  RunFacts facts_;
  ImageReport sums_;
  std::vector<PageEntry> entries_;
  std::vector<StageRequest> series_;  // what range=series became
  PageNotes said_;
  std::optional<HistogramPair> histogram_;
  std::optional<TraceFile> trace_;
  StaleOutputs stale_;
};

}  // namespace

int run_pages(const ProcessOptions& options, const EngineFactory& factory) {
  return PagesRun(options, factory).run();
}

}  // namespace imgpipe
