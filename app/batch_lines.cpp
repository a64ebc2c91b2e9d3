#include "app/batch_lines.h"

#include <filesystem>
#include <fstream>
#include <utility>

#include <nlohmann/json.hpp>

#include "images/text.h"

namespace imgpipe {
namespace {

using Json = nlohmann::ordered_json;

}  // namespace

BatchLines::BatchLines(const std::string& path, bool go_on)
    : BatchLines(path, go_on ? read_earlier(path) : Earlier()) {}

BatchLines::BatchLines(const std::string& path, Earlier earlier)
    : earlier_(std::move(earlier)), file_(path, earlier_.whole_bytes) {}

// Nothing for a file that is no such report: its first line has not their first key.
BatchLines::Earlier BatchLines::read_earlier(const std::string& path) {
  Earlier earlier;
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return earlier;
  std::ifstream stream(path, std::ios::binary);
  for (std::string line; std::getline(stream, line) && !stream.eof();) {
    const Json json = Json::parse(line, nullptr, false);
    const bool ours = json.is_object() && json.contains("input") && json.contains("status") &&
                      json.begin().key() == kBatchLineMark;
    if (!ours && earlier.whole_bytes == 0) return earlier;
    earlier.whole_bytes += line.size() + 1;
    if (!ours || !json["input"].is_string()) continue;
    const auto input = json["input"].get<std::string>();
    if (json["status"] == "done" || json["status"] == "skipped") {
      earlier.finished.insert(input);
    } else {
      earlier.finished.erase(input);
    }
  }
  return earlier;
}

void BatchLines::add_done_or_failed(const BatchFile& file, const BatchResult& result) {
  file_.add(batch_line(file, result));
  file_.flush();
}

void BatchLines::add_lost(const BatchFile& file) {
  file_.add(batch_line_of_lost(file));
}

void BatchLines::add_skipped(const BatchFile& file) {
  if (!earlier_.finished.contains(printable(file.input)))
    file_.add(batch_line(file, "skipped", "its output is there already"));
}

void BatchLines::add_not_done(const BatchFile& file, const std::string& reason) {
  file_.add(batch_line(file, "not_done", reason));
}

void BatchLines::add_problem(const PathProblem& problem) {
  file_.add(batch_line(problem));
}

}  // namespace imgpipe
