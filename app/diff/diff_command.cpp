#include "app/diff/diff_command.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "app/diff/diff_report.h"
#include "app/exit_code.h"
#include "app/files/replaceable.h"
#include "app/files/text_file.h"
#include "app/jobs/result_files.h"
#include "app/log.h"
#include "app/options/coding_options.h"
#include "app/options/option_parser.h"
#include "app/report/image_report.h"
#include "app/standard_streams.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/formats/pending_input.h"
#include "images/image.h"
#include "images/memory/available_memory.h"
#include "pipeline/jobs/item_list.h"

namespace imgpipe {
namespace {

struct DiffOptions {
  std::string a, b;  // paths; "-" is stdin
  DecodeOptions decode;
  std::string json_file;  // "-": stdout; empty: none
  Replace replace{};
  LoggingOptions logging;
};

std::vector<OptionRow> diff_rows() {
  std::vector<OptionRow> rows{json_row("Results", "Write the result as JSON")};
  add_rows(rows, replace_rows(), "Results");
  add_rows(rows, decoding_rows(), "Images");
  add_rows(rows, logging_rows());
  return rows;
}

DiffOptions read_diff(const Parser& parser) {
  DiffOptions options;
  options.a = parser.text("a");
  options.b = parser.text("b");
  if (options.a.empty() || options.b.empty()) usage("A and B: empty name");
  if (options.a == kStandardStream && options.b == kStandardStream) usage("-: stdin given more than once");
  options.decode = read_decoding(parser);
  options.decode.max_bits = 32;
  options.json_file = read_json_file(parser);
  options.replace = read_replace(parser);
  options.logging = read_logging(parser);
  return options;
}

// The images of one file, one after another.
class Images {
 public:
  Images(const std::string& path, const DecodeOptions& decode)
      : decode_(decode),
        list_({{path, input_name(path)}}, PageSelection(), decode,
              [](const std::string& text) { log_warning(text); }) {}

  // Opens the next image; false after the last one.
  bool next() {
    reader_.reset();
    item_ = list_.next();
    if (!item_) return false;
    naming(item_->name, [&] { reader_ = open_reader(item_->file, decode_); });
    log_detail(item_->name + ": " + shape_text(shape()));
    return true;
  }
  [[nodiscard]] const Shape& shape() const { return reader_->header().shape; }
  [[nodiscard]] std::int64_t working_bytes() const { return reader_->working_bytes(false); }
  void read(HostView rows) {
    naming(item_->name, [&] { reader_->read_rows(rows); });
  }

 private:
  const DecodeOptions decode_;
  ItemList list_;
  std::optional<ImageItem> item_;
  std::unique_ptr<Reader> reader_;
};

PixelDifference compare_pixels(Images& a, Images& b) {
  constexpr std::int64_t kBandBytes = std::int64_t{1} << 20;
  const Shape shape = a.shape();
  Shape band = shape;
  band.height = std::clamp<std::int64_t>(kBandBytes / shape.row_bytes(), 1, shape.height);
  check_available(a.working_bytes() + b.working_bytes() + 2 * band.bytes());
  Image rows_a(band), rows_b(band);
  PixelComparison comparison(shape);
  for (std::int64_t y = 0; y < shape.height; y += band.height) {
    const std::int64_t count = std::min(band.height, shape.height - y);
    const HostView part_a = rows_a.untyped_view().rows(0, count),
                   part_b = rows_b.untyped_view().rows(0, count);
    a.read(part_a);
    b.read(part_b);
    comparison.add(part_a, part_b);
  }
  return comparison.result();
}

int run_diff(const DiffOptions& options) {
  FilesInUse in_use;
  in_use.add_input("A", options.a);
  in_use.add_input("B", options.b);
  check_result_files(std::move(in_use), options.replace, {{"--json", options.json_file}});
  DiffResult result{.a = input_name(options.a), .b = input_name(options.b)};
  Images a(options.a, options.decode), b(options.b, options.decode);
  for (;;) {
    result.a_has_more = a.next();
    result.b_has_more = b.next();
    if (!result.a_has_more || !result.b_has_more) break;
    DiffPage page{.number = ++result.pages, .a = a.shape(), .b = b.shape()};
    if (page.a == page.b) page.pixels = compare_pixels(a, b);
    if (!page.is_equal()) result.different.push_back(page);
  }
  const bool to_stdout = options.json_file == kStandardStream;
  if (!options.json_file.empty()) write_text(options.json_file, diff_json(result));
  if (!options.logging.quiet) print_table(diff_text(result), to_stdout);
  return result.is_equal() ? kExitDone : kExitDifference;
}

}  // namespace

CommandRow diff_command() {
  return {
      .name = "diff",
      .summary = "compares the pixels of two images",
      .description =
          "Compares the pixels of two images, or of their pages one by one: how many differ, by how much, "
          "and where first. Formats and metadata do not matter.",
      .usage = {{"imgpipe diff A B [options]", "two files of any readable format; \"-\" is stdin"}},
      .positional = {"a", "b"},
      .rows = diff_rows,
      .exits = {kExitDone, kExitInput, kExitUsage, kExitOutput, kExitDifference, kExitSignalBase},
      .read = [](const Parser& parser) { return ready(read_diff(parser), run_diff); }};
}

}  // namespace imgpipe
