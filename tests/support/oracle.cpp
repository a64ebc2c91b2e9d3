#include "tests/support/oracle.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>

namespace imgpipe::test {

std::int64_t oracle_luma(const std::string& luma, std::int64_t r, std::int64_t g, std::int64_t b) {
  if (luma == "bt709") return (13933 * r + 46871 * g + 4732 * b + 32768) / 65536;
  if (luma == "opencv") return (9798 * r + 19235 * g + 3735 * b + 16384) / 32768;
  return (19595 * r + 38470 * g + 7471 * b + 32768) / 65536;
}

std::vector<std::int64_t> oracle_counts(const Grid& plane, std::int64_t white) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(white) + 1, 0);
  for (const auto& row : plane) {
    for (const std::int64_t v : row) counts.at(static_cast<std::size_t>(v)) += 1;
  }
  return counts;
}

OracleRange oracle_range(const std::vector<std::int64_t>& counts, std::int64_t low_micro,
                         std::int64_t high_micro) {
  std::int64_t total = 0;
  for (const std::int64_t n : counts) total += n;
  const std::int64_t low_limit = total * low_micro / 100'000'000;
  const std::int64_t high_limit = total * high_micro / 100'000'000;
  OracleRange range{-1, -1};
  std::int64_t seen = 0;
  const auto bins = static_cast<std::int64_t>(counts.size());
  for (std::int64_t v = 0; v < bins && range.lo < 0; ++v) {
    seen += counts[static_cast<std::size_t>(v)];
    if (seen > low_limit) range.lo = v;
  }
  seen = 0;
  for (std::int64_t v = bins - 1; v >= 0 && range.hi < 0; --v) {
    seen += counts[static_cast<std::size_t>(v)];
    if (seen > high_limit) range.hi = v;
  }
  return range;
}

Grid oracle_depth(const Grid& plane, std::int64_t white, std::int64_t to) {
  Grid out = plane;
  for (auto& row : out) {
    for (std::int64_t& v : row) v = (2 * v * to + white) / (2 * white);
  }
  return out;
}

Grid oracle_stretch(const Grid& plane, OracleRange range, std::int64_t white, std::int64_t to) {
  if (range.hi <= range.lo) return oracle_depth(plane, white, to);
  Grid out = plane;
  const std::int64_t span = range.hi - range.lo;
  for (auto& row : out) {
    for (std::int64_t& v : row) {
      v = v <= range.lo ? 0 : v >= range.hi ? to : ((v - range.lo) * 2 * to + span) / (2 * span);
    }
  }
  return out;
}

namespace {

// Walks from i back into 0..n-1 step by step, turning round at the edge pixels.
std::int64_t walk_reflected(std::int64_t i, std::int64_t n) {
  if (n == 1) return 0;
  while (i < 0 || i >= n) i = i < 0 ? -i : 2 * (n - 1) - i;
  return i;
}

}  // namespace

Grid oracle_smooth(const Grid& plane, const std::string& window, const std::string& border) {
  std::vector<std::int64_t> taps{1, 1, 1, 1, 1};
  if (window == "triangle") taps = {1, 2, 3, 2, 1};
  if (window == "gauss") taps = {1, 4, 6, 4, 1};
  const auto height = static_cast<std::int64_t>(plane.size());
  const auto width = static_cast<std::int64_t>(plane[0].size());
  Grid out = plane;
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      std::int64_t sum = 0;
      std::int64_t n = 0;
      for (std::int64_t j = 0; j < 5; ++j) {
        for (std::int64_t i = 0; i < 5; ++i) {
          std::int64_t from_x = x + i - 2;
          std::int64_t from_y = y + j - 2;
          const bool outside = from_x < 0 || from_x >= width || from_y < 0 || from_y >= height;
          if (outside && border == "shrink") continue;
          if (border == "replicate") {
            from_x = from_x < 0 ? 0 : from_x > width - 1 ? width - 1 : from_x;
            from_y = from_y < 0 ? 0 : from_y > height - 1 ? height - 1 : from_y;
          }
          if (border == "reflect") {
            from_x = walk_reflected(from_x, width);
            from_y = walk_reflected(from_y, height);
          }
          const std::int64_t weight = taps[static_cast<std::size_t>(i)] * taps[static_cast<std::size_t>(j)];
          sum += weight * plane[static_cast<std::size_t>(from_y)][static_cast<std::size_t>(from_x)];
          n += weight;
        }
      }
      out[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)] = (2 * sum + n) / (2 * n);
    }
  }
  return out;
}

