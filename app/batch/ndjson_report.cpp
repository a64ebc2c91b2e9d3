#include "app/batch/ndjson_report.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/batch/batch_report.h"
#include "app/files/replaceable.h"
#include "app/report/json_head.h"
#include "app/report/text_columns.h"
#include "app/version.h"
#include "images/codecs/codec.h"
#include "images/text.h"

namespace imgpipe {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFirstKey = "imgpipe";
constexpr const char* kHexKey = "input_bytes_hex";

// The bytes of a name that "input" does not show as it is: "6c6174e9"; empty: it does.
std::string hex_of_unprintable(const std::string& name) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  if (printable(name) == name) return "";
  std::string hex;
  for (const char c : name) {
    const auto byte = static_cast<unsigned char>(c);
    hex += {kDigits[byte / 16], kDigits[byte % 16]};
  }
  return hex;
}

// Whether a line is one of such a report: it has their first key.
bool is_ours(const Json& line) {
  return line.is_object() && line.contains("input") && line.contains("status") &&
         line.begin().key() == kFirstKey;
}

// ---- what was there --------------------------------------------------------------------------------------

// Every key of a line, with what is known of the run.
Json empty_line(const NdjsonRun& run, int threads) {
  Json json{{kFirstKey, build_info().version}};
  add_run_head(json, kBatchLineSchema, {.threads = threads});
  for (const char* key : {"input",
                          "output",
                          "status",
                          "error",
                          "reason",
                          "warnings",
                          "metadata_dropped",
                          "device",
                          "route",
                          "format",
                          "width_pixels",
                          "height_pixels",
                          "channels",
                          "bits_per_sample",
                          "profile",
                          "input_bytes",
                          "output_bytes",
                          "output_bits_per_sample",
                          "pages",
                          "decoded_by",
                          "encoded_by",
                          "start_ms",
                          "end_ms"})
    json[key] = nullptr;
  for (std::size_t part = 0; part < kParts; ++part)
    json[std::string(part_name(static_cast<Part>(part))) + "_ms"] = nullptr;
  json["shard"] = nullptr;
  json["shard_images"] = run.shard_images;
  json["batch_images"] = run.batch_images;
  json["options_digest"] = nullptr;
  json[kHexKey] = nullptr;
  json["warnings"] = Json::array();
  return json;
}

std::string csv_head(const Json& line) {
  std::string head;
  for (const auto& [key, value] : line.items()) head += (head.empty() ? "" : ",") + key;
  return head + "\n";
}

std::string csv_line(const Json& line) {
  std::string text;
  for (const auto& [key, value] : line.items()) {
    std::string field;
    if (value.is_string()) field = value.get<std::string>();
    if (value.is_number()) field = value.dump();
    if (value.is_array()) {
      for (const Json& one : value) field += (field.empty() ? "" : "; ") + one.get<std::string>();
    }
    text += (key == kFirstKey ? "" : ",") + csv_field(field);
  }
  return text + "\n";
}

