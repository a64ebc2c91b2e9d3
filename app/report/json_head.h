// What every JSON of the program says of itself: which kind it is, and of which run.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/report/fields.h"
#include "app/run_place.h"

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

// "imgpipe": the version; of a report that says more of the build all of it.
void add_version(Fields& fields);
void add_build(Fields& fields);

// "schema" and "version".
void add_kind(Fields& fields, std::string_view name);

struct RunHead {
  // `threads` as --threads has it; 0: as many as there are processors to be had.
  explicit RunHead(int threads);
  RunPlace place;
  int threads = 1;
};
// "schema", "version", "date", "host", "device" (none: the report has a key of that name already), "threads"
// and "simd".
void add_run_head(Fields& fields, std::string_view name, const RunHead& run,
                  const std::optional<std::string>& device = std::nullopt);

}  // namespace imgpipe
