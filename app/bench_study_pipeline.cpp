// Two studies of the whole chain: its stages on every device, and from which size on a GPU pays.
#include <algorithm>
#include <optional>
#include <utility>

#include "app/bench.h"
#include "app/columns.h"
#include "app/command.h"
#include "app/plot.h"
#include "app/report.h"
#include "images/error.h"
#include "pipeline/compare.h"
#include "pipeline/cost_model.h"
#include "pipeline/engine.h"

namespace imgpipe {
namespace {

constexpr int kUsualRepeat = 9;

// The default stages over an image that is in memory.
Outcome run_chain(Engine& engine, const Image& image, int repeat, bool fuse, bool keep_outputs) {
  Job job;
  job.plan = make_plan(parse_stages(default_stages()), image.shape(), {}, fuse);
  job.reader = make_memory_reader(image.view());
  job.repeat = repeat;
  job.keep_outputs = keep_outputs;
  engine.submit(std::move(job));
  Outcome outcome = engine.next();
  if (outcome.error) std::rethrow_exception(outcome.error);
  return outcome;
}

Report report_of(const Outcome& outcome, const Outcome* reference) {
  ReportInput input;
  input.timeline = &outcome.timeline;
  input.plan = &outcome.plan;
  std::vector<Difference> differences;
  if (reference != nullptr) {
    differences = compare_outcomes(outcome, *reference);
    input.reference = &reference->timeline;
    input.differences = &differences;
  }
  return make_report(input);
}

constexpr std::size_t kKernels = 0;  // of Report::totals
constexpr std::size_t kMoved = 1;    // kernels + transfers

int repeat_of(const BenchOptions& options) {
  return options.lab.repeat > 0 ? options.lab.repeat : kUsualRepeat;
}

// The reference takes seconds for what takes a device microseconds.
int reference_repeat(const BenchOptions& options) {
  return std::min(repeat_of(options), 3);
}

struct Engines {
  std::unique_ptr<Engine> cpu, cuda;
};

Engines engines_of(const Bench& bench, const BenchOptions& options) {
  Engines engines;
  const DeviceKind kind = choose_device(options.device).kind;
  if (kind == DeviceKind::cpu || kind == DeviceKind::automatic)
    engines.cpu = make_cpu_engine(bench.threads());
  if (bench.has_cuda()) engines.cuda = make_cuda_engine(bench.cuda_index(), bench.threads());
  return engines;
}

TableCell ms_cell(const std::optional<double>& ms) {
  return ms ? TableCell(*ms, *ms < 10 ? 4 : 2) : TableCell();
}

TableCell factor_cell(const std::optional<double>& factor) {
  return factor ? TableCell(*factor, 2, 1, "x") : TableCell();
}

// From which size on one is faster than the other; points are by rising size.
std::string crossing_text(const PlotSeries& faster, const PlotSeries& slower) {
  std::vector<CostPoint> points;
  for (std::size_t i = 0; i < faster.points.size(); ++i) {
    points.push_back({static_cast<std::int64_t>(faster.points[i].first), slower.points[i].second,
                      faster.points[i].second});
  }
  const std::optional<std::int64_t> from = crossing(points);
  if (!from) return faster.name + " is not faster than " + slower.name + " at the largest";
  if (*from <= points.front().pixels)
    return faster.name + " is faster than " + slower.name + " at every size here";
  return faster.name + " is faster than " + slower.name + " from " +
         number(static_cast<double>(*from) / 1e6, 4) + " megapixels on";
}

}  // namespace

BenchOutcome study_pipeline(Bench& bench, const BenchOptions& options, const ShowTable& show) {
  Engines engines = engines_of(bench, options);
  const std::unique_ptr<Engine> reference_engine = make_reference_engine();
  BenchOutcome outcome;
  std::vector<DotPlot> panels;
  for (const BenchInput& input : bench_inputs(options, {{8773, 5352, 3}}, {"photo"})) {
    const Image image = input.make(input.has_rgb() ? 3 : 1);
    const Outcome reference = run_chain(*reference_engine, image, reference_repeat(options), false, true);
    const Report plain = report_of(reference, nullptr);
    struct Column {
      std::string name;
      std::optional<Report> report, fused;
    };
    Column columns[2] = {{"cpu", {}, {}}, {"cuda", {}, {}}};
    for (const auto& [engine, column] :
         {std::pair(engines.cpu.get(), columns), std::pair(engines.cuda.get(), columns + 1)}) {
      if (engine == nullptr) continue;
      column->report = report_of(run_chain(*engine, image, repeat_of(options), false, true), &reference);
      column->fused = report_of(run_chain(*engine, image, repeat_of(options), true, false), nullptr);
    }
    ResultTable table;
    table.title =
        "the four stages, " + input.name() + ", ms (cpu: " + std::to_string(bench.threads()) + " threads)";
    table.columns = {{"input", "", true}, {"stage", "stage", true}, {"sequential_ms", "sequential"}};
    for (const Column& column : columns) {
      if (!column.report) continue;
      table.columns.push_back({column.name + "_ms", column.name});
      table.columns.push_back({column.name + "_speed_up", "speed-up"});
      table.columns.push_back({column.name + "_compared", "compared", true});
    }
    DotPlot plot{table.title, "ms", {}, {{"sequential", {}}}};
    const auto add = [&](const std::string& name, std::optional<double> sequential_ms, const auto& row_of) {
      std::vector<TableCell> cells{input.name(), name, ms_cell(sequential_ms)};
      plot.rows.push_back(name);
      plot.dots.front().values.push_back(sequential_ms.value_or(0));
      std::size_t dots = 1;
      for (const Column& column : columns) {
        if (!column.report) continue;
        const std::optional<ReportRow> row = row_of(column);
        cells.push_back(ms_cell(row ? std::optional(row->time_ms) : std::nullopt));
        cells.push_back(factor_cell(row && sequential_ms && row->time_ms > 0
                                        ? std::optional(*sequential_ms / row->time_ms)
                                        : std::nullopt));
        cells.emplace_back(row ? row->comparison : "");
        if (plot.dots.size() == dots) plot.dots.push_back({column.name, {}});
        plot.dots[dots++].values.push_back(row ? row->time_ms : 0);
        if (row && !row->comparison.empty() && row->comparison != "identical") outcome.all_right = false;
      }
      table.rows.push_back(std::move(cells));
    };
    for (const Step& step : reference.plan.steps) {
      const auto find = [&](const Report& report) -> std::optional<ReportRow> {
        const auto row = std::ranges::find(report.rows, step.label, &ReportRow::name);
        return row == report.rows.end() ? std::nullopt : std::optional(*row);
      };
      add(step.label, find(plain)->time_ms, [&](const Column& column) { return find(*column.report); });
    }
    const double all_ms = plain.totals[kKernels].time_ms;
    add("all kernels", all_ms,
        [](const Column& column) { return std::optional(column.report->totals[kKernels]); });
    add("all kernels, fused", all_ms, [](const Column& column) {
      return column.fused ? std::optional(column.fused->totals[kKernels]) : std::nullopt;
    });
    add("with transfers", all_ms,
        [](const Column& column) { return std::optional(column.report->totals[kMoved]); });
    add("with transfers, fused", all_ms, [](const Column& column) {
      return column.fused ? std::optional(column.fused->totals[kMoved]) : std::nullopt;
    });
    show(table);
    outcome.tables.push_back(std::move(table));
    panels.push_back(std::move(plot));
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
  Engines engines = engines_of(bench, options);
  const std::unique_ptr<Engine> reference_engine = make_reference_engine();
  const std::string cpu_name = "cpu, " + std::to_string(bench.threads()) + " threads";
  PlotSeries sequential{"sequential", {}, false};
  PlotSeries cpu{cpu_name, {}, false};
  PlotSeries kernels{"cuda, kernels alone", {}, true};
  PlotSeries moved{"cuda with transfers", {}, false};
  std::ranges::sort(sizes, {}, &Shape::pixels);
  BenchOptions by_size = options;
  by_size.sizes = sizes;
  for (const BenchInput& input : bench_inputs(by_size, sizes, {"photo"})) {
    const Image image = input.make(3);
    const auto pixels = static_cast<double>(input.size().pixels());
    const auto total = [&](Engine& engine, int repeat, std::size_t which) {
      return report_of(run_chain(engine, image, repeat, false, false), nullptr).totals[which].time_ms;
    };
    sequential.points.emplace_back(pixels, total(*reference_engine, reference_repeat(options), kKernels));
    if (engines.cpu) cpu.points.emplace_back(pixels, total(*engines.cpu, repeat_of(options), kKernels));
    if (engines.cuda) {
      const Report report =
          report_of(run_chain(*engines.cuda, image, repeat_of(options), false, false), nullptr);
      kernels.points.emplace_back(pixels, report.totals[kKernels].time_ms);
      moved.points.emplace_back(pixels, report.totals[kMoved].time_ms);
    }
  }
  LinePlot plot{"the four stages: time by image size", "pixels", "ms", true, true, {}};
  for (const PlotSeries* series : {&sequential, &cpu, &kernels, &moved}) {
    if (!series->points.empty()) plot.series.push_back(*series);
  }
  ResultTable table;
  table.title = "gray, hist, contrast, smooth over a photo pattern, ms by image size";
  table.columns = {{"pixels", "pixels"}};
  for (const PlotSeries& series : plot.series) table.columns.push_back({series.name + "_ms", series.name});
  for (std::size_t i = 0; i < sequential.points.size(); ++i) {
    std::vector<TableCell> cells{{sequential.points[i].first, 0}};
    for (const PlotSeries& series : plot.series) cells.push_back(ms_cell(series.points[i].second));
    table.rows.push_back(std::move(cells));
  }
  for (const auto& [faster, slower] : {std::pair(&kernels, &sequential), std::pair(&moved, &sequential),
                                       std::pair(&kernels, &cpu), std::pair(&moved, &cpu)}) {
    if (!faster->points.empty() && !slower->points.empty())
      table.notes.push_back(crossing_text(*faster, *slower));
  }
  show(table);
  return {{table}, plot_svg(std::vector<LinePlot>{plot}), true};
}

}  // namespace imgpipe
