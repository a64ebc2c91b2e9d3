// One image: read, decode, run the plan, encode, write; then the reports.
#include <filesystem>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <unistd.h>

#include "app/batch/one_image.h"
#include "app/command.h"
#include "app/exit_code.h"
#include "app/image_comparison.h"
#include "app/image_page.h"
#include "app/image_results.h"
#include "app/image_set_up.h"
#include "app/image_settings.h"
#include "app/log.h"
#include "app/pages/pages_command.h"
#include "app/print.h"
#include "app/report/image_report.h"
#include "app/report/image_report_html.h"
#include "app/report/report_names.h"
#include "app/report/trace_file.h"
#include "app/result_files.h"
#include "app/standard_streams.h"
#include "app/update/batch_update.h"
#include "images/error.h"
#include "images/files/output_file.h"
#include "images/files/temporary_file.h"
#include "images/formats/page_list.h"
#include "images/text.h"
#include "pipeline/batch/batch_entry.h"
#include "pipeline/decode_row.h"
#include "pipeline/device.h"
#include "pipeline/image_job.h"

namespace imgpipe {
namespace {

// As messages have it.
std::string page_name(const ProcessOptions& options) {
  const std::string name = input_name(options.input);
  return options.pages ? name + ", page " + std::to_string(options.pages->first) : name;
}

class ImageRun {
 public:
  ImageRun(const ProcessOptions& options, const EngineFactory& factory)
      : options_(options),
        format_(output_format(options.output, options.format)),
        stdout_is_taken_(goes_to_stdout(options.output) || reports_to_stdout(options)),
        choice_(options, factory),
        settings_(image_settings(options)),
        image_(image_files(options, page_name(options)), settings_, Timeline(start_)) {
    check_paths(options, format_, in_use_);
    choice_.begin();
    // Looking for devices is part of what --device costs; with a CUDA engine its own thread goes on with it.
    Timeline& timeline = image_.timeline();
    timeline.add({"device", "host", SpanKind::host, 0, timeline.now_ns(), 0, 0});
    facts_.options = &options;
    facts_.output_format = format_;
  }

  int run() {
    Outcome outcome = process();
    const double wall_ms = static_cast<double>(image_.timeline().now_ns()) / 1e6;
    if (!options_.keep_stages_folder.empty()) write_stages(options_, outcome, image_.mark());
    const std::vector<ContrastRange> ranges = contrast_ranges(outcome);
    if (!options_.histogram_file.empty()) {
      const std::string name = input_name(std::filesystem::path(options_.input).filename().string());
      write_histogram(options_, histogram_pair(name, outcome, ranges));
    }
    Comparison comparison;
    if (options_.compare) comparison = compare_with_reference(options_, image_, outcome);
    const bool wants_report = !options_.talk.quiet || !options_.report_files.empty();
    ImageReport report =
        make_image_report({.timeline = &image_.timeline(),
                           .plan = &outcome.plan,
                           .wall_ms = wall_ms,
                           .copy_bandwidth = wants_report ? engine_->copy_bandwidth() : 0,
                           .reference = options_.compare ? &comparison.reference.timeline : nullptr,
                           .differences = options_.compare ? &comparison.differences : nullptr,
                           .decoded = comparison.decoded,
                           .library_decode_ms = comparison.library_decode_ms});
    report.ranges = ranges;
    report.implementation = engine_->implementation();
    report.device_why = choice_.why();
    report.processor = engine_->device_name();
    if (wants_page(options_)) page_ = make_report_page(options_, outcome, ranges, facts_.warnings);
    give_report(report);
    if (report.identical) return kExitDone;
    const std::string wrong =
        input_name(options_.input) + ": " + report.implementation + " differs from the reference";
    log_error(wrong, subject_of(wrong, options_));
    return kExitDifference;
  }

 private:
  void warn(const std::string& text) {
    log_warning(text, subject_of(text, options_));
    facts_.warnings.push_back(text);
  }

  Outcome process() {
    open_input();
    image_.make_plan();
    const Step* const lacking = step_without_cuda(image_.plan());
    engine_ =
        &choice_.engine(image_.header().shape.pixels(), lacking == nullptr ? "" : why_not_on_cuda(*lacking));
    say_plan(image_.plan());
    check_results_of(image_.plan());
    image_.make_output();
    // A small file is in place too soon to be left behind, and reading its directory would cost more.
    if (image_.memory_question().handed_on) log_removed(StaleOutputs().remove(options_.output));
    check_memory_limit();
    facts_.output = image_.output_shape();
    facts_.depth_loss = image_.depth_loss();
    if (!options_.new_folder.empty()) make_result_folder(options_.new_folder, options_.sync.get());
    Job wishes;
    wishes.repeat = options_.repeat;
    wishes.keep_source = options_.compare;
    wishes.keep_outputs = options_.compare || !options_.keep_stages_folder.empty();
    wishes.keep_pixels = !options_.histogram_file.empty();
    keep_for_page(options_, wishes);
    Outcome outcome = image_.run(*engine_, std::move(wishes));
    for (const ImageNote& note : image_.notes()) {
      (is_notice(note.about) ? log_notice : log_warning)(note.text, subject_of(note.text, options_));
      facts_.warnings.push_back(note.text);
    }
    for (const std::string& warning : take_device_warnings()) warn(warning);
    image_.write();
    facts_.output_bytes = image_.output_bytes();
    return outcome;
  }

