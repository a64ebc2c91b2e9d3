#include "app/report/trace_file.h"

#include "app/report/json_head.h"
#include "app/report/json_schema.h"
#include "images/text.h"
#include "pipeline/time_rows.h"

namespace imgpipe {
namespace {

struct Name {
  std::string name;
};
void name_fields(Fields& fields, const Name& name) {
  fields.add("name", name.name);
}
constexpr Object<Name> kName{"name", name_fields};

// Gives the process, or with `thread` a track's thread, its name.
struct NameEvent {
  std::string name;
  std::optional<int> thread{};
};
void name_event_fields(Fields& fields, const NameEvent& event) {
  fields.add("name", event.thread ? "thread_name" : "process_name", one_of("process_name|thread_name"));
  fields.fixed("ph", "M");
  fields.fixed("pid", 1);
  fields.add_if("tid", event.thread, kFromOne);
  fields.add("args", Name{event.name}, kName);
}
constexpr Object<NameEvent> kNameEvent{"name_event", name_event_fields};

struct SpanEvent {
  Span span;
  int thread = 1;
  std::string image;  // printable
};
void span_argument_fields(Fields& fields, const SpanEvent& event) {
  fields.add("image", event.image);
  fields.add("bytes", event.span.bytes);
}
constexpr Object<SpanEvent> kSpanArguments{"span", span_argument_fields};

void span_event_fields(Fields& fields, const SpanEvent& event) {
  fields.add("name", event.span.name);
  fields.add("cat", kind_name(event.span.kind));
  fields.fixed("ph", "X");
  fields.add("ts", static_cast<double>(event.span.start_ns) / 1e3).about("microseconds since the start");
  fields.add("dur", static_cast<double>(event.span.length_ns()) / 1e3);
  fields.fixed("pid", 1);
  fields.add("tid", event.thread, kFromOne);
  fields.add("args", event, kSpanArguments);
}
constexpr Object<SpanEvent> kSpanEvent{"span_event", span_event_fields};

struct Trace {
  std::vector<std::variant<NameEvent, SpanEvent>> events;
};
void trace_fields(Fields& fields, const Trace& trace) {
  add_version(fields);
  add_kind(fields, kTraceSchema);
  fields.list("traceEvents", trace.events, kNameEvent, kSpanEvent).also(R"({"minItems": 1})");
}
constexpr Object<Trace> kTrace{kTraceSchema, trace_fields};

std::string line_of(const auto& object, const auto& event) {
  return ",\n" + Fields(object, event).json().dump();
}

std::string beginning(const std::string& shard) {
  const NameEvent process{shard.empty() ? "imgpipe" : "imgpipe " + shard};
  std::string text = Fields(kTrace, {}).json().dump();
  text.resize(text.size() - std::string_view("]}").size());
  return text + "\n" + Fields(kNameEvent, process).json().dump();
}

}  // namespace

TraceFile::TraceFile(const std::string& path, OutputSync* sync, const std::string& shard)
    : file_(path, beginning(shard), "\n]}\n", sync) {}

int TraceFile::thread_of(const std::string& track) {
  const auto [entry, fresh] = threads_.emplace(track, static_cast<int>(threads_.size()) + 1);
  if (fresh) file_.add(line_of(kNameEvent, NameEvent{track, entry->second}));
  return entry->second;
}

void TraceFile::add(std::span<const Span> spans, const std::string& image) {
  for (const Span& span : spans) {
    const int thread = thread_of(span.track);  // names it first
    file_.add(line_of(kSpanEvent, SpanEvent{span, thread, printable(image)}));
  }
  file_.flush();
}

std::string trace_schema() {
  return schema_text(kTrace, "What ran when, in Chrome's Trace Event Format: --trace FILE.json");
}

void TraceFile::close() {
  file_.close();
}

}  // namespace imgpipe
