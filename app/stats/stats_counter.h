// Counts the rows of a batch for imgpipe stats, from any thread: each input completely or not at all.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "app/stats/stats_totals.h"
#include "pipeline/jobs/batch.h"
#include "pipeline/jobs/image_job.h"
#include "pipeline/statistics/image_statistics.h"

namespace imgpipe {

class StatsCounter {
 public:
  // `keep_rows`: keep the statistics of each image.
  StatsCounter(std::size_t inputs, bool keep_rows, std::vector<Percent> percents,
               std::optional<FloatBins> bins);
  StatsCounter(const StatsCounter&) = delete;  // its callbacks point into it
  StatsCounter& operator=(const StatsCounter&) = delete;

  // For an input with one image. image_done() completes its row.
  [[nodiscard]] RowConsumer use_image(const ImageFiles& files, const Plan& plan);
  void image_done(const BatchResult& result);
  // For an input with pages. Their counts are kept separately until the whole input succeeds. This takes at
  // most pages_bytes() per input in progress, of which there are no more than workers
  // (pipeline/jobs/batch.h). The memory for rows grows with the pages, up to the limit of
  // set_max_row_bytes().
  [[nodiscard]] PageConsumer make_page_consumer(std::size_t input);

  // Returns the maximum size of an input's sums: grey and colours, each with alpha, for 8 and 16 bits and
  // floats.
  [[nodiscard]] std::int64_t pages_bytes() const {
    return std::int64_t{6} * (256 + 65536) * 8 + FloatCounts::bytes_of(6, bins_);
  }
  // Returns the maximum size of a row.
  [[nodiscard]] std::int64_t row_bytes() const;
  // Limits the memory for rows of pages (0: unlimited); an input that needs more fails. Call before any work.
  void set_max_row_bytes(std::int64_t bytes) { max_row_bytes_ = bytes; }

  // Call when no input is in progress.
  [[nodiscard]] const std::map<bool, ImageGroup>& groups() const { return sums_.groups(); }
  [[nodiscard]] const std::map<bool, FloatGroup>& float_groups() const { return sums_.float_groups(); }
  // Indexed by input; empty if rows are not kept.
  [[nodiscard]] const std::vector<std::vector<StatsImage>>& rows() const { return rows_; }

 private:
  struct Input;  // an input with pages in progress
  RowConsumer make_row_consumer(const Shape& shape, StatisticsCollector& sums, std::vector<StatsImage>* rows);
  RowConsumer make_float_consumer(const Shape& shape, StatisticsCollector& sums,
                                  std::vector<StatsImage>* rows);
  void claim_row();

  const bool keep_rows_;
  const std::vector<Percent> percents_;
  const std::optional<FloatBins> bins_;
  std::int64_t max_row_bytes_ = 0;
  std::atomic<std::int64_t> claimed_row_bytes_{0};
  StatisticsCollector sums_;
  std::vector<std::vector<StatsImage>> rows_;
};

}  // namespace imgpipe
