#include "app/info/info_options.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "app/options/coding_options.h"
#include "app/options/option_parser.h"
#include "images/files/file.h"

namespace imgpipe {
namespace {

std::vector<OptionRow> info_rows() {
  std::vector<OptionRow> rows{
      {"Results", "json", "FILE", nullptr, "Write all of it as JSON; -: to stdout, and the table to stderr"}};
  add_rows(rows, replace_rows(), "Results");
  rows.push_back({"Which images", "r,recursive", nullptr, nullptr, "Folders below FILE too"});
  add_rows(rows, rows_named(decoding_rows(), {"lenient", "no-orient"}), "Which images");
  add_rows(rows, rows_named(batch_rows(), {"include", "exclude", "files-from"}), "Which images");
  add_rows(rows, logging_rows());
  return rows;
}

}  // namespace

InfoOptions read_info(const Parser& parser) {
  InfoOptions options;
  options.input = read_input(parser);
  std::vector<std::string> paths = parser.positional();
  // "-" may stand among the others, once.
  const auto streams = std::erase(paths, kStandardStream);
  set_paths(options.input, std::move(paths), "the FILEs");
  if (streams > 1) usage("stdin (-) can be read once");
  if (streams > 0 && options.input.files_from == kStandardStream)
    usage("stdin holds the names (--files-from -); it cannot be an image too");
  options.reads_stdin = streams > 0;
  options.decode = read_decoding(parser);
  options.decode.most_bits = 16;
  options.replace = read_replace(parser);
  options.logging = read_logging(parser);
  options.json_file = read_json_file(parser);
  return options;
}

CommandRow info_command() {
  return {.name = "info",
          .summary = "what image files are, by their headers",
          .description =
              "Says what image files are, by their headers alone: format, size, channels, compression, "
              "metadata, pages, and what would decode them.",
          .usage = {{"imgpipe info FILE... [options]", "files, folders and patterns; \"-\" is stdin"},
                    {"imgpipe info --files-from FILE [options]", "a list of names"}},
          .positional = {"input"},
          .takes_more = true,
          .or_option = "files-from",
          .rows = info_rows,
          .read = [](const Parser& parser) { return ready(read_info(parser), run_info); }};
}

}  // namespace imgpipe
