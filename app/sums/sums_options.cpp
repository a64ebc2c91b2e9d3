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
  for (OptionRow& row : replace_rows()) {
    row.group = "Results";
    rows.push_back(std::move(row));
  }
  for (OptionRow& row : talk_rows()) rows.push_back(std::move(row));
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
  options.json_file = parser.text_or_empty("json");
  if (parser.has("json") && options.json_file != kStandardStream)
    options.json_file = file_with_ending("json", options.json_file, {".json"});
  options.replace = replace_of(parser);
  options.talk = talk_of(parser);
  return options;
}

}  // namespace imgpipe
