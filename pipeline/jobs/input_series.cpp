// Determines the range of a series in passes over all its pages.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "images/error.h"
#include "kernels/stage.h"
#include "pipeline/jobs/input_job.h"
#include "pipeline/statistics/counting_writer.h"
#include "pipeline/statistics/series_range.h"

namespace imgpipe {
namespace {

// Counts the colours of all pages, 8-bit and 16-bit samples separately.
class SeriesCounts {
 public:
  void add(const SampleCounts& page) {
    const int colors = page.channels() >= 3 ? 3 : 1;
    auto& sums = sums_[is_wide(page.sample()) ? 1 : 0];
    sums.resize(static_cast<std::size_t>(page.bins()));
    for (int c = 0; c < colors; ++c) std::ranges::transform(sums, page.of(c), sums.begin(), std::plus());
  }
  [[nodiscard]] std::vector<std::vector<std::uint64_t>> channels() const {
    std::vector<std::vector<std::uint64_t>> all;
    for (const auto& sums : sums_)
      if (!sums.empty()) all.push_back(sums);
    return all;
  }

 private:
  std::array<std::vector<std::uint64_t>, 2> sums_;
};

}  // namespace

void InputJob::measure(Engine& engine, const std::function<void(const ImageHeader&)>& counted) {
  if (!request_) return;
  for (const std::size_t step : request_->series_steps) measure_step(engine, step, counted);
}

void InputJob::measure_step(Engine& engine, std::size_t step,
                            const std::function<void(const ImageHeader&)>& counted) {
  SeriesCounts sums;
  auto counts = std::make_shared<SampleCounts>();
  ImageSettings counting;
  counting.stages.assign(settings_.stages.begin(),
                         settings_.stages.begin() + static_cast<std::ptrdiff_t>(step));
  counting.fuse = settings_.fuse;
  counting.decode = settings_.decode;
  counting.make_row_consumer = [&](const ImageFiles&, const Plan& plan) {
    return RowConsumer{make_counting_writer(plan.output, counts), [&] { sums.add(*counts); }};
  };
  for (std::int64_t number = range_.first; number <= range_.last; ++number) {
    *counts = {};
    ImageFiles files = files_;
    files.input_name = name_of(number);
    files.format = Format::png;  // holds all bits, so that nothing is reduced before it is counted
    files.page = PageOfInput{};
    ImageJob job(std::move(files), counting, timeline_);
    begin(job, number, engine);
    (void)job.run(engine, without_pixels(job));
    job.write();
    if (counted) counted(job.header());
  }
  const ContrastParameters parameters(settings_.stages[step].parameters);
  settings_.stages[step] =
      naming(files_.input_name, [&] { return levels_of_series(sums.channels(), parameters); });
}

}  // namespace imgpipe
