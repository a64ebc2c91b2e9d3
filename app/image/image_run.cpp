#include "app/image/image_run.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "app/exit_code.h"
#include "app/files/text_file.h"
#include "app/image/image_results.h"
#include "app/image/image_set_up.h"
#include "app/image/image_settings.h"
#include "app/log.h"
#include "app/pages/pages_progress.h"
#include "app/pages/pages_report.h"
#include "app/progress.h"
#include "app/report/report_names.h"
#include "app/report/trace_file.h"
#include "app/run_context.h"
#include "app/standard_streams.h"
#include "images/error.h"
#include "images/files/temporary_file.h"
#include "images/text.h"
#include "kernels/depth/depth.h"
#include "kernels/stage.h"
#include "pipeline/decode_scale.h"
#include "pipeline/device.h"
#include "pipeline/jobs/combine_job.h"
#include "pipeline/jobs/input_job.h"
#include "pipeline/statistics/series_range.h"

namespace imgpipe {
namespace {

void reject_options_for_one_image(const ProcessOptions& options) {
  if (!options.reports.stages_directory.empty())
    throw Error(ErrorKind::usage, options.pages->alone
                                      ? "--keep-stages: cannot be combined with range=series"
                                      : "--keep-stages: needs a single image; choose a page with --pages N");
  if (has_html_report(options))
    throw Error(
        ErrorKind::usage,
        "--report FILE.html: needs a single image; choose a page with --pages N, or use .json or .csv");
}

CombineSettings combine_settings(const ProcessOptions& options, Format format) {
  const StackOptions& stack = *options.stack;
  const ImageSettings image = image_settings(options);
  CombineSettings settings;
  settings.stages = stack.steps;
  settings.fuse = options.fuse;
  settings.decode = image.decode;
  settings.decode.least_size = least_decoded_size(stack.steps);
  // Pages use a CUDA device only if it is named.
  settings.device = options.execution.device == "auto" ? "cpu" : options.execution.device;
  settings.device_memory_bytes = options.device_memory_bytes;
  settings.inputs = stack.inputs;
  settings.pages = stack.pages;
  settings.projection = stack.projection;
  settings.montage = stack.montage;
  const std::vector<StageRequest>& then = options.stages.steps;
  const bool makes_floats =
      !then.empty() && then.front().stage->name == "depth" && is_float(depth_wanted(then.front().parameters));
  settings.float_sum = !stack.montage && stack.projection == Projection::sum &&
                       (makes_floats || format_info(format).written_bits == 0);
  settings.threads = thread_count(options.execution);
  settings.memory_bytes = options.execution.memory_bytes;
  return settings;
}

// Starting a thread, and reading how many there may be, takes longer than processing such an image.
bool is_tiny(const ImageHeader& header, const Plan& plan) {
  constexpr std::int64_t kPixels = std::int64_t{1} << 14;
  return unscaled_shape(header).pixels() <= kPixels &&
         std::ranges::all_of(plan.operations,
                             [](const Operation& one) { return shape_of(one.out).pixels() <= kPixels; });
}

// Returns the shape of the written image, or of the image that a written tensor was made of.
Shape image_of(const FinishedItem& item) {
  const std::optional<TensorType>& tensor = item.outcome.plan.tensor;
  return tensor ? Shape{tensor->width, tensor->height, tensor->channels, tensor->sample}
                : item.job.output_shape();
}

class InputRun {
 public:
  InputRun(const ProcessOptions& options, const EngineFactory& factory)
      : options_(options),
        format_(output_format(options.output.path, options.output.format)),
        stdout_is_taken_(is_stdout(options.output.path) || reports_to_stdout(options)),
        is_single_(!options.pages || (options.pages->alone && options.stages.series_steps.empty())),
        choice_(options, factory),
        settings_(image_settings(options)) {
    settings_.counts_planes = !options.reports.histogram_file.empty() || has_html_report(options);
    // The metadata of the first image, such as its position and time, does not describe a sheet.
    if (options.stack && options.stack->montage) settings_.keep_metadata = false;
    input_.emplace(image_files(options, input_name(options.input.path)), settings_, page_request(options),
                   InputKind::any, prepare());
    input_->set_max_bytes(options.execution.memory_bytes);
    if (options.stack) input_->set_combined(combined_.emplace(combine_settings(options, format_)));
    facts_.options = &options;
    if (!options.reports.files.empty()) facts_.command = command_text();
    facts_.output_format = format_;
  }

