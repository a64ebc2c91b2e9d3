#include "app/manual/json_schemas.h"

#include <array>

#include "app/batch/batch_report.h"
#include "app/batch/ndjson_report.h"
#include "app/devices/devices_report.h"
#include "app/info/info_report.h"
#include "app/log_line.h"
#include "app/pages/pages_report.h"
#include "app/report/histogram_file.h"
#include "app/report/image_report.h"
#include "app/report/json_head.h"
#include "app/report/result_table.h"
#include "app/report/trace_file.h"
#include "app/stats/stats_report.h"
#include "app/sums/sums_report.h"
#include "app/update/stamp.h"

namespace imgpipe {

std::span<const SchemaRow> json_schemas() {
  static constexpr std::array<SchemaRow, 15> kSchemas{{{kImageSchema, image_schema},
                                                       {kPagesSchema, pages_schema},
                                                       {kBatchSchema, batch_schema},
                                                       {kBatchLineSchema, batch_line_schema},
                                                       {kHistogramSchema, histogram_schema},
                                                       {kTraceSchema, trace_schema},
                                                       {kUpdateLineSchema, update_line_schema},
                                                       {kReportSchema, sums_schema},
                                                       {kStatsSchema, stats_schema},
                                                       {kStatsImagesSchema, stats_images_schema},
                                                       {kStatsLineSchema, stats_line_schema},
                                                       {kBenchSchema, tables_schema},
                                                       {kDevicesSchema, devices_schema},
                                                       {kInfoSchema, info_schema},
                                                       {kLogSchema, log_schema}}};
  return kSchemas;
}

}  // namespace imgpipe
