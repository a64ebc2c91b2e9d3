#include "app/log_line.h"

#include <algorithm>
#include <cstdio>

#include "app/report/json_schema.h"

namespace imgpipe {
namespace {

void add_counts(Fields& fields, const RunCounts& counts) {
  fields.add("done", counts.done);
  fields.add("failed", counts.failed);
  fields.add("skipped", counts.skipped).about("their outputs were there (--skip-existing)");
  fields.add("total", std::max(counts.total, counts.ended()))
      .about("done, failed, skipped, and still to come or not done");
  fields.add("seconds", counts.seconds).about("since the run began");
  fields.add("images_per_s", counts.images_per_s()).about("done");
  fields.add("megapixels_per_s", counts.megapixels_per_s());
}

void add_line(Fields& fields, const LogLine& line, const char* time) {
  const LogSubject none;
  const LogSubject& subject = line.subject == nullptr ? none : *line.subject;
  constexpr Rule kTime{.pattern = R"(^[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]{3}Z$)"};
  fields.fixed("schema", kLogSchemaId);
  fields.add("time", time, kTime).about("UTC, RFC 3339");
  fields.add("level", line.level, one_of("error|warning|info|debug"));
  fields.add("event", line.event, one_of("message|progress|summary"))
      .about("progress: counts of a batch so far; summary: its final counts");
  fields.add("message", line.message).about("as text has it, without \"imgpipe: \" and \"warning: \"");
  fields.add("input", given(subject.input))
      .about("the file that the message is about; null: none, or several");
  fields.add("output", given(subject.output)).about("where its result goes");
  fields.add("reason", given(subject.reason)).about("the message without the path");
  fields
      .object_if(line.counts != nullptr, "progress",
                 [&](Fields& progress) { add_counts(progress, line.counts ? *line.counts : RunCounts()); })
      .about("null: the event is a message");
}

}  // namespace

TimeText time_text(std::chrono::system_clock::time_point time) noexcept {
  namespace chrono = std::chrono;
  const auto ms = chrono::floor<chrono::milliseconds>(time);
  const auto day = chrono::floor<chrono::days>(ms);
  const chrono::year_month_day date(day);
  const chrono::hh_mm_ss clock(ms - day);
  TimeText text{};
  std::snprintf(text.data(), text.size(), "%04d-%02u-%02uT%02d:%02d:%02d.%03dZ",
                static_cast<int>(date.year()), static_cast<unsigned>(date.month()),
                static_cast<unsigned>(date.day()), static_cast<int>(clock.hours().count()),
                static_cast<int>(clock.minutes().count()), static_cast<int>(clock.seconds().count()),
                static_cast<int>(clock.subseconds().count()));
  return text;
}

std::string json_line(const LogLine& line, std::chrono::system_clock::time_point time) {
  const Fields fields = fields_of([&](Fields& all) { add_line(all, line, time_text(time).data()); });
  return fields.json().dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string log_schema() {
  return schema_text(
      kLogSchema, "A line on stderr with --log-format json", [](Fields& fields) { add_line(fields, {}, ""); },
      R"({"if": {"properties": {"event": {"const": "message"}}},
          "then": {"properties": {"progress": {"type": "null"}}},
          "else": {"properties": {"progress": {"type": "object"}, "input": {"type": "null"},
                                  "output": {"type": "null"}, "reason": {"type": "null"}}}})");
}

}  // namespace imgpipe