  int run() {
    if (!is_single_)
      log_removed(stale_.remove(options_.output.path));  // before this run creates temporary files
    input_->open([this](const Plan& plan, const ImageHeader& header) { check(plan, header); },
                 [this](const std::string& damage) { warn(damage); });
    is_single_ ? choose_for_image() : choose_for_pages();
    input_->run(*engine_, {.has_output = [this](ImageJob& image) { remove_stale_file(image); },
                           .begin =
                               [this](ImageJob& image) {
                                 if (combined_) combine(image);
                                 return begin();
                               },
                           .ran =
                               [this](ImageJob& image) {
                                 if (is_single_) log_notes(image);
                               },
                           .done = [this](FinishedItem& item) { take(item); }});
    if (!is_single_) finish_pages_of_input();
    if (options_.reports.hash) take_hashes();
    report();
    if (report_.identical) return kExitDone;
    const std::string wrong =
        input_name(options_.input.path) + ": " + report_.implementation + " differs from the reference";
    log_error(wrong, subject_of(wrong, options_));
    return kExitDifference;
  }

 private:
  // Rejects options and paths before the input is read. Returns the timeline of the items.
  Timeline prepare() {
    Timeline timeline(start_);
    if (!is_single_) reject_options_for_one_image(options_);
    check_paths(options_, format_, in_use_);
    choice_.begin();
    // Listing devices is part of the cost of --device; with CUDA it continues on the engine's thread.
    if (is_single_) timeline.add({"device", "host", SpanKind::host, 0, timeline.now_ns(), 0, 0});
    return timeline;
  }

  // ---- before the first item runs --------------------------------------------------------------------

  void choose_for_image() {
    const Plan& plan = input_->single().plan();
    engine_ =
        &choice_.engine(input_->max_pixels(), why_not_on_cuda(plan), is_tiny(input_->first_header(), plan));
    facts_.input = input_->first_header();
    facts_.input_bytes = input_->input_bytes();
    log_plan(plan);
    check_histogram(options_, plan);
    for (const StageFile& file : stage_files(options_.reports.stages_directory, plan)) {
      if (is_float(plan.parts(file.step).back().out.sample))
        throw Error(ErrorKind::usage,
                    "--keep-stages: PNG cannot store the float samples of " + plan.steps[file.step].label);
      in_use_.add("--keep-stages", file.path);
      check_replaceable(file.path, image_refusal_reason(file.path, options_.output.replace,
                                                        input_->single().mark(), options_.input.path));
      if (std::filesystem::exists(file.path)) check_result_writable(file.path);
    }
  }

  // Called for each of several items.
  void check(const Plan& plan, const ImageHeader& header) {
    if (not_on_cuda_.empty()) not_on_cuda_ = why_not_on_cuda(plan);
    // For a stream, the engine is created before the first item's plan is known.
    if (engine_ != nullptr && !not_on_cuda_.empty()) engine_ = &choice_.engine(0, not_on_cuda_, false);
    check_histogram(options_, plan);
    if (!facts_.pages) {
      log_plan(plan);
      facts_.pages.emplace();
    } else if (header.shape != first_shape_) {
      facts_.pages->same_input = false;
    }
    if (first_shape_.width == 0) first_shape_ = header.shape;
  }

  void choose_for_pages() {
    engine_ = &choice_.engine(input_->max_pixels(), not_on_cuda_, false);
    facts_.input = input_->first_header();
    take_page_facts();
    make_new_directory();
    if (!options_.reports.trace_file.empty())
      trace_.emplace(options_.reports.trace_file, options_.output.sync.get());
    progress_.emplace(*input_, options_.logging.quiet, options_.stages.series_steps.size() + 1, start_);
    measure();
    progress_->begin_pass();
  }

  void make_new_directory() const {
    if (!options_.output.new_directory.empty())
      make_result_directory(options_.output.new_directory, options_.output.sync.get());
  }

