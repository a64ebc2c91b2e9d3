#include "app/batch/batch_report.h"

#include <array>

#include "app/process_options/options_digest.h"
#include "app/report/fields.h"
#include "app/report/report_parts.h"
#include "app/report/text_columns.h"
#include "app/standard_streams.h"
#include "images/names.h"
#include "images/text.h"

namespace imgpipe {
namespace {

std::string counts_text(const BatchTotals& totals) {
  std::string text = std::to_string(totals.images) + (totals.images == 1 ? " image: " : " images: ") +
                     std::to_string(totals.done) + " done, " + std::to_string(totals.skipped) + " " +
                     totals.skipped_label + ", " + std::to_string(totals.failed()) + " failed";
  if (totals.not_done() > 0) text += ", " + std::to_string(totals.not_done()) + " not done";
  return text;
}

// Returns a line that says where the failures are listed.
std::string failed_text(const ProcessOptions& options) {
  std::vector<std::string> files;
  if (!options.reports.failed_file.empty()) files.push_back(printable(options.reports.failed_file));
  for (const std::string& file : options.reports.files) files.push_back(output_name(file));
  if (files.empty())
    return "failed: listed on stderr; use --failed-out FILE or --report FILE.ndjson to list them in a file\n";
  const std::vector<std::string_view> names(files.begin(), files.end());
  return "failed: listed on stderr and in " + joined(names) + "\n";
}

// Returns a line with the number of images, `what`, and an example; "" if there are no such images.
std::string noted_text(const BatchTotals::CountWithExample& noted, const std::string& what) {
  if (noted.images == 0) return "";
  return std::to_string(noted.images) + (noted.images == 1 ? " image" : " images") + what + ", for example " +
         noted.example + "\n";
}

// Returns "" if every image fitted into its device's memory.
std::string too_large_text(const BatchTotals& totals) {
  const std::size_t in_bands = totals.images_by_route(ImageRoute::device_in_bands);
  const std::size_t by_host = totals.images_by_route(ImageRoute::host_for_memory);
  if (in_bands + by_host == 0) return "";
  return std::to_string(in_bands + by_host) + (in_bands + by_host == 1 ? " image" : " images") +
         " did not fit into device memory: " + std::to_string(in_bands) + " ran on the device in bands, " +
         std::to_string(by_host) + " on the host\n";
}

std::string written_tensor_text(const BatchTotals& totals, const ProcessOptions& options) {
  const std::string file = printable(options.output.path);
  if (!totals.tensor) return file + " was not written";
  const auto& [names_file, type, rows] = *totals.tensor;
  return file + ": " + tensor_text(type, rows) +
         (names_file.empty() ? "" : "; names in " + printable(names_file));
}

}  // namespace

void add_part(Fields& fields, const BatchTotals::PartBusy& part) {
  fields.add("part", part.part).column("part");
  fields.add("by", part.by).column("by");
  fields.add("busy_s", part.busy_s).column("busy s", 3);
  fields.add("share", part.share).column("of its time", 1, 100, "%");
}

std::string bottleneck(const BatchTotals& totals) {
  const std::vector<BatchTotals::PartBusy> parts = totals.parts();
  double workers = 0, work_s = 0;
  const BatchTotals::PartBusy* most = nullptr;
  const BatchTotals::PartBusy* lane = nullptr;
  for (const BatchTotals::PartBusy& part : parts) {
    if (part.by != "workers") {
      if (lane == nullptr || part.share > lane->share) lane = &part;
      continue;
    }
    workers += part.share;
    work_s += part.busy_s;
    if (most == nullptr || part.busy_s > most->busy_s) most = &part;
  }
  constexpr double kBusy = 0.8;
  if (most != nullptr && workers >= kBusy)
    return "the workers, mostly " + most->part + " (" + number(most->busy_s / work_s * 100, 1) + "%)";
  if (lane != nullptr && lane->share >= kBusy)
    return lane->by + ": " + lane->part + " (" + number(lane->share * 100, 1) + "%)";
  return "none (no part is busy at least 80% of the time)";
}

std::string batch_head(const BatchTotals& totals) {
  return counts_text(totals) + ", in " + number(totals.wall_s, 2) + " s";
}

std::string batch_table(const BatchTotals& totals, const ProcessOptions& options) {
  std::string out = batch_head(totals);
  if (totals.wall_s > 0 && totals.done > 0) {
    out += ": " + number(static_cast<double>(totals.done) / totals.wall_s, 1) + " images/s, " +
           number(static_cast<double>(totals.pixels) / 1e6 / totals.wall_s, 1) + " MP/s, read " +
           number(static_cast<double>(totals.input_bytes) / 1e6 / totals.wall_s, 1) + " MB/s, wrote " +
           number(static_cast<double>(totals.output_bytes) / 1e6 / totals.wall_s, 1) + " MB/s";
  }
  out += "\n";
  for (const std::string& device : totals.devices) out += "device: " + device + "\n";
  if (!totals.device_why.empty()) out += "        " + totals.device_why + "\n";
  if (!totals.shard.empty())
    out += totals.shard + "; " + std::to_string(totals.other_shards) + " files for other shards\n";
  if (!totals.options_digest.empty()) out += "options: digest " + short_digest(totals.options_digest) + "\n";
  if (options.output.is_tensor) out += "tensor: " + written_tensor_text(totals, options) + "\n";
  if (totals.skipped_inputs.files() > 0) out += "skipped files: " + totals.skipped_inputs.text() + "\n";
  if (!totals.note.empty()) out += totals.note + "\n";
  if (!totals.stopped.empty()) {
    out += "stopped early: " + totals.stopped + "\n";
    if (totals.not_done() > 0 && !totals.go_on.empty()) out += "to resume: " + totals.go_on + "\n";
  }
  if (totals.done > 0) {
    const std::vector<double> times = totals.image_ms();
    out += "per image: median " + number(percentile(times, 0.5), 1) + " ms, 90% within " +
           number(percentile(times, 0.9), 1) + ", 99% within " + number(percentile(times, 0.99), 1) +
           ", longest " + number(times.back(), 1) + "; " + std::to_string(totals.jobs) +
           " at a time, using " + bytes_text(totals.peak_admitted_bytes) + " of " +
           bytes_text(totals.memory_bytes) + "\n";
    ResultTable parts = table_of(totals.parts(), add_part);
    constexpr std::array<std::size_t, 4> kWidths{12, 10, 13, 13};
    for (std::size_t i = 0; i < parts.columns.size(); ++i) parts.columns[i].width = kWidths[i];
    out += "\n" + table_text(parts);
    out += " bottleneck: " + bottleneck(totals) + "\n";
  }
  out += too_large_text(totals);
  out += noted_text(totals.scaled, " decoded at a smaller scale");
  out += noted_text(totals.reduced, " had more than 8 bits per sample, reduced to 8");
  out += noted_text(totals.profiles_dropped, " had a colour profile that was dropped");
  out += noted_text(totals.metadata_dropped, " had metadata that was dropped");
  if (totals.failed() > 0) out += failed_text(options);
  return out;
}

}  // namespace imgpipe
