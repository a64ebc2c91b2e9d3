#include "lab/bench/bench.h"

#include <algorithm>
#include <span>
#include <utility>

#include "app/exit_code.h"
#include "app/files/text_file.h"
#include "app/jobs/result_files.h"
#include "app/log.h"
#include "app/options/help_text.h"
#include "app/report/text_columns.h"
#include "app/signals.h"
#include "app/version.h"
#include "images/error.h"
#include "images/files/output_file.h"
#include "images/text.h"
#include "lab/bench/bench_html.h"
#include "lab/bench/bench_plot.h"
#include "lab/bench/bench_rows.h"
#include "lab/bench/kernel_template.h"
#include "lab/pipeline/lab_transfer.h"
#include "pipeline/device.h"

namespace imgpipe {
namespace {

constexpr Shape kDefaultSize{8773, 5352, 3};

ResultTable variant_list(const BenchOptions& options, const UserKernels& own) {
  ResultTable table;
  table.columns = {{"stage", "stage", true}, {"variant", "variant", true}, {"runs_on", "runs on", true},
                   {"idea", "idea", true},   {"needs", "needs", true},     {"origin", "origin", true}};
  for (const ListedVariant& each : all_variants(own.ladders())) {
    if (!is_requested(options, each.stage)) continue;
    const bool is_user_variant = each.stage_variant != nullptr && each.stage_variant->own != nullptr;
    const bool named = options.variants.empty() ||
                       std::ranges::find(options.variants, each.variant->name) != options.variants.end();
    if (is_user_variant ? !own.wants(*each.stage_variant) : !named) continue;
    table.rows.push_back({std::string(each.ladder), std::string(each.variant->name), device_name(each.kind),
                          std::string(each.variant->idea), each.needs, std::string(each.variant->origin)});
  }
  table.title = std::to_string(table.rows.size()) + " variants";
  return table;
}

std::string csv_of(const std::vector<ResultTable>& tables) {
  std::string out;
  const ResultTable* previous = nullptr;
  for (const ResultTable& table : tables) {
    out += table_csv(table, previous);
    previous = &table;
  }
  return out;
}

// Formats the list for a terminal, stage by stage.
std::string list_text(const ResultTable& table) {
  std::string text = table.title + "\n";
  std::vector<HelpLine> lines;
  for (std::size_t i = 0; i < table.rows.size(); ++i) {
    const std::vector<TableCell>& cells = table.rows[i];
    std::string idea = cells[3].text;
    if (!cells[4].text.empty()) idea += "; needs: " + cells[4].text;
    if (!cells[5].text.empty()) idea += "; origin: " + cells[5].text;
    lines.push_back({"  " + cells[1].text + " (" + cells[2].text + ")", idea});
    const bool is_last = i + 1 == table.rows.size() || table.rows[i + 1][0].text != cells[0].text;
    if (is_last) text += "\n" + cells[0].text + "\n" + help_lines(std::exchange(lines, {}), help_width());
  }
  return text;
}

int run_list(const BenchOptions& options, const UserKernels& own) {
  const BenchOutcome outcome{{variant_list(options, own)}, "", true};
  const ResultTable& table = outcome.tables.front();
  print_text(options.format == TableFormat::json       ? tables_json({{}, options.threads, outcome.tables})
             : options.format == TableFormat::csv      ? table_csv(table)
             : options.format == TableFormat::markdown ? table_markdown(table)
                                                       : list_text(table));
  return kExitDone;
}

// Compiles and loads the files of --with; without --stage, selects their stages.
UserKernels load_user_kernels(BenchOptions& options) {
  UserKernels own(options);
  if (own.empty()) return own;
  if (options.stages.empty()) options.stages = own.stages();
  check_variants(options, own.variants());
  return own;
}

constexpr std::string_view kStoppingNote =
    "\nimgpipe: finishing the run that is being timed; another signal stops it immediately\n";

int report_stop(int signal, const BenchOutcome& outcome) {
  std::size_t rows = 0;
  for (const ResultTable& table : outcome.tables) rows += table.rows.size();
  log_error("stopped by signal " + std::to_string(signal) + "; finished rows: " + std::to_string(rows));
  return kExitSignalBase + signal;
}

BenchOutcome measure(Bench& bench, const BenchOptions& options, const ShowTable& show) {
  switch (options.study) {
    case Study::colors:
      return study_colors(bench, options, show);
    case Study::contention:
      return study_contention(bench, options, show);
    case Study::crossover:
      return study_crossover(bench, options, show);
    case Study::pipeline:
      return study_pipeline(bench, options, show);
    case Study::none:
      break;
  }
  return run_ladders(bench, options, show);
}

}  // namespace

std::string untimeable(const std::string& build_type) {
  if (build_type == "Debug") return "Debug build: times are meaningless; use cmake --preset release";
  return "";
}

BenchOutcome run_ladders(Bench& bench, const BenchOptions& options, const ShowTable& show) {
  BenchOutcome outcome;
  std::vector<DotPlot> panels;
  const auto take = [&](const std::vector<BenchRow>& rows) {
    if (rows.empty()) return;
    for (const BenchRow& row : rows)
      outcome.all_right = outcome.all_right && row.result.status != LabStatus::wrong;
    outcome.tables.push_back(table_of(rows));
    if (bench.is_stopped())
      outcome.tables.back().notes.emplace_back("stopped by a signal: variants after these were not timed");
    panels.push_back(plot_of(rows));
    outcome.ladders.push_back(rows);
    show(outcome.tables.back());
  };
  const auto say = [](const BenchRow& row) {
    log_detail(row.stage + " " + row.variant + ": " + checked_text(row.result) +
               (row.result.timed() ? ", " + time_text(row.result.median_us()) + " us" : ""));
  };
  const bool only_codecs =
      !options.stages.empty() &&
      std::ranges::all_of(options.stages, [](const std::string& stage) { return is_codec_stage(stage); });
  for (const BenchInput& input :
       only_codecs ? std::vector<BenchInput>() : bench_inputs(options, {kDefaultSize}, {"photo"})) {
    for (const Ladder& ladder : bench.ladders()) {
      if (!is_requested(options, ladder.name)) continue;
      take(bench.run(
          ladder, input, [&](const StageVariant& stage_variant) { return bench.wants(stage_variant); }, say));
    }
    if (is_requested(options, kTransferLadder)) take(bench.run_transfers(input, say));
  }
  run_codec_ladders(bench, options, take, say);
  if (outcome.tables.empty() && !bench.is_stopped())
    throw Error(
        bench.has_cuda() || bench.cuda_unavailable_reason().empty() ? ErrorKind::usage : ErrorKind::device,
        bench.cuda_unavailable_reason().empty()
            ? "no variant of these stages can run here"
            : "these variants need a CUDA device: " + bench.cuda_unavailable_reason());
  outcome.plot = plot_svg(panels);
  return outcome;
}

int run_bench(const BenchOptions& given) {
  if (!given.show_template.empty()) {
    print_text(kernel_template(given.show_template));
    return kExitDone;
  }
  BenchOptions options = given;
  if (given.list) {
    const UserKernels own = load_user_kernels(options);
    return run_list(options, own);
  }
  if (const std::string why = untimeable(build_info().build_type); !why.empty())
    throw Error(ErrorKind::usage, why);
  check_result_files(
      {}, options.replace,
      {{"--json", options.json_file}, {"--plot", options.plot_file}, {"--html", options.html_file}});
  const bool stdout_is_taken = writes_to_stdout(options);
#ifdef __SANITIZE_ADDRESS__
  log_warning("sanitizer build: times are meaningless");
#endif
  UserKernels own = load_user_kernels(options);
  const bool is_told = !options.logging.quiet && options.logging.log_format == LogFormat::text;
  const SignalGuard signals(is_told ? kStoppingNote : "");
  options.lab.stop = [&signals] { return signals.received() != 0; };
  Bench bench(options, own);
  for (const std::string& warning : take_device_warnings()) log_warning(warning);
  const std::vector<std::string> devices = bench.device_lines();
  const bool prints_incrementally =
      options.format == TableFormat::text || options.format == TableFormat::markdown;
  const bool markdown = options.format == TableFormat::markdown;
  bool begun = false;
  const BenchOutcome outcome = measure(bench, options, [&](const ResultTable& table) {
    bench.clear_progress();
    if (!prints_incrementally || options.logging.quiet) return;
    std::string text;
    for (const std::string& device : devices) {
      if (!begun) text += (markdown ? "- " : "") + device + "\n";
    }
    begun = true;
    print_table(text + "\n" + (markdown ? table_markdown(table) : table_text(table)), stdout_is_taken);
  });
  bench.clear_progress();
  const bool is_stopped = bench.is_stopped();
  if (is_stopped && outcome.tables.empty()) return report_stop(signals.received(), outcome);
  if (options.format == TableFormat::csv) print_text(csv_of(outcome.tables));
  const std::string json = tables_json({devices, options.threads, outcome.tables});
  if (options.format == TableFormat::json) print_text(json);
  if (!options.json_file.empty()) write_text(options.json_file, json);
  if (!options.plot_file.empty()) write_text(options.plot_file, outcome.plot);
  if (!options.html_file.empty())
    write_text(options.html_file, bench_html(outcome, devices, options.arguments));
  if (is_stopped) return report_stop(signals.received(), outcome);
  if (outcome.all_right) return kExitDone;
  log_error("a variant differs from the reference");
  return kExitDifference;
}

}  // namespace imgpipe
