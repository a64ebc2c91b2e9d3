// Two studies of the whole chain: its stages on every device, and the image size from which a GPU is faster.
#include <algorithm>
#include <optional>
#include <utility>

#include "app/log.h"
#include "app/report/image_report.h"
#include "app/report/text_columns.h"
#include "images/error.h"
#include "lab/bench/bench.h"
#include "lab/bench/bench_plot.h"
#include "pipeline/compare.h"
#include "pipeline/cost_model.h"
#include "pipeline/engine.h"

namespace imgpipe {
namespace {

constexpr int kDefaultRepeat = 9;

// Runs the default stages over an image in memory.
Outcome run_chain(Engine& engine, const Image& image, int repeat, bool fuse, bool keep_outputs) {
  Job job;
  job.plan = make_plan(parse_stages(kDefaultStages), image.shape(), fuse);
  job.reader = make_memory_reader(image.view());
  job.repeat = repeat;
  job.keep_outputs = keep_outputs;
  Outcome outcome = engine.run(std::move(job));
  if (outcome.error) std::rethrow_exception(outcome.error);
  return outcome;
}

// Returns the default stages for display: "gray, hist".
std::string chain_text() {
  std::string text;
  for (const char c : kDefaultStages) text += c == ',' ? std::string(", ") : std::string(1, c);
  return text;
}

ImageReport report_of(const Outcome& outcome, const Outcome* reference) {
  ReportInput input;
  input.timeline = &outcome.timeline;
  input.plan = &outcome.plan;
  std::vector<Difference> differences;
  if (reference != nullptr) {
    differences = compare_outcomes(outcome, *reference);
    input.reference = &reference->timeline;
    input.differences = &differences;
  }
  return make_image_report(input);
}

bool differs(const ReportRow& row) {
  return !row.comparison.empty() && row.comparison != "identical";
}

// Returns "gray: 3 pixels differ (max 1)", or "" if every stage equals the reference.
std::string first_difference(const ImageReport& compared) {
  const auto row = std::ranges::find_if(compared.rows, differs);
  return row == compared.rows.end() ? "" : row->name + ": " + row->comparison;
}

constexpr std::size_t kKernels = 0;  // index in ImageReport::totals
constexpr std::size_t kMoved = 1;    // likewise: kernels and transfers

int repeat_of(const BenchOptions& options) {
  return options.lab.repeat > 0 ? options.lab.repeat : kDefaultRepeat;
}

// The reference takes seconds where a device takes microseconds.
int reference_repeat(const BenchOptions& options) {
  return std::min(repeat_of(options), 3);
}

// Make an engine if its device is requested and available, else return nullptr.
std::unique_ptr<Engine> cpu_engine(const Bench& bench, const BenchOptions& options) {
  const std::optional<Backend> backend = choose_device(options.device).backend;
  return !backend || backend == Backend::cpu ? make_cpu_engine(bench.threads()) : nullptr;
}

std::unique_ptr<Engine> cuda_engine(const Bench& bench, const BenchOptions&) {
  return bench.has_cuda() ? make_cuda_engine(bench.cuda_index(), bench.threads()) : nullptr;
}

TableCell ms_cell(const std::optional<double>& ms) {
  return ms ? TableCell(*ms, *ms < 10 ? 4 : 2) : TableCell();
}

// States the size from which one series is faster than the other; points have increasing sizes.
std::string crossing_text(const PlotSeries& faster, const PlotSeries& slower) {
  std::vector<CostPoint> points;
  for (std::size_t i = 0; i < faster.points.size(); ++i) {
    points.push_back({static_cast<std::int64_t>(faster.points[i].first), slower.points[i].second,
                      faster.points[i].second});
  }
  const std::optional<std::int64_t> from = crossing(points);
  if (!from) return faster.name + " is not faster than " + slower.name + " at the largest size";
  if (*from <= points.front().pixels)
    return faster.name + " is faster than " + slower.name + " at every measured size";
  return faster.name + " is faster than " + slower.name + " from " +
         number(static_cast<double>(*from) / 1e6, 4) + " megapixels";
}

// A device's reports on the chain, stage by stage and fused.
struct DeviceColumn {
  std::string name;
  std::unique_ptr<Engine> (*make)(const Bench&, const BenchOptions&);
  std::optional<ImageReport> report, fused;

