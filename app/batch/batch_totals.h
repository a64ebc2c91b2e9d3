// The results of a batch, and where its time went.
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

// Thousands of images may fail for the same few reasons, so each reason is stored once.
struct BatchFailure {
  const BatchFile* file = nullptr;
  ErrorKind kind = ErrorKind::input;
  using About = SplitReason::About;
  About about = About::neither;               // the path that the reason is about
  const std::string* reason_alone = nullptr;  // without that path

  [[nodiscard]] std::string reason() const;  // including the path
};

// The reason for an image whose output should have been part of an archive (compare kLostReason).
inline constexpr const char* kNoArchiveReason = "its archive was not written";

[[nodiscard]] SplitReason split_reason(const std::string& reason, const BatchFile& file);
[[nodiscard]] LogSubject subject_of(const std::string& reason, const BatchFile& file);

class BatchTotals {
 public:
  BatchTotals() = default;
  BatchTotals(const BatchTotals&) = delete;  // failures point into it
  BatchTotals& operator=(const BatchTotals&) = delete;

  // `file` must outlive this object.
  void add(const BatchResult& result, const BatchFile& file);
  // Turns an image that was done into a failed one, because its output is gone.
  void add_lost(const BatchFile& file, const std::string& reason);

  std::size_t images = 0;                 // found
  std::size_t skipped = 0;                // output existed (--skip-existing) or is up to date (--update)
  std::string skipped_label = "skipped";  // the word for skipped images
  std::size_t done = 0;
  std::vector<PathProblem> problems;  // such as unreadable directories
  SkippedInputs skipped_inputs;
  std::string shard;                  // index and count, for people; empty if there are no shards
  std::size_t other_shards = 0;       // files that belong to other shards
  std::string shard_list;             // see BatchFiles
  std::deque<BatchFailure> failures;  // not a vector, which needs twice the memory while it grows
  // The number of images of some kind, and the first of them as an example for people.
  struct CountWithExample {
    std::size_t images = 0;
    std::string example;
  };
  CountWithExample profiles_dropped;  // colour profile other than sRGB, not preserved
  CountWithExample metadata_dropped;  // other metadata, not preserved
  CountWithExample reduced;           // more than 8 bits per sample reduced to 8 without a request
  CountWithExample scaled;            // JPEG decoded at a smaller scale
  std::int64_t pixels = 0, input_bytes = 0, output_bytes = 0;  // of images that are done
  double wall_s = 0;
  int jobs = 1;
  std::int64_t memory_bytes = 0, peak_admitted_bytes = 0;
  std::vector<std::string> devices;  // the devices used, for people
  std::string device_why;
  std::string stopped;         // why the batch ended early; otherwise empty
  std::string go_on;           // how to resume after an early end; empty: impossible
  std::string options_digest;  // app/process_options/options_digest.h
  struct TensorRows {
    std::string names_file;  // empty: the tensor's file has the names
    TensorType type;
    std::int64_t rows = 0;
  };
  std::optional<TensorRows> tensor;  // the written file of --tensor
  std::string note;                  // an additional line for people; may be empty

  [[nodiscard]] std::size_t failed() const { return failures.size() + problems.size(); }
  [[nodiscard]] RunCounts counts(double seconds) const;
  [[nodiscard]] std::size_t not_done() const { return images - skipped - done - failures.size(); }

  // The time of each image in milliseconds, sorted.
  [[nodiscard]] std::vector<double> image_ms() const;
  // A part of the batch's work: what executed it, its busy time, and that time's share of the available time.
  struct PartBusy {
    std::string part, by;
    double busy_s = 0;
    double share = 0;
  };
  // The workers' parts, followed by those of each lane.
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

// Returns the nearest-rank percentile (Hyndman and Fan, type 1) for a share of 0 to 1; 0 for no values.
[[nodiscard]] double percentile(const std::vector<double>& sorted, double share);

}  // namespace imgpipe
