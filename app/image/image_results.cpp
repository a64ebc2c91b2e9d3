#include "app/image/image_results.h"

#include <algorithm>
#include <exception>
#include <filesystem>
#include <memory>
#include <utility>

#include "app/files/text_file.h"
#include "app/image/image_set_up.h"
#include "app/jobs/result_files.h"
#include "app/report/count_image.h"
#include "app/report/image_report.h"
#include "app/standard_streams.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/files/file_identity.h"
#include "images/files/input_file.h"
#include "images/files/output_file.h"
#include "images/formats/page_list.h"
#include "images/text.h"
#include "kernels/hist/hist.h"
#include "kernels/stage.h"
#include "pipeline/file_encoding.h"
#include "pipeline/owned_frame.h"
#include "pipeline/timeline.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

// Stages that only change the layout do not make a new image.
bool makes_image(const Operation& operation) {
  return makes_pixels(*operation.stage) && operation.stage->effect != Effect::layout;
}

Image interleaved(const Frame<const std::byte, Host>& frame) {
  FrameType type = frame.type;
  type.layout = Layout::interleaved;
  Image image(shape_of(type));
  if (frame.type.layout == Layout::interleaved || frame.type.channels() == 1) {
    copy_pixels(frame.planes[0], image.untyped_view());
  } else {
    run_reference(*find_stage("merge"), {.in = frame, .out = {type, {image.untyped_view(), {}, {}, {}}}});
  }
  return image;
}

// Describes the image that the histogram of step `index` counts. A fused step may have made that image
// itself.
std::string counted_image(const Plan& plan, std::size_t index) {
  const auto maker = std::find_if(
      plan.operations.rbegin(), plan.operations.rend(),
      [&](const Operation& operation) { return operation.step <= index && makes_image(operation); });
  if (maker == plan.operations.rend()) return "the image as it was read";
  return "the image after " + (maker->step == index ? maker->label : plan.steps[maker->step].label);
}

Comparison compare_stages(const ProcessOptions& options, const Outcome& outcome) {
  const std::unique_ptr<Engine> engine = make_reference_engine();
  Job job;
  job.reader = make_memory_reader(outcome.source.untyped_view());
  job.plan = outcome.plan;
  job.repeat = reference_passes(options.reports.repeat);
  job.keep_outputs = true;
  Comparison comparison{engine->run(std::move(job)), {}, {}};
  if (comparison.reference.error) std::rethrow_exception(comparison.reference.error);
  comparison.differences = compare_outcomes(outcome, comparison.reference);
  return comparison;
}

void compare_decoded(const ImageJob& image, const Outcome& outcome, Comparison& comparison) {
  Timeline timeline;
  const Image decoded = image.decode_by_library(timeline);
  if (decoded.empty()) return;
  comparison.decoded = compare_frames(frame_of_image(std::as_const(outcome.source).untyped_view()),
                                      frame_of_image(decoded.untyped_view()));
  comparison.library_decode_ms = static_cast<double>(timeline.union_ns()) / 1e6;
}

constexpr std::int64_t kMaxOutputPixels = std::int64_t{1} << 34;

// Returns true if the path can be read again.
bool is_plain_file(const std::string& path) {
  std::error_code error;
  return path != kStandardStream && !descriptor_of(path) && fs::is_regular_file(path, error);
}

Picture picture_of_file(const std::string& path, std::int64_t page, DecodeOptions decode) {
  decode.max_bits = 32;
  const InputFile file = PageList(path, decode, InputKind::regular_only).page(page - 1);
  return make_picture(*open_reader(file, decode));
}

template <class Make>
ReportPage::Side side_of(const Make& make) {
  ReportPage::Side side;
  try {
    side.picture = make();
  } catch (const Error& error) {
    side.missing_reason = error.what();
  }
  return side;
}

// Returns the step whose counts --histogram calls "before": the counts that the first contrast uses,
// otherwise those of the first step that counts. Returns the number of steps if no step counts.
std::size_t before_step(const Plan& plan) {
  const std::span all(plan.operations);
  const auto reads = std::ranges::find_if(all, is_contrast);
  if (reads != all.end()) return all[*reads->counted_by].step;
  const auto counts =
      std::ranges::find_if(all, [](const Operation& one) { return makes_counts(*one.stage); });
  return counts == all.end() ? plan.steps.size() : counts->step;
}

// Fills only the "before" part; works for every job.
HistogramPair histogram_before(const std::string& name, const Outcome& outcome,
                               const std::vector<ContrastRange>& ranges) {
  const std::size_t before = before_step(outcome.plan);
  HistogramPair pair;
  pair.title = name + ", " + shape_text(outcome.plan.input);
  pair.before_label = counted_image(outcome.plan, before);
  const Operation& counted = outcome.plan.parts(before).back();
  pair.before = {outcome.histograms[before], counted.in.sample};
  if (is_float(counted.in.sample)) pair.before.limits = hist_bins(counted.parameters);
  for (const ContrastRange& range : ranges) {
    if (range.label == ranges.front().label) pair.ranges.push_back(range);
  }
  return pair;
}

}  // namespace

