#include "app/batch/batch_report_files.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string_view>
#include <system_error>

#include "app/batch/batch_report.h"
#include "app/files/name_list.h"
#include "app/files/shared_file.h"
#include "app/files/text_file.h"
#include "app/jobs/result_files.h"
#include "app/report/report_names.h"
#include "app/shard/shard.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/files/file_identity.h"
#include "pipeline/error_of.h"

namespace imgpipe {
namespace {

// A failed image makes a retry of its archive.
std::string_view name_in_lists(const BatchFile& file) {
  return file.archive == nullptr ? file.name() : file.archive->name();
}

}  // namespace

BatchReportFiles::BatchReportFiles(const ProcessOptions& options) : options_(options) {
  const std::string& failed_file = options.reports.failed_file;
  if (!failed_file.empty() && same_file(failed_file, options.input.files_from))
    list_ = read_name_list(options.input.files_from);
}

void BatchReportFiles::open(bool needs_output, const BatchTotals& totals) {
  const std::vector<ResultFile> results = result_files(options_);
  const auto in_output = [&](const ResultFile& result) {
    return result_in_directory(options_.output.path, result.path);
  };
  for (const ResultFile& result : results) {
    if (!in_output(result)) check_result_writable(result.path);
  }
  if (needs_output || std::ranges::any_of(results, in_output))
    make_result_directory(options_.output.path, options_.output.sync.get());
  for (const ResultFile& result : results) {
    if (in_output(result)) check_result_writable(result.path);
  }
  const bool go_on = options_.output.skip_existing || options_.output.update || options_.shard;
  NdjsonRun run{.head = RunHead(options_.execution.threads)};
  if (!options_.output.is_archive) {
    run.shard_images = totals.images;
    run.batch_images = totals.images + totals.other_shards;
  }
  for (const std::string& file : options_.reports.files) {
    if (options_.shard && file.ends_with(".json")) claim(file);
    if (!is_json_report(file)) lines_.push_back(std::make_unique<NdjsonReport>(file, go_on, run, options_));
  }
  if (!options_.reports.trace_file.empty()) open_trace();
}

// Writes a preliminary report for a shard before any work. If several shards were given the same report file,
// all but one fail here, so that none of them replaces another's report at the end.
void BatchReportFiles::claim(const std::string& file) const {
  const SharedFileLock lock(file);
  check_replaceable(file, other_shard_reason(file, *options_.shard, options_.output.replace));
  BatchTotals nothing;
  nothing.stopped = "in progress, or killed";
  write_text(file, batch_json(nothing, options_), options_.output.sync.get());
}

void BatchReportFiles::open_trace() {
  const std::string& file = options_.reports.trace_file;
  if (!options_.shard) {
    trace_ = std::make_unique<TraceFile>(file, options_.output.sync.get());
    return;
  }
  const Shard& shard = *options_.shard;
  const SharedFileLock lock(file);
  check_replaceable(file, other_shard_reason(file, shard, options_.output.replace));
  trace_ =
      std::make_unique<TraceFile>(file, options_.output.sync.get(), shard_name(shard.index, shard.count));
}

void BatchReportFiles::add_skipped(const std::deque<BatchFile>& files, const std::string& reason) {
  for (const BatchFile& file : files) {
    settle(file);
    for (const auto& lines : lines_) lines->add_skipped(file, reason);
  }
}

void BatchReportFiles::add_problems(const std::vector<PathProblem>& problems) {
  for (const auto& lines : lines_) {
    for (const PathProblem& problem : problems) lines->add_problem(problem);
  }
}

void BatchReportFiles::add(const BatchFile& file, const BatchResult& result) {
  if (!result.failed && file.archive == nullptr) settle(file);
  for (const auto& lines : lines_) lines->add_done_or_failed(file, result);
  if (trace_) trace_->add(result.spans, file.name());
}

void BatchReportFiles::add_lost(const BatchFile& file, const std::string& reason) {
  settled_.erase(plain_name(file.name()));
  for (const auto& lines : lines_) lines->add_lost(file, reason);
}

void BatchReportFiles::add_not_done(const BatchFile& file, const std::string& reason) {
  for (const auto& lines : lines_) lines->add_not_done(file, reason);
}

void BatchReportFiles::flush() {
  for (const auto& lines : lines_) lines->flush();
}

void BatchReportFiles::write_whole_files(const BatchTotals& totals) const {
  write_failed(totals);
  for (const std::string& file : options_.reports.files) {
    if (is_json_report(file)) write_text(file, batch_json(totals, options_), options_.output.sync.get());
  }
}

void BatchReportFiles::close(const BatchTotals& totals, const std::vector<const BatchFile*>& not_done) {
  const std::optional<Error> error = error_of([&] {
    for (const BatchFile* file : not_done) add_not_done(*file, totals.stopped);
    for (const auto& lines : lines_) lines->close();
  });
  const std::optional<Error> of_trace = error_of([&] {
    if (trace_) trace_->close();
  });
  if (error && of_trace) throw Error(error->kind(), std::string(error->what()) + "; " + of_trace->what());
  if (error || of_trace) throw Error(error ? *error : *of_trace);
}

void BatchReportFiles::write_failed(const BatchTotals& totals) const {
  const std::string& file = options_.reports.failed_file;
  if (file.empty()) return;
  if (options_.shard && file != kStandardStream && !descriptor_of(file)) {
    merge_failed(totals);
  } else {
    write_text(file, name_list_text(failed_names(totals)), options_.output.sync.get());
  }
}

// Returns the names for --failed-out: those of the failed images. If it replaces the list of --files-from,
// returns all names of that list that are neither done nor skipped.
std::vector<std::string> BatchReportFiles::failed_names(const BatchTotals& totals) const {
  std::vector<std::string> names;
  if (list_) {
    std::ranges::remove_copy_if(*list_, std::back_inserter(names),
                                [&](const std::string& name) { return settled_.contains(plain_name(name)); });
  } else {
    for (const BatchFailure& failure : totals.failures) names.emplace_back(name_in_lists(*failure.file));
  }
  std::ranges::sort(names);  // independent of the order of completion
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

// Updates a list that shards may share: removes names that this shard has done, adds those that failed, and
// keeps the other shards' names.
void BatchReportFiles::merge_failed(const BatchTotals& totals) const {
  const std::string& file = options_.reports.failed_file;
  const SharedFileLock lock(file);
  std::vector<std::string> names;
  std::error_code error;
  if (std::filesystem::is_regular_file(file, error)) names = read_name_list(file);
  std::erase_if(names, [&](const std::string& name) { return settled_.contains(plain_name(name)); });
  std::unordered_set<std::string> there;
  for (const std::string& name : names) there.insert(plain_name(name));
  for (const BatchFailure& failure : totals.failures) {
    const std::string_view name = name_in_lists(*failure.file);
    if (there.insert(plain_name(name)).second) names.emplace_back(name);
  }
  std::ranges::sort(names);
  write_text(file, name_list_text(names), options_.output.sync.get());
}

void BatchReportFiles::settle(const BatchFile& file) {
  if (list_ || (options_.shard && !options_.reports.failed_file.empty()))
    settled_.insert(plain_name(file.name()));
}

}  // namespace imgpipe
