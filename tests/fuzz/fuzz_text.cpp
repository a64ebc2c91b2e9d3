// Reads any bytes as one of the texts and lists that imgpipe reads; the first byte selects which. What is
// written back is read as the same.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/batch/ndjson_report.h"
#include "app/devices/calibration_file.h"
#include "app/files/name_list.h"
#include "app/files/name_template.h"
#include "app/jobs/glob.h"
#include "app/options/name_ranges.h"
#include "app/options/preset_file.h"
#include "app/options/range_file.h"
#include "app/process_options/process_options.h"
#include "app/report/csv.h"
#include "app/shard_summary/shard_summary.h"
#include "app/shard_summary/summary_report.h"
#include "app/update/stamp_file.h"
#include "images/codecs/metadata/description.h"
#include "images/error.h"
#include "images/text.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/memory_file.h"

namespace imgpipe {
namespace {

using Text = std::string_view;
using Lines = std::vector<std::string>;

void demand(bool condition) {
  if (!condition) __builtin_trap();
}

std::string path_of(Text text) {
  return test::path_of(std::as_bytes(std::span(text)));
}

std::string file_text(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path, std::ios::binary).rdbuf();
  return text.str();
}

Lines lines_of(Text text) {
  Lines lines(1);
  for (const char c : text) {
    if (c == '\n') {
      lines.emplace_back();
    } else {
      lines.back() += c;
    }
  }
  return lines;
}

bool is_printable_table(const std::string& text) {
  const Lines lines = lines_of(text);
  return lines.back().empty() &&
         std::ranges::all_of(lines, [](const std::string& line) { return printable(line) == line; });
}

// ---- presets, ranges, calibration ---------------------------------------------------------------------

void check_preset(Text text) {
  static const std::vector<OptionRow> rows = process_rows();
  const std::string path = path_of(text);
  const std::vector<PresetOption> options = read_preset(path, rows);
  const std::string written = preset_text(options, path);
  const std::vector<PresetOption> again = read_preset(path_of(written), rows);
  demand(again.size() == options.size());
  for (std::size_t i = 0; i < again.size(); ++i) {
    demand(again[i].row == options[i].row);
    // Steps and images name files, whose paths are normalised.
    const std::string name = option_name(*again[i].row);
    const bool has_paths = name == "stages" || name == "then" || name == "image" || name == "also";
    demand(has_paths || again[i].values == options[i].values);
  }
  demand(preset_text(again, path) == written);
}

void check_range_file(Text text) {
  const RangedList ranged = with_ranges("gray,contrast:0.5:range=" + path_of(text), {});
  demand(ranged.of_series.empty() && parse_stages(ranged.list).size() == 2);
}

void check_calibration(Text text) {
  const CalibrationEntries found = parse_calibration(text);
  demand(printable(found.note) == found.note);
  for (const CalibrationEntry& entry : found.entries) demand(is_plausible(entry.model));
  const CalibrationEntries again = parse_calibration(calibration_text(found.entries));
  demand(again.note.empty() && std::ranges::equal(again.entries, found.entries, {}, &CalibrationEntry::key,
                                                  &CalibrationEntry::key));
}

// ---- lines that runs append ---------------------------------------------------------------------------

std::map<std::string, std::string> last_stamps(const std::string& path) {
  std::map<std::string, std::string> stamps;
  read_stamps(path, [&](const Stamp& stamp) { stamps[stamp.output] = stamp_line(stamp); });
  return stamps;
}

void check_stamps(Text text) {
  std::string path = path_of(text);
  const std::map<std::string, std::string> stamps = last_stamps(path);
  std::string written;
  for (const auto& [output, line] : stamps) written += line;
  demand(last_stamps(path_of(written)) == stamps);
  if (stamps.empty() || text.size() % 16 != 0) return;
  // Files of 256 lines and more are compacted, which takes long.
  const auto lines = 1 + std::ranges::count(text, '\n');
  written.clear();
  for (std::int64_t i = 0; i <= 256 / lines; ++i) written.append(text).append("\n");
  path = path_of(written);
  const std::map<std::string, std::string> all = last_stamps(path);
  compact_stamps(path, true);
  demand(last_stamps(path) == all);
}

void check_summary(Text text) {
  ShardSummary summary;
  std::istringstream stream{std::string(text)};
  summary.add("a", stream);
  demand(summary.images() == summary.done() + summary.failed() + summary.skipped() + summary.not_done());
  demand(is_printable_table(summary_table(summary, 1)));
  const Json json = Json::parse(summary_json(summary, {"a"}), nullptr, false);
  demand(!json.is_discarded() && json["images"] == summary.images());
}

void check_csv(Text text) {
  Json row;
  Lines values = lines_of(text);
  // A value may hold every byte except the line feed that separates values here.
  if (text.size() % 2 == 0) values.front() += "\n\"";
  for (const std::string& value : values) row.push_back(value);
  std::string line = csv_row(row);
  line.pop_back();
  demand(csv_fields(line) == values);
  (void)csv_fields(text);
}

struct TemporaryDirectory {
  TemporaryDirectory() {
    if (::mkdtemp(path.data()) == nullptr) __builtin_trap();
  }
  ~TemporaryDirectory() { std::filesystem::remove_all(path); }
  std::string path = (std::filesystem::temp_directory_path() / "fuzz_text_XXXXXX").string();
};

// A report that a later run continues: it stays if it is one, and else it begins anew. An incomplete last
// line goes when one is added.
void check_continued(Text text) {
  static const TemporaryDirectory directory;
  static const ProcessOptions options = [] {
    ProcessOptions unsynced;
    unsynced.output.sync = std::make_shared<OutputSync>(false);
    return unsynced;
  }();
  static const NdjsonRun run{.head = RunHead(1), .shard_images = 3, .batch_images = 3};
  for (const char* name : {"report.csv", "report.ndjson"}) {
    const std::string path = directory.path + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    NdjsonReport(path, true, run, options).close();
    const std::string held = file_text(path);
    demand(held == text || held.empty() || held.find('\n') == held.size() - 1);
    // A continued report stays as it is.
    NdjsonReport(path, true, run, options).close();
    demand(file_text(path) == held);
    std::filesystem::remove(path);
  }
}

// ---- names --------------------------------------------------------------------------------------------

void check_name_list(Text text) {
  const Lines names = read_name_list(path_of(text));
  demand(read_name_list(path_of(name_list_text(names))) == names);
  for (const std::string& name : names) demand(plain_name(plain_name(name)) == plain_name(name));
}

// The first line is the template, the second the name of an input.
void check_name_template(Text text) {
  const Lines lines = lines_of(text);
  if (lines.size() < 2 || lines[0].find('\0') != std::string::npos) return;
  const NameTemplate name(lines[0]);
  const std::string input = plain_name(lines[1]);
  if (input.empty() || input.front() == '/' || input.find('\0') != std::string::npos) return;
  const std::string pattern = name.pattern();
  for (const std::optional<std::int64_t> page : {std::optional<std::int64_t>(), {7}}) {
    const PlacedOutput placed = name.place("out", {.path = input, .tree = input, .number = 3}, {}, page);
    const std::filesystem::path path = std::filesystem::path(placed.path).lexically_normal();
    demand(*path.begin() == "out" && path.has_filename() && path != "out");
    if (pattern.empty() || (name.has("page") && !page)) continue;
    demand(Glob(pattern).matches(placed.path, false));
  }
}

// The first line is the pattern, the second a path.
void check_glob(Text text) {
  const Lines lines = lines_of(text);
  const std::string& path = lines.back();
  std::string escaped = "/";
  for (const char c : path) escaped += (static_cast<signed char>(c) < 0 ? "" : "\\") + std::string(1, c);
  if (!names_of_path(path).empty() && escaped.size() < 4096 && path.find('/') == std::string::npos)
    demand(Glob(escaped).matches(path, true));
  const Glob glob(lines.front());
  demand(!glob.matches(path, false) || glob.matches(path, true));
  const std::vector<std::string> names = names_of_path(path);
  std::string parent;
  bool matches_parent = false;
  for (std::size_t i = 0; i + 1 < names.size(); ++i) {
    parent += "/" + names[i];
    matches_parent = matches_parent || glob.matches(parent, true);
  }
  demand(glob.matches_parent_of(path) == matches_parent);
}

void check_name_ranges(Text text) {
  // Longer ranges only take longer.
  if (std::ranges::count_if(text, [](char c) { return c >= '0' && c <= '9'; }) > 6) return;
  const std::string name(text.substr(0, text.find('\0')));
  const Lines names = expand_ranges(name);
  demand(!names.empty() && (names.size() == 1 || name.find("..") != std::string::npos));
}

// ---- metadata -----------------------------------------------------------------------------------------

// A TIFF's description; the first byte says how the image changes.
void check_description(Text text) {
  const auto bits = static_cast<unsigned char>(text.empty() ? 0 : text.front());
  const std::span<const std::byte> description = std::as_bytes(std::span(text)).subspan(text.empty() ? 0 : 1);
  demand(imagej_images(description) >= 1);
  const ImageChanges changes{.shape = {3, 2, 1},
                             .scaled = (bits & 1) != 0,
                             .reshaped = (bits & 2) != 0 ? "image size changed" : "",
                             .revalued = (bits & 4) != 0,
                             .whole_stack = (bits & 8) == 0,
                             .file_name = (bits & 16) != 0 ? "a.tif" : ""};
  const AdaptedDescription adapted = adapt_description(description, changes);
  demand(adapted.text.has_value() || !adapted.lost.empty());
  if (!adapted.text) return;
  const AdaptedDescription again = adapt_description(*adapted.text, changes);
  demand(!again.text || *again.text == *adapted.text);
}

constexpr std::array kChecks{check_preset,        check_range_file, check_calibration, check_stamps,
                             check_summary,       check_csv,        check_continued,   check_name_list,
                             check_name_template, check_glob,       check_name_ranges, check_description};

}  // namespace
}  // namespace imgpipe

IMGPIPE_FUZZ_TARGET(fuzz_text) {
  using namespace imgpipe;
  if (size == 0) return 0;
  try {
    kChecks[data[0] % kChecks.size()]({reinterpret_cast<const char*>(data) + 1, size - 1});
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::usage && error.kind() != ErrorKind::input) __builtin_trap();
    if (printable(error.what()) != error.what()) __builtin_trap();
  }
  return 0;
}
