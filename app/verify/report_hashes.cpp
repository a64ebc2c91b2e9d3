#include "app/verify/report_hashes.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>
#include <unordered_map>
#include <utility>

#include "app/report/csv.h"
#include "app/report/fields.h"
#include "app/report/json_head.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/memory/available_memory.h"
#include "images/text.h"

namespace imgpipe {
namespace {

constexpr std::size_t kMaxLineBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxDocumentBytes = std::size_t{64} << 20;
constexpr std::string_view kListSeparator = "; ";  // of csv_value()

[[noreturn]] void wrong(std::string_view key, std::string_view expected) {
  throw Error(ErrorKind::input, printable(key) + ": expected " + std::string(expected));
}

const Json& value_of(const Json& object, const char* key) {
  static const Json kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

// Returns "" for null and for a key that is missing.
std::string text_of(const Json& object, const char* key) {
  const Json& value = value_of(object, key);
  if (value.is_null()) return "";
  if (!value.is_string()) wrong(key, "a string or null");
  return value.get<std::string>();
}

std::string checked_hash(const char* key, std::string hash) {
  const bool is_hash = hash.size() == 64 && hash.find_first_not_of("0123456789abcdef") == std::string::npos;
  if (!hash.empty() && !is_hash) wrong(key, "64 hexadecimal digits or null");
  return hash;
}

FileHashes hashes_of(const Json& object, const char* bytes_key, const char* pixels_key) {
  return {checked_hash(bytes_key, text_of(object, bytes_key)),
          checked_hash(pixels_key, text_of(object, pixels_key))};
}

std::vector<std::string> texts_of(const Json& object, const char* key) {
  const Json& value = value_of(object, key);
  std::vector<std::string> texts;
  if (value.is_string()) {  // of a CSV
    std::string_view rest = value.get_ref<const std::string&>();
    while (!rest.empty()) {
      const std::size_t end = std::min(rest.find(kListSeparator), rest.size());
      texts.emplace_back(rest.substr(0, end));
      rest.remove_prefix(std::min(end + kListSeparator.size(), rest.size()));
    }
  } else if (value.is_array()) {
    for (const Json& text : value) {
      if (!text.is_string()) wrong(key, "a list of strings");
      texts.push_back(text.get<std::string>());
    }
  } else if (!value.is_null()) {
    wrong(key, "a list of strings");
  }
  return texts;
}

const Json& list_of(const Json& object, const char* key) {
  static const Json kEmpty = Json::array();
  const Json& value = value_of(object, key);
  if (value.is_null()) return kEmpty;
  if (!value.is_array() || !std::ranges::all_of(value, [](const Json& item) { return item.is_object(); }))
    wrong(key, "a list of objects");
  return value;
}

using Take = std::function<void(HashedFile)>;

void take_file(const Take& take, HashedFile file) {
  if (file.hashes.bytes.empty() && file.hashes.pixels.empty()) return;
  if (file.path == kStandardStream || file.path.empty()) return;
  take(std::move(file));
}

std::string bytes_of_hex(const std::string& hex) {
  if (hex.size() % 2 != 0 || hex.find_first_not_of("0123456789abcdef") != std::string::npos)
    wrong("input_bytes_hex", "hexadecimal digits or null");
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2)
    bytes += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return bytes;
}

// ---- kinds of reports -------------------------------------------------------------------------------

void take_document(const Json& report, const Take& take) {
  const auto take_object = [&](const Json& file) {
    if (!file.is_object()) wrong("input and output", "objects");
    const std::string decoding = text_of(file, "decoding");
    take_file(take, {text_of(file, "path"), hashes_of(file, "sha256", "pixels_sha256"), decoding});
  };
  take_object(value_of(report, "input"));
  take_object(value_of(report, "output"));
  for (const Json& also : list_of(report, "also")) take_object(also);
  const Json& pages = value_of(report, "pages");
  if (pages.is_null()) return;
  if (!pages.is_object()) wrong("pages", "an object");
  for (const Json& page : list_of(pages, "each")) {
    take_file(take, {text_of(page, "output"), hashes_of(page, "output_sha256", "output_pixels_sha256")});
    for (const Json& also : list_of(page, "also")) take_object(also);
  }
}

bool is_line(const Json& line) {
  return line.is_object() && value_of(line, "input").is_string() && value_of(line, "status").is_string();
}

void take_line(const Json& line, const Take& take) {
  HashedFile input{text_of(line, "input"), hashes_of(line, "input_sha256", "input_pixels_sha256"),
                   text_of(line, "decoding")};
  if (const std::string hex = text_of(line, "input_bytes_hex"); !hex.empty()) {
    input.path = bytes_of_hex(hex);
    input.may_be_escaped = false;
  }
  take_file(take, std::move(input));
  take_file(take, {text_of(line, "output"), hashes_of(line, "output_sha256", "output_pixels_sha256")});
  const std::vector<std::string> paths = texts_of(line, "also_outputs");
  const std::vector<std::string> bytes = texts_of(line, "also_sha256");
  const std::vector<std::string> pixels = texts_of(line, "also_pixels_sha256");
  if (bytes.empty()) return;
  if (paths.size() != bytes.size() || paths.size() != pixels.size())
    wrong("also_sha256", "as many hashes as also_outputs");
  for (std::size_t i = 0; i < paths.size(); ++i)
    take_file(take, {paths[i],
                     {checked_hash("also_sha256", bytes[i]), checked_hash("also_pixels_sha256", pixels[i])}});
}

std::ifstream open_report(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error))
    throw Error(ErrorKind::input, std::filesystem::exists(path, error)
                                      ? "not a regular file; expected a report of --hash"
                                      : "cannot open: no such file");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw Error(ErrorKind::input, "cannot open: " + std::generic_category().message(errno));
  return stream;
}