// The fields of a line of ours (RFC 4180): none holds a line break.
std::vector<std::string> csv_fields(std::string_view line) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (c == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"') {
      fields.back() += line[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

bool begins_a_report(std::string_view beginning, const Json& empty, bool csv) {
  if (csv) return beginning.starts_with(csv_head(empty));
  const std::size_t end = beginning.find('\n');
  return end == beginning.npos ? own_text(beginning)
                               : is_ours(Json::parse(beginning.substr(0, end), nullptr, false));
}

// Tells inputs apart: another file may have the name that "input" shows.
std::string input_key(const std::string& input, const std::string& bytes_hex) {
  return input + "\n" + bytes_hex;
}

struct Outcome {
  std::string key, status;
};

// What a line says; nullopt for one that is none of a report.
std::optional<Outcome> outcome_in(const std::string& line, const Json& empty, bool csv) {
  if (csv) {
    const std::vector<std::string> fields = csv_fields(line);
    if (fields.size() != empty.size()) return std::nullopt;
    const auto field = [&](const char* key) {
      return fields[static_cast<std::size_t>(std::distance(empty.begin(), empty.find(key)))];
    };
    return Outcome{input_key(field("input"), field(kHexKey)), field("status")};
  }
  const Json json = Json::parse(line, nullptr, false);
  if (!is_ours(json) || !json["input"].is_string() || !json["status"].is_string()) return std::nullopt;
  const bool has_hex = json.contains(kHexKey) && json[kHexKey].is_string();
  return Outcome{input_key(json["input"].get<std::string>(), has_hex ? json[kHexKey].get<std::string>() : ""),
                 json["status"].get<std::string>()};
}

// The inputs that are done or skipped by their last lines.
std::unordered_set<std::string> finished_inputs(const std::string& path, const Json& empty, bool csv) {
  std::unordered_set<std::string> finished;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return finished;
  std::ifstream stream(path, std::ios::binary);
  for (std::string line; std::getline(stream, line) && !stream.eof();) {
    const std::optional<Outcome> outcome = outcome_in(line, empty, csv);
    if (!outcome) continue;
    if (outcome->status == "done" || outcome->status == "skipped") {
      finished.insert(outcome->key);
    } else {
      finished.erase(outcome->key);
    }
  }
  return finished;
}

// ---- lines -----------------------------------------------------------------------------------------------

Json line_with(const Json& empty, const std::string& input, const std::string& status) {
  Json json = empty;
  json["input"] = printable(input);
  if (const std::string hex = hex_of_unprintable(input); !hex.empty()) json[kHexKey] = hex;
  json["status"] = status;
  return json;
}

std::string dropped_metadata(const BatchResult& result) {
  std::string text = result.lost_metadata;
  if (!result.lost_profile.empty())
    text += (text.empty() ? "ICC profile (" : ", ICC profile (") + result.lost_profile + ")";
  return text;
}

// Puts what came of it into the image's line.
Json worked_on(Json json, const BatchFile& file, const BatchResult& result) {
  if (result.failed) {
    json["error"] = kind_of_error(*result.failed);
    json["reason"] = split_reason(result.reason, file).alone;
  }
  json["warnings"] = result.warnings;
  if (const std::string dropped = dropped_metadata(result); !dropped.empty())
    json["metadata_dropped"] = dropped;
  if (!result.device.empty()) json["device"] = result.device;
  if (!result.failed) json["route"] = route_name(result.route);
  if (result.input_bytes > 0) {
    json["format"] = format_info(result.header.format).name;
    json["width_pixels"] = result.header.shape.width;
    json["height_pixels"] = result.header.shape.height;
    json["channels"] = result.header.shape.channels;
    json["bits_per_sample"] = result.header.bits_per_sample;
    if (!result.header.profile.empty()) json["profile"] = result.header.profile;
    json["input_bytes"] = result.input_bytes;
  }
  if (!result.failed) {
    json["output_bytes"] = result.output_bytes;
    if (result.pages > 0) json["pages"] = result.pages;
    json["output_bits_per_sample"] = 8 * sample_bytes(result.output.sample);
    // Who had the codecs' part: the device itself, or the host for it.
    const bool lane_decoded = result.lane_busy[static_cast<std::size_t>(Part::decode)] > 0;
    json["decoded_by"] = lane_decoded ? result.device : "host";
    json["encoded_by"] = result.lane_encoded ? result.device : "host";
  }
  json["start_ms"] = static_cast<double>(result.start_ns) / 1e6;
  json["end_ms"] = static_cast<double>(result.end_ns) / 1e6;
  for (std::size_t part = 0; part < kParts; ++part) {
    json[std::string(part_name(static_cast<Part>(part))) + "_ms"] =
        static_cast<double>(result.busy[part]) / 1e6;
  }
  return json;
}

Json with_reason(Json json, const std::string& reason) {
  json["reason"] = reason;
  return json;
}

Json failed(Json json, ErrorKind kind, const std::string& reason) {
  json["error"] = kind_of_error(kind);
  json["reason"] = reason;
  return json;
}

}  // namespace

NdjsonReport::NdjsonReport(const std::string& path, bool go_on, const NdjsonRun& run,
                           const ProcessOptions& options)
    : csv_(path.ends_with(".csv")),
      digests_(options),
      empty_(std::make_shared<const Json>(empty_line(run, options.execution.threads))),
      file_(path,
            go_on ? GrowingFile::Keeps([this](std::string_view beginning) {
              return kept_ = begins_a_report(beginning, *empty_, csv_);
            })
                  : GrowingFile::Keeps(),
            options.output.sync.get()) {
  if (go_on) finished_ = finished_inputs(path, *empty_, csv_);
  if (csv_ && !kept_) file_.add(csv_head(*empty_));
}

void NdjsonReport::add(const Json& line) {
  file_.add(csv_ ? csv_line(line) : line.dump() + "\n");
}

Json NdjsonReport::line_of(const BatchFile& file, const std::string& status) {
  Json json = line_with(*empty_, file.input, status);
  json["output"] = printable(file.output);
  if (file.shards > 0) json["shard"] = std::to_string(file.shard) + "/" + std::to_string(file.shards);
  json["options_digest"] = digests_.of(file.format);
  return json;
}

void NdjsonReport::add_done_or_failed(const BatchFile& file, const BatchResult& result) {
  add(worked_on(line_of(file, result.failed ? "failed" : "done"), file, result));
  file_.flush();
}

void NdjsonReport::add_lost(const BatchFile& file) {
  add(failed(line_of(file, "failed"), ErrorKind::output, kLostReason));
}

void NdjsonReport::add_skipped(const BatchFile& file, const std::string& reason) {
  const std::string key = input_key(printable(file.input), hex_of_unprintable(file.input));
  if (!finished_.contains(key)) add(with_reason(line_of(file, "skipped"), reason));
}

void NdjsonReport::add_not_done(const BatchFile& file, const std::string& reason) {
  add(with_reason(line_of(file, "not_done"), reason));
}

void NdjsonReport::add_problem(const PathProblem& problem) {
  add(failed(line_with(*empty_, problem.path, "failed"), ErrorKind::input, problem.reason));
}

}  // namespace imgpipe
