// What imgpipe stats counts of the rows of a batch, from any thread: each input whole or not at all.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "app/stats/stats_totals.h"
#include "pipeline/jobs/batch.h"
#include "pipeline/jobs/image_job.h"
#include "pipeline/statistics/image_statistics.h"

namespace imgpipe {

class StatsCounter {
 public:
  // For so many inputs. `keep_rows`: each image's own statistics are wanted.
  StatsCounter(std::size_t inputs, bool keep_rows, std::vector<Percent> percents);
  StatsCounter(const StatsCounter&) = delete;  // what it gave away points into it
  StatsCounter& operator=(const StatsCounter&) = delete;

  // Of an input that is one image; then, when it is done, what is known of it.
  [[nodiscard]] RowUse use_image(const ImageFiles& files, const Shape& shape);
  void image_done(const BatchResult& result);
  // Of an input with pages. Their counts are kept apart until the input is in order; what is kept so is
  // bounded by kPagesBytes for each input that is on its way, and there are no more of them than workers
  // (pipeline/jobs/batch.h). Rows grow with the pages, up to set_most_row_bytes().
  [[nodiscard]] PagesUse use_pages(std::size_t input);

  // The sums over an input's pages at most: grey, colours and an alpha for each, of 8 and 16 bits.
  static constexpr std::int64_t kPagesBytes = std::int64_t{6} * (256 + 65536) * 8;
  // What a row takes at most.
  [[nodiscard]] std::int64_t row_bytes() const;
  // What rows of pages may take in all; an input that needs more fails. Before any work; without, all there
  // is.
  void set_most_row_bytes(std::int64_t bytes) { most_row_bytes_ = bytes; }

  // When no input is on its way.
  [[nodiscard]] const std::map<bool, ImageGroup>& groups() const { return sums_.groups(); }
  // By input; empty where rows are not kept.
  [[nodiscard]] const std::vector<std::vector<StatsImage>>& rows() const { return rows_; }

 private:
  struct Input;  // of pages, on its way
  RowUse use_rows(const Shape& shape, StatisticsCollector& sums, std::vector<StatsImage>* rows);
  void claim_row();

  const bool keep_rows_;
  const std::vector<Percent> percents_;
  std::int64_t most_row_bytes_ = 0;
  std::atomic<std::int64_t> claimed_row_bytes_{0};
  StatisticsCollector sums_;
  std::vector<std::vector<StatsImage>> rows_;
};

}  // namespace imgpipe