Grid oracle_equalize(const Grid& plane, std::int64_t white) {
  const std::vector<std::int64_t> counts = oracle_counts(plane, white);
  std::int64_t samples = 0;
  for (const std::int64_t n : counts) samples += n;
  std::size_t least = 0;
  while (counts[least] == 0) ++least;
  if (counts[least] == samples) return plane;
  const auto scale = static_cast<float>(white) / static_cast<float>(samples - counts[least]);
  std::vector<std::int64_t> becomes(counts.size(), 0);
  std::int64_t up_to = counts[least];
  for (std::size_t v = least + 1; v < counts.size(); ++v) {
    up_to += counts[v];
    // A product of two floats is exact in a double; then it is rounded once.
    const auto product = static_cast<float>(static_cast<double>(static_cast<float>(up_to - counts[least])) *
                                            static_cast<double>(scale));
    becomes[v] = std::min(static_cast<std::int64_t>(std::nearbyint(product)), white);
  }
  Grid out = plane;
  for (auto& row : out) {
    for (std::int64_t& v : row) v = becomes[static_cast<std::size_t>(v)];
  }
  return out;
}

namespace {

// What a tile of w x h pixels, its first one at (left, top), makes of every value.
std::vector<float> clahe_table(const Grid& plane, double clip, std::int64_t left, std::int64_t top,
                               std::int64_t w, std::int64_t h, std::int64_t white) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(white) + 1, 0);
  const auto bins = static_cast<std::int64_t>(counts.size());
  for (std::int64_t y = top; y < top + h; ++y) {
    const auto& row =
        plane[static_cast<std::size_t>(walk_reflected(y, static_cast<std::int64_t>(plane.size())))];
    for (std::int64_t x = left; x < left + w; ++x)
      ++counts[static_cast<std::size_t>(
          row[static_cast<std::size_t>(walk_reflected(x, static_cast<std::int64_t>(row.size())))])];
  }
  std::int64_t above = 0;
  if (clip > 0) {
    const auto most = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(clip * static_cast<double>(w * h) / static_cast<double>(bins)));
    for (std::int64_t& n : counts) {
      above += std::max<std::int64_t>(0, n - most);
      n = std::min(n, most);
    }
  }
  for (std::int64_t& n : counts) n += above / bins;
  const std::int64_t rest = above % bins;
  for (std::int64_t i = 0; i < rest; ++i) ++counts[static_cast<std::size_t>(i * (bins / rest))];
  const float scale = static_cast<float>(white) / static_cast<float>(w * h);
  std::vector<float> table;
  std::int64_t sum = 0;
  for (const std::int64_t n : counts) {
    sum += n;
    const float product = static_cast<float>(sum) * scale;
    table.push_back(std::min(std::nearbyint(product), static_cast<float>(white)));
  }
  return table;
}

// The tile that a column or row lies behind the middle of, -1 before the first, and the next one's share.
struct ClaheShare {
  std::int64_t tile;
  float share;
};
ClaheShare clahe_share(std::int64_t at, std::int64_t side) {
  const float part = 1.0F / static_cast<float>(side);
  const float scaled = static_cast<float>(at) * part;
  const float place = scaled - 0.5F;
  return {static_cast<std::int64_t>(std::floor(place)), place - std::floor(place)};
}

float clahe_mixed(float first, float second, float share) {
  const float of_first = first * (1.0F - share);
  const float of_second = second * share;
  return of_first + of_second;
}

}  // namespace

Grid oracle_clahe(const Grid& plane, double clip, std::int64_t tiles, std::int64_t white) {
  const auto height = static_cast<std::int64_t>(plane.size());
  const auto width = static_cast<std::int64_t>(plane[0].size());
  const std::int64_t more = width % tiles == 0 && height % tiles == 0 ? 0 : 1;
  const std::int64_t w = width / tiles + more;
  const std::int64_t h = height / tiles + more;
  std::vector<std::vector<float>> tables;
  for (std::int64_t row = 0; row < tiles; ++row) {
    for (std::int64_t column = 0; column < tiles; ++column)
      tables.push_back(clahe_table(plane, clip, column * w, row * h, w, h, white));
  }
  const auto table = [&](std::int64_t row, std::int64_t column) -> const std::vector<float>& {
    return tables[static_cast<std::size_t>(std::clamp<std::int64_t>(row, 0, tiles - 1) * tiles +
                                           std::clamp<std::int64_t>(column, 0, tiles - 1))];
  };
  Grid out = plane;
  for (std::int64_t y = 0; y < height; ++y) {
    const ClaheShare down = clahe_share(y, h);
    for (std::int64_t x = 0; x < width; ++x) {
      const ClaheShare across = clahe_share(x, w);
      std::int64_t& sample = out[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)];
      const auto v = static_cast<std::size_t>(sample);
      const auto of_row = [&](std::int64_t row) {
        return clahe_mixed(table(row, across.tile)[v], table(row, across.tile + 1)[v], across.share);
      };
      const float mixed = clahe_mixed(of_row(down.tile), of_row(down.tile + 1), down.share);
      sample = std::min(static_cast<std::int64_t>(std::nearbyint(mixed)), white);
    }
  }
  return out;
}

