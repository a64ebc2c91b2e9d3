// The host variants of median, by sorting, by exchanges and by histograms.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "kernels/median/median.h"
#include "kernels/median/network.h"
#include "kernels/shared/window.h"
#include "lab/kernels/variant_functions.h"

namespace imgpipe {
namespace {

template <int Radius>
struct Window {
  static constexpr int kSide = 2 * Radius + 1;
  static constexpr int kSamples = kSide * kSide;
  std::array<Sample8, kSamples> sample;  // row by row

  Window(const ConstHostPlane& in, std::int64_t x, std::int64_t y) {
    for (int i = 0; i < kSamples; ++i)
      sample[static_cast<std::size_t>(i)] =
          in.row(replicated(y + i / kSide - Radius, in.height))[replicated(x + i % kSide - Radius, in.width)];
  }
};

template <int Radius, class Find>
void each_window(const StageCall<Host>& call, const Band& band, const Find& find) {
  const ConstHostPlane in = call.in.plane<Sample8>(0);
  const HostPlane out = call.out.plane<Sample8>(0);
  for (std::int64_t y = band.first; y < band.end; ++y) {
    for (std::int64_t x = 0; x < in.width; ++x) {
      Window<Radius> window(in, x, y);
      out.row(y)[x] = find(window);
    }
  }
}

// Chooses the window's type by the call's radius.
template <class Find>
void each_window(const StageCall<Host>& call, const Band& band, const Find& find) {
  if (MedianParameters(call.parameters).radius == 1) {
    each_window<1>(call, band, find);
  } else {
    each_window<2>(call, band, find);
  }
}

// Unrolled, so that the samples are in registers and all indices are constants.
template <const auto& Exchanges, std::size_t Step, std::size_t... I>
inline void exchange_all(int* first, std::index_sequence<I...>) {
  const auto exchange = [](int& low, int& high) {
    const int lesser = std::min(low, high);
    high = std::max(low, high);
    low = lesser;
  };
  (exchange(first[Exchanges[I].low * Step], first[Exchanges[I].high * Step]), ...);
}
template <const auto& Exchanges, std::size_t Step>
inline void exchange_all(int* first) {
  exchange_all<Exchanges, Step>(first, std::make_index_sequence<Exchanges.size()>());
}

template <int Radius, std::size_t... Column>
Sample8 by_exchanges(const Window<Radius>& window, std::index_sequence<Column...>) {
  using Network = MedianNetwork<Radius>;
  int v[Window<Radius>::kSamples];
  std::ranges::copy(window.sample, v);
  (exchange_all<Network::kColumn, sizeof...(Column)>(v + Column), ...);
  exchange_all<Network::kMiddle, 1>(v);
  return static_cast<Sample8>(v[Network::kResult]);
}

template <int Radius>
Sample8 by_exchanges(const Window<Radius>& window) {
  return by_exchanges(window, std::make_index_sequence<std::size_t{Window<Radius>::kSide}>());
}

// ---- a histogram that slides (Huang, Yang and Tang 1979) ---------------------------------------------

// The counts of a window and its median; `below_` samples are less than the median.
class SlidingWindow {
 public:
  explicit SlidingWindow(int samples) : half_(samples / 2) {}

  void add(Sample8 value) {
    ++counts_[value];
    below_ += value < median_ ? 1 : 0;
  }
  void remove(Sample8 value) {
    --counts_[value];
    below_ -= value < median_ ? 1 : 0;
  }
  // Starts from the last median and moves step by step.
  Sample8 median() {
    while (below_ > half_) below_ -= counts_[--median_];
    while (below_ + counts_[median_] <= half_) below_ += counts_[median_++];
    return static_cast<Sample8>(median_);
  }

 private:
  std::array<int, kBins> counts_{};
  int half_;
  std::size_t median_ = 0;
  int below_ = 0;
};

// ---- histograms of columns (Perreault and Hebert 2007) ------------------------------------------------

constexpr int kCoarse = 16;            // counters of 16 values each
constexpr std::int64_t kStripe = 512;  // columns at a time, so that their counters stay in the cache

struct Levels {
  std::array<std::uint16_t, kCoarse> coarse{};
  std::array<std::uint16_t, kBins> fine{};

  void add(Sample8 value, int count) {
    const auto step = static_cast<std::uint16_t>(count);  // -1 wraps to the right sum
    coarse[value / kCoarse] = static_cast<std::uint16_t>(coarse[value / kCoarse] + step);
    fine[value] = static_cast<std::uint16_t>(fine[value] + step);
  }
};

// Counts the columns of a stripe and of its windows' margins, over the window's rows.
class Columns {
 public:
  Columns(const ConstHostPlane& in, std::int64_t first, std::int64_t end, int radius)
      : in_(in),
        first_(first - radius),
        radius_(radius),
        columns_(static_cast<std::size_t>(end - first + std::int64_t{2} * radius)) {}

  void add_row(std::int64_t y, int count) {
    const Sample8* row = in_.row(replicated(y, in_.height));
    for (std::size_t i = 0; i < columns_.size(); ++i)
      columns_[i].add(row[replicated(first_ + static_cast<std::int64_t>(i), in_.width)], count);
  }

