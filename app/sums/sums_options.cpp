#include "app/sums/sums_options.h"

#include <algorithm>

#include "app/options/coding_options.h"
#include "app/options/option_parser.h"
#include "images/files/file.h"

namespace imgpipe {
namespace {

std::vector<OptionRow> sums_rows() {
  std::vector<OptionRow> rows{
      {"Results", "json", "FILE", nullptr, "Write the sums as JSON; -: to stdout, and the table to stderr"}};
  add_rows(rows, replace_rows(), "Results");
  add_rows(rows, logging_rows());
  return rows;
}

}  // namespace

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
