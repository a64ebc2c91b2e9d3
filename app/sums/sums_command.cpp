// imgpipe report: read the reports, say what they come to.
#include "app/sums/sums_command.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <span>
#include <string>
#include <system_error>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/exit_code.h"
#include "app/files/replaceable.h"
#include "app/jobs/result_files.h"
#include "app/log.h"
#include "app/log_subject.h"
#include "app/options/coding_options.h"
#include "app/options/option_parser.h"
#include "app/print.h"
#include "app/report/byte_sizes.h"
#include "app/report/json_head.h"
#include "app/report/json_values.h"
#include "app/report/text_columns.h"
#include "app/standard_streams.h"
#include "app/sums/batch_sums.h"
#include "app/version.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/files/output_file.h"
#include "images/text.h"

namespace imgpipe {
namespace {

struct SumsOptions {
  std::vector<std::string> files;  // .ndjson reports, in the order in which they count; "-": stdin
  std::string json_file;           // "-": stdout; empty: none
  Replace replace = Replace::own;
  LoggingOptions logging;
};

std::vector<OptionRow> sums_rows() {
  std::vector<OptionRow> rows{
      {"Results", "json", "FILE", nullptr, "Write the sums as JSON; -: to stdout, and the table to stderr"}};
  add_rows(rows, replace_rows(), "Results");
  add_rows(rows, logging_rows());
  return rows;
}

SumsOptions read_sums(const Parser& parser) {
  SumsOptions options;
  options.files = parser.positional();
  if (std::ranges::find(options.files, "") != options.files.end()) usage("an empty name among the FILEs");
  if (std::ranges::count(options.files, kStandardStream) > 1) usage("stdin (-) can be read once");
  options.json_file = read_json_file(parser);
  options.replace = read_replace(parser);
  options.logging = read_logging(parser);
  return options;
}

constexpr std::size_t kMostShown = 20;

// The first of them, and how many more.
std::string list_of(const std::vector<std::string>& lines) {
  std::string text;
  for (std::size_t i = 0; i < lines.size() && i < kMostShown; ++i) text += "  " + lines[i] + "\n";
  if (lines.size() > kMostShown)
    text += "  and " + std::to_string(lines.size() - kMostShown) + " more (see --json)\n";
  return text;
}

// How many images, and of which shards.
std::vector<std::string> what_has_no_line(const BatchSums& sums) {
  const std::size_t images = sums.without_a_line();
  std::vector<std::string> lines{with_separators(images) + (images == 1 ? " image" : " images") +
                                 ": killed before it came to them, or never run"};
  for (const BatchSums::Unfinished& run : sums.unfinished())
    lines.push_back((run.shard.empty() ? "a run" : "shard " + run.shard) + ": " +
                    with_separators(run.with_a_line) + " of " + with_separators(run.images) + " have one");
  for (const std::string& shard : sums.missing_shards()) lines.push_back("shard " + shard + ": none");
  return lines;
}

std::string sums_table(const BatchSums& sums, std::size_t files) {
  std::string text = with_separators(sums.images()) + (sums.images() == 1 ? " image" : " images") + " in " +
                     std::to_string(files) + (files == 1 ? " report: " : " reports: ") +
                     with_separators(sums.done()) + " done, " + with_separators(sums.skipped()) +
                     " skipped, " + with_separators(sums.failed()) + " failed, " +
                     with_separators(sums.not_done()) + " not done\n";
  text += "of what is done: " + number(static_cast<double>(sums.pixels()) / 1e6, 1) + " MP, read " +
          bytes_text(sums.input_bytes()) + ", wrote " + bytes_text(sums.output_bytes()) + "\n";
  text += "wall time: " + number(sums.longest_wall_s(), 2) + " s of the longest, " +
          number(sums.all_walls_s(), 2) + " s of all together\n";
  std::vector<std::string> failed, not_done;
  for (const BatchSums::Failure& failure : sums.failures())
    (failure.not_done ? not_done : failed).push_back(failure.input + ": " + failure.reason);
  if (!failed.empty()) text += "\nfailed:\n" + list_of(failed);
  if (!not_done.empty()) text += "\nnot done:\n" + list_of(not_done);
  if (sums.without_a_line() > 0) text += "\nwithout a line:\n" + list_of(what_has_no_line(sums));
  return text;
}

std::string sums_json(const BatchSums& sums, const std::vector<std::string>& files) {
  nlohmann::ordered_json json{{"imgpipe", build_info().version}};
  add_run_head(json, kReportSchema, {.threads = 1, .device = "cpu"});
  json["command"] = "report";
  json["files"] = files;
  json["images"] = sums.images();
  json["done"] = sums.done();
  json["skipped"] = sums.skipped();
  json["failed"] = sums.failed();
  json["not_done"] = sums.not_done();
  json["pixels"] = sums.pixels();
  json["input_bytes"] = sums.input_bytes();
  json["output_bytes"] = sums.output_bytes();
  json["longest_wall_s"] = sums.longest_wall_s();
  json["all_walls_s"] = sums.all_walls_s();
  json["shards"] = sums.shards();
  json["shards_without_a_line"] = sums.missing_shards();
  json["images_without_a_line"] = sums.without_a_line();
  json["unfinished"] = nlohmann::ordered_json::array();
  for (const BatchSums::Unfinished& run : sums.unfinished())
    json["unfinished"].push_back(
        {{"shard", text_or_null(run.shard)}, {"images", run.images}, {"with_a_line", run.with_a_line}});
  json["strange_lines"] = sums.strange_lines();
  json["failures"] = nlohmann::ordered_json::array();
  for (const BatchSums::Failure& failure : sums.failures()) {
    json["failures"].push_back({{"input", failure.input},
                                {"status", failure.not_done ? "not_done" : "failed"},
                                {"error", text_or_null(failure.error)},
                                {"reason", text_or_null(failure.reason)}});
  }
  return json.dump(2) + "\n";
}

// False where it could not be read, which is said.
bool add_report(BatchSums& sums, const std::string& path) {
  try {
    naming(input_name(path), [&] {
      if (path == kStandardStream) return sums.add(input_name(path), std::cin);
      std::error_code error;
      if (std::filesystem::is_directory(path, error))
        throw Error(ErrorKind::input, "is a directory; expected a report of --report FILE.ndjson");
      std::ifstream stream(path, std::ios::binary);
      if (!stream) throw Error(ErrorKind::input, "cannot open: " + std::generic_category().message(errno));
      sums.add(printable(path), stream);
    });
    log_detail(input_name(path) + ": with it " + std::to_string(sums.images()) + " images",
               {.input = input_name(path), .output = {}, .reason = {}});
    return true;
  } catch (const Error& error) {
    log_error(error.what(), subject_of(error, input_name(path), ""));
    return false;
  }
}

void check_result(const SumsOptions& options) {
  if (options.json_file.empty()) return;
  FilesInUse in_use;
  for (const std::string& file : options.files) in_use.add_input("a report", file);
  in_use.add("--json", options.json_file);
  check_replaceable(options.json_file, why_no_text(options.json_file, options.replace));
  check_result_writable(options.json_file);
}

int run_sums(const SumsOptions& options) {
  check_result(options);
  BatchSums sums;
  std::size_t read = 0;
  std::vector<std::string> names;
  for (const std::string& path : options.files) {
    read += add_report(sums, path) ? 1 : 0;
    names.push_back(input_name(path));
  }
  sums.check_outputs();
  if (sums.strange_lines() > 0)
    log_warning(std::to_string(sums.strange_lines()) + " lines are none of a report and do not count");
  std::string missing;
  for (const std::string& shard : sums.missing_shards()) missing += (missing.empty() ? "" : ", ") + shard;
  if (!missing.empty())
    log_warning("there is no line of shard " + missing + ": it had nothing to do, or its report is missing");
  if (sums.without_a_line() > 0)
    log_warning(with_separators(sums.without_a_line()) +
                " images have no report line; the process that handled them was killed or never started; the "
                "same command with --skip-existing does them");
  const bool to_stdout = options.json_file == kStandardStream;
  if (!options.json_file.empty()) {
    const std::string text = sums_json(sums, names);
    naming(output_name(options.json_file),
           [&] { write_file(options.json_file, std::as_bytes(std::span(text))); });
  }
  if (!options.logging.quiet && read > 0) print_table(sums_table(sums, read), to_stdout);
  const bool complete = sums.failed() == 0 && sums.not_done() == 0 && sums.without_a_line() == 0;
  return read == options.files.size() && complete ? kExitDone : kExitInput;
}

}  // namespace

CommandRow report_command() {
  return {
      .name = "report",
      .summary = "adds up the .ndjson reports of shards",
      .description =
          "Adds up the reports of batches (--report FILE.ndjson), those of shards above all: what "
          "is done, what has failed, what is missing.",
      .usage = {{"imgpipe report FILE... [options]", ".ndjson reports, the oldest first; \"-\" is stdin"}},
      .positional = {"file"},
      .takes_more = true,
      .rows = sums_rows,
      .read = [](const Parser& parser) { return ready(read_sums(parser), run_sums); }};
}

}  // namespace imgpipe
