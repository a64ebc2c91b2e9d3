// imgpipe info: find the files, look at each one's headers, say what they are.
#include <algorithm>
#include <new>
#include <span>

#include <unistd.h>

#include "app/exit_code.h"
#include "app/info/info_options.h"
#include "app/info/info_report.h"
#include "app/jobs/batch_files.h"
#include "app/jobs/result_files.h"
#include "app/jobs/search_report.h"
#include "app/log.h"
#include "app/print.h"
#include "app/standard_streams.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/files/output_file.h"
#include "images/formats/image_inspection.h"
#include "images/text.h"

namespace imgpipe {
namespace {

class InfoRun {
 public:
  explicit InfoRun(const InfoOptions& options) : options_(options) {
    const InputOptions& input = options.input;
    if (!input.path.empty() || !input.files_from.empty()) found_ = find_inputs(input);
    decode_ = options.decode;
    decode_.max_pixels = kMostPixels;
  }

  int run() {
    if (found_.files.empty() && found_.problems.empty() && !options_.reads_stdin)
      throw Error(ErrorKind::usage, nothing_found_text(options_.input, found_));
    check_result_files(options_.input.files_from, options_.replace, found_, {{"--json", options_.json_file}});
    log_search(found_);
    for (const PathProblem& problem : found_.problems)
      results_.failures.push_back({printable(problem.path), ErrorKind::input, problem.reason});
    if (options_.reads_stdin) look_at(kStandardStream, InputKind::any);
    for (const BatchFile& file : found_.files) look_at(file.input, kind_of(file.input));
    report();
    return results_.failures.empty() ? kExitDone : kExitInput;
  }

 private:
  // As much as --max-pixels can allow: what a file is can be told of one that would be refused.
  static constexpr std::int64_t kMostPixels = std::int64_t{1} << 34;

  // A file that was named may be a FIFO, whose writer is waited for; of folders none is.
  [[nodiscard]] InputKind kind_of(const std::string& path) const {
    const std::vector<std::string>& others = options_.input.more_paths;
    const bool named = path == options_.input.path || std::ranges::find(others, path) != others.end();
    return named ? InputKind::any : InputKind::regular_only;
  }

  void look_at(const std::string& path, InputKind kind) {
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
    if (!file.empty()) {
      const std::string text = info_json(results_);
      naming(printable(file), [&] { write_file(file, std::as_bytes(std::span(text))); });
    }
    if (options_.logging.quiet) return;
    print_table(info_table(results_), file == kStandardStream);
  }

  const InfoOptions& options_;
  BatchFiles found_;
  DecodeOptions decode_;
  InfoResults results_;
};

}  // namespace

int run_info(const InfoOptions& options) {
  return InfoRun(options).run();
}

}  // namespace imgpipe
