#include "app/batch/ndjson_report.h"

#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include <nlohmann/json.hpp>

#include "app/files/replaceable.h"
#include "images/text.h"

namespace imgpipe {
namespace {

using Json = nlohmann::ordered_json;

// Whether a line is one of such a report: it has their first key.
bool is_ours(const Json& line) {
  return line.is_object() && line.contains("input") && line.contains("status") &&
         line.begin().key() == kBatchLineMark;
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

}  // namespace

BatchLines::BatchLines(const std::string& path, bool go_on)
    : file_(path, go_on ? begins_a_report : LineFile::Keeps()) {
  if (go_on) finished_ = finished_inputs(path);
}

void BatchLines::add_done_or_failed(const BatchFile& file, const BatchResult& result) {
  file_.add(batch_line(file, result));
  file_.flush();
}

void BatchLines::add_lost(const BatchFile& file) {
  file_.add(batch_line_of_lost(file));
}

void BatchLines::add_skipped(const BatchFile& file) {
  if (!finished_.contains(printable(file.input)))
    file_.add(batch_line(file, "skipped", "its output is there already"));
}

void BatchLines::add_not_done(const BatchFile& file, const std::string& reason) {
  file_.add(batch_line(file, "not_done", reason));
}

void BatchLines::add_problem(const PathProblem& problem) {
  file_.add(batch_line(problem));
}

}  // namespace imgpipe
