// One image: read, decode, run the plan, encode, write; then the reports.
#include <algorithm>
#include <filesystem>
#include <span>
#include <utility>

#include <unistd.h>

#include "app/command.h"
#include "app/devices/calibration.h"
#include "app/exit_code.h"
#include "app/image_settings.h"
#include "app/log.h"
#include "app/report/histogram_file.h"
#include "app/report/image_report.h"
#include "app/report/trace_file.h"
#include "app/result_files.h"
#include "app/standard_streams.h"
#include "images/error.h"
#include "images/files/output_file.h"
#include "images/text.h"
#include "kernels/contrast/contrast.h"
#include "kernels/stage.h"
#include "pipeline/compare.h"
#include "pipeline/decode_row.h"
#include "pipeline/host/bands.h"
#include "pipeline/image_job.h"
#include "pipeline/owned_frame.h"

namespace imgpipe {
namespace {

void refuse_what_is_for_a_batch(const ProcessOptions& options) {
  for (const std::string& option : options.batch.given)
    throw Error(ErrorKind::usage,
                option + " is for a batch, and " + input_name(options.input) + " is one image");
  for (const std::string& file : options.report_files) {
    if (file.ends_with(".ndjson"))
      throw Error(ErrorKind::usage,
                  "--report: " + printable(file) + ": one image is reported as .json or .csv");
  }
}

void check_paths(const ProcessOptions& options, Format format, FilesInUse& in_use) {
  if (!format_info(format).writable) {
    throw Error(ErrorKind::usage, output_name(options.output) + ": cannot write " +
                                      std::string(format_info(format).name) +
                                      " files; name another ending or --format png");
  }
  check_stream(options.output);
  in_use.add_input("the input", options.input);
  in_use.add("OUTPUT", options.output);
  for (const auto& [option, path] : result_files(options)) in_use.add(option, path);
  in_use.add("--keep-stages", options.keep_stages_folder);
}

void make_result_folder(const std::string& path) {
  naming(printable(path), [&] { make_folder(path); });
}

// Layout changes are no pictures of their own.
bool makes_picture(const Step& step) {
  return step.stage->writes_pixels && (step.stage->selectable || !step.parts.empty());
}

// contrast, or a fused stage that begins with it.
bool is_contrast(const Step& step) {
  return step.stage->reads_histogram == contrast_reads_histogram;
}

// What the sequential function of a stage makes of a frame.
void run_reference(std::string_view name, const StageCall<Host>& call) {
  functions(*find_stage(name), call.in.type.sample).reference(call);
}

// A decoded frame as an image file holds it.
Image interleaved(const Frame<const std::byte, Host>& frame) {
  FrameType type = frame.type;
  type.layout = Layout::interleaved;
  Image image(shape_of(type));
  if (frame.type.layout == Layout::interleaved || frame.type.channels() == 1) {
    copy_pixels(frame.planes[0], image.untyped_view());
  } else {
    run_reference("merge", {.in = frame, .out = {type, {image.untyped_view(), {}, {}, {}}}});
  }
  return image;
}

// A file of --keep-stages: DIR/03_contrast.png and so on, numbered by step.
struct StageFile {
  std::size_t step;
  std::string path;
};

std::vector<StageFile> stage_files(const std::string& folder, const Plan& plan) {
  std::vector<StageFile> files;
  for (std::size_t i = 0; !folder.empty() && i < plan.steps.size(); ++i) {
    if (!makes_picture(plan.steps[i])) continue;
    std::string name = (i < 9 ? "0" : "") + std::to_string(i + 1) + "_" + plan.steps[i].label + ".png";
    // What some file systems do not take.
    std::ranges::replace_if(
        name, [](char c) { return c == '#' || c == ':'; }, '-');
    files.push_back({i, (std::filesystem::path(folder) / name).string()});
  }
  return files;
}

void write_stages(const ProcessOptions& options, const Outcome& outcome) {
  make_result_folder(options.keep_stages_folder);
  HostThreads threads(thread_count(options));
  for (const StageFile& file : stage_files(options.keep_stages_folder, outcome.plan)) {
    naming(printable(file.path), [&] {
      const Image image = interleaved(outcome.outputs[file.step]);
      const std::unique_ptr<Writer> writer = make_writer(Format::png, image.shape(), options.encode);
      Timeline unreported;
      write_file(file.path, encode_image(image.untyped_view(), *writer, threads, unreported).parts);
    });
  }
}

// The step whose counts --histogram calls "before": the one the first contrast used, else the first.
std::size_t before_step(const Plan& plan) {
  std::size_t found = plan.steps.size();
  for (std::size_t i = plan.steps.size(); i-- > 0;) {
    if (plan.steps[i].stage->counts) found = i;
  }
  const auto reads = std::ranges::find_if(plan.steps, &is_contrast);
  return reads == plan.steps.end() ? found : *reads->counted_by;
}

// Which image the histogram of step `index` counts: a fused step may have made it itself.
std::string counted_image(const Plan& plan, std::size_t index) {
  const std::vector<Step>& parts = plan.steps[index].parts;
  if (!parts.empty() && makes_picture(parts.front())) return "the image after " + parts.front().label;
  while (index-- > 0) {
    if (makes_picture(plan.steps[index])) return "the image after " + plan.steps[index].label;
  }
  return "the image as it was read";
}

std::vector<ContrastRange> contrast_ranges(Outcome& outcome) {
  std::vector<ContrastRange> ranges;
  for (const Step& step : outcome.plan.steps) {
    if (!is_contrast(step)) continue;
    const ContrastParameters parameters(step.parameters);
    const int planes = step.in.color_channels;
    const auto counts = histogram_view<Host>(outcome.histograms[*step.counted_by].data(), step.in);
    const bool each = parameters.stretch == Stretch::each;
    const int different = each ? planes : 1;
    for (int c = 0; c < different; ++c) {
      const StretchRange range = stretch_range(counts, parameters, c);
      ranges.push_back({step.label, c, range.lo, range.hi, each});
    }
  }
  return ranges;
}

// Counts the samples of an image, plane by plane, by the stages' own reference.
Counts count_image(const ConstHostView& pixels) {
  Frame<const std::byte, Host> frame = frame_of_image(pixels);
  OwnedFrame planar;
  if (frame.type.layout == Layout::interleaved) {
    FrameType planar_type = frame.type;
    planar_type.layout = Layout::planar;
    planar = make_frame(planar_type);
    run_reference("split", {.in = frame, .out = planar.view()});
    frame = std::as_const(planar).view();
  }
  Counts counts{std::vector<std::uint64_t>(counters(frame.type)), frame.type.sample};
  run_reference("hist", {.in = frame, .histogram = histogram_view<Host>(counts.values.data(), frame.type)});
  return counts;
}

void write_histogram(const ProcessOptions& options, const Outcome& outcome,
                     const std::vector<ContrastRange>& ranges) {
  const std::size_t before = before_step(outcome.plan);
  const auto reads = std::ranges::find_if(
      outcome.plan.steps, [&](const Step& step) { return is_contrast(step) && step.counted_by == before; });
  HistogramPair pair;
  pair.title = input_name(std::filesystem::path(options.input).filename().string()) + ", " +
               shape_text(outcome.plan.input);
  pair.before_label = counted_image(outcome.plan, before);
  pair.after_label = "the finished image";
  pair.before = {outcome.histograms[before], outcome.plan.steps[before].in.sample};
  pair.after = count_image(outcome.pixels);
  for (const ContrastRange& range : ranges) {
    if (reads != outcome.plan.steps.end() && range.label == reads->label) pair.ranges.push_back(range);
  }
  const std::string text = histogram_text(pair, options.histogram_file);
  naming(printable(options.histogram_file),
         [&] { write_file(options.histogram_file, std::as_bytes(std::span(text))); });
}

void say_plan(const Plan& plan) {
  std::string steps;
  for (const Step& step : plan.steps) steps += " " + step.label;
  log_detail("steps:" + (steps.empty() ? " none" : steps) + " (* put in by the plan)");
  for (const std::string& note : plan.notes) log_detail(note);
}

struct Comparison {
  Outcome reference;
  std::vector<Difference> differences;
  std::optional<Difference> decoded;  // against the format's library
  double library_decode_ms = 0;
};

// --cpu: the sequential reference over the same decoded image. Its times are medians of at most 3 passes.
Comparison compare_with_reference(const ProcessOptions& options, const Outcome& outcome) {
  const std::unique_ptr<Engine> engine = make_reference_engine();
  Job job;
  job.reader = make_memory_reader(outcome.source.untyped_view());
  job.plan = outcome.plan;
  job.repeat = reference_passes(options.repeat);
  job.keep_outputs = true;
  Comparison comparison{engine->run(std::move(job)), {}, {}};
  if (comparison.reference.error) std::rethrow_exception(comparison.reference.error);
  comparison.differences = compare_outcomes(outcome, comparison.reference);
  return comparison;
}

// The decoded image too, where another decoder than the format's library may have made it.
void compare_decoded(const ImageJob& image, const Outcome& outcome, Comparison& comparison) {
  Timeline timeline;
  const Image decoded = image.decode_by_library(timeline);
  if (decoded.empty()) return;
  comparison.decoded = compare_frames(frame_of_image(std::as_const(outcome.source).untyped_view()),
                                      frame_of_image(decoded.untyped_view()));
  comparison.library_decode_ms = static_cast<double>(timeline.union_ns()) / 1e6;
}

class ImageRun {
 public:
  ImageRun(const ProcessOptions& options, const EngineFactory& factory)
      : options_(options),
        factory_(factory),
        format_(output_format(options.output, options.format)),
        image_on_stdout_(goes_to_stdout(options.output)),
        choice_(choose_device(options.device)),
        settings_(image_settings(options)),
        image_({.input = options.input,
                .output = options.output,
                .input_name = input_name(options.input),
                .output_name = output_name(options.output),
                .format = format_},
               settings_, Timeline(start_)) {
    check_paths(options, format_, in_use_);
    check_replaceable(options.output, why_no_image(options.output, options.replace));
    check_results_replaceable(options);
    check_results_writable(options);
    if (choice_.cuda_devices.size() > 1)
      throw Error(ErrorKind::usage,
                  "--device: one image goes to one device, not to " + printable(options.device));
    // With auto the image's size decides where there is a device; a device asked for is made ready while the
    // file is read.
    if (choice_.kind == DeviceKind::automatic) devices_ = list_cuda_devices();
    if (!usable_device(devices_)) {
      if (choice_.kind == DeviceKind::automatic) choice_ = choose_for_image(devices_, 0, 1, 1);
      start_engine();
    }
    // Looking for devices is part of what --device costs; with a CUDA engine its own thread goes on with it.
    Timeline& timeline = image_.timeline();
    timeline.add({"device", "host", SpanKind::host, 0, timeline.now_ns(), 0, 0});
    facts_.options = &options;
    facts_.output_format = format_;
  }