  // Writes the medians of the row whose windows are counted. The coarse counters slide with every pixel. A
  // group of 16 fine counters catches up on the columns that it missed only when the median is in it.
  void find_medians(Sample8* out) {
    const std::size_t side = static_cast<std::size_t>(2 * radius_) + 1;
    const int half = static_cast<int>(side * side / 2);
    Levels window;
    std::array<std::size_t, kCoarse> counted{};  // the first column not yet in the fine counters
    for (std::size_t i = 0; i + 1 < side; ++i) add_coarse(window, i, 1);
    for (std::size_t x = 0; x + side <= columns_.size(); ++x) {
      add_coarse(window, x + side - 1, 1);
      int below = 0;
      std::size_t part = 0;
      while (below + window.coarse[part] <= half) below += window.coarse[part++];
      catch_up(window, part, x, x + side, counted[part]);
      std::size_t value = part * kCoarse;
      while (below + window.fine[value] <= half) below += window.fine[value++];
      out[x] = static_cast<Sample8>(value);
      add_coarse(window, x, -1);
    }
  }

 private:
  void add_coarse(Levels& window, std::size_t column, int sign) const {
    for (std::size_t i = 0; i < kCoarse; ++i)
      window.coarse[i] = static_cast<std::uint16_t>(window.coarse[i] + sign * columns_[column].coarse[i]);
  }
  void add_fine(Levels& window, std::size_t part, std::size_t column, int sign) const {
    for (std::size_t i = part * kCoarse; i < (part + 1) * kCoarse; ++i)
      window.fine[i] = static_cast<std::uint16_t>(window.fine[i] + sign * columns_[column].fine[i]);
  }
  // Moves the fine counters of `part` from the window that ends before `counted` to columns first..end-1.
  void catch_up(Levels& window, std::size_t part, std::size_t first, std::size_t end,
                std::size_t& counted) const {
    const std::size_t side = end - first;
    if (counted <= first) {
      std::fill_n(window.fine.begin() + static_cast<std::ptrdiff_t>(part * kCoarse), kCoarse,
                  std::uint16_t{0});
      counted = first;
    } else {
      for (std::size_t column = counted - side; column < first; ++column) add_fine(window, part, column, -1);
    }
    for (; counted < end; ++counted) add_fine(window, part, counted, 1);
  }

  ConstHostPlane in_;
  std::int64_t first_;
  int radius_;
  std::vector<Levels> columns_;
};

}  // namespace

void median_insertion(const StageCall<Host>& call, const Band& band) {
  each_window(call, band, [](auto& window) {
    for (auto at = window.sample.begin() + 1; at != window.sample.end(); ++at) {
      const Sample8 value = *at;
      auto to = at;
      for (; to != window.sample.begin() && *(to - 1) > value; --to) *to = *(to - 1);
      *to = value;
    }
    return window.sample[window.sample.size() / 2];
  });
}

void median_select(const StageCall<Host>& call, const Band& band) {
  each_window(call, band, [](auto& window) {
    const auto middle = window.sample.begin() + window.kSamples / 2;
    std::nth_element(window.sample.begin(), middle, window.sample.end());
    return *middle;
  });
}

void median_exchanges(const StageCall<Host>& call, const Band& band) {
  each_window(call, band, [](const auto& window) { return by_exchanges(window); });
}

void median_sliding(const StageCall<Host>& call, const Band& band) {
  const int radius = MedianParameters(call.parameters).radius;
  const int side = 2 * radius + 1;
  const ConstHostPlane in = call.in.plane<Sample8>(0);
  const HostPlane out = call.out.plane<Sample8>(0);
  for (std::int64_t y = band.first; y < band.end; ++y) {
    SlidingWindow window(side * side);
    const auto each_of_column = [&](std::int64_t x, auto step) {
      for (int dy = -radius; dy <= radius; ++dy)
        (window.*step)(in.row(replicated(y + dy, in.height))[replicated(x, in.width)]);
    };
    for (std::int64_t x = -radius; x < radius; ++x) each_of_column(x, &SlidingWindow::add);
    for (std::int64_t x = 0; x < in.width; ++x) {
      each_of_column(x + radius, &SlidingWindow::add);
      out.row(y)[x] = window.median();
      each_of_column(x - radius, &SlidingWindow::remove);
    }
  }
}

void median_constant_time(const StageCall<Host>& call, const Band& band) {
  const int radius = MedianParameters(call.parameters).radius;
  const ConstHostPlane in = call.in.plane<Sample8>(0);
  const HostPlane out = call.out.plane<Sample8>(0);
  for (std::int64_t first = 0; first < in.width; first += kStripe) {
    Columns columns(in, first, std::min(first + kStripe, in.width), radius);
    for (std::int64_t y = band.first - radius; y < band.first + radius; ++y) columns.add_row(y, 1);
    for (std::int64_t y = band.first; y < band.end; ++y) {
      columns.add_row(y + radius, 1);
      columns.find_medians(out.row(y) + first);
      columns.add_row(y - radius, -1);
    }
  }
}

}  // namespace imgpipe