  // By --memory.
  void check_memory_limit() {
    const std::int64_t limit = options_.batch.memory_bytes;
    if (limit == 0) return;
    const auto need = [&] {
      return engine_->memory_need(image_.memory_question()).bytes + image_.held_input_bytes();
    };
    if (need() <= limit || (image_.use_less_memory() && need() <= limit)) return;
    throw over_budget(image_, need(), limit);
  }

  void open_input() {
    auto span = image_.timeline().span("decode", SpanKind::host);
    options_.pages ? read_page() : read_file();
    image_.open();
    span.set_name(decode_row(image_.reader()));
    facts_.input = image_.header();
    facts_.input_bytes = image_.input_bytes();
  }

  void read_file() {
    PendingInput input(options_.input, options_.decode, InputKind::any);
    image_.read(input);
  }

  // The one that --pages names.
  void read_page() {
    const PageList list = naming(input_name(options_.input),
                                 [&] { return PageList(options_.input, options_.decode, InputKind::any); });
    if (const std::string damage = list.warning(); !damage.empty()) {
      warn(input_name(options_.input) + ": " + damage);
    }
    if (ImageStream* const stream = list.stream()) return read_image(*stream);
    const PageRange range =
        naming(input_name(options_.input), [&] { return chosen_pages(*options_.pages, list.size()); });
    if (list.size() > 1) image_.set_page({});
    image_.set_input_content(naming(input_name(options_.input), [&] { return list.content_hash(); }));
    image_.read(naming(image_.files().input_name, [&] { return list.page(range.first - 1); }));
  }

  // The same of a stream.
  void read_image(ImageStream& stream) {
    const std::int64_t wanted = options_.pages->first;
    const std::string name = input_name(options_.input);
    std::vector<std::byte> image;
    while (stream.images() < wanted) {
      if (naming(name, [&] { return stream.at_end(); }))
        naming(name, [&] { throw pages_missing(*options_.pages, stream.images()); });
      const std::string at =
          ", image " + std::to_string(stream.images() + 1) + " at byte " + std::to_string(stream.offset());
      image = naming(name + at, [&] { return stream.next(); });
    }
    image_.read(InputFile(std::move(image)));
  }

  // What of the results depends on the plan.
  void check_results_of(const Plan& plan) {
    check_histogram(options_, plan);
    for (const StageFile& file : stage_files(options_.keep_stages_folder, plan)) {
      in_use_.add("--keep-stages", file.path);
      check_replaceable(file.path, why_no_image(file.path, options_.replace, image_.mark(), options_.input));
      if (std::filesystem::exists(file.path)) check_result_writable(file.path);
    }
  }

  void give_report(const ImageReport& report) {
    for (const std::string& file : options_.report_files) {
      const std::string text = is_json_report(file)      ? image_report_json(report, facts_)
                               : file.ends_with(".html") ? image_report_html(report, facts_, page_)
                                                         : image_report_csv(report);
      naming(output_name(file),
             [&] { write_file(file, std::as_bytes(std::span(text)), options_.sync.get()); });
    }
    if (!options_.trace_file.empty()) {
      TraceFile trace(options_.trace_file, options_.sync.get());
      trace.add(report.spans, options_.input);
      trace.close();
    }
    options_.sync->sync_names();
    if (options_.talk.quiet) return;
    const int fd = stdout_is_taken_ ? STDERR_FILENO : STDOUT_FILENO;
    const std::string table = image_report_table(report, facts_, wants_color(fd, options_.talk.no_color));
    print_table(table, stdout_is_taken_);
  }

  Timeline::Clock::time_point start_ = Timeline::Clock::now();  // before anything else
  const ProcessOptions& options_;
  Format format_;
  FilesInUse in_use_;
  bool stdout_is_taken_;  // by the image or a report; found before OUTPUT is a new file
  EngineChoice choice_;
  Engine* engine_ = nullptr;
  ImageSettings settings_;
  ImageJob image_;
  RunFacts facts_;
  ReportPage page_;  // where one was asked for
};

int run_one(const ProcessOptions& options, const EngineFactory& factory) {
  if (options.pages && (!options.pages->alone || !options.series_steps.empty()))
    return run_pages(options, factory);
  return ImageRun(options, factory).run();
}

int update_one(ProcessOptions options, const EngineFactory& factory) {
  const ImageUpdate update(options);
  if (update.is_done()) {
    if (!options.talk.quiet)
      print_table(output_name(options.output) + ": is up to date\n", reports_to_stdout(options));
    return kExitDone;
  }
  if (update.state() != UpdateState::up_to_date)
    log_detail(output_name(options.output) + ": to be made: " + std::string(update_reason(update.state())));
  options.output_is_stamped = update.is_stamped();
  const int code = run_one(options, factory);
  if (code == kExitDone) update.stamp();
  return code;
}

}  // namespace

int run_image(const ProcessOptions& options, const EngineFactory& factory) {
  check_options_of_one_file(options);
  const Format format = output_format(options.output, options.format);
  const bool is_left = options.batch.skip_existing && has_output(options, format);
  if (options.batch.dry_run) {
    FilesInUse in_use;
    if (!is_left) check_paths(options, format, in_use);
    print_text((is_left ? "0 to do, 1 skipped"
                        : input_name(options.input) + " -> " + output_name(options.output) +
                              "\n1 to do, 0 skipped") +
               ", stages " + options.stage_list + "\n");
    return kExitDone;
  }
  if (is_left) {
    if (!options.talk.quiet)
      print_table(output_name(options.output) + ": is there already\n", reports_to_stdout(options));
    return kExitDone;
  }
  return options.update ? update_one(options, factory) : run_one(options, factory);
}

}  // namespace imgpipe
