#include "pipeline/jobs/batch_entry.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>
#include <utility>

#include "images/codecs/jpeg/jpeg_scan.h"
#include "images/codecs/jpeg/staged_scan.h"
#include "images/text.h"
#include "pipeline/decode_row.h"
#include "pipeline/host/chained_run.h"

namespace imgpipe {

std::string_view route_name(ImageRoute route) {
  switch (route) {
    case ImageRoute::host:
      return "host";
    case ImageRoute::device:
      return "device";
    case ImageRoute::device_in_bands:
      return "device_bands";
    case ImageRoute::host_for_memory:
      break;
  }
  return "host_no_device_memory";
}

ImageFiles image_files(const BatchItem& item, std::size_t number) {
  return {.input = item.input,
          .output = item.output,
          .input_name = printable(item.input),
          .output_name = printable(item.output),
          .format = item.format,
          .number = number,
          .content = item.content,
          .stays_in_memory = item.stays_in_memory,
          .made_of = item.made_of,
          .also = item.also};
}

PendingInput pending_input(const ImageFiles& files, const DecodeOptions& options) {
  if (files.content != nullptr) return PendingInput(InputFile(files.content));
  return {files.input, options, InputKind::regular_only};
}

std::optional<Part> part_of(const Span& span) {
  if (span.kind == SpanKind::kernel) return Part::kernels;
  if (is_decode_row(span.name)) return Part::decode;  // on the host or a device
  if (span.kind == SpanKind::codec) return Part::encode;
  for (std::size_t i = 0; i < kParts; ++i) {
    if (span.name == part_name(static_cast<Part>(i))) return static_cast<Part>(i);
  }
  return std::nullopt;
}

std::string_view part_name(Part part) {
  constexpr std::array<std::string_view, kParts> kNames{"read",     "decode", "upload", "kernels",
                                                        "download", "encode", "write"};
  return kNames[static_cast<std::size_t>(part)];
}

MemoryNeed need_of(BatchEntry& entry, const Engine& host) {
  const MemoryEstimateRequest question = entry.job->memory_estimate_request();
  const auto need_with_lane = [&] {
    return entry.lane_decodes ? coded_lane_need(question) : lane_need(question);
  };
  MemoryNeed need = entry.to_lane      ? need_with_lane()
                    : entry.in_bands() ? chains_need(question, true)
                                       : *(entry.host_need = host.memory_need(question));
  constexpr std::int64_t kRest = std::int64_t{256} << 10;  // tables, names, spans
  need.bytes += entry.job->held_input_bytes() + entry.job->also_bytes() + kRest;
  return need;
}

std::int64_t lane_pixels(const BatchEntry& entry) {
  const auto weighed = [](const Shape& shape) { return shape.pixels() * bytes_per_sample(shape.sample); };
  return std::max(weighed(entry.result.header.shape), weighed(entry.result.output));
}

std::int64_t max_image_bytes(const BatchEntry& entry) {
  return std::max(entry.result.header.shape.bytes(), entry.result.output.bytes());
}

std::int64_t outside_pool_bytes(const BatchEntry& entry) {
  const ImageJob& image = *entry.job;
  std::int64_t bytes = image.reader().library_bytes(entry.to_lane) + image.writer().library_bytes();
  if (!entry.to_lane) return bytes;
  // The rest is pinned memory.
  const std::int64_t source =
      entry.lane_decodes ? static_cast<std::int64_t>(staged_capacity(image.reader().jpeg_scan()->scan))
                         : image.plan().input.bytes();
  bytes += source + image.plan().output.bytes();
  return bytes;
}

std::vector<ImageNote> warnings_of(const ImageJob& image) {
  std::vector<ImageNote> notes = image.notes();
  std::erase_if(notes, [](const ImageNote& note) {
    return note.about == ImageNote::About::depth || is_notice(note.about);
  });
  return notes;
}

void keep_warnings(BatchEntry& entry) {
  entry.result.warnings.clear();
  for (ImageNote& note : warnings_of(*entry.job)) entry.result.warnings.push_back(std::move(note.text));
}

void record_output(BatchEntry& entry) {
  const ImageJob& image = *entry.job;
  BatchResult& result = entry.result;
  result.output = image.output_shape();
  result.tensor = image.plan().tensor;
  result.depth_loss = image.depth_loss();
  result.unpreserved_profile = image.unpreserved_profile();
  result.unpreserved_metadata = image.unpreserved_metadata();
}

std::int64_t BatchResult::held_bytes() const {
  std::uint64_t bytes = file.size_bytes();
  for (const AlsoResult& one : also) bytes += one.file.size_bytes();
  return static_cast<std::int64_t>(bytes);
}

void add_also_results(const ImageJob& image, BatchResult& result) {
  result.also.resize(image.also().size());
  for (std::size_t i = 0; i < result.also.size(); ++i) {
    result.also[i].output = image.also()[i].shape();
    result.also[i].bytes += image.also()[i].bytes();
    result.also[i].hashes = image.also()[i].hashes();
  }
}

std::int64_t lane_work_ns(const BatchResult& result) {
  std::int64_t ns = 0;
  for (const Part part : {Part::decode, Part::kernels, Part::encode})
    ns += result.busy[static_cast<std::size_t>(part)];
  return ns;
}

void add_up_times(BatchEntry& entry) {
  BatchResult& result = entry.result;
  result.busy = {};
  result.lane_busy = {};
  result.end_ns = result.start_ns;
  if (!entry.job) return;
  result.end_ns = entry.job->timeline().now_ns();
  for (const Span& span : entry.job->timeline().spans()) {
    const std::optional<Part> part = part_of(span);
    if (!part) continue;
    const auto at = static_cast<std::size_t>(*part);
    result.busy[at] += span.length_ns();
    if (!(entry.to_lane || entry.in_bands()) || span.kind == SpanKind::host) continue;
    result.lane_busy[at] += span.length_ns();
    Interval& interval = result.on_lane[at];
    if (interval.end_ns == 0) interval.start_ns = span.start_ns;
    interval = {std::min(interval.start_ns, span.start_ns), std::max(interval.end_ns, span.end_ns)};
  }
}

}  // namespace imgpipe
