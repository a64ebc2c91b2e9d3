#include "app/verify/verify_command.h"

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "app/exit_code.h"
#include "app/image/image_set_up.h"
#include "app/log.h"
#include "app/log_subject.h"
#include "app/options/option_parser.h"
#include "app/report/text_columns.h"
#include "app/standard_streams.h"
#include "app/verify/file_check.h"
#include "app/verify/report_hashes.h"
#include "images/codecs/codec.h"
#include "images/error.h"
#include "images/files/archive_reader.h"
#include "images/files/file.h"
#include "images/text.h"
#include "pipeline/error_of.h"
#include "pipeline/threads/host_threads.h"

namespace imgpipe {
namespace {

struct VerifyOptions {
  std::string report;
  std::string base;  // directory of relative paths; empty: the current one
  int threads = 0;   // 0: one per available processor
  LoggingOptions logging;
};

std::vector<OptionRow> verify_rows() {
  std::vector<OptionRow> rows{
      {"Files", "base", "DIR", nullptr,
       "Directory of the relative paths in REPORT; default: the current one, as for the run that wrote it"},
      {"Files", "threads", "N", "0", "Files checked at a time; 0: one per available processor"}};
  add_rows(rows, logging_rows());
  return rows;
}

VerifyOptions read_verify(const Parser& parser) {
  VerifyOptions options;
  options.report = parser.text("report");
  if (options.report.empty()) usage("REPORT: empty name");
  if (options.report == kStandardStream) usage("REPORT: is read twice, so it cannot be stdin; name a file");
  options.base = parser.name_or_empty("base");
  options.threads = parser.integer("threads", 0, kMaxThreads);
  options.logging = read_logging(parser);
  return options;
}

// Checks files on several threads and reports the results in the order of the report.
class Verification {
 public:
  explicit Verification(int threads) : threads_(threads) {}

  using Check = std::function<FileCheck()>;
  void add(Check check) {
    waiting_.push_back(std::move(check));
    if (std::ssize(waiting_) >= kChecksPerThread * threads_.count()) finish();
  }

  // Checks the files that still wait.
  void finish() {
    std::vector<FileCheck> checks(waiting_.size());
    std::atomic<std::size_t> next = 0;
    threads_.run(threads_.count(), [&](int) {
      for (std::size_t i = next++; i < checks.size(); i = next++)
        if (const std::optional<Error> error = error_of([&] { checks[i] = waiting_[i](); }))
          checks[i].unreadable = error;
    });
    waiting_.clear();
    for (const FileCheck& check : checks) take(check);
  }

  [[nodiscard]] std::uint64_t files() const { return files_; }
  [[nodiscard]] std::uint64_t different() const { return different_; }
  [[nodiscard]] std::uint64_t unreadable() const { return unreadable_; }

 private:
  static constexpr std::ptrdiff_t kChecksPerThread = 16;

  void take(const FileCheck& check) {
    ++files_;
    for (const std::string& line : check.differences) log_error(line);
    if (check.unreadable) log_error(check.unreadable->what());
    different_ += check.differences.empty() ? 0 : 1;
    unreadable_ += check.unreadable ? 1 : 0;
  }

  HostThreads threads_;
  std::vector<Check> waiting_;
  std::uint64_t files_ = 0, different_ = 0, unreadable_ = 0;
};

using Members = std::unordered_map<std::string, HashedFile>;

// Checks the members of an archive, which is read once.
void verify_archive(const std::string& path, Members members, Verification& verification) {
  const auto fail = [&](const std::string& name, const std::string& reason) {
    const Error error(ErrorKind::input, name + ": " + reason);
    verification.add([error] { return FileCheck{.differences = {}, .unreadable = error}; });
  };
  const std::optional<Error> error = error_of([&] {
    ArchiveReader reader(open_source(path));
    while (const std::optional<ArchiveMember> member = reader.next()) {
      const auto found = member->is_file ? members.find(member->name) : members.end();
      if (found == members.end()) continue;
      auto bytes = std::make_shared<std::vector<std::byte>>(
          reader.read_all(max_file_bytes({.max_pixels = kDefaultMaxPixels})));
      verification.add([file = std::move(found->second), name = printable(path + "/" + member->name), bytes] {
        return check_bytes(file, name, std::move(*bytes));
      });
      members.erase(found);
    }
  });
  if (error) return fail(printable(path), error->what());
  const std::string in_archive = path + "/";
  for (const auto& [name, file] : members) fail(printable(in_archive + name), "no such member");
}

int run_verify(const VerifyOptions& options) {
  const std::string name = printable(options.report);
  const int threads = thread_count(ExecutionOptions{.threads = options.threads});
  log_detail(name + ": checking on " + counted(static_cast<std::uint64_t>(threads), "thread"));
  Verification verification(threads);
  std::map<std::string, Members> archives;
  std::size_t strange_lines = 0;
  naming(name, [&] {
    ReportHashes report(options.report);
    report.for_each([&](HashedFile file) {
      FoundFile found = find_file(file, options.base);
      if (!found.member.empty()) {
        archives[found.path].insert_or_assign(found.member, std::move(file));
        return;
      }
      verification.add(
          [file = std::move(file), path = std::move(found.path)] { return check_file(file, path); });
    });
    strange_lines = report.unrecognised_lines();
  });
  for (auto& [path, members] : archives) verify_archive(path, std::move(members), verification);
  verification.finish();
  if (verification.files() == 0)
    throw Error(ErrorKind::usage, name + ": holds no hashes; run the command with --hash");
  if (strange_lines > 0) log_warning(name + ": skipped " + counted(strange_lines, "invalid line"));
  if (!options.logging.quiet) {
    const std::uint64_t equal = verification.files() - verification.different() - verification.unreadable();
    print_table(counted(verification.files(), "file") + ": " + with_separators(equal) + " equal, " +
                    with_separators(verification.different()) + " different, " +
                    with_separators(verification.unreadable()) + " not readable\n",
                false);
  }
  if (verification.different() > 0) return kExitDifference;
  return verification.unreadable() > 0 ? kExitInput : kExitDone;
}

}  // namespace

CommandRow verify_command() {
  return {
      .name = "verify",
      .summary = "compares files with the hashes in a report of --hash",
      .description =
          "Hashes the inputs and outputs of a run again and compares the results with its report: the bytes, "
          "and the pixels as the run decoded or wrote them.",
      .usage = {{"imgpipe verify REPORT [options]",
                 "of --hash: FILE.json of an image or its pages, FILE.ndjson or FILE.csv of a batch"}},
      .positional = {"report"},
      .rows = verify_rows,
      .exits = {kExitDone, kExitInput, kExitUsage, kExitDifference, kExitSignalBase},
      .read = [](const Parser& parser) { return ready(read_verify(parser), run_verify); }};
}

}  // namespace imgpipe
