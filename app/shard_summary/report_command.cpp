#include "app/shard_summary/report_command.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "app/exit_code.h"
#include "app/files/replaceable.h"
#include "app/files/text_file.h"
#include "app/jobs/result_files.h"
#include "app/log.h"
#include "app/log_subject.h"
#include "app/options/coding_options.h"
#include "app/options/option_parser.h"
#include "app/report/text_columns.h"
#include "app/shard_summary/shard_summary.h"
#include "app/shard_summary/summary_report.h"
#include "app/standard_streams.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/text.h"

namespace imgpipe {
namespace {

struct SummaryOptions {
  std::vector<std::string> files;  // .ndjson reports, oldest first; "-": stdin
  std::string json_file;           // "-": stdout; empty: none
  Replace replace = Replace::own;
  LoggingOptions logging;
};

std::vector<OptionRow> summary_rows() {
  std::vector<OptionRow> rows{json_row("Results", "Write the summary as JSON")};
  add_rows(rows, replace_rows(), "Results");
  add_rows(rows, logging_rows());
  return rows;
}

SummaryOptions read_summary(const Parser& parser) {
  SummaryOptions options;
  options.files = parser.positional();
  if (std::ranges::find(options.files, "") != options.files.end()) usage("FILE: empty name");
  if (std::ranges::count(options.files, kStandardStream) > 1) usage("-: stdin given more than once");
  options.json_file = read_json_file(parser);
  options.replace = read_replace(parser);
  options.logging = read_logging(parser);
  return options;
}

// Returns false if the report could not be read, which is logged.
bool add_report(ShardSummary& summary, const std::string& path) {
  try {
    naming(input_name(path), [&] {
      if (path == kStandardStream) return summary.add(input_name(path), std::cin);
      std::error_code error;
      if (std::filesystem::is_directory(path, error))
        throw Error(ErrorKind::input, "is a directory; expected a file written by --report FILE.ndjson");
      std::ifstream stream(path, std::ios::binary);
      if (!stream) throw Error(ErrorKind::input, "cannot open: " + std::generic_category().message(errno));
      summary.add(printable(path), stream);
    });
    log_detail(input_name(path) + ": " + std::to_string(summary.images()) + " images so far",
               {.input = input_name(path), .output = {}, .reason = {}});
    return true;
  } catch (const Error& error) {
    log_error(error.what(), subject_of(error, input_name(path), ""));
    return false;
  }
}

int run_summary(const SummaryOptions& options) {
  FilesInUse in_use;
  for (const std::string& file : options.files) in_use.add_input("a report", file);
  check_result_files(std::move(in_use), options.replace, {{"--json", options.json_file}});
  ShardSummary summary;
  std::size_t read = 0;
  std::vector<std::string> names;
  for (const std::string& path : options.files) {
    read += add_report(summary, path) ? 1 : 0;
    names.push_back(input_name(path));
  }
  summary.check_outputs();
  if (summary.unrecognised_lines() > 0)
    log_warning("ignored " + std::to_string(summary.unrecognised_lines()) +
                " lines that do not belong to a report");
  std::string missing;
  for (const std::string& shard : summary.missing_shards()) missing += (missing.empty() ? "" : ", ") + shard;
  if (!missing.empty())
    log_warning("shard " + missing + ": no lines; it had nothing to do, or its report is missing");
  if (summary.images_without_line() > 0)
    log_warning(with_separators(summary.images_without_line()) +
                " images have no report line; the process that handled them was killed or never started; "
                "run the same command with --skip-existing");
  const bool to_stdout = options.json_file == kStandardStream;
  if (!options.json_file.empty()) write_text(options.json_file, summary_json(summary, names));
  if (!options.logging.quiet && read > 0) print_table(summary_table(summary, read), to_stdout);
  const bool complete =
      summary.failed() == 0 && summary.not_done() == 0 && summary.images_without_line() == 0;
  return read == options.files.size() && complete ? kExitDone : kExitInput;
}

}  // namespace

CommandRow report_command() {
  return {
      .name = "report",
      .summary = "adds up the .ndjson reports of shards",
      .description =
          "Adds up the reports of batches (--report FILE.ndjson), typically of shards: the images done, "
          "failed and missing.",
      .usage = {{"imgpipe report FILE... [options]", ".ndjson reports, the oldest first; \"-\" is stdin"}},
      .positional = {"file"},
      .accepts_more_arguments = true,
      .rows = summary_rows,
      .read = [](const Parser& parser) { return ready(read_summary(parser), run_summary); }};
}

}  // namespace imgpipe
