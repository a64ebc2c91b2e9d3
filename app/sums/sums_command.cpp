// imgpipe report: read the reports, say what they come to.
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <span>
#include <system_error>

#include <unistd.h>

#include "app/command.h"
#include "app/exit_code.h"
#include "app/files/replaceable.h"
#include "app/log.h"
#include "app/log_subject.h"
#include "app/print.h"
#include "app/report/text_columns.h"
#include "app/result_files.h"
#include "app/standard_streams.h"
#include "app/sums/batch_sums.h"
#include "app/sums/sums_options.h"
#include "app/sums/sums_report.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/files/output_file.h"
#include "images/text.h"

namespace imgpipe {
namespace {

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

}  // namespace

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
  if (!options.talk.quiet && read > 0) print_table(sums_table(sums, read), to_stdout);
  const bool complete = sums.failed() == 0 && sums.not_done() == 0 && sums.without_a_line() == 0;
  return read == options.files.size() && complete ? kExitDone : kExitInput;
}

}  // namespace imgpipe
