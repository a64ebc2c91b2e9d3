#include "lab/bench/bench_rows.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "app/report/text_columns.h"
#include "lab/pipeline/lab_transfer.h"

namespace imgpipe {
namespace {

enum class In { every_table, stages, codecs };  // the tables with a column

struct RowColumn {
  TableColumn column;
  In in = In::every_table;
  // `first`: the row that the factor refers to; nullptr if no row was timed.
  std::function<TableCell(const BenchRow& row, const BenchRow* first)> cell;
  bool of_times = false;  // empty if the row was not timed
};

TableCell median_cell(const BenchRow& row) {
  TableCell median(row.result.median_us(), 3);
  median.text = time_text(row.result.median_us());
  return median;
}

TableCell copy_share(const BenchRow& row) {
  if (row.stage == kTransferLadder || row.copy_bandwidth <= 0) return {};
  return {row.rate() / row.copy_bandwidth, 1, 100, "%"};
}

const std::vector<RowColumn>& row_columns() {
  using Row = const BenchRow&;
  using First = const BenchRow*;
  const auto number_of = [](auto value) { return TableCell(static_cast<double>(value), 0); };
  static const std::vector<RowColumn> columns{
      {{"stage", "", true}, {}, [](Row row, First) { return TableCell(row.stage); }},
      {{"input", "", true}, {}, [](Row row, First) { return TableCell(row.input); }},
      {{"width", ""}, {}, [=](Row row, First) { return number_of(row.size.width); }},
      {{"height", ""}, {}, [=](Row row, First) { return number_of(row.size.height); }},
      {{"images", ""}, In::codecs, [=](Row row, First) { return number_of(row.images); }},
      {{"device", "", true}, {}, [](Row row, First) { return TableCell(device_name(row.kind)); }},
      {{"variant", "variant", true}, {}, [](Row row, First) { return TableCell(row.variant); }},
      {{"median_us", "median us"}, {}, [](Row row, First) { return median_cell(row); }, true},
      {{"spread", "spread"},
       {},
       [](Row row, First) { return TableCell(row.result.spread(), 1, 100, "%"); },
       true},
      {{"min_us", ""}, {}, [](Row row, First) { return TableCell(row.result.times_us.front(), 3); }, true},
      {{"max_us", ""}, {}, [](Row row, First) { return TableCell(row.result.times_us.back(), 3); }, true},
      {{"runs", ""}, {}, [=](Row row, First) { return number_of(row.result.times_us.size()); }, true},
      {{"gb_per_s", "GB/s"},
       In::stages,
       [](Row row, First) {
         return row.bytes == 0 ? TableCell() : TableCell(row.rate() / 1e9, row.rate() < 100e9 ? 2 : 0);
       },
       true},
      {{"copy_share", "of copy"}, In::stages, [](Row row, First) { return copy_share(row); }, true},
      {{"mpixel_per_s", "Mpixel/s"},
       In::stages,
       [](Row row, First) { return row.bytes == 0 ? TableCell() : TableCell(row.pixel_rate() / 1e6, 0); },
       true},
      {{"gpixel_per_s", "GP/s"},
       In::codecs,
       [](Row row, First) { return TableCell(row.pixel_rate() / 1e9, 2); },
       true},
      {{"coded_gb_per_s", "coded GB/s"},
       In::codecs,
       [](Row row, First) { return TableCell(row.rate() / 1e9, 3); },
       true},
      {{"factor", "factor"},
       {},
       [](Row row, First first) {
         return first == nullptr ? TableCell()
                                 : TableCell(first->result.median_us() / row.result.median_us(), 2, 1, "x");
       },
       true},
      {{"grid", "grid", true}, {}, [](Row row, First) { return TableCell(row.result.grid); }},
      {{"status", "", true}, {}, [](Row row, First) { return TableCell(status_name(row.result.status)); }},
      {{"checked", "checked", true}, {}, [](Row row, First) { return TableCell(checked_text(row.result)); }}};
  return columns;
}

std::string requirements_of(const StageVariant& stage_variant) {
  std::string needs;
  if (stage_variant.grid == Grid::covering) needs = "one thread per pixel: the image determines the blocks";
  if (stage_variant.grid == Grid::own) needs = "a fixed grid";
  if (stage_variant.max_threads < 1024)
    needs = "at most " + std::to_string(stage_variant.max_threads) + " threads per block";
  if (!stage_variant.wide) needs += std::string(needs.empty() ? "" : "; ") + "less than 2 GiB";
  return needs;
}

}  // namespace

std::vector<ListedVariant> all_variants(std::span<const Ladder> ladders) {
  std::vector<ListedVariant> all;
  for (const Ladder& ladder : ladders) {
    for (const StageVariant& stage_variant : ladder.variants)
      all.push_back({ladder.name, ladder.name, &stage_variant, stage_variant.kind(),
                     requirements_of(stage_variant), &stage_variant});
  }
  for (const TransferVariant& stage_variant : transfer_ladder())
    all.push_back({kTransferLadder, kTransferLadder, &stage_variant, VariantKind::cuda, ""});
  for (const CodecLadder& ladder : codec_ladder_table()) {
    for (const CodecVariant& stage_variant : ladder.variants)
      all.push_back({ladder.stage, ladder.name, &stage_variant, stage_variant.kind,
                     stage_variant.nvjpeg == Nvjpeg::none ? "" : "nvJPEG"});
  }
  return all;
}

ResultTable table_of(const std::vector<BenchRow>& rows) {
  const BenchRow& any = rows.front();
  const bool codec = any.images > 0;
  ResultTable table;
  table.title = any.stage + ", " + (codec ? std::to_string(any.images) + " x " : "") + any.input;
  const auto timed = std::ranges::find_if(rows, [](const BenchRow& row) { return row.result.timed(); });
  const BenchRow* first = timed == rows.end() || any.stage == kTransferLadder ? nullptr : &*timed;
  if (first != nullptr) table.title += "; factor: against " + first->variant;
  table.rows.resize(rows.size());
  for (const RowColumn& column : row_columns()) {
    if (column.in == (codec ? In::stages : In::codecs)) continue;
    table.columns.push_back(column.column);
    for (std::size_t i = 0; i < rows.size(); ++i)
      table.rows[i].push_back(column.of_times && !rows[i].result.timed() ? TableCell()
                                                                         : column.cell(rows[i], first));
  }
  table.notes = conclusions(rows);
  for (std::string& line : user_variant_notes(rows)) table.notes.push_back(std::move(line));
  return table;
}

std::string time_text(double us) {
  return number(us, us < 1000 ? 2 : us < 100'000 ? 1 : 0);
}

const char* status_name(LabStatus status) {
  switch (status) {
    case LabStatus::right:
      return "right";
    case LabStatus::wrong_as_claimed:
      return "wrong as said";
    case LabStatus::wrong:
      return "WRONG";
    case LabStatus::not_run:
      break;
  }
  return "not run";
}

std::string checked_text(const LabResult& result) {
  if (result.status == LabStatus::right) return result.detail;
  return std::string(status_name(result.status)) + ": " + result.detail;
}

const char* device_name(VariantKind kind) {
  return kind == VariantKind::cuda ? "cuda" : kind == VariantKind::cpu ? "cpu" : "reference";
}

std::vector<std::string> conclusions(const std::vector<BenchRow>& rows) {
  std::vector<std::string> lines;
  const BenchRow* fastest = nullptr;
  const BenchRow* production = nullptr;
  for (const BenchRow& row : rows) {
    if (!row.result.timed() || row.kind != VariantKind::cuda) continue;
    if (row.production && row.stage != kTransferLadder) production = &row;
    if (row.foreign || row.result.status != LabStatus::right) continue;
    if (fastest == nullptr || row.result.median_us() < fastest->result.median_us()) fastest = &row;
  }
  if (production == nullptr || fastest == nullptr) return lines;
  std::string line = "fastest correct variant on cuda: " + fastest->variant + ", " +
                     time_text(fastest->result.median_us()) + " us";
  for (const BenchRow& row : rows) {
    if ((!row.foreign && row.own == nullptr) || !row.result.timed()) continue;
    line += "; " + row.variant + " takes " +
            number(row.result.median_us() / production->result.median_us(), 2) +
            " times as long as production";
  }
  lines.push_back(line);
  return lines;
}

std::vector<std::string> user_variant_notes(const std::vector<BenchRow>& rows) {
  std::vector<std::string> lines;
  for (const BenchRow& row : rows) {
    if (row.own == nullptr || row.result.status != LabStatus::right) continue;
    lines.push_back(row.variant + ", of " + row.own->file + ": also exact on " +
                    std::to_string(row.own->verdict.images) + " small test images");
  }
  return lines;
}

int row_kind(const BenchRow& row) {
  if (row.kind != VariantKind::cuda) return 0;
  return row.own != nullptr ? 4 : row.production ? 3 : row.foreign ? 2 : 1;
}

bool is_requested(const BenchOptions& options, std::string_view ladder) {
  return options.stages.empty() || std::ranges::find(options.stages, ladder) != options.stages.end();
}

DotPlot plot_of(const std::vector<BenchRow>& rows) {
  const bool codec = rows.front().images > 0;
  DotPlot plot{rows.front().stage + ", " + rows.front().input,
               codec ? "billions of pixels per second" : "GB/s (bytes that must be moved / median time)",
               {},
               {}};
  for (const char* kind : kRowKinds) plot.dots.push_back({kind, {}});
  for (const BenchRow& row : rows) {
    if (!row.result.timed() || row.bytes == 0) continue;
    plot.rows.push_back(row.variant + (row.result.status == LabStatus::right ? "" : " (wrong)"));
    const auto kind = static_cast<std::size_t>(row_kind(row));
    for (std::size_t i = 0; i < plot.dots.size(); ++i)
      plot.dots[i].values.push_back(i == kind ? (codec ? row.pixel_rate() : row.rate()) / 1e9 : 0);
  }
  return plot;
}

}  // namespace imgpipe
