#include "app/report/trace_file.h"

#include <nlohmann/json.hpp>

#include "app/report/image_report.h"
#include "app/report/json_head.h"
#include "images/text.h"

namespace imgpipe {
namespace {

using Json = nlohmann::ordered_json;

std::string beginning(const std::string& shard) {
  const std::string program = shard.empty() ? "imgpipe" : "imgpipe " + shard;
  const Json name{{"name", "process_name"}, {"ph", "M"}, {"pid", 1}, {"args", {{"name", program}}}};
  std::string head = plain_head(kTraceSchema).dump();
  head.pop_back();  // its }
  return head + ",\"traceEvents\":[\n" + name.dump();
}

}  // namespace

TraceFile::TraceFile(const std::string& path, OutputSync* sync, const std::string& shard)
    : file_(path, beginning(shard), "\n]}\n", sync) {}

int TraceFile::thread_of(const std::string& track) {
  const auto [entry, fresh] = threads_.emplace(track, static_cast<int>(threads_.size()) + 1);
  if (fresh) {
    const Json name{{"name", "thread_name"},
                    {"ph", "M"},
                    {"pid", 1},
                    {"tid", entry->second},
                    {"args", {{"name", track}}}};
    file_.add(",\n" + name.dump());
  }
  return entry->second;
}

void TraceFile::add(std::span<const Span> spans, const std::string& image) {
  for (const Span& span : spans) {
    const Json event{{"name", span.name},
                     {"cat", kind_name(span.kind)},
                     {"ph", "X"},
                     {"ts", static_cast<double>(span.start_ns) / 1e3},
                     {"dur", static_cast<double>(span.length_ns()) / 1e3},
                     {"pid", 1},
                     {"tid", thread_of(span.track)},
                     {"args", {{"image", printable(image)}, {"bytes", span.bytes}}}};
    file_.add(",\n" + event.dump());
  }
  file_.flush();
}

void TraceFile::close() {
  file_.close();
}

}  // namespace imgpipe
