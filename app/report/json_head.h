// The fields with which every JSON file of the program identifies its schema and its run.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "app/report/fields.h"
#include "app/run_context.h"

namespace imgpipe {

// Names of the schemas, described in docs/schemas/NAME.schema.json.
inline constexpr std::string_view kImageSchema = "image", kPagesSchema = "pages", kBatchSchema = "batch",
                                  kBatchLineSchema = "batch-line", kStatsSchema = "stats",
                                  kStatsImagesSchema = "stats-images", kStatsLineSchema = "stats-line",
                                  kBenchSchema = "bench", kDevicesSchema = "devices", kInfoSchema = "info",
                                  kReportSchema = "report", kUpdateLineSchema = "update-line",
                                  kHistogramSchema = "histogram", kTraceSchema = "trace",
                                  kContractSchema = "contract", kDiffSchema = "diff";

// Returns "imgpipe/NAME/1". The number changes when a key is removed or changes its meaning.
[[nodiscard]] std::string schema_id(std::string_view name);

// Add "imgpipe": the version, or an object with all details of the build.
void add_version(Fields& fields);
void add_build(Fields& fields);

// Adds "schema" and "version".
void add_kind(Fields& fields, std::string_view name);

struct RunHead {
  // `threads` is --threads; 0: the number of available processors.
  explicit RunHead(int threads);
  RunContext context;
  int threads = 1;
};
// Adds "schema", "version", "date", "host", "device", "threads" and "simd". Without `device`, the report has
// its own key of that name.
void add_run_head(Fields& fields, std::string_view name, const RunHead& run,
                  const std::optional<std::string>& device = std::nullopt);

}  // namespace imgpipe
