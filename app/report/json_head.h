// What every JSON of the program says of itself: which kind it is, and of which run.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace imgpipe {

// The kinds; docs/schemas/NAME.schema.json says what each holds.
inline constexpr std::string_view kImageSchema = "image", kPagesSchema = "pages", kBatchSchema = "batch",
                                  kBatchLineSchema = "batch-line", kStatsSchema = "stats",
                                  kStatsImagesSchema = "stats-images", kStatsLineSchema = "stats-line",
                                  kBenchSchema = "bench", kDevicesSchema = "devices", kInfoSchema = "info",
                                  kReportSchema = "report", kUpdateLineSchema = "update-line",
                                  kHistogramSchema = "histogram", kTraceSchema = "trace";

// "imgpipe/NAME/1": the number changes where a key that is there goes or means something else.
[[nodiscard]] std::string schema_id(std::string_view name);

// "2026-11-22T21:56:32Z": now, in UTC (RFC 3339).
[[nodiscard]] std::string date_now();
// As the system names itself, printable; empty where it does not.
[[nodiscard]] std::string host_name();

// "imgpipe" (the version), "schema" and "version", without date, host and device.
[[nodiscard]] nlohmann::ordered_json plain_head(std::string_view name);

struct RunHead {
  int threads = 0;                      // as --threads has it; 0: as many as there are processors to be had
  std::optional<std::string> device{};  // none: the JSON has a key of that name already
};

// Adds "schema", "version", "date", "host", "device", "threads" and "simd" behind what is there.
void add_run_head(nlohmann::ordered_json& json, std::string_view name, const RunHead& run);

}  // namespace imgpipe