  // Every run has its own engine, as in the program: on an H200's host, an engine's second upload took 2.8
  // instead of 2.6 ms, for an unknown reason.
  void measure(Bench& bench, const BenchOptions& options, const Image& image, const Outcome& reference) {
    const std::unique_ptr<Engine> engine = make(bench, options);
    if (!engine) return;
    report = report_of(run_chain(*engine, image, repeat_of(options), false, true), &reference);
    const std::unique_ptr<Engine> other = make(bench, options);
    fused = report_of(run_chain(*other, image, repeat_of(options), true, false), nullptr);
    bench.clear_progress();
    for (const ReportRow& row : fused->rows)
      log_detail(name + ", fused: " + row.name + " " + number(row.time_ms, 4) + " ms");
  }
};

std::optional<ReportRow> find_row(const std::optional<ImageReport>& report, std::string_view name) {
  if (!report) return std::nullopt;
  const auto row = std::ranges::find(report->rows, name, &ReportRow::name);
  return row == report->rows.end() ? std::nullopt : std::optional(*row);
}

// The table and its plot, built row by row.
struct PipelineTable {
  ResultTable table;
  DotPlot plot;
  bool identical = true;

  PipelineTable(const std::string& title, const std::vector<DeviceColumn>& columns)
      : table{title,
              {{"input", "", true}, {"stage", "stage", true}, {"sequential_ms", "sequential"}},
              {},
              {}},
        plot{title, "ms", {}, {{"sequential", {}}}} {
    for (const DeviceColumn& column : columns) {
      table.columns.push_back({column.name + "_ms", column.name});
      table.columns.push_back({column.name + "_speed_up", "speed-up"});
      table.columns.push_back({column.name + "_compared", "compared", true});
      plot.dots.push_back({column.name, {}});
    }
  }

  // `rows`: one per device.
  void add(const std::string& input, const std::string& name, std::optional<double> sequential_ms,
           const std::vector<std::optional<ReportRow>>& rows) {
    std::vector<TableCell> cells{input, name, ms_cell(sequential_ms)};
    plot.rows.push_back(name);
    plot.dots.front().values.push_back(sequential_ms.value_or(0));
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const bool there = rows[i] && rows[i]->time_ms > 0;
      cells.push_back(there ? ms_cell(rows[i]->time_ms) : TableCell());
      cells.push_back(there && sequential_ms ? TableCell(*sequential_ms / rows[i]->time_ms, 2, 1, "x")
                                             : TableCell());
      cells.emplace_back(rows[i] ? rows[i]->comparison : "");
      plot.dots[i + 1].values.push_back(there ? rows[i]->time_ms : 0);
      identical = identical && !(rows[i] && differs(*rows[i]));
    }
    table.rows.push_back(std::move(cells));
  }
};

PipelineTable pipeline_of(Bench& bench, const BenchOptions& options, const BenchInput& input) {
  const Image image = input.make(input.has_rgb() ? 3 : 1);
  const std::unique_ptr<Engine> reference_engine = make_reference_engine();
  const Outcome reference = run_chain(*reference_engine, image, reference_repeat(options), false, true);
  const ImageReport sequential = report_of(reference, nullptr);
  std::vector<DeviceColumn> columns{{"cpu", cpu_engine, {}, {}}, {"cuda", cuda_engine, {}, {}}};
  for (DeviceColumn& column : columns) {
    if (bench.begin("the four stages, " + input.name() + " on " + column.name))
      column.measure(bench, options, image, reference);
  }
  std::erase_if(columns, [](const DeviceColumn& column) { return !column.report; });
  PipelineTable result(
      "the four stages, " + input.name() + ", ms (cpu: " + std::to_string(bench.threads()) + " threads)",
      columns);
  const auto add = [&](const std::string& name, std::optional<double> sequential_ms, const auto& row_of) {
    std::vector<std::optional<ReportRow>> rows;
    rows.reserve(columns.size());
    for (const DeviceColumn& column : columns) rows.push_back(row_of(column));
    result.add(input.name(), name, sequential_ms, rows);
  };
  for (const Step& step : reference.plan.steps) {
    add(step.label, find_row(sequential, step.label)->time_ms,
        [&](const DeviceColumn& column) { return find_row(column.report, step.label); });
  }
  for (const char* transfer : {"upload", "download"}) {
    if (bench.has_cuda())
      add(transfer, std::nullopt,
          [&](const DeviceColumn& column) { return find_row(column.report, transfer); });
  }
  const double all_ms = sequential.totals[kKernels].time_ms;
  for (const auto& [name, which] :
       {std::pair("all kernels", kKernels), std::pair("with transfers", kMoved)}) {
    if (which == kMoved && !bench.has_cuda()) continue;
    add(name, all_ms,
        [&, at = which](const DeviceColumn& column) { return std::optional(column.report->totals[at]); });
    add(std::string(name) + ", fused", all_ms,
        [&, at = which](const DeviceColumn& column) { return std::optional(column.fused->totals[at]); });
  }
  return result;
}

// An engine in the crossover study, and the totals of its report that each series shows.
struct CrossoverEngine {
  const char* name;
  std::unique_ptr<Engine> engine;  // nullptr: not in the study, or removed from it
  std::vector<std::pair<PlotSeries*, std::size_t>> totals;

