#include "app/report/trace_file.h"

#include "app/report/json_head.h"
#include "app/report/json_schema.h"
#include "images/files/file.h"
#include "images/text.h"
#include "pipeline/time_rows.h"

namespace imgpipe {
namespace {

// Events in Chrome's format; each kind has its own fields.
constexpr std::string_view kEventsSchema = R"({"type": "array", "minItems": 1, "items": {"oneOf": [
  {"type": "object", "required": ["name", "ph", "pid", "args"], "additionalProperties": false, "properties": {
    "name": {"enum": ["process_name", "thread_name"]}, "ph": {"const": "M"}, "pid": {"const": 1},
    "tid": {"type": "integer", "minimum": 1},
    "args": {"type": "object", "required": ["name"], "additionalProperties": false,
             "properties": {"name": {"type": "string"}}}}},
  {"type": "object", "required": ["name", "cat", "ph", "ts", "dur", "pid", "tid", "args"],
   "additionalProperties": false, "properties": {
    "name": {"type": "string"}, "cat": {"type": "string"}, "ph": {"const": "X"},
    "ts": {"type": "number", "minimum": 0, "description": "microseconds since the start"},
    "dur": {"type": "number", "minimum": 0}, "pid": {"const": 1}, "tid": {"type": "integer", "minimum": 1},
    "args": {"type": "object", "required": ["image", "bytes"], "additionalProperties": false, "properties": {
      "image": {"type": "string"}, "bytes": {"type": "integer", "minimum": 0}}}}}]}})";

void add_trace(Fields& fields) {
  add_version(fields);
  add_kind(fields, kTraceSchema);
  fields.any("traceEvents", Json::array(), kEventsSchema);
}

std::string beginning(const std::string& shard) {
  const std::string program = shard.empty() ? "imgpipe" : "imgpipe " + shard;
  const Json name{{"name", "process_name"}, {"ph", "M"}, {"pid", 1}, {"args", {{"name", program}}}};
  std::string head = fields_of(add_trace).json().dump();
  head.resize(head.size() - std::string_view("]}").size());
  return head + "\n" + name.dump();
}

}  // namespace

TraceFile::TraceFile(const std::string& path, OutputSync* sync, const std::string& shard)
    : file_(path == kStandardStream ? "/dev/stdout" : path, beginning(shard), "\n]}\n", sync) {}

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

void TraceFile::add(std::span<const Span> spans, std::string_view image) {
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

std::string trace_schema() {
  return schema_text(kTraceSchema, "The timeline of a run, in Chrome's Trace Event Format: --trace FILE.json",
                     add_trace);
}

}  // namespace imgpipe