  void take_page_facts() {
    facts_.input_bytes = input_->input_bytes();
    facts_.output_bytes = input_->output_bytes();
    facts_.pages->in_file = input_->pages_in_file();
    facts_.pages->first = input_->range().first;
    facts_.pages->last = input_->range().last;
    facts_.pages->stack = input_->makes_stack();
    facts_.pages->unit = input_->page_unit();
  }

  // Runs the passes over all pages that find the ranges of range=series.
  void measure() {
    if (options_.stages.series_steps.empty()) return;
    const Timeline timeline(start_);
    const std::int64_t begin = timeline.now_ns();
    progress_->begin_pass();
    input_->measure(*engine_, [this](const ImageHeader& header) { progress_->count_page(header); });
    progress_->clear();
    report_.rows.push_back(
        {.name = "range", .time_ms = static_cast<double>(timeline.now_ns() - begin) / 1e6});
    for (const std::size_t step : options_.stages.series_steps) {
      series_.push_back(input_->stages()[step]);
      const StretchRange range = series_range(series_.back());
      report_.notes.push_back("contrast: lo " + std::to_string(range.lo) + ", hi " +
                              std::to_string(range.hi) + " (range of the series)");
    }
  }

  // ---- items -----------------------------------------------------------------------------------------

  // Searches only for large files: a small one is written too quickly to be left over, and listing its
  // directory would cost more.
  void remove_stale_file(const ImageJob& image) {
    if (!image.memory_estimate_request().handed_on) return;
    log_removed(stale_.remove(options_.output.path));
    for (const std::string& path : options_.output.also) log_removed(stale_.remove(path));
  }

  // Makes the image that the item is, before its first row is read.
  void combine(ImageJob& image) {
    Progress progress(Progress::style_for_stderr(!options_.logging.quiet));
    const std::int64_t pixels = image.header().shape.pixels();
    auto span = image.timeline().span(options_.stack->montage ? "montage" : "stack", SpanKind::host);
    const auto show = [&](std::int64_t read, std::int64_t all) {
      progress.show({.total = static_cast<std::size_t>(all),
                     .done = static_cast<std::size_t>(read),
                     .failed = 0,
                     .skipped = 0,
                     .pixels = read * pixels / std::max<std::int64_t>(1, combined_->passes()),
                     .seconds = std::chrono::duration<double>(Timeline::Clock::now() - start_).count()});
    };
    const auto warn_between = [&](const std::string& text) {
      progress.clear();
      warn(text);
    };
    combined_->combine(warn_between, show);
    progress.clear();
    span.set_bytes(combined_->input_bytes() * combined_->passes());
    facts_.input_bytes = combined_->input_bytes();
    facts_.stack = {.images = combined_->items(), .passes = combined_->passes()};
  }

  Job begin() const {
    Job job;
    job.repeat = options_.reports.repeat;
    job.keep_source = options_.reports.compare;
    job.keep_outputs = options_.reports.compare || !options_.reports.stages_directory.empty();
    job.keep_pixels = !options_.reports.histogram_file.empty();
    if (!job.keep_pixels && !job.keep_outputs && !has_html_report(options_))
      job.counts_for =
          is_reported() || !options_.reports.trace_file.empty() ? CountsFor::timing : CountsFor::steps;
    if (!is_single_) return job;
    make_new_directory();
    keep_for_html_report(options_, job);
    return job;
  }

  void warn(const std::string& text) {
    log_warning(text, subject_of(text, options_));
    facts_.warnings.push_back(text);
  }

  void warn_of_devices() {
    for (const std::string& warning : take_device_warnings()) warn(warning);
  }

  // Logs each note once if there are several items.
  void log_notes(const ImageJob& image) {
    for (const ImageNote& note : image.notes()) {
      if (!is_single_) {
        if (!logged_notes_.is_new(note)) continue;
        progress_->clear();
      }
      (is_notice(note.about) ? log_notice : log_warning)(note.text, subject_of(note.text, options_));
      facts_.warnings.push_back(note.text);
    }
    if (is_single_) warn_of_devices();
  }

