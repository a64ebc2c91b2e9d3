// What a batch did and where its time went.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "app/jobs/batch_files.h"
#include "app/log_subject.h"
#include "app/process_options/process_options.h"
#include "pipeline/jobs/batch.h"

namespace imgpipe {

// Thousands may fail for the same few reasons, so each is kept once.
struct BatchFailure {
  const BatchFile* file = nullptr;
  ErrorKind kind = ErrorKind::input;
  using About = SplitReason::About;
  About about = About::neither;               // the path that the reason is about
  const std::string* reason_alone = nullptr;  // without that path

  [[nodiscard]] std::string reason() const;  // with it
};

// Of an image that was done, and whose output is gone.
inline constexpr const char* kLostReason = "was written and is gone: removed while the batch ran";

[[nodiscard]] SplitReason split_reason(const std::string& reason, const BatchFile& file);
// Of a message about that file.
[[nodiscard]] LogSubject subject_of(const std::string& reason, const BatchFile& file);

// Collects the results of a batch as they come.
class BatchTotals {
 public:
  BatchTotals() = default;
  BatchTotals(const BatchTotals&) = delete;  // failures point into it
  BatchTotals& operator=(const BatchTotals&) = delete;

  // `file` stays where it is.
  void add(const BatchResult& result, const BatchFile& file);
  // An image that was done, and whose output is gone: it has failed after all.
  void add_lost(const BatchFile& file);

  std::size_t images = 0;              // that were found
  std::size_t skipped = 0;             // their outputs were there (--skip-existing), or up to date (--update)
  std::string skipped_as = "skipped";  // what is said of them
  std::size_t done = 0;
  std::vector<PathProblem> problems;  // folders that could not be read, and their like
  SkippedInputs passed_over;
  std::string shard;                  // which of how many, for people; empty: there are none
  std::size_t other_shards = 0;       // files that are other shards' work
  std::string shard_list;             // see BatchFiles
  std::deque<BatchFailure> failures;  // no vector: it would need its memory twice while it grows
  // Images done of some kind, and the first of them, for people.
  struct Noted {
    std::size_t images = 0;
    std::string example;
  };
  Noted profiles_dropped;  // that had a colour profile other than sRGB, which is not kept
  Noted metadata_dropped;  // that had other metadata, which is not kept
  Noted reduced;           // had more than 8 bits a sample, which became 8 unasked
  std::int64_t pixels = 0, input_bytes = 0, output_bytes = 0;  // of the images done
  double wall_s = 0;
  int jobs = 1;
  std::int64_t memory_bytes = 0, peak_admitted_bytes = 0;
  std::vector<std::string> devices;  // what worked, for people
  std::string device_why;
  std::string stopped;         // why it ended early; empty otherwise
  std::string go_on;           // how to go on then
  std::string options_digest;  // app/process_options/options_digest.h
  std::string note;            // what else is to be said; empty otherwise

  [[nodiscard]] std::size_t failed() const { return failures.size() + problems.size(); }
  [[nodiscard]] RunCounts counts(double seconds) const;
  [[nodiscard]] std::size_t not_done() const { return images - skipped - done - failures.size(); }

  // What each image took, sorted, milliseconds.
  [[nodiscard]] std::vector<double> image_ms() const;
  // A part of the batch: what was at it, for how long in all, and the share of the time that it had.
  struct PartBusy {
    std::string part, by;
    double busy_s = 0;
    double share = 0;
  };
  // The workers' parts, then each lane's.
  [[nodiscard]] std::vector<PartBusy> parts() const;
  [[nodiscard]] std::map<std::string, std::size_t> images_by_device() const { return by_device_; }
  [[nodiscard]] std::size_t images_by_route(ImageRoute route) const {
    return by_route_.at(static_cast<std::size_t>(route));
  }

 private:
  std::set<std::string> reasons_;  // of failures
  std::deque<double> image_ms_;
  PartTimes workers_{};
  std::map<std::string, std::array<std::vector<Interval>, kParts>> lanes_;
  std::map<std::string, std::size_t> by_device_;
  std::array<std::size_t, 4> by_route_{};  // by ImageRoute
};

// The value below which a share (0..1) of the sorted values lies: the nearest rank (Hyndman and Fan's type
// 1); 0 of none.
[[nodiscard]] double percentile(const std::vector<double>& sorted, double share);

}  // namespace imgpipe