// Identifies what a line is about; nullopt: it says nothing about an output.
std::optional<std::size_t> key_of(const Json& line) {
  const std::string status = text_of(line, "status");
  if (status != "done" && status != "failed") return std::nullopt;
  const std::string output = text_of(line, "output");
  return std::hash<std::string>()(output.empty() ? text_of(line, "input") : output);
}

Json parsed(std::string_view text) {
  return Json::parse(text, nullptr, false);
}

}  // namespace

// The lines of a report as JSON objects.
class ReportHashes::Lines {
 public:
  Lines(const std::string& path, Kind kind) : stream_(open_report(path)) {
    std::string head;
    if (kind == Kind::csv && read(head)) keys_ = csv_fields(head);
    is_csv_ = kind == Kind::csv;
  }

  // Returns a line of a report, or null for another; nullopt at the end.
  std::optional<Json> next() {
    std::string text;
    if (!read(text)) return std::nullopt;
    if (!is_csv_) {
      Json line = parsed(text);
      return is_line(line) ? line : Json();
    }
    std::vector<std::string> fields = csv_fields(text);
    if (fields.size() != keys_.size()) return Json();
    Json line = Json::object();
    for (std::size_t i = 0; i < fields.size(); ++i)
      if (!fields[i].empty()) line[keys_[i]] = std::move(fields[i]);
    return is_line(line) ? line : Json();
  }
  [[nodiscard]] std::size_t number() const { return number_; }

 private:
  bool read(std::string& text) {
    for (char c = 0; stream_.get(c) && c != '\n';) {
      if (text.size() == kMaxLineBytes)
        throw Error(ErrorKind::input, "line " + std::to_string(number_ + 1) + ": longer than " +
                                          std::to_string(kMaxLineBytes) + " bytes");
      text += c;
    }
    ++number_;
    if (stream_.bad()) throw Error(ErrorKind::input, "cannot read");
    return !(stream_.eof() && text.empty());
  }

  std::ifstream stream_;
  bool is_csv_ = false;
  std::vector<std::string> keys_;
  std::size_t number_ = 0;
};

ReportHashes::ReportHashes(std::string path) : path_(std::move(path)) {
  std::ifstream stream = open_report(path_);
  std::string beginning(kMaxLineBytes, '\0');
  stream.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  beginning.resize(std::min<std::size_t>(static_cast<std::size_t>(stream.gcount()), beginning.find('\n')));
  if (beginning.starts_with("imgpipe,")) {
    kind_ = Kind::csv;
  } else if (!is_line(parsed(beginning))) {
    kind_ = Kind::document;
  }
}

void ReportHashes::for_each(const Take& take) {
  if (kind_ == Kind::document) {
    std::ifstream stream = open_report(path_);
    std::string text;
    for (char c = 0; stream.get(c); text += c)
      if (text.size() == kMaxDocumentBytes)
        throw Error(ErrorKind::input, "longer than " + std::to_string(kMaxDocumentBytes) + " bytes");
    // A parsed value takes up to 64 bytes for each byte of hostile text.
    check_available(64 * std::ssize(text));
    const Json report = parsed(text);
    const bool is_object = report.is_object() && value_of(report, "schema").is_string();
    const std::string schema = is_object ? text_of(report, "schema") : "";
    if (schema == schema_id(kImageSchema) || schema == schema_id(kPagesSchema))
      return take_document(report, take);
    if (schema == schema_id(kBatchSchema))
      throw Error(ErrorKind::usage,
                  "holds the totals of a batch; --hash adds hashes to its FILE.ndjson or FILE.csv");
    throw Error(ErrorKind::input,
                "not a report; expected one of --report FILE.json, FILE.ndjson or FILE.csv");
  }
  std::vector<std::size_t> keys;
  for (Lines lines(path_, kind_); const std::optional<Json> line = lines.next();)
    naming("line " + std::to_string(lines.number()), [&] {
      if (const auto key = line->is_null() ? std::nullopt : key_of(*line)) keys.push_back(*key);
    });
  std::ranges::sort(keys);
  std::unordered_map<std::size_t, std::size_t> lines_left;  // of outputs with several lines
  for (std::size_t i = 1; i < keys.size(); ++i)
    if (keys[i] == keys[i - 1]) lines_left.try_emplace(keys[i], 1).first->second += 1;
  for (Lines lines(path_, kind_); const std::optional<Json> line = lines.next();) {
    if (line->is_null()) {
      ++strange_lines_;
      continue;
    }
    naming("line " + std::to_string(lines.number()), [&] {
      const auto left = lines_left.find(key_of(*line).value_or(0));
      if (left == lines_left.end() || --left->second == 0) take_line(*line, take);
    });
  }
}

}  // namespace imgpipe
