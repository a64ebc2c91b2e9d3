#include "app/batch/ndjson_report.h"

#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include <nlohmann/json.hpp>

#include "app/batch/batch_report.h"
#include "app/files/replaceable.h"
#include "app/version.h"
#include "images/codecs/codec.h"
#include "images/text.h"

namespace imgpipe {
namespace {

using Json = nlohmann::ordered_json;

constexpr const char* kFirstKey = "imgpipe";

// Whether a line is one of such a report: it has their first key.
bool is_ours(const Json& line) {
  return line.is_object() && line.contains("input") && line.contains("status") &&
         line.begin().key() == kFirstKey;
}

bool begins_a_report(std::string_view beginning) {
  const std::size_t end = beginning.find('\n');
  return end == beginning.npos ? own_text(beginning)
                               : is_ours(Json::parse(beginning.substr(0, end), nullptr, false));
}

// The inputs that are done or skipped by their last lines.
std::unordered_set<std::string> finished_inputs(const std::string& path) {
  std::unordered_set<std::string> finished;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return finished;
  std::ifstream stream(path, std::ios::binary);
  for (std::string line; std::getline(stream, line) && !stream.eof();) {
    const Json json = Json::parse(line, nullptr, false);
    if (!is_ours(json) || !json["input"].is_string()) continue;
    const auto input = json["input"].get<std::string>();
    if (json["status"] == "done" || json["status"] == "skipped") {
      finished.insert(input);
    } else {
      finished.erase(input);
    }
  }
  return finished;
}

// Every key of a line.
Json empty_line(const std::string& input, const std::string& status) {
  Json json;
  static const std::string version = build_info().version;
  json[kFirstKey] = version;
  json["input"] = printable(input);
  for (const char* key :
       {"output",          "status",     "error",        "reason",        "warnings",
        "device",          "format",     "width_pixels", "height_pixels", "channels",
        "bits_per_sample", "profile",    "input_bytes",  "output_bytes",  "output_bits_per_sample",
        "pages",           "decoded_by", "encoded_by",   "start_ms",      "end_ms"})
    json[key] = nullptr;
  for (std::size_t part = 0; part < kParts; ++part)
    json[std::string(part_name(static_cast<Part>(part))) + "_ms"] = nullptr;
  json["shard"] = nullptr;
  json["status"] = status;
  json["warnings"] = Json::array();
  return json;
}

Json line_of(const BatchFile& file, const std::string& status) {
  Json json = empty_line(file.input, status);
  json["output"] = printable(file.output);
  if (file.shards > 0) json["shard"] = std::to_string(file.shard) + "/" + std::to_string(file.shards);
  return json;
}

std::string line_of_worked_on(const BatchFile& file, const BatchResult& result) {
  Json json = line_of(file, result.failed ? "failed" : "done");
  if (result.failed) {
    json["error"] = kind_of_error(*result.failed);
    json["reason"] = split_reason(result.reason, file).alone;
  }
  json["warnings"] = result.warnings;
  if (!result.device.empty()) json["device"] = result.device;
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
  return json.dump() + "\n";
}

// "skipped" or "not_done".
std::string line_of_other(const BatchFile& file, const std::string& status, const std::string& reason) {
  Json json = line_of(file, status);
  json["reason"] = reason;
  return json.dump() + "\n";
}

std::string line_of_lost(const BatchFile& file) {
  Json json = line_of(file, "failed");
  json["error"] = kind_of_error(ErrorKind::output);
  json["reason"] = kLostReason;
  return json.dump() + "\n";
}

std::string line_of_problem(const PathProblem& problem) {
  Json json = empty_line(problem.path, "failed");
  json["error"] = kind_of_error(ErrorKind::input);
  json["reason"] = problem.reason;
  return json.dump() + "\n";
}

}  // namespace

NdjsonReport::NdjsonReport(const std::string& path, bool go_on)
    : file_(path, go_on ? begins_a_report : GrowingFile::Keeps()) {
  if (go_on) finished_ = finished_inputs(path);
}

void NdjsonReport::add_done_or_failed(const BatchFile& file, const BatchResult& result) {
  file_.add(line_of_worked_on(file, result));
  file_.flush();
}

void NdjsonReport::add_lost(const BatchFile& file) {
  file_.add(line_of_lost(file));
}

void NdjsonReport::add_skipped(const BatchFile& file) {
  if (!finished_.contains(printable(file.input)))
    file_.add(line_of_other(file, "skipped", "its output is there already"));
}

void NdjsonReport::add_not_done(const BatchFile& file, const std::string& reason) {
  file_.add(line_of_other(file, "not_done", reason));
}

void NdjsonReport::add_problem(const PathProblem& problem) {
  file_.add(line_of_problem(problem));
}

}  // namespace imgpipe
