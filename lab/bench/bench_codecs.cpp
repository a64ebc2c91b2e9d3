// The ladders of codecs.
#include <algorithm>
#include <map>
#include <utility>

#include "app/report/text_columns.h"
#include "images/error.h"
#include "images/memory/available_memory.h"
#include "lab/bench/bench.h"
#include "lab/bench/bench_rows.h"

namespace imgpipe {
namespace {

constexpr Shape kUsualCodecSize{3264, 2448, 3};

std::vector<TableCell> codec_cells_of(const BenchRow& row, const BenchRow* first) {
  const LabResult& result = row.result;
  std::vector<TableCell> cells{row.stage,
                               row.input,
                               {static_cast<double>(row.size.width), 0},
                               {static_cast<double>(row.size.height), 0},
                               {static_cast<double>(row.images), 0},
                               device_name(row.kind),
                               row.variant};
  if (result.timed()) {
    const double median_us = result.median_us();
    TableCell median(median_us, 3);
    median.text = time_text(median_us);
    cells.insert(cells.end(), {median,
                               {result.spread(), 1, 100, "%"},
                               {result.times_us.front(), 3},
                               {result.times_us.back(), 3},
                               {static_cast<double>(result.times_us.size()), 0},
                               {row.pixel_rate() / 1e9, 2},
                               {row.rate() / 1e9, 3},
                               {first->result.median_us() / median_us, 2, 1, "x"}});
  } else {
    cells.resize(cells.size() + 8);
  }
  cells.insert(cells.end(), {result.grid, status_name(result.status), checked_text(result)});
  return cells;
}

}  // namespace

ResultTable codec_table(const std::vector<BenchRow>& rows) {
  ResultTable table;
  const BenchRow& any = rows.front();
  table.title = any.stage + ", " + std::to_string(any.images) + " x " + any.input;
  table.columns = {{"stage", "", true},
                   {"input", "", true},
                   {"width", ""},
                   {"height", ""},
                   {"images", ""},
                   {"device", "", true},
                   {"variant", "variant", true},
                   {"median_us", "median us"},
                   {"spread", "spread"},
                   {"min_us", ""},
                   {"max_us", ""},
                   {"runs", ""},
                   {"gpixel_per_s", "GP/s"},
                   {"coded_gb_per_s", "coded GB/s"},
                   {"factor", "factor"},
                   {"grid", "grid", true},
                   {"status", "", true},
                   {"checked", "checked", true}};
  const auto first = std::ranges::find_if(rows, [](const BenchRow& row) { return row.result.timed(); });
  for (const BenchRow& row : rows)
    table.rows.push_back(codec_cells_of(row, first == rows.end() ? nullptr : &*first));
  if (first != rows.end()) table.title += "; factor: against " + first->variant;
  table.notes = conclusions(rows);
  return table;
}

void BenchInput::check_group(std::size_t images) const {
  // The right answers; beside them, of each image, coefficients or pixels, and what a decoder holds.
  const std::int64_t bytes_a_pixel = 24 + 10 * static_cast<std::int64_t>(images);
  check_available(size_.pixels() * bytes_a_pixel);
}

std::shared_ptr<const CodecSubject> BenchInput::jpeg(std::size_t images) const {
  check_group(images);
  if (jpeg_) {
    try {
      return make_jpeg_subject(*jpeg_);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::input) throw;  // none of our own decoder's
    }
  }
  return make_jpeg_subject(jpeg_of(make(has_rgb() ? 3 : 1)));
}

std::shared_ptr<const CodecSubject> BenchInput::png(std::size_t images) const {
  check_group(images);
  return make_png_subject(make(has_rgb() ? 3 : 1));
}

CodecLab* Bench::codec_lab_for(RungKind kind) {
  if (device_for(kind) == nullptr) return nullptr;
  std::unique_ptr<CodecLab>& lab = kind == RungKind::cuda ? cuda_codecs_ : host_codecs_;
  if (!lab)
    lab = kind == RungKind::cuda ? make_cuda_codec_lab(cuda_index_, threads_) : make_host_codec_lab(threads_);
  return lab.get();
}

bool Bench::runs_any(const CodecLadder& ladder) {
  return std::ranges::any_of(ladder.rungs, [&](const CodecRung& rung) {
    return wants(rung.name) && device_for(rung.kind) != nullptr;
  });
}

std::vector<BenchRow> Bench::run_codec(const CodecLadder& ladder, const BenchInput& input,
                                       const std::shared_ptr<const CodecSubject>& subject,
                                       const std::function<void(const BenchRow&)>& done) {
  std::vector<BenchRow> rows;
  const auto images = static_cast<std::size_t>(options_.group);
  std::vector<const CodecRung*> rungs;
  for (const CodecRung& rung : ladder.rungs) {
    if (wants(rung.name) && device_for(rung.kind) != nullptr) rungs.push_back(&rung);
  }
  for (std::size_t i = 0; i < rungs.size(); ++i) {
    const CodecRung& rung = *rungs[i];
    BenchRow row{.stage = std::string(ladder.name),
                 .variant = std::string(rung.name),
                 .input = input.name(),
                 .idea = rung.idea,
                 .origin = rung.origin,
                 .size = subject->pixels.shape(),
                 .kind = rung.kind,
                 .foreign = rung.foreign,
                 .production = rung.production,
                 .bytes = static_cast<std::int64_t>(coded_bytes(rung, ladder.work, *subject) * images),
                 .copy_bandwidth = 0,
                 .result = {},
                 .images = images};
    if (!begin(row, i, rungs.size())) break;
    CodecLab* lab = codec_lab_for(rung.kind);
    lab->load({subject, images});
    row.result = lab->run(rung, ladder.work, options_.lab);
    if (!take(std::move(row), rows, done)) break;
  }
  return rows;
}

void run_codec_ladders(Bench& bench, const BenchOptions& options,
                       const std::function<void(const std::vector<BenchRow>&)>& take,
                       const std::function<void(const BenchRow&)>& say) {
  const auto images = static_cast<std::size_t>(options.group);
  const auto is_wanted = [&](std::string_view stage) {
    return asks_for(options, stage) &&
           std::ranges::any_of(codec_ladder_table(), [&](const CodecLadder& ladder) {
             return ladder.stage == stage && bench.runs_any(ladder);
           });
  };
  if (!is_wanted(kJpegLadders) && !is_wanted(kPngLadder)) return;
  for (const BenchInput& input : bench_inputs(options, {kUsualCodecSize}, {"photo"})) {
    for (const std::string_view stage : {kJpegLadders, kPngLadder}) {
      if (!is_wanted(stage) || !bench.begin(std::string(stage) + ", " + input.name())) continue;
      const std::shared_ptr<const CodecSubject> subject =
          stage == kJpegLadders ? input.jpeg(images) : input.png(images);
      for (const CodecLadder& ladder : codec_ladder_table()) {
        if (ladder.stage == stage) take(bench.run_codec(ladder, input, subject, say));
      }
    }
  }
}

}  // namespace imgpipe