  int run() {
    Outcome outcome = process();
    const double wall_ms = static_cast<double>(image_.timeline().now_ns()) / 1e6;
    if (!options_.keep_stages_folder.empty()) write_stages(options_, outcome);
    const std::vector<ContrastRange> ranges = contrast_ranges(outcome);
    if (!options_.histogram_file.empty()) write_histogram(options_, outcome, ranges);
    Comparison comparison;
    if (options_.compare) {
      comparison =
          naming(input_name(options_.input), [&] { return compare_with_reference(options_, outcome); });
      compare_decoded(image_, outcome, comparison);
    }
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
    report.device_why = choice_.why;
    report.processor = engine_->device_name();
    give_report(report);
    if (report.identical) return kExitDone;
    log_error(input_name(options_.input) + ": " + report.implementation + " differs from the reference");
    return kExitDifference;
  }

 private:
  Outcome process() {
    open_input();
    image_.make_plan();
    const Step* const lacking = step_without_cuda(image_.plan());
    if (!engine_) {
      const std::int64_t pixels = image_.header().shape.pixels();
      choice_ = lacking != nullptr
                    ? DeviceChoice{DeviceKind::cpu, {}, "auto took cpu (" + why_not_on_cuda(*lacking) + ")"}
                    : choose_for_image(devices_, pixels, thread_count(options_), 1 + options_.repeat);
      start_engine();
    } else if (choice_.kind == DeviceKind::cuda && lacking != nullptr) {
      throw Error(ErrorKind::usage,
                  input_name(options_.input) + ": " + why_not_on_cuda(*lacking) + "; see --device cpu");
    }
    if (!choice_.why.empty()) log_detail(choice_.why);
    say_plan(image_.plan());
    check_results_of(image_.plan());
    image_.make_output();
    facts_.output = image_.output_shape();
    facts_.depth_loss = image_.depth_loss();
    if (!options_.new_folder.empty()) make_result_folder(options_.new_folder);
    Job wishes;
    wishes.repeat = options_.repeat;
    wishes.keep_source = options_.compare;
    wishes.keep_outputs = options_.compare || !options_.keep_stages_folder.empty();
    wishes.keep_pixels = !options_.histogram_file.empty();
    Outcome outcome = image_.run(*engine_, std::move(wishes));
    for (const ImageNote& note : image_.notes())
      (is_notice(note.about) ? log_notice : log_warning)(note.text);
    image_.write();
    facts_.output_bytes = image_.output_bytes();
    return outcome;
  }

