#include "app/info/info_options.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "app/options/command_line.h"
#include "app/options/command_table.h"
#include "app/options/option_parser.h"
#include "images/files/file.h"

namespace imgpipe {
namespace {

// Rows of the main command that mean the same here.
constexpr std::array<std::string_view, 5> kSharedRows{"include", "exclude", "files-from", "lenient",
                                                      "no-orient"};

// "-" may stand among the others, once.
void take_inputs(const Parser& parser, InfoOptions& options) {
  std::vector<std::string> paths;
  if (parser.has("input")) paths.push_back(parser.text("input"));
  paths.insert(paths.end(), parser.more().begin(), parser.more().end());
  if (std::ranges::find(paths, "") != paths.end()) usage("an empty name among the FILEs");
  const std::size_t streams = std::erase(paths, kStandardStream);
  if (streams > 1) usage("stdin (-) can be read once");
  if (streams > 0 && options.process.batch.files_from == kStandardStream)
    usage("stdin holds the names (--files-from -); it cannot be an image too");
  options.reads_stdin = streams > 0;
  ProcessOptions& process = options.process;
  if (!paths.empty()) process.input = paths.front();
  if (paths.size() > 1) process.batch.more_inputs.assign(paths.begin() + 1, paths.end());
}

}  // namespace

std::vector<OptionRow> info_rows() {
  std::vector<OptionRow> rows{
      {"Results", "json", "FILE", nullptr, "Write all of it as JSON; -: to stdout, and the table to stderr"}};
  for (OptionRow& row : replace_rows()) {
    row.group = "Results";
    rows.push_back(std::move(row));
  }
  rows.push_back({"Which images", "r,recursive", nullptr, nullptr, "Folders below FILE too"});
  for (OptionRow& row : process_rows()) {
    if (std::ranges::find(kSharedRows, option_name(row)) == kSharedRows.end()) continue;
    row.group = "Which images";
    rows.push_back(std::move(row));
  }
  for (OptionRow& row : talk_rows()) rows.push_back(std::move(row));
  return rows;
}

Command parse_info(const std::vector<std::string>& arguments) {
  Parser parser(*find_command("info"));
  parser.allow_more();
  parser.need_fewer_with("files-from");
  PrintText answer;
  if (!parser.parse(arguments, answer)) return answer;
  InfoOptions options;
  ProcessOptions& process = options.process;
  process.batch = batch_of(parser);
  take_inputs(parser, options);
  process.device = "cpu";
  process.decode = decode_of(parser);
  process.decode.most_bits = 16;
  process.replace = replace_of(parser);
  process.talk = talk_of(parser);
  options.json_file = parser.text_or_empty("json");
  if (parser.has("json") && options.json_file != kStandardStream)
    options.json_file = file_with_ending("json", options.json_file, {".json"});
  return options;
}

}  // namespace imgpipe
