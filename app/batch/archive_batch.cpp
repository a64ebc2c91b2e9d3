#include "app/batch/archive_batch.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "app/files/name_template.h"
#include "app/files/replaceable.h"
#include "app/jobs/archive_files.h"
#include "app/log.h"
#include "app/process_options/options_digest.h"
#include "app/standard_streams.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/text.h"

namespace imgpipe {
namespace {

// The share of the batch's memory for members that were read ahead or are waiting to be copied.
constexpr std::int64_t kWaitingShare = 8;

}  // namespace

ArchiveBatch::ArchiveBatch(const ProcessOptions& options, const std::deque<BatchFile>& archives,
                           BatchSettings& settings, const SignalGuard& signals, BatchTotals& totals,
                           Events events)
    : options_(options),
      archives_(archives),
      signals_(signals),
      totals_(totals),
      events_(std::move(events)),
      selection_(options.input.include, options.input.exclude) {
  settings_.is_image = [this](ArchiveImage& image) { return is_image(image); };
  settings_.open = [this](const std::string& input) { return open(input); };
  settings_.before_write = [replace = options.output.replace](const std::string& output) {
    if (const std::string why = archive_refusal_reason(output, replace); !why.empty())
      throw Error(ErrorKind::usage, why);
  };
  settings_.decode = settings.decode;
  settings_.sync = settings.sync;
  settings_.waiting_bytes = settings.memory_bytes / kWaitingShare;
  settings.memory_bytes -= settings_.waiting_bytes;
  if (settings.memory_is_limit) settings_.max_image_bytes = settings.memory_bytes;
}

void ArchiveBatch::begin(Batch& batch) {
  std::vector<ArchiveFiles> files;
  for (const BatchFile& archive : archives_)
    files.push_back({archive.input, archive.output, input_name(archive.input), output_name(archive.output)});
  job_ = std::make_unique<ArchiveJob>(
      std::move(files), settings_,
      ArchiveEvents{
          .found = [this](const ArchiveImage&) { ++totals_.images; },
          .ended = [this](const ArchiveImage& image, const BatchResult& result) { end_image(image, result); },
          .left_out =
              [this](std::size_t archive, const std::string& member, const Error& error) {
                const BatchFile& file =
                    failed_.emplace_back(file_of({.archive = archive,
                                                  .name = member,
                                                  .output_name = member,
                                                  .format = options_.output.format.value_or(Format::png)}));
                fail(file, Error(error.kind(), printable(file.input) + ": " + error.what()));
              },
          .archive_ended = [this](std::size_t archive,
                                  const std::optional<Error>& error) { end_archive(archive, error); }},
      batch);
}

// Selects members like the files of a directory: by their ending, and never hidden ones.
bool ArchiveBatch::is_image(ArchiveImage& image) {
  const std::size_t slash = image.name.rfind('/') + 1;
  const std::string base = image.name.substr(slash);
  if (base.empty() || base.front() == '.' || !selection_.takes(image.name, true)) return false;
  PlacedOutput output = NameTemplate::preset(false).place("", {base, base}, options_.output.format);
  const std::string output_name = image.name.substr(0, slash) + output.path;
  const std::string& result = options_.stages.name;
  image.output_name = result.empty() ? output_name : also_path(output_name, result);
  image.format = output.format;
  const auto [hash, is_new] = option_hashes_.try_emplace(output.format);
  if (is_new)
    hash->second = {options_hash(options_, output.format), also_option_hashes(options_, output.format)};
  image.made_of = Provenance{.name = name_hash(base), .options = hash->second.main};
  for (std::size_t i = 0; i < options_.stages.also.size(); ++i)
    image.also.push_back({also_path(output_name, options_.stages.also[i].name), hash->second.also[i]});
  return true;
}

// A signal must end the wait for a pipe.
ByteSource ArchiveBatch::open(const std::string& input) const {
  static constexpr std::chrono::milliseconds kPatience{50};
  ByteSource source = open_source(input);
  if (input != kStandardStream) return source;
  return [source = std::move(source), this](std::span<std::byte> buffer) {
    while (!wait_for_standard_input(kPatience)) {
      if (signals_.received() != 0)
        throw Error(ErrorKind::input, "stopped by signal " + std::to_string(signals_.received()));
    }
    return source(buffer);
  };
}

BatchFile ArchiveBatch::file_of(const ArchiveImage& image) const {
  const BatchFile& of = archives_[image.archive];
  const bool from_stdin = of.input == kStandardStream, to_stdout = of.output == kStandardStream;
  BatchFile file;
  const std::string to = (to_stdout ? "stdout" : of.output) + "/";
  file.input = (from_stdin ? "stdin" : of.input) + "/" + image.name;
  file.output = to + image.output_name;
  for (const AlsoFile& also : image.also) file.also.push_back({to + also.output});
  file.format = image.format;
  file.archive = &of;
  return file;
}

void ArchiveBatch::end_image(const ArchiveImage& image, const BatchResult& result) {
  BatchFile file = file_of(image);
  if (result.failed) return events_.ended(result, failed_.emplace_back(std::move(file)));
  events_.ended(result, file);
  // Output that went to a stream cannot be removed.
  if (archives_[image.archive].output != kStandardStream) done_[image.archive].push_back(std::move(file));
}

void ArchiveBatch::fail(const BatchFile& file, const Error& error) {
  ++totals_.images;
  BatchResult result;
  result.failed = error.kind();
  result.reason = error.what();
  events_.ended(result, file);
}

void ArchiveBatch::end_archive(std::size_t archive, const std::optional<Error>& error) {
  if (error && signals_.received() != 0) return;  // counted as not done
  if (error) {
    fail(archives_[archive], *error);
    for (BatchFile& file : done_[archive]) events_.lost(failed_.emplace_back(std::move(file)));
  } else {
    ++archives_done_;
  }
  done_.erase(archive);
  events_.archive_ended(archive, !error);
}

void ArchiveBatch::finish() {
  for (const auto& [archive, images] : std::exchange(done_, {}))
    std::ranges::for_each(images, events_.unfinished);
  for (const std::string& pattern : selection_.unmatched(!options_.input.is_exclude_from_preset))
    log_warning(pattern + ": no match");
  totals_.note =
      "archives: " + std::to_string(archives_done_) + " of " + std::to_string(archives_.size()) + " written";
}

}  // namespace imgpipe