  // Time after an item's last byte does not count as work.
  void take(FinishedItem& item) {
    const double wall_ms = work_on();
    if (!is_single_) note_written_page(item);
    PageEntry entry{.number = item.number,
                    .output = input_->makes_files() ? input_->output_of(item.number) : "",
                    .input = item.job.header().shape,
                    .written = image_of(item),
                    .bits_per_sample = item.job.header().bits_per_sample,
                    .output_bytes = item.job.output_bytes(),
                    .wall_ms = wall_ms,
                    .ranges = contrast_ranges(item.outcome),
                    .outside = outside_counts(item.outcome)};
    add_also_facts(item.job);
    if (!is_single_ && input_->makes_files()) add_file_hashes(item, entry);
    if (entries_.empty()) {
      facts_.output = entry.written;
      facts_.tensor = item.outcome.plan.tensor;
      facts_.output_bytes = entry.output_bytes;
      facts_.depth_loss = item.job.depth_loss();
    }
    if (!options_.reports.stages_directory.empty()) write_stages(options_, item.outcome, item.job.mark());
    if (!options_.reports.histogram_file.empty()) add_histogram(item, entry);
    if (is_single_) write_histogram_file();
    Comparison comparison;
    if (options_.reports.compare) comparison = compare_with_reference(options_, item.job, item.outcome);
    ImageReport report =
        make_image_report({.timeline = &item.job.timeline(),
                           .plan = &item.outcome.plan,
                           .wall_ms = wall_ms,
                           .copy_bandwidth = is_single_ ? copy_bandwidth() : 0,
                           .reference = options_.reports.compare ? &comparison.reference.timeline : nullptr,
                           .differences = options_.reports.compare ? &comparison.differences : nullptr,
                           .decoded = comparison.decoded,
                           .library_decode_ms = comparison.library_decode_ms});
    entry.identical = report.identical;
    if (is_single_) {
      report_ = std::move(report);
      report_.ranges = entry.ranges;
      report_.outside = entry.outside;
      if (facts_.stack) report_.notes.insert(report_.notes.begin(), stack_text(facts_));
      if (has_html_report(options_))
        page_ = make_report_page(options_, item.outcome, report_.ranges, facts_.warnings);
      return;
    }
    facts_.pages->same_output = facts_.pages->same_output && entry.written == facts_.output;
    add_page(report_, report, item.number);
    if (trace_) trace_->add(report.spans, item.job.files().input_name);
    entries_.push_back(std::move(entry));
    progress_->note_finished_page(item.job.header());
    resumed_ = Timeline::Clock::now();
  }

  void add_also_facts(const ImageJob& job) {
    for (std::size_t i = 0; i < job.also().size(); ++i) {
      const AlsoOutput& output = job.also()[i];
      if (i == facts_.also.size())
        facts_.also.push_back({options_.stages.also[i].name, options_.output.also[i], output.shape()});
      facts_.also[i].bytes += output.bytes();
    }
  }

  // With --hash, of a page that is not in a stack.
  void add_file_hashes(const FinishedItem& item, PageEntry& entry) const {
    if (!options_.reports.hash) return;
    entry.output_hashes = item.job.output_hashes();
    const std::vector<std::string> paths = input_->also_outputs_of(item.number);
    for (std::size_t i = 0; i < paths.size(); ++i)
      entry.also.push_back({options_.stages.also[i].name, paths[i], item.job.also()[i].shape(),
                            item.job.also()[i].bytes(), item.job.also()[i].hashes()});
  }

  // Once all outputs are in place.
  void take_hashes() {
    facts_.input_hashes = input_->input_hashes();
    facts_.output_hashes = input_->output_hashes();
    const std::vector<FileHashes> also = input_->also_hashes();
    for (std::size_t i = 0; i < also.size(); ++i) facts_.also[i].hashes = also[i];
  }

  void note_written_page(const FinishedItem& item) {
    progress_->note_written_page();
    if (input_->makes_files()) {
      log_removed(stale_.remove(input_->output_of(item.number)));
      for (const std::string& path : input_->also_outputs_of(item.number)) log_removed(stale_.remove(path));
    }
    log_notes(item.job);
  }

  // Returns the time since the previous item's results were taken, and adds it to wall_ms_.
  double work_on() {
    const Timeline::Clock::time_point now = Timeline::Clock::now();
    const double ms = std::chrono::duration<double, std::milli>(now - std::exchange(resumed_, now)).count();
    wall_ms_ += ms;
    return ms;
  }