  // Compares every stage, then takes the times. If one differs, removes the engine and returns false.
  bool measure(Bench& bench, const BenchInput& input, const Image& image, const Outcome& reference,
               int repeat) {
    if (!engine) return true;
    const std::string difference =
        first_difference(report_of(run_chain(*engine, image, 1, false, true), &reference));
    if (!difference.empty()) {
      bench.clear_progress();
      log_error(std::string(name) + " is WRONG on " + input.name() + ": " + difference);
      engine.reset();
      for (const auto& [series, which] : totals) series->points.clear();
      return false;
    }
    const ImageReport report = report_of(run_chain(*engine, image, repeat, false, false), nullptr);
    for (const auto& [series, which] : totals)
      series->points.emplace_back(static_cast<double>(input.size().pixels()), report.totals[which].time_ms);
    return true;
  }
};

// One row per size; every series has a point at each.
ResultTable crossover_table(const std::vector<PlotSeries>& all) {
  ResultTable table;
  table.title = chain_text() + " over a photo pattern, ms by image size";
  table.columns = {{"pixels", "pixels"}};
  for (const PlotSeries& series : all) table.columns.push_back({series.name + "_ms", series.name});
  for (std::size_t i = 0; i < all.front().points.size(); ++i) {
    std::vector<TableCell> cells{{all.front().points[i].first, 0}};
    for (const PlotSeries& series : all) cells.push_back(ms_cell(series.points[i].second));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

}  // namespace

BenchOutcome study_pipeline(Bench& bench, const BenchOptions& options, const ShowTable& show) {
  BenchOutcome outcome;
  std::vector<DotPlot> panels;
  for (const BenchInput& input : bench_inputs(options, {{8773, 5352, 3}}, {"photo"})) {
    if (!bench.begin("the four stages, " + input.name() + ", sequentially")) break;
    PipelineTable result = pipeline_of(bench, options, input);
    show(result.table);
    outcome.all_right = outcome.all_right && result.identical;
    outcome.tables.push_back(std::move(result.table));
    panels.push_back(std::move(result.plot));
  }
  outcome.plot = plot_svg(panels);
  return outcome;
}

BenchOutcome study_crossover(Bench& bench, const BenchOptions& options, const ShowTable& show) {
  std::vector<Shape> sizes = options.sizes;
  if (sizes.empty()) {
    for (std::int64_t side = 32; side <= 8192; side *= 2) {
      sizes.push_back({side, side, 3});
      if (side < 8192) sizes.push_back({side * 3 / 2, side * 4 / 3, 3});  // twice the pixels
    }
  }
  const std::unique_ptr<Engine> reference_engine = make_reference_engine();
  const std::string cpu_name = "cpu, " + std::to_string(bench.threads()) + " threads";
  PlotSeries sequential{"sequential", {}, false};
  PlotSeries cpu{cpu_name, {}, false};
  PlotSeries kernels{"cuda, kernels alone", {}, true};
  PlotSeries moved{"cuda with transfers", {}, false};
  CrossoverEngine on_cpu{"cpu", cpu_engine(bench, options), {{&cpu, kKernels}}};
  CrossoverEngine on_cuda{"cuda", cuda_engine(bench, options), {{&kernels, kKernels}, {&moved, kMoved}}};
  bool all_right = true;
  std::ranges::sort(sizes, {}, &Shape::pixels);
  BenchOptions by_size = options;
  by_size.sizes = sizes;
  for (const BenchInput& input : bench_inputs(by_size, sizes, {"photo"})) {
    if (!bench.begin("the four stages, " + input.name())) break;
    const Image image = input.make(3);
    const auto pixels = static_cast<double>(input.size().pixels());
    const Outcome reference = run_chain(*reference_engine, image, reference_repeat(options), false, true);
    sequential.points.emplace_back(pixels, report_of(reference, nullptr).totals[kKernels].time_ms);
    for (CrossoverEngine* contestant : {&on_cpu, &on_cuda}) {
      all_right = contestant->measure(bench, input, image, reference, repeat_of(options)) && all_right;
    }
  }
  if (sequential.points.empty()) return {};  // stopped
  LinePlot plot{"the four stages: time by image size", "pixels", "ms", true, true, {}};
  for (const PlotSeries* series : {&sequential, &cpu, &kernels, &moved}) {
    if (!series->points.empty()) plot.series.push_back(*series);
  }
  ResultTable table = crossover_table(plot.series);
  for (const auto& [faster, slower] : {std::pair(&kernels, &sequential), std::pair(&moved, &sequential),
                                       std::pair(&kernels, &cpu), std::pair(&moved, &cpu)}) {
    if (!faster->points.empty() && !slower->points.empty())
      table.notes.push_back(crossing_text(*faster, *slower));
  }
  show(table);
  return {{table}, plot_svg(std::vector<LinePlot>{plot}), all_right};
}

}  // namespace imgpipe