std::vector<StageFile> stage_files(const std::string& directory, const Plan& plan) {
  std::vector<StageFile> files;
  for (std::size_t i = 0; !directory.empty() && i < plan.steps.size(); ++i) {
    if (std::ranges::none_of(plan.parts(i), makes_image)) continue;
    std::string name = (i < 9 ? "0" : "") + std::to_string(i + 1) + "_" + plan.steps[i].label + ".png";
    // Some file systems reject '#' and ':'. A list of values contains '/', which separates directories.
    std::ranges::replace_if(
        name, [](char c) { return c == '#' || c == ':' || c == '/'; }, '-');
    files.push_back({i, (fs::path(directory) / name).string()});
  }
  return files;
}

void write_stages(const ProcessOptions& options, const Outcome& outcome, const Mark& mark) {
  EncodeOptions encode = options.output.encode;
  encode.mark = mark;
  make_result_directory(options.reports.stages_directory, options.output.sync.get());
  HostThreads threads(thread_count(options.execution));
  for (const StageFile& file : stage_files(options.reports.stages_directory, outcome.plan)) {
    naming(printable(file.path), [&] {
      const Image image = interleaved(outcome.outputs[file.step]);
      const std::unique_ptr<Writer> writer = make_writer(Format::png, image.shape(), encode);
      Timeline unreported;
      write_file(file.path, encode_image(image.untyped_view(), *writer, threads, unreported).parts,
                 options.output.sync.get());
    });
  }
}

void check_histogram(const ProcessOptions& options, const Plan& plan) {
  if (!options.reports.histogram_file.empty() && plan.tensor)
    throw Error(ErrorKind::usage, "--histogram: cannot count the floats of a tensor; remove normalize");
  if (options.reports.histogram_file.empty()) return;
  const std::size_t before = before_step(plan);
  const bool counts = before < plan.steps.size();
  if (is_float(plan.output.sample) && !(counts && is_float(plan.parts(before).back().in.sample)))
    throw Error(
        ErrorKind::usage,
        "--histogram: no limits for the floats of the result; insert hist:LO:HI where the samples are "
        "floats, or end with depth:8 or depth:16");
  if (counts) return;
  const bool of_series = !options.stages.series_steps.empty();
  const bool of_file = options.stages.list.find(":range=") != std::string::npos;
  const char* const why = of_series ? " in --stages; range=series counts in a separate pass"
                          : of_file ? " in --stages; contrast with range=FILE does not count"
                                    : " or contrast in --stages";
  throw Error(ErrorKind::usage, std::string("--histogram: needs hist") + why);
}

HistogramPair histogram_pair(const std::string& name, const Outcome& outcome,
                             const std::vector<ContrastRange>& ranges) {
  HistogramPair pair = histogram_before(name, outcome, ranges);
  pair.after_label = "the finished image";
  pair.after = count_image(outcome.pixels, pair.before.limits);
  return pair;
}

void write_histogram(const ProcessOptions& options, const HistogramPair& pair) {
  const std::string& file = options.reports.histogram_file;
  write_text(file, histogram_text(pair, file), options.output.sync.get());
}

Comparison compare_with_reference(const ProcessOptions& options, const ImageJob& image,
                                  const Outcome& outcome) {
  Comparison comparison = naming(image.files().input_name, [&] { return compare_stages(options, outcome); });
  compare_decoded(image, outcome, comparison);
  return comparison;
}

bool has_html_report(const ProcessOptions& options) {
  return std::ranges::any_of(options.reports.files,
                             [](const std::string& file) { return file.ends_with(".html"); });
}

void keep_for_html_report(const ProcessOptions& options, Job& job) {
  if (!has_html_report(options)) return;
  job.keep_source = job.keep_source || !is_plain_file(options.input.path);
  job.keep_pixels = job.keep_pixels || !is_or_becomes_regular_file(options.output.path);
}

ReportPage make_report_page(const ProcessOptions& options, const Outcome& outcome,
                            const std::vector<ContrastRange>& ranges, std::vector<std::string> warnings) {
  ReportPage page;
  page.context = run_context();
  page.warnings = std::move(warnings);
  page.peak_memory_bytes = peak_memory_bytes();
  page.input = side_of([&] {
    return outcome.source.empty()
               ? picture_of_file(options.input.path, options.pages ? options.pages->first : 1, options.decode)
               : make_picture(*make_memory_reader(outcome.source.untyped_view()));
  });
  const bool read_again = is_or_becomes_regular_file(options.output.path);
  page.output = side_of([&] {
    if (outcome.plan.tensor) throw Error(ErrorKind::output, "a tensor");
    return read_again ? picture_of_file(options.output.path, 1, {.max_pixels = kMaxOutputPixels})
                      : make_picture(*make_memory_reader(outcome.pixels));
  });
  if (page.output.picture && !is_float(outcome.plan.output.sample) &&
      before_step(outcome.plan) < outcome.plan.steps.size()) {
    const std::string name = input_name(fs::path(options.input.path).filename().string());
    page.histogram = histogram_before(name, outcome, ranges);
    page.histogram->after_label = read_again ? "the output, read again" : "the finished image";
    page.histogram->after = page.output.picture->counts;
  }
  return page;
}

}  // namespace imgpipe