  void start_engine() {
    choice_.memory_bytes = options_.device_memory_bytes;
    engine_ = factory_(choice_, thread_count(options_));
  }

  void open_input() {
    auto span = image_.timeline().span("decode", SpanKind::host);
    PendingInput input(options_.input, options_.decode, InputKind::any);
    image_.read(input);
    image_.open();
    span.set_name(decode_row(image_.reader()));
    facts_.input = image_.header();
    facts_.input_bytes = image_.input_bytes();
  }

  // What of the results depends on the plan.
  void check_results_of(const Plan& plan) {
    if (!options_.histogram_file.empty() && before_step(plan) == plan.steps.size())
      throw Error(ErrorKind::usage, "--histogram needs hist or contrast among the stages");
    for (const StageFile& file : stage_files(options_.keep_stages_folder, plan)) {
      in_use_.add("--keep-stages", file.path);
      check_replaceable(file.path, why_no_image(file.path, options_.replace));
      if (std::filesystem::exists(file.path)) check_result_writable(file.path);
    }
  }

  void give_report(const ImageReport& report) {
    for (const std::string& file : options_.report_files) {
      const std::string text =
          file.ends_with(".csv") ? image_report_csv(report) : image_report_json(report, facts_);
      naming(printable(file), [&] { write_file(file, std::as_bytes(std::span(text))); });
    }
    if (!options_.trace_file.empty()) {
      TraceFile trace(options_.trace_file);
      trace.add(report.spans, options_.input);
      trace.close();
    }
    if (options_.talk.quiet) return;
    const int fd = image_on_stdout_ ? STDERR_FILENO : STDOUT_FILENO;
    const std::string table = image_report_table(report, facts_, wants_color(fd, options_.talk.no_color));
    if (image_on_stdout_) {
      // A report that nobody can read does not make the image on stdout any worse.
      [[maybe_unused]] const ssize_t written = ::write(STDERR_FILENO, table.data(), table.size());
    } else {
      naming("stdout", [&] { print_text(table); });
    }
  }

  Timeline::Clock::time_point start_ = Timeline::Clock::now();  // before anything else
  const ProcessOptions& options_;
  const EngineFactory& factory_;
  Format format_;
  FilesInUse in_use_;
  bool image_on_stdout_;  // found before OUTPUT is a new file
  DeviceChoice choice_;
  CudaDevices devices_;  // with auto
  std::unique_ptr<Engine> engine_;
  ImageSettings settings_;
  ImageJob image_;
  RunFacts facts_;
};

}  // namespace

int run_image(const ProcessOptions& options, const EngineFactory& factory) {
  refuse_what_is_for_a_batch(options);
  return ImageRun(options, factory).run();
}

}  // namespace imgpipe
