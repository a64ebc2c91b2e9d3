// The report for programs: JSON and CSV.
#include <nlohmann/json.hpp>

#include "app/options/option_values.h"
#include "app/process_options/options_digest.h"
#include "app/report/image_report.h"
#include "app/report/json_head.h"
#include "app/report/json_values.h"
#include "app/report/text_columns.h"
#include "app/version.h"
#include "images/text.h"
#include "kernels/stage.h"

namespace imgpipe {
namespace {

using Json = nlohmann::ordered_json;

Json optional_value(const std::optional<double>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json row_json(const ReportRow& row) {
  Json json{{"name", row.name}, {"kind", kind_name(row.kind)}, {"time_ms", row.time_ms}};
  json["bytes"] = row.bytes;
  json["gb_per_s"] = optional_value(row.gb_per_s);
  json["copy_bandwidth_share"] = optional_value(row.copy_share);
  json["reference_ms"] = optional_value(row.reference_ms);
  json["speed_up"] = optional_value(row.speed_up());
  json["comparison"] = row.comparison.empty() ? Json(nullptr) : Json(row.comparison);
  return json;
}

Json image_json(const std::string& path, Format format, const Shape& shape, std::int64_t bytes) {
  return {{"path", printable(path)},     {"format", format_info(format).name},
          {"width_pixels", shape.width}, {"height_pixels", shape.height},
          {"channels", shape.channels},  {"file_bytes", bytes}};
}

std::string csv_number(const std::optional<double>& value) {
  return value ? Json(*value).dump() : "";
}

Json request_json(const StageRequest& request) {
  Json parameters = Json::object();
  for (std::size_t i = 0; i < request.stage->parameters.size(); ++i) {
    const Parameter& row = request.stage->parameters[i];
    parameters[std::string(row.name)] = value_text(row, request.parameters[i]);
  }
  return {{"stage", request.stage->name}, {"parameters", parameters}};
}

}  // namespace

Json options_json(const ProcessOptions& options) {
  Json json;
  json["stages"] = options.stages.list;
  json["pages"] = options.pages ? Json(pages_text(*options.pages)) : Json(nullptr);
  for (const OptionValue& option : options.stages.parameter_options)
    json[option.option] = printable(option.text);
  json["steps"] = Json::array();
  for (const StageRequest& request : options.stages.steps) json["steps"].push_back(request_json(request));
  for (const std::size_t step : options.stages.series_steps)
    json["steps"][step]["parameters"]["range"] = "series";
  json["device"] = options.execution.device;
  json["threads"] = options.execution.threads;
  json["compare"] = options.reports.compare;
  json["fuse"] = options.fuse;
  json["repeat"] = options.reports.repeat;
  json["bands"] = text_or_null(bands_text(options.decode));
  json["lenient"] = options.decode.lenient;
  json["orient"] = options.decode.orient;
  json["codec"] = choice_name(options.decode.codec, kCodecs);
  json["max_pixels"] = options.decode.max_pixels;
  json["quality"] = options.output.encode.quality;
  json["png_level"] = options.output.encode.png_level;
  json["webp"] = choice_name(options.output.encode.webp, kWebpCodings);
  json["webp_level"] = options.output.encode.webp_level;
  json["tiff_compression"] = choice_name(options.output.encode.tiff_packing, kTiffPackings);
  json["tiff_tile"] = options.output.encode.tiff_tile;
  json["metadata"] = choice_name(options.output.keep_metadata, kMetadata);
  json["format"] = options.output.format ? Json(format_info(*options.output.format).name) : Json(nullptr);
  return json;
}

Json build_json() {
  const BuildInfo build = build_info();
  return {{"version", build.version},       {"commit", build.commit}, {"compiler", build.compiler},
          {"build_type", build.build_type}, {"cuda", build.cuda},     {"libraries", build.libraries}};
}

std::string image_report_json(const ImageReport& report, const RunFacts& facts) {
  Json json;
  json["imgpipe"] = build_json();
  add_run_head(json, kImageSchema, {.threads = facts.options->execution.threads});
  json["device"] = {
      {"implementation", report.implementation}, {"name", report.processor}, {"why", report.device_why}};
  json["device"]["copy_bandwidth_gb_per_s"] =
      report.copy_bandwidth_gb_s > 0 ? Json(report.copy_bandwidth_gb_s) : Json(nullptr);
  json["input"] =
      image_json(facts.options->input.path, facts.input.format, facts.input.shape, facts.input_bytes);
  json["input"]["bits_per_sample"] = facts.input.bits_per_sample;
  json["input"]["sample_bits"] = bits_of(facts.input.shape);
  json["input"]["profile"] = facts.input.profile.empty() ? Json(nullptr) : Json(facts.input.profile);
  json["input"]["exif_orientation"] = static_cast<int>(facts.input.orientation);
  json["output"] =
      image_json(facts.options->output.path, facts.output_format, facts.output, facts.output_bytes);
  json["output"]["bits_per_sample"] = bits_of(facts.output);
  json["reduced_to_8_bits"] =
      facts.depth_loss == DepthLoss::none
          ? Json(nullptr)
          : Json(depth_warning(facts.depth_loss, facts.input.bits_per_sample, facts.output_format));
  json["options"] = options_json(*facts.options);
  json["options_digest"] = options_digest(*facts.options, facts.output_format);
  json["warnings"] = facts.warnings;
  json["contrast"] = Json::array();
  for (const ContrastRange& range : report.ranges) {
    json["contrast"].push_back(
        {{"step", range.label}, {"plane", range.plane}, {"lo", range.lo}, {"hi", range.hi}});
  }
  for (const char* key : {"rows", "totals", "spans"}) json[key] = Json::array();
  for (const ReportRow& row : report.rows) json["rows"].push_back(row_json(row));
  for (const ReportRow& row : report.totals) json["totals"].push_back(row_json(row));
  json["comparison"] = report.compared ? Json(report.identical ? "identical" : "different") : Json(nullptr);
  json["wall_ms"] = report.wall_ms;
  json["span_union_ms"] = report.span_union_ms;
  for (const Span& span : report.spans) {
    json["spans"].push_back({{"name", span.name},
                             {"track", span.track},
                             {"kind", kind_name(span.kind)},
                             {"pass", span.pass},
                             {"start_ms", static_cast<double>(span.start_ns) / 1e6},
                             {"end_ms", static_cast<double>(span.end_ns) / 1e6},
                             {"bytes", span.bytes}});
  }
  return json.dump(2) + "\n";
}

std::string image_report_csv(const ImageReport& report) {
  std::string out =
      "name,kind,time_ms,bytes,gb_per_s,copy_bandwidth_share,reference_ms,speed_up,comparison\n";
  for (const auto* rows : {&report.rows, &report.totals}) {
    const char* kind = rows == &report.totals ? "total" : nullptr;
    for (const ReportRow& row : *rows) {
      out += csv_field(row.name) + "," + (kind != nullptr ? kind : kind_name(row.kind)) + "," +
             csv_number(row.time_ms) + "," + (row.bytes > 0 ? std::to_string(row.bytes) : "") + "," +
             csv_number(row.gb_per_s) + "," + csv_number(row.copy_share) + "," +
             csv_number(row.reference_ms) + "," + csv_number(row.speed_up()) + "," +
             csv_field(row.comparison) + "\n";
    }
  }
  return out;
}

}  // namespace imgpipe
