#include "app/stats/stats_counter.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "images/error.h"
#include "pipeline/statistics/counting_writer.h"
#include "pipeline/statistics/sample_counts.h"

namespace imgpipe {

struct StatsCounter::Input {
  explicit Input(StatsCounter& counter) : owner(counter) {}
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;
  // Remaining rows belong to a failed input.
  ~Input() { owner.claimed_row_bytes_ -= static_cast<std::int64_t>(rows.size()) * owner.row_bytes(); }

  StatsCounter& owner;
  StatisticsCollector sums;
  std::vector<StatsImage> rows;
};

StatsCounter::StatsCounter(std::size_t inputs, bool keep_rows, std::vector<Percent> percents,
                           std::optional<FloatBins> bins)
    : keep_rows_(keep_rows), percents_(std::move(percents)), bins_(bins), rows_(keep_rows ? inputs : 0) {}

RowConsumer StatsCounter::use_image(const ImageFiles& files, const Plan& plan) {
  return make_row_consumer(plan.output, sums_, keep_rows_ ? &rows_[files.number] : nullptr);
}

void StatsCounter::image_done(const BatchResult& result) {
  if (!keep_rows_) return;
  StatsImage& row = rows_[result.item].back();
  row.shape = result.output;
  row.bits_per_sample = result.header.bits_per_sample;
}

PageConsumer StatsCounter::make_page_consumer(std::size_t input) {
  auto pages = std::make_shared<Input>(*this);
  PageConsumer use;
  use.make_row_consumer = [this, pages](const ImageFiles&, const Plan& plan) {
    return make_row_consumer(plan.output, pages->sums, keep_rows_ ? &pages->rows : nullptr);
  };
  use.page_done = [this, pages](const FinishedItem& page) {
    if (!keep_rows_) return;
    StatsImage& row = pages->rows.back();
    row.page = page.number;
    row.shape = page.job.output_shape();
    row.bits_per_sample = page.job.header().bits_per_sample;
    claim_row();
  };
  use.accept = [this, pages, input] {
    sums_.add(pages->sums);
    if (keep_rows_) rows_[input] = std::exchange(pages->rows, {});
  };
  return use;
}

std::int64_t StatsCounter::row_bytes() const {
  constexpr std::int64_t kChannels = 4;
  constexpr std::int64_t kOfMalloc = 32;
  const auto percents = static_cast<std::int64_t>(percents_.size() * sizeof(int)) + kOfMalloc;
  const std::int64_t channel = std::max(static_cast<std::int64_t>(sizeof(ChannelStatistics)) + percents,
                                        static_cast<std::int64_t>(sizeof(FloatStatistics)) + kOfMalloc);
  return static_cast<std::int64_t>(sizeof(StatsImage)) + kOfMalloc + kChannels * channel;
}

void StatsCounter::claim_row() {
  const std::int64_t bytes = claimed_row_bytes_ += row_bytes();
  if (max_row_bytes_ > 0 && bytes > max_row_bytes_)
    throw Error(ErrorKind::memory, "--per-image: the rows of all pages exceed the " +
                                       std::to_string(max_row_bytes_) +
                                       " bytes that --memory leaves for them; count fewer pages at a time");
}

RowConsumer StatsCounter::make_row_consumer(const Shape& shape, StatisticsCollector& sums,
                                            std::vector<StatsImage>* rows) {
  if (is_float(shape.sample)) return make_float_consumer(shape, sums, rows);
  auto counts = std::make_shared<SampleCounts>();
  RowConsumer use;
  use.writer = make_counting_writer(shape, counts);
  use.accept = [this, counts, &sums, rows] {
    if (rows != nullptr) {
      StatsImage row;
      for (int c = 0; c < counts->channels(); ++c)
        row.channels.push_back(statistics_of(counts->of(c), percents_));
      rows->push_back(std::move(row));
    }
    sums.add(*counts);
    *counts = {};
  };
  return use;
}

RowConsumer StatsCounter::make_float_consumer(const Shape& shape, StatisticsCollector& sums,
                                              std::vector<StatsImage>* rows) {
  auto counts = std::make_shared<FloatCounts>();
  RowConsumer use;
  use.writer = make_counting_writer(shape, counts, bins_);
  use.accept = [this, counts, &sums, rows] {
    if (rows != nullptr) {
      StatsImage row;
      for (int c = 0; c < counts->channels(); ++c) {
        row.float_channels.push_back(counts->statistics(c));
        row.float_channels.back().counts = {};  // only the sums of all images have a histogram
      }
      rows->push_back(std::move(row));
    }
    sums.add(*counts, bins_);
    *counts = {};
  };
  return use;
}

}  // namespace imgpipe