Grid oracle_median(const Grid& plane, std::int64_t size) {
  const auto height = static_cast<std::int64_t>(plane.size());
  const auto width = static_cast<std::int64_t>(plane[0].size());
  Grid out = plane;
  std::vector<std::int64_t> window;
  for (std::int64_t y = 0; y < height; ++y) {
    for (std::int64_t x = 0; x < width; ++x) {
      window.clear();
      for (std::int64_t j = y - size / 2; j <= y + size / 2; ++j) {
        const auto& row = plane[static_cast<std::size_t>(std::clamp<std::int64_t>(j, 0, height - 1))];
        for (std::int64_t i = x - size / 2; i <= x + size / 2; ++i)
          window.push_back(row[static_cast<std::size_t>(std::clamp<std::int64_t>(i, 0, width - 1))]);
      }
      const auto middle = window.begin() + static_cast<std::ptrdiff_t>(window.size() / 2);
      std::nth_element(window.begin(), middle, window.end());
      out[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)] = *middle;
    }
  }
  return out;
}

namespace {

// How many parts of each input place the output places get.
using Weights = std::vector<std::map<std::int64_t, std::int64_t>>;

// n places to m.
// Linear weights are of so many `shares` together.
Weights resize_weights(std::int64_t n, std::int64_t m, const std::string& method, std::int64_t shares) {
  Weights weights(static_cast<std::size_t>(m));
  const double step = static_cast<double>(n) / static_cast<double>(m);
  double centre = 0.5 * step;
  for (std::int64_t x = 0; x < m; ++x) {
    auto& to = weights[static_cast<std::size_t>(x)];
    if (method == "nearest") {
      to[std::min(static_cast<std::int64_t>(std::floor(centre)), n - 1)] = 1;
      centre += step;
    } else if (method == "linear") {
      const double shrink = 1.0 / (static_cast<double>(m) / static_cast<double>(n));
      volatile double place = static_cast<double>(x) + 0.5;
      place = place * shrink;  // volatile: each rounded by itself
      place = place - 0.5;
      const auto left = static_cast<std::int64_t>(std::floor(place));
      const auto parts = static_cast<std::int64_t>(
          std::nearbyint((place - static_cast<double>(left)) * static_cast<double>(shares)));
      to[std::clamp<std::int64_t>(left, 0, n - 1)] += shares - parts;
      to[std::clamp<std::int64_t>(left + 1, 0, n - 1)] += parts;
    } else {
      // Both in n * m equal parts: n for each output place, m for each input place.
      for (std::int64_t part = x * n; part < (x + 1) * n; ++part) ++to[part / m];
    }
  }
  return weights;
}

std::int64_t resize_rounded(std::int64_t sum, std::int64_t n_x, std::int64_t m_x, std::int64_t n_y,
                            std::int64_t m_y, const std::string& method, std::int64_t white) {
  if (method == "nearest") return sum;
  const std::int64_t linear_parts = (white + 1) * (white + 1);
  if (method == "linear") return (sum + linear_parts / 2) / linear_parts;
  const std::int64_t parts = n_x * n_y;
  const std::int64_t pixels = n_x / m_x * (n_y / m_y);
  const bool two_by_two = n_x == 2 * m_x && n_y == 2 * m_y;
  if (n_x % m_x != 0 || n_y % m_y != 0 || two_by_two || pixels > (white == 255 ? 1 << 23 : 1 << 8))
    return (2 * sum + parts) / (2 * parts);
  // The product of two floats is exact in a double; then it is rounded once.
  const float one = 1.0F / static_cast<float>(pixels);
  const double exact = static_cast<double>(static_cast<float>(sum / (m_x * m_y))) * static_cast<double>(one);
  return static_cast<std::int64_t>(std::nearbyint(static_cast<float>(exact)));
}

}  // namespace

Grid oracle_resize(const Grid& plane, std::int64_t width, std::int64_t height, const std::string& method,
                   std::int64_t white) {
  const auto in_height = static_cast<std::int64_t>(plane.size());
  const auto in_width = static_cast<std::int64_t>(plane[0].size());
  const Weights across = resize_weights(in_width, width, method, white + 1);
  const Weights down = resize_weights(in_height, height, method, white + 1);
  Grid out;
  for (const auto& rows : down) {
    out.emplace_back();
    for (const auto& columns : across) {
      std::int64_t sum = 0;
      for (const auto& [y, row_weight] : rows) {
        for (const auto& [x, weight] : columns)
          sum += row_weight * weight * plane[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)];
      }
      out.back().push_back(resize_rounded(sum, in_width, width, in_height, height, method, white));
    }
  }
  return out;
}

}  // namespace imgpipe::test
