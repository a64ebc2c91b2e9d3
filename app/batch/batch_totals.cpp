#include "app/batch/batch_totals.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "app/files/lost_outputs.h"
#include "images/text.h"

namespace imgpipe {
namespace {

constexpr double kNsPerSecond = 1e9;

// Returns the nanoseconds during which at least one interval was running.
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

}  // namespace

SplitReason split_reason(const std::string& reason, const BatchFile& file) {
  return split_reason(reason, printable(file.input), printable(file.output));
}

LogSubject subject_of(const std::string& reason, const BatchFile& file) {
  return subject_of(reason, printable(file.input), printable(file.output));
}

std::string BatchFailure::reason() const {
  if (about == About::neither) return *reason_alone;
  const char* const between =
      reason_alone->starts_with("page ") || reason_alone->starts_with("band ") ? ", " : ": ";
  return printable(about == About::input ? file->input : file->output) + between + *reason_alone;
}

void BatchTotals::add(const BatchResult& result, const BatchFile& file) {
  for (std::size_t part = 0; part < kParts; ++part) {
    const Interval& interval = result.on_lane[part];
    if (interval.end_ns > 0) lanes_[result.device][part].push_back(interval);
    workers_[part] += result.busy[part] - result.lane_busy[part];
  }
  if (result.failed) {
    SplitReason reason = split_reason(result.reason, file);
    const auto kept = reasons_.insert(std::move(reason.alone)).first;
    failures.push_back(
        {.file = &file, .kind = *result.failed, .about = reason.about, .reason_alone = &*kept});
    return;
  }
  ++done;
  ++by_device_[result.device];
  ++by_route_.at(static_cast<std::size_t>(result.route));
  const auto count = [&](CountWithExample& noted, const std::string& what) {
    if (++noted.images == 1) noted.example = printable(file.name()) + " (" + what + ")";
  };
  if (!result.unpreserved_profile.empty()) count(profiles_dropped, result.unpreserved_profile);
  if (!result.unpreserved_metadata.empty()) count(metadata_dropped, result.unpreserved_metadata);
  if (result.header.scale > 1) count(scaled, "1/" + std::to_string(result.header.scale));
  if (result.depth_loss != DepthLoss::none)
    count(reduced, std::to_string(result.header.bits_per_sample) + " bits");
  pixels += result.pages > 0 ? result.pixels : result.header.shape.pixels();
  input_bytes += result.input_bytes;
  output_bytes += result.output_bytes;
  for (const AlsoResult& also : result.also) output_bytes += also.bytes;
  image_ms_.push_back(static_cast<double>(result.end_ns - result.start_ns) / 1e6);
}

void BatchTotals::add_lost(const BatchFile& file, const std::string& reason) {
  --done;
  const auto kept = reasons_.insert(reason).first;
  failures.push_back({.file = &file,
                      .kind = ErrorKind::output,
                      .about = BatchFailure::About::output,
                      .reason_alone = &*kept});
}

RunCounts BatchTotals::counts(double seconds) const {
  return {.total = images + problems.size(),
          .done = done,
          .failed = failed(),
          .skipped = skipped,
          .pixels = pixels,
          .seconds = seconds};
}

std::vector<double> BatchTotals::image_ms() const {
  std::vector<double> sorted(image_ms_.begin(), image_ms_.end());
  std::ranges::sort(sorted);
  return sorted;
}

std::vector<BatchTotals::PartBusy> BatchTotals::parts() const {
  std::vector<PartBusy> parts;
  const auto add_part = [&](std::size_t part, const std::string& by, double busy_s, double had_s) {
    const std::string name(part_name(static_cast<Part>(part)));
    parts.push_back({.part = name, .by = by, .busy_s = busy_s, .share = had_s > 0 ? busy_s / had_s : 0});
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

}  // namespace imgpipe
