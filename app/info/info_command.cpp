#include "app/info/info_command.h"

#include <algorithm>
#include <new>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "app/exit_code.h"
#include "app/files/replaceable.h"
#include "app/files/text_file.h"
#include "app/info/info_report.h"
#include "app/jobs/batch_files.h"
#include "app/jobs/result_files.h"
#include "app/jobs/search_report.h"
#include "app/log.h"
#include "app/options/batch_options.h"
#include "app/options/coding_options.h"
#include "app/options/option_parser.h"
#include "app/standard_streams.h"
#include "images/codecs/codec.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/formats/image_inspection.h"
#include "images/text.h"

namespace imgpipe {
namespace {

struct InfoOptions {
  InputOptions input;
  bool reads_stdin = false;
  DecodeOptions decode;
  std::string json_file;  // "-": stdout; empty: none
  Replace replace = Replace::own;
  LoggingOptions logging;
};

std::vector<OptionRow> info_rows() {
  std::vector<OptionRow> rows{json_row("Results", "Write all of it as JSON")};
  add_rows(rows, replace_rows(), "Results");
  rows.push_back({"Images", "r,recursive", nullptr, nullptr, "Include subdirectories of FILE"});
  add_rows(rows, rows_named(decoding_rows(), {"accept", "lenient", "no-orient"}), "Images");
  add_rows(rows, rows_named(batch_rows(), {"include", "exclude", "files-from"}), "Images");
  add_rows(rows, logging_rows());
  return rows;
}

InfoOptions read_info(const Parser& parser) {
  InfoOptions options;
  options.input = read_input(parser);
  std::vector<std::string> paths = parser.positional();
  // "-" may appear once among the FILEs.
  const auto streams = std::erase(paths, kStandardStream);
  set_paths(options.input, paths, "FILE");
  if (streams > 1) usage("-: stdin given more than once");
  if (streams > 0 && options.input.files_from == kStandardStream)
    usage("-: stdin is already used by --files-from -");
  options.reads_stdin = streams > 0;
  options.decode = read_decoding(parser);
  options.decode.max_bits = 32;
  options.replace = read_replace(parser);
  options.logging = read_logging(parser);
  options.json_file = read_json_file(parser);
  return options;
}

class InfoRun {
 public:
  explicit InfoRun(const InfoOptions& options) : options_(options) {
    const InputOptions& input = options.input;
    if (!input.path.empty() || !input.files_from.empty()) found_ = find_inputs(input);
    decode_ = options.decode;
    decode_.max_pixels = kMaxPixels;
  }

  int run() {
    if (found_.files.empty() && found_.problems.empty() && !options_.reads_stdin)
      throw Error(ErrorKind::usage, nothing_found_text(options_.input, found_));
    check_result_files(files_read(found_, options_.input.files_from), options_.replace,
                       {{"--json", options_.json_file}});
    log_search(found_);
    for (const PathProblem& problem : found_.problems)
      results_.failures.push_back({printable(problem.path), ErrorKind::input, problem.reason});
    if (options_.reads_stdin) inspect_file(kStandardStream, InputKind::any);
    for (const BatchFile& file : found_.files) inspect_file(file.input, kind_of(file.input));
    report();
    return results_.failures.empty() ? kExitDone : kExitInput;
  }

 private:
  // The largest limit that --max-pixels accepts: files that processing would refuse can still be described.
  static constexpr std::int64_t kMaxPixels = std::int64_t{1} << 34;

  // A named file may be a FIFO, and opening it waits for a writer; files found in directories must be
  // regular.
  [[nodiscard]] InputKind kind_of(const std::string& path) const {
    const std::vector<std::string>& others = options_.input.more_paths;
    const bool named = path == options_.input.path || std::ranges::find(others, path) != others.end();
    return named ? InputKind::any : InputKind::regular_only;
  }

  void inspect_file(const std::string& path, InputKind kind) {
    const std::string name = path == kStandardStream ? input_name(path) : printable(path);
    const auto fail = [&](ErrorKind error, const std::string& reason) {
      log_error(name + ": " + reason, {.input = name, .output = {}, .reason = reason});
      results_.failures.push_back({name, error, reason});
    };
    try {
      results_.images.push_back({name, inspect_image(open_for_inspection(path, decode_, kind), decode_)});
    } catch (const Error& error) {
      fail(error.kind(), error.what());
    } catch (const std::bad_alloc&) {
      fail(ErrorKind::memory, "not enough memory");
    }
  }

  void report() const {
    const std::string& file = options_.json_file;
    if (!file.empty()) write_text(file, info_json(results_));
    if (options_.logging.quiet) return;
    print_table(info_table(results_), file == kStandardStream);
  }

  const InfoOptions& options_;
  BatchFiles found_;
  DecodeOptions decode_;
  InfoResults results_;
};

int run_info(const InfoOptions& options) {
  return InfoRun(options).run();
}

}  // namespace

CommandRow info_command() {
  return {.name = "info",
          .summary = "format, size and metadata of image files, from their headers",
          .description =
              "Describes image files by their headers alone: format, size, channels, compression, metadata, "
              "pages, and the decoder that imgpipe would use.",
          .usage = {{"imgpipe info FILE... [options]", "files, directories and patterns; \"-\" is stdin"},
                    {"imgpipe info --files-from FILE [options]", "a list of names"}},
          .positional = {"input"},
          .accepts_more_arguments = true,
          .or_options = {"files-from"},
          .rows = info_rows,
          .read = [](const Parser& parser) { return ready(read_info(parser), run_info); }};
}

}  // namespace imgpipe
