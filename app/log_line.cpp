#include "app/log_line.h"

#include <algorithm>
#include <cstdio>

#include <nlohmann/json.hpp>

#include "app/report/json_values.h"

namespace imgpipe {
namespace {

using Json = nlohmann::ordered_json;

Json counts_json(const RunCounts& counts) {
  return {{"done", counts.done},
          {"failed", counts.failed},
          {"skipped", counts.skipped},
          {"total", std::max(counts.total, counts.ended())},
          {"seconds", counts.seconds},
          {"images_per_s", counts.images_per_s()},
          {"megapixels_per_s", counts.megapixels_per_s()}};
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
  Json json;
  json["schema"] = kLogSchemaId;
  json["time"] = time_text(time).data();
  json["level"] = line.level;
  json["event"] = line.event;
  json["message"] = line.message;
  const LogSubject none;
  const LogSubject& subject = line.subject == nullptr ? none : *line.subject;
  json["input"] = text_or_null(subject.input);
  json["output"] = text_or_null(subject.output);
  json["reason"] = text_or_null(subject.reason);
  json["progress"] = line.counts == nullptr ? Json(nullptr) : counts_json(*line.counts);
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace imgpipe