  void add_histogram(const FinishedItem& item, const PageEntry& entry) {
    std::string name = input_name(std::filesystem::path(options_.input.path).filename().string());
    if (!is_single_) {
      const PageFacts& facts = *facts_.pages;
      name += input_->is_stream() ? ", images from " + std::to_string(facts.first)
                                  : ", " + std::string(facts.unit) + "s " + std::to_string(facts.first) +
                                        "-" + std::to_string(facts.last);
    }
    HistogramPair pair = histogram_pair(name, item.outcome, entry.ranges);
    if (histogram_) return add_counts(*histogram_, pair, item.number);
    histogram_ = std::move(pair);
    if (!is_single_) histogram_->ranges.clear();  // each page has its own
  }

  void write_histogram_file() const {
    if (histogram_) write_histogram(options_, *histogram_);
  }

  // ---- after the last --------------------------------------------------------------------------------

  void finish_pages_of_input() {
    progress_.reset();
    warn_of_devices();
    input_->finish();
    work_on();
    take_page_facts();
    if (const std::int64_t bytes = input_->skipped_bytes(); bytes > 0)
      warn(input_name(options_.input.path) + ": skipped " + std::to_string(bytes) +
           " bytes of non-image data after Exif JPEGs");
    if (trace_) trace_->close();
    write_histogram_file();
    finish_pages(report_, wall_ms_, copy_bandwidth());
    for (std::string& line : range_lines(entries_)) report_.notes.push_back(std::move(line));
  }

  [[nodiscard]] bool is_reported() const {
    return !options_.logging.quiet || !options_.reports.files.empty();
  }

  double copy_bandwidth() { return is_reported() ? engine_->copy_bandwidth() : 0; }

  void report() {
    report_.implementation = engine_->implementation();
    report_.device_why = choice_.why();
    report_.threads = choice_.threads();
    if (is_reported()) report_.processor = engine_->device_name();
    for (const std::string& file : options_.reports.files)
      write_text(file, report_text(file), options_.output.sync.get());
    if (is_single_ && !options_.reports.trace_file.empty()) {
      TraceFile trace(options_.reports.trace_file, options_.output.sync.get());
      trace.add(report_.spans, options_.input.path);
      trace.close();
    }
    options_.output.sync->sync_names();
    if (options_.logging.quiet) return;
    const int fd = stdout_is_taken_ ? STDERR_FILENO : STDOUT_FILENO;
    print_table(image_report_table(report_, facts_, should_use_color(fd, options_.logging.no_color)),
                stdout_is_taken_);
  }

  [[nodiscard]] std::string report_text(const std::string& file) const {
    if (file.ends_with(".html")) return image_report_html(report_, facts_, page_);
    if (!is_json_report(file)) return image_report_csv(report_);
    return is_single_ ? image_report_json(report_, facts_)
                      : pages_report_json(report_, facts_, entries_, series_);
  }

  Timeline::Clock::time_point start_ = Timeline::Clock::now();  // before anything else
  Timeline::Clock::time_point resumed_ = start_;
  double wall_ms_ = 0;  // of the work, without comparisons
  const ProcessOptions& options_;
  Format format_;
  FilesInUse in_use_;
  bool stdout_is_taken_;  // by the output or a report; determined before OUTPUT is created
  const bool is_single_;  // false: there are or may be several items
  EngineChoice choice_;
  Engine* engine_ = nullptr;
  ImageSettings settings_;
  std::optional<CombineJob> combined_;  // of --stack
  std::optional<InputJob> input_;
  RunFacts facts_;
  ImageReport report_;  // totals if there are several items
  ReportPage page_;     // if requested
  std::optional<HistogramPair> histogram_;
  StaleTemporaryFiles stale_;
  // For several items:
  std::optional<PagesProgress> progress_;
  std::string not_on_cuda_;
  Shape first_shape_{0, 0, 1};
  std::vector<PageEntry> entries_;
  std::vector<StageRequest> series_;  // the steps with the ranges found for range=series
  PageNotes logged_notes_;
  std::optional<TraceFile> trace_;
};

}  // namespace

int run_input(const ProcessOptions& options, const EngineFactory& factory) {
  return InputRun(options, factory).run();
}

}  // namespace imgpipe
