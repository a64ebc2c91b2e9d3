#include "app/batch_report.h"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

#include "app/columns.h"
#include "app/report.h"
#include "app/version.h"
#include "images/text.h"

namespace imgpipe {
namespace {

using Json = nlohmann::ordered_json;

constexpr double kNsPerSecond = 1e9;
constexpr std::size_t kMostFailuresShown = 20;

std::string megabytes(std::int64_t bytes) {
  return number(static_cast<double>(bytes) / 1e6, 1) + " MB";
}

// Nanoseconds in which at least one of the intervals was running.
std::int64_t union_ns(const std::vector<Interval>& intervals) {
  Timeline timeline;
  for (const Interval& interval : intervals) {
    Span span;
    span.start_ns = interval.start_ns;
    span.end_ns = interval.end_ns;
    timeline.add(std::move(span));
  }
  return timeline.union_ns();
}

std::string counts_text(const BatchTotals& totals) {
  std::string text = std::to_string(totals.images) + (totals.images == 1 ? " image: " : " images: ") +
                     std::to_string(totals.done) + " done, " + std::to_string(totals.skipped) + " skipped, " +
                     std::to_string(totals.failed()) + " failed";
  if (totals.not_done() > 0) text += ", " + std::to_string(totals.not_done()) + " not done";
  return text;
}

std::string bottleneck(const BatchTotals& totals) {
  const std::vector<BatchTotals::PartBusy> parts = totals.parts();
  double workers = 0;
  const BatchTotals::PartBusy* most = nullptr;
  const BatchTotals::PartBusy* lane = nullptr;
  for (const BatchTotals::PartBusy& part : parts) {
    if (part.by != "workers") {
      if (lane == nullptr || part.share > lane->share) lane = &part;
      continue;
    }
    workers += part.share;
    if (most == nullptr || part.busy_s > most->busy_s) most = &part;
  }
  constexpr double kBusy = 0.8;
  if (most != nullptr && workers >= kBusy)
    return "the workers, and of their work " + most->part + " most (" + number(most->share * 100, 1) + "%)";
  if (lane != nullptr && lane->share >= kBusy)
    return lane->by + ": " + lane->part + " (" + number(lane->share * 100, 1) + "%)";
  return "none is busy all the time";
}

Json options_of_batch(const ProcessOptions& options) {
  Json json = options_json(options);
  json["jobs"] = options.batch.jobs;
  json["recursive"] = options.batch.recursive;
  json["include"] = Json::array();
  for (const std::string& pattern : options.batch.include) json["include"].push_back(printable(pattern));
  json["exclude"] = Json::array();
  for (const std::string& pattern : options.batch.exclude) json["exclude"].push_back(printable(pattern));
  json["skip_existing"] = options.batch.skip_existing;
  json["fail_fast"] = options.batch.fail_fast;
  json["format"] = options.format ? Json(format_info(*options.format).name) : Json(nullptr);
  json["shard"] = options.batch.shard ? Json(std::to_string(options.batch.shard->index) + "/" +
                                             std::to_string(options.batch.shard->count))
                                      : Json(nullptr);
  return json;
}

}  // namespace

void BatchTotals::add(const BatchResult& result, const std::string& name) {
  for (std::size_t part = 0; part < kParts; ++part) {
    const Interval& interval = result.on_lane[part];
    if (interval.end_ns > 0) {
      lanes_[result.device][part].push_back(interval);
    } else {
      workers_[part] += result.busy[part];
    }
  }
  if (result.failed) {
    failures.push_back({name, result.reason});
    return;
  }
  ++done;
  ++by_device_[result.device];
  if (!result.header.profile.empty() && ++profiles_dropped == 1)
    profile_example = printable(name) + " (" + result.header.profile + ")";
  pixels += result.header.shape.pixels();
  input_bytes += result.input_bytes;
  output_bytes += result.output_bytes;
  image_ms_.push_back(static_cast<double>(result.end_ns - result.start_ns) / 1e6);
}

std::vector<double> BatchTotals::image_ms() const {
  std::vector<double> sorted = image_ms_;
  std::ranges::sort(sorted);
  return sorted;
}

std::vector<BatchTotals::PartBusy> BatchTotals::parts() const {
  std::vector<PartBusy> parts;
  const auto add_part = [&](std::size_t part, const std::string& by, double busy_s, double had_s) {
    const std::string name(part_name(static_cast<Part>(part)));
    parts.push_back({name, by, busy_s, had_s > 0 ? busy_s / had_s : 0});
  };
  for (std::size_t part = 0; part < kParts; ++part) {
    if (workers_[part] == 0) continue;
    add_part(part, "workers", static_cast<double>(workers_[part]) / kNsPerSecond, wall_s * jobs);
  }
  for (const auto& [lane, times] : lanes_) {
    for (std::size_t part = 0; part < kParts; ++part) {
      if (times[part].empty()) continue;
      add_part(part, lane, static_cast<double>(union_ns(times[part])) / kNsPerSecond, wall_s);
    }
  }
  return parts;
}

double percentile(const std::vector<double>& sorted, double share) {
  if (sorted.empty()) return 0;
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

std::string batch_table(const BatchTotals& totals) {
  std::string out = counts_text(totals) + ", in " + number(totals.wall_s, 2) + " s";
  if (totals.wall_s > 0 && totals.done > 0) {
    out += ": " + number(static_cast<double>(totals.done) / totals.wall_s, 1) + " images/s, " +
           number(static_cast<double>(totals.pixels) / 1e6 / totals.wall_s, 1) + " MP/s, read " +
           number(static_cast<double>(totals.input_bytes) / 1e6 / totals.wall_s, 1) + " MB/s, wrote " +
           number(static_cast<double>(totals.output_bytes) / 1e6 / totals.wall_s, 1) + " MB/s";
  }
  out += "\n";
  for (const std::string& device : totals.devices) out += "device: " + device + "\n";
  if (!totals.device_why.empty()) out += "        " + totals.device_why + "\n";
  if (!totals.stopped.empty()) out += "ended early: " + totals.stopped + "\n";
  if (totals.done > 0) {
    const std::vector<double> times = totals.image_ms();
    out += "an image: " + number(percentile(times, 0.5), 1) + " ms (median), 90% within " +
           number(percentile(times, 0.9), 1) + ", 99% within " + number(percentile(times, 0.99), 1) +
           ", the longest " + number(times.back(), 1) + "; " + std::to_string(totals.jobs) +
           " at a time, needing " + megabytes(totals.peak_admitted_bytes) + " of " +
           megabytes(totals.memory_bytes) + "\n";
    out += "\n " + padded("part", 12, true) + padded("by", 10, true) + padded("busy s", 12) +
           padded("of its time", 13) + "\n";
    for (const BatchTotals::PartBusy& part : totals.parts()) {
      out += " " + padded(part.part, 12, true) + padded(part.by, 10, true) +
             padded(number(part.busy_s, 3), 12) + padded(number(part.share * 100, 1) + "%", 13) + "\n";
    }
    out += " bottleneck: " + bottleneck(totals) + "\n";
  }
  if (totals.profiles_dropped > 0) {
    out += std::to_string(totals.profiles_dropped) + (totals.profiles_dropped == 1 ? " image" : " images") +
           " had a colour profile that is not kept, such as " + totals.profile_example + "\n";
  }
  if (!totals.failures.empty()) {
    out += "\nfailed:\n";
    for (std::size_t i = 0; i < std::min(totals.failures.size(), kMostFailuresShown); ++i)
      out += "  " + totals.failures[i].reason + "\n";
    if (totals.failures.size() > kMostFailuresShown) {
      out += "  and " + std::to_string(totals.failures.size() - kMostFailuresShown) +
             " more (see --failed-out and --report FILE.ndjson)\n";
    }
  }
  return out;
}

std::string batch_json(const BatchTotals& totals, const ProcessOptions& options) {
  Json json;
  json["imgpipe"] = build_json();
  json["input"] = printable(options.input);
  json["output"] = printable(options.output);
  json["options"] = options_of_batch(options);
  json["images"] = totals.images;
  json["done"] = totals.done;
  json["skipped"] = totals.skipped;
  json["failed"] = totals.failed();
  json["not_done"] = totals.not_done();
  json["ended_early"] = totals.stopped.empty() ? Json(nullptr) : Json(totals.stopped);
  json["profiles_dropped"] = totals.profiles_dropped;
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
  for (const BatchFailure& failure : totals.failures)
    json["failures"].push_back({{"name", printable(failure.name)}, {"reason", failure.reason}});
  return json.dump(2) + "\n";
}

std::string batch_line(const BatchResult& result, const std::string& input, const std::string& output) {
  Json json;
  json["input"] = printable(input);
  json["output"] = printable(output);
  json["status"] = result.failed ? "failed" : "done";
  json["reason"] = result.failed ? Json(result.reason) : Json(nullptr);
  json["warnings"] = result.warnings;
  json["device"] = result.device.empty() ? Json(nullptr) : Json(result.device);
  if (result.input_bytes > 0) {
    json["format"] = format_info(result.header.format).name;
    json["width_pixels"] = result.header.shape.width;
    json["height_pixels"] = result.header.shape.height;
    json["channels"] = result.header.shape.channels;
    json["profile"] = result.header.profile.empty() ? Json(nullptr) : Json(result.header.profile);
  }
  json["input_bytes"] = result.input_bytes;
  json["output_bytes"] = result.failed ? 0 : result.output_bytes;
  json["start_ms"] = static_cast<double>(result.start_ns) / 1e6;
  json["end_ms"] = static_cast<double>(result.end_ns) / 1e6;
  for (std::size_t part = 0; part < kParts; ++part) {
    json[std::string(part_name(static_cast<Part>(part))) + "_ms"] =
        static_cast<double>(result.busy[part]) / 1e6;
  }
  return json.dump() + "\n";
}

}  // namespace imgpipe
