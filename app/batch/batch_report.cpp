#include "app/batch/batch_report.h"

#include <nlohmann/json.hpp>

#include "app/process_options/options_digest.h"
#include "app/report/byte_sizes.h"
#include "app/report/image_report.h"
#include "app/report/json_head.h"
#include "app/report/text_columns.h"
#include "app/shard/shard.h"
#include "app/standard_streams.h"
#include "app/version.h"
#include "images/names.h"
#include "images/text.h"

namespace imgpipe {
namespace {

using Json = nlohmann::ordered_json;

std::string counts_text(const BatchTotals& totals) {
  std::string text = std::to_string(totals.images) + (totals.images == 1 ? " image: " : " images: ") +
                     std::to_string(totals.done) + " done, " + std::to_string(totals.skipped) + " " +
                     totals.skipped_as + ", " + std::to_string(totals.failed()) + " failed";
  if (totals.not_done() > 0) text += ", " + std::to_string(totals.not_done()) + " not done";
  return text;
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
    return "the workers, and of their work " + most->part + " most (" +
           number(most->busy_s / work_s * 100, 1) + "%)";
  if (lane != nullptr && lane->share >= kBusy)
    return lane->by + ": " + lane->part + " (" + number(lane->share * 100, 1) + "%)";
  return "none is busy all the time";
}

// Where failures can be found, but for stderr: each was told there as it came.
std::string failed_text(const ProcessOptions& options) {
  std::vector<std::string> files;
  if (!options.reports.failed_file.empty()) files.push_back(printable(options.reports.failed_file));
  for (const std::string& file : options.reports.files) files.push_back(output_name(file));
  if (files.empty())
    return "failed: each is told on stderr; --failed-out FILE and --report FILE.ndjson keep them\n";
  const std::vector<std::string_view> names(files.begin(), files.end());
  return "failed: each is told on stderr, and in " + joined(names) + "\n";
}

Json options_of_batch(const ProcessOptions& options) {
  Json json = options_json(options);
  json["jobs"] = options.execution.jobs;
  json["recursive"] = options.input.recursive;
  json["include"] = Json::array();
  for (const std::string& pattern : options.input.include) json["include"].push_back(printable(pattern));
  json["exclude"] = Json::array();
  for (const std::string& pattern : options.input.exclude) json["exclude"].push_back(printable(pattern));
  json["skip_existing"] = options.output.skip_existing;
  json["update"] = options.output.update;
  json["fail_fast"] = options.execution.fail_fast;
  json["shard"] =
      options.shard ? Json(std::to_string(options.shard->index) + "/" + std::to_string(options.shard->count))
                    : Json(nullptr);
  return json;
}

Json shard_json(const Shard& shard, const BatchTotals& totals) {
  Json json;
  json["index"] = shard.index;
  json["count"] = shard.count;
  json["given"] = shard.by.empty();
  json["by"] = Json::array();
  for (const LauncherIndex& index : shard.by) {
    json["by"].push_back(
        {{"variable", index.variable}, {"value", index.value}, {"first", index.first}, {"last", index.last}});
  }
  json["balance"] = balance_name(shard.balance);
  json["list"] = totals.shard_list.empty() ? Json(nullptr) : Json(totals.shard_list);
  json["files_of_others"] = totals.other_shards;
  return json;
}

// "3 images had this, such as that"; "" for none.
std::string noted_text(const BatchTotals::Noted& noted, const std::string& what) {
  if (noted.images == 0) return "";
  return std::to_string(noted.images) + (noted.images == 1 ? " image" : " images") + what + ", such as " +
         noted.example + "\n";
}

// "" where every image fitted into its device.
std::string too_large_text(const BatchTotals& totals) {
  const std::size_t in_bands = totals.images_by_route(ImageRoute::device_in_bands);
  const std::size_t by_host = totals.images_by_route(ImageRoute::host_for_memory);
  if (in_bands + by_host == 0) return "";
  return std::to_string(in_bands + by_host) + (in_bands + by_host == 1 ? " image" : " images") +
         " did not fit into device memory: " + std::to_string(in_bands) +
         " went through the device in bands, " + std::to_string(by_host) + " through the host\n";
}

}  // namespace

std::string_view kind_of_error(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::usage:
      return "usage";
    case ErrorKind::input:
      return "input";
    case ErrorKind::memory:
      return "memory";
    case ErrorKind::device:
      return "device";
    case ErrorKind::output:
      break;
  }
  return "output";
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
  if (totals.passed_over.files() > 0) out += "passed over: " + totals.passed_over.text() + "\n";
  if (!totals.note.empty()) out += totals.note + "\n";
  if (!totals.stopped.empty()) {
    out += "ended early: " + totals.stopped + "\n";
    if (totals.not_done() > 0) out += "to go on: " + totals.go_on + "\n";
  }
  if (totals.done > 0) {
    const std::vector<double> times = totals.image_ms();
    out += "an image: " + number(percentile(times, 0.5), 1) + " ms (median), 90% within " +
           number(percentile(times, 0.9), 1) + ", 99% within " + number(percentile(times, 0.99), 1) +
           ", the longest " + number(times.back(), 1) + "; " + std::to_string(totals.jobs) +
           " at a time, needing " + bytes_text(totals.peak_admitted_bytes) + " of " +
           bytes_text(totals.memory_bytes) + "\n";
    out += "\n " + padded("part", 12, true) + padded("by", 10, true) + padded("busy s", 12) +
           padded("of its time", 13) + "\n";
    for (const BatchTotals::PartBusy& part : totals.parts()) {
      out += " " + padded(part.part, 12, true) + padded(part.by, 10, true) +
             padded(number(part.busy_s, 3), 12) + padded(number(part.share * 100, 1) + "%", 13) + "\n";
    }
    out += " bottleneck: " + bottleneck(totals) + "\n";
  }
  out += too_large_text(totals);
  out += noted_text(totals.reduced, " had more than 8 bits a sample, which became 8");
  out += noted_text(totals.profiles_dropped, " had a colour profile that is not kept");
  out += noted_text(totals.metadata_dropped, " had metadata that was dropped");
  if (totals.failed() > 0) out += failed_text(options);
  return out;
}

