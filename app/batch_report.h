// What a batch did and where its time went.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/options.h"
#include "pipeline/batch.h"

namespace imgpipe {

struct BatchFailure {
  std::string name;  // for --failed-out
  std::string reason;
};

// Collects the results of a batch as they come.
class BatchTotals {
 public:
  void add(const BatchResult& result, const std::string& name);

  std::size_t images = 0;   // that were found
  std::size_t skipped = 0;  // their outputs were there (--skip-existing)
  std::size_t done = 0;
  std::size_t problems = 0;  // folders that could not be read
  std::vector<BatchFailure> failures;
  std::size_t profiles_dropped = 0;  // images done that had a colour profile other than sRGB
  std::string profile_example;       // one of them, for people
  std::int64_t pixels = 0, input_bytes = 0, output_bytes = 0;  // of the images done
  double wall_s = 0;
  int jobs = 1;
  std::int64_t memory_bytes = 0, peak_admitted_bytes = 0;
  std::vector<std::string> devices;  // what worked, for people
  std::string device_why;
  std::string stopped;  // why it ended early; empty otherwise

  [[nodiscard]] std::size_t failed() const { return failures.size() + problems; }
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

 private:
  std::vector<double> image_ms_;
  PartTimes workers_{};
  std::map<std::string, std::array<std::vector<Interval>, kParts>> lanes_;
  std::map<std::string, std::size_t> by_device_;
};

// The value below which a share (0..1) of the sorted values lies: the nearest rank (Hyndman and Fan's type
// 1); 0 of none.
[[nodiscard]] double percentile(const std::vector<double>& sorted, double share);

[[nodiscard]] std::string batch_table(const BatchTotals& totals);
[[nodiscard]] std::string batch_json(const BatchTotals& totals, const ProcessOptions& options);
// One line of the .ndjson report, with its newline.
[[nodiscard]] std::string batch_line(const BatchResult& result, const std::string& input,
                                     const std::string& output);

}  // namespace imgpipe
