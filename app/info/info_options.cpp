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
  std::vector<std::string> paths = given_inputs(parser, "FILEs");
  const std::size_t streams = std::erase(paths, kStandardStream);
  if (streams > 1) usage("stdin (-) can be read once");
  if (streams > 0 && options.input.files_from == kStandardStream)
    usage("stdin holds the names (--files-from -); it cannot be an image too");
  options.reads_stdin = streams > 0;
  set_inputs(std::move(paths), options.input);
}

}  // namespace

std::vector<OptionRow> info_rows() {
  std::vector<OptionRow> rows{
      {"Results", "json", "FILE", nullptr, "Write all of it as JSON; -: to stdout, and the table to stderr"}};
  add_rows(rows, replace_rows(), "Results");
  rows.push_back({"Which images", "r,recursive", nullptr, nullptr, "Folders below FILE too"});
  add_rows(rows, shared_rows(kSharedRows), "Which images");
  add_rows(rows, talk_rows());
  return rows;
}

Command parse_info(const std::vector<std::string>& arguments) {
  Parser parser(*find_command("info"));
  parser.allow_more();
  parser.need_fewer_with("files-from");
  PrintText answer;
  if (!parser.parse(arguments, answer)) return answer;
  InfoOptions options;
  options.input = inputs_of(parser);
  take_inputs(parser, options);
  options.decode = decode_of(parser);
  options.decode.most_bits = 16;
  options.replace = replace_of(parser);
  options.logging = logging_of(parser);
  options.json_file = json_file_of(parser);
  return options;
}

}  // namespace imgpipe