std::string batch_json(const BatchTotals& totals, const ProcessOptions& options) {
  Json json;
  json["imgpipe"] = build_json();
  std::string device;
  for (const std::string& one : totals.devices) device += (device.empty() ? "" : "; ") + one;
  add_run_head(json, kBatchSchema, {.threads = options.execution.threads, .device = device});
  json["input"] = printable(options.input.path);
  json["more_inputs"] = Json::array();
  for (const std::string& input : options.input.more_paths) json["more_inputs"].push_back(printable(input));
  json["output"] = printable(options.output.path);
  json["options"] = options_of_batch(options);
  json["options_digest"] = options_digest(options, options.output.format);
  json["shard"] = options.shard ? shard_json(*options.shard, totals) : Json(nullptr);
  json["images"] = totals.images;
  json["done"] = totals.done;
  json["skipped"] = totals.skipped;
  json["failed"] = totals.failed();
  json["not_done"] = totals.not_done();
  json["passed_over"] = Json::object();
  for (const auto& [name, kind] : totals.passed_over.kinds) json["passed_over"][name] = kind.files;
  json["not_selected"] = totals.passed_over.not_selected;
  json["ended_early"] = totals.stopped.empty() ? Json(nullptr) : Json(totals.stopped);
  json["profiles_dropped"] = totals.profiles_dropped.images;
  json["metadata_dropped"] = totals.metadata_dropped.images;
  json["reduced_to_8_bits"] = totals.reduced.images;
  json["wall_s"] = totals.wall_s;
  const double wall = totals.wall_s > 0 ? totals.wall_s : 1;
  json["images_per_s"] = static_cast<double>(totals.done) / wall;
  json["megapixels_per_s"] = static_cast<double>(totals.pixels) / 1e6 / wall;
  json["pixels"] = totals.pixels;
  json["input_bytes"] = totals.input_bytes;
  json["output_bytes"] = totals.output_bytes;
  json["jobs"] = totals.jobs;
  json["memory_bytes"] = totals.memory_bytes;
  json["peak_admitted_bytes"] = totals.peak_admitted_bytes;
  json["devices"] = totals.devices;
  json["device_why"] = totals.device_why;
  json["images_by_device"] = totals.images_by_device();
  for (const ImageRoute route :
       {ImageRoute::host, ImageRoute::device, ImageRoute::device_in_bands, ImageRoute::host_for_memory})
    json["images_by_route"][route_name(route)] = totals.images_by_route(route);
  const std::vector<double> times = totals.image_ms();
  json["image_ms"] = {{"p50", percentile(times, 0.5)},
                      {"p90", percentile(times, 0.9)},
                      {"p99", percentile(times, 0.99)},
                      {"max", times.empty() ? 0.0 : times.back()}};
  json["parts"] = Json::array();
  for (const BatchTotals::PartBusy& part : totals.parts()) {
    json["parts"].push_back(
        {{"part", part.part}, {"by", part.by}, {"busy_s", part.busy_s}, {"share", part.share}});
  }
  json["bottleneck"] = bottleneck(totals);
  json["failures"] = Json::array();
  const auto add_failure = [&](const std::string& name, const std::string& input, ErrorKind kind,
                               const std::string& reason) {
    json["failures"].push_back({{"name", printable(name)},
                                {"input", printable(input)},
                                {"error", kind_of_error(kind)},
                                {"reason", reason}});
  };
  for (const PathProblem& problem : totals.problems)
    add_failure(problem.path, problem.path, ErrorKind::input, problem.reason);
  for (const BatchFailure& failure : totals.failures)
    add_failure(failure.file->name, failure.file->input, failure.kind, *failure.reason_alone);
  return json.dump(2) + "\n";
}

}  // namespace imgpipe
