#include "app/sums/sums_options.h"

#include <algorithm>
#include <utility>

#include "app/options/command_line.h"
#include "app/options/command_table.h"
#include "app/options/option_parser.h"
#include "images/files/file.h"

namespace imgpipe {

std::vector<OptionRow> sums_rows() {
  std::vector<OptionRow> rows{
      {"Results", "json", "FILE", nullptr, "Write the sums as JSON; -: to stdout, and the table to stderr"}};
  add_rows(rows, replace_rows(), "Results");
  add_rows(rows, talk_rows());
  return rows;
}

Command parse_sums(const std::vector<std::string>& arguments) {
  Parser parser(*find_command("report"));
  parser.allow_more();
  PrintText answer;
  if (!parser.parse(arguments, answer)) return answer;
  SumsOptions options;
  options.files = {parser.text("file")};
  options.files.insert(options.files.end(), parser.more().begin(), parser.more().end());
  if (std::ranges::find(options.files, "") != options.files.end()) usage("an empty name among the FILEs");
  if (std::ranges::count(options.files, kStandardStream) > 1) usage("stdin (-) can be read once");
  options.json_file = json_file_of(parser);
  options.replace = replace_of(parser);
  options.logging = logging_of(parser);
  return options;
}

}  // namespace imgpipe
