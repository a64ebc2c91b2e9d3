#include "lab/bench/bench_rows.h"

#include <algorithm>

#include "app/report/text_columns.h"
#include "lab/pipeline/lab_transfer.h"

namespace imgpipe {

std::string time_text(double us) {
  return number(us, us < 1000 ? 2 : us < 100'000 ? 1 : 0);
}

const char* status_name(LabStatus status) {
  switch (status) {
    case LabStatus::right:
      return "right";
    case LabStatus::wrong_as_said:
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

const char* device_name(RungKind kind) {
  return kind == RungKind::cuda ? "cuda" : kind == RungKind::cpu ? "cpu" : "reference";
}

std::vector<std::string> conclusions(const std::vector<BenchRow>& rows) {
  std::vector<std::string> lines;
  const BenchRow* fastest = nullptr;
  const BenchRow* production = nullptr;
  for (const BenchRow& row : rows) {
    if (!row.result.timed() || row.kind != RungKind::cuda) continue;
    if (row.production && row.stage != kTransferLadder) production = &row;
    if (row.foreign || row.result.status != LabStatus::right) continue;
    if (fastest == nullptr || row.result.median_us() < fastest->result.median_us()) fastest = &row;
  }
  if (production == nullptr || fastest == nullptr) return lines;
  std::string line =
      "fastest right on cuda: " + fastest->variant + ", " + time_text(fastest->result.median_us()) + " us";
  for (const BenchRow& row : rows) {
    if ((!row.foreign && row.own == nullptr) || !row.result.timed()) continue;
    line += "; " + row.variant + " takes " +
            number(row.result.median_us() / production->result.median_us(), 2) +
            " times as long as production";
  }
  lines.push_back(line);
  return lines;
}

std::vector<std::string> own_notes(const std::vector<BenchRow>& rows) {
  std::vector<std::string> lines;
  for (const BenchRow& row : rows) {
    if (row.own == nullptr || row.result.status != LabStatus::right) continue;
    lines.push_back(row.variant + ", of " + row.own->file + ": exact on " +
                    std::to_string(row.own->verdict.images) + " small images of awkward shapes too");
  }
  return lines;
}

int row_kind(const BenchRow& row) {
  if (row.kind != RungKind::cuda) return 0;
  return row.own != nullptr ? 4 : row.production ? 3 : row.foreign ? 2 : 1;
}

bool asks_for(const BenchOptions& options, std::string_view ladder) {
  return options.stages.empty() || std::ranges::find(options.stages, ladder) != options.stages.end();
}

DotPlot plot_of(const std::vector<BenchRow>& rows) {
  const bool codec = rows.front().images > 0;
  DotPlot plot{rows.front().stage + ", " + rows.front().input,
               codec ? "billions of pixels a second" : "GB/s (bytes that must be moved / median time)",
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
