// Compares Otsu's threshold as chosen by exact sums on CUDA devices (kernels/threshold/otsu_choice.h) with
// the reference, which adds bin by bin.
#include "kernels/threshold/otsu_choice.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace imgpipe::test::otsu_choice_test {
namespace {

using Counts = std::vector<std::uint64_t>;
constexpr int kBins16 = 65536;

int reference_of(Counts counts) {
  const Histogram<Host> histogram{counts.data(), std::ssize(counts), 1, std::ssize(counts), 1};
  Parameters otsu;
  otsu.values[0] = kOtsu;
  return threshold_of(ThresholdParameters(otsu), histogram, 0);
}

struct CandidateBins {
  std::vector<OtsuBin> sure, perhaps;
};

// Returns the bins that may separate classes; nullopt if rounding decides if a lower class is large enough.
std::optional<CandidateBins> candidate_bins(const Counts& counts, const OtsuTotals& all) {
  CandidateBins bins;
  double samples = 0;
  double sum = 0;
  for (std::size_t v = 0; v < counts.size(); ++v) {
    const auto count = static_cast<double>(counts[v]);
    if (count == 0) continue;
    samples += count;
    const OtsuParts below = large_enough(samples, all.samples);
    if (below == OtsuParts::perhaps) return std::nullopt;
    if (below == OtsuParts::no) continue;
    sum += static_cast<double>(v) * count;
    const OtsuParts above = large_enough(all.samples - samples, all.samples);
    const OtsuBin bin{static_cast<int>(v), samples, sum};
    if (above == OtsuParts::yes) bins.sure.push_back(bin);
    if (above == OtsuParts::perhaps) bins.perhaps.push_back(bin);
  }
  return bins;
}

OtsuLimits limits_of(const OtsuTotals& all, const OtsuBin& bin) {
  return otsu_limits(otsu_point(all, bin));
}

// Returns the chosen value; nullopt if rounding decides, or if there are too many samples.
std::optional<int> chosen(const Counts& counts) {
  OtsuTotals all{0, 0, 0};
  for (std::size_t v = 0; v < counts.size(); ++v) {
    all.samples += static_cast<double>(counts[v]);
    all.sum += static_cast<double>(v) * static_cast<double>(counts[v]);
  }
  all.inverse = 1 / all.samples;
  if (all.samples >= kMaxOtsuSamples) return std::nullopt;
  const std::optional<CandidateBins> bins = candidate_bins(counts, all);
  if (!bins) return std::nullopt;
  if (bins->sure.empty() && bins->perhaps.empty()) return 0;
  double least = 0;
  for (const OtsuBin& bin : bins->sure) least = std::max(least, limits_of(all, bin).least);
  if (least <= 0) return std::nullopt;
  const auto may_win = [&](const OtsuBin& bin) { return limits_of(all, bin).most >= least; };
  if (std::ranges::any_of(bins->perhaps, may_win)) return std::nullopt;
  std::vector<OtsuBin> candidates;
  std::ranges::copy_if(bins->sure, std::back_inserter(candidates), may_win);
  const auto less = [&](const OtsuBin& a, const OtsuBin& b) {
    return (exact_variance(all, b) - exact_variance(all, a)).high > 0;
  };
  const OtsuBin best = *std::ranges::max_element(candidates, less);
  for (const OtsuBin& other : candidates) {
    if (other.value == best.value) continue;
    if (!surely_better(all, best, exact_variance(all, best), other, exact_variance(all, other)))
      return std::nullopt;
  }
  return best.value;
}

struct Kind {
  std::string name;
  bool decided;  // exact sums must decide every case of this kind
  std::function<Counts(std::mt19937_64&)> make;
};

Counts counted(int samples, const std::function<std::uint64_t(int)>& value) {
  Counts counts(kBins16, 0);
  for (int i = 0; i < samples; ++i) ++counts[std::min<std::uint64_t>(value(i), kBins16 - 1)];
  return counts;
}

Counts filled(const std::function<std::uint64_t(std::uint64_t)>& count) {
  Counts counts(kBins16);
  for (std::size_t v = 0; v < counts.size(); ++v) counts[v] = count(v);
  return counts;
}

int any_number(std::mt19937_64& random) {
  constexpr std::array kNumbers{100, 5'000, 400'000};
  return 1 + static_cast<int>(random() % static_cast<std::uint64_t>(kNumbers[random() % kNumbers.size()]));
}

Counts hills(std::mt19937_64& random) {
  std::normal_distribution<double> one(static_cast<double>(random() % kBins16),
                                       static_cast<double>(3 + random() % 8000));
  std::normal_distribution<double> two(static_cast<double>(random() % kBins16),
                                       static_cast<double>(3 + random() % 3000));
  return counted(any_number(random), [&](int i) {
    return static_cast<std::uint64_t>(std::clamp(i % 2 == 0 ? one(random) : two(random), 0.0, 65535.0));
  });
}

// A few bins, some with nearly all samples, so that a class is too small.
Counts uneven(std::mt19937_64& random) {
  Counts counts(kBins16, 0);
  for (std::uint64_t i = 0; i <= random() % 6; ++i)
    counts[random() % kBins16] += 1 + random() % (std::uint64_t{1} << random() % 35);
  return counts;
}

std::vector<Kind> kinds() {
  using Random = std::mt19937_64;
  return {
      {"noise", true, [](Random& r) { return counted(500'000, [&](int) { return r() % kBins16; }); }},
      {"12 bits", true, [](Random& r) { return counted(500'000, [&](int) { return r() % 4096 * 16; }); }},
      {"12 bits, low", true, [](Random& r) { return counted(500'000, [&](int) { return r() % 4096; }); }},
      {"8 bits", true, [](Random& r) { return counted(500'000, [&](int) { return r() % 256 * 257; }); }},
      {"few samples", false, [](Random& r) { return counted(any_number(r), [&](int) { return r(); }); }},
      {"five values", false,
       [](Random& r) { return counted(any_number(r), [&](int) { return r() % 5 * 16'383; }); }},
      {"a narrow range", false,
       [](Random& r) {
         const std::uint64_t base = r() % 65'000;
         const std::uint64_t width = 1 + r() % 300;
         return counted(any_number(r), [&](int) { return base + r() % width; });
       }},
      {"hills", false, hills},
      {"every bin", true, [](Random& r) { return filled([&](std::uint64_t) { return 1 + r() % 1000; }); }},
      {"every bin, millions", true,
       [](Random& r) { return filled([&](std::uint64_t) { return 600'000 + r() % 1'000'000; }); }},
      {"all alike", true,
       [](Random& r) { return filled([count = 1 + r() % 1'000'000](std::uint64_t) { return count; }); }},
      {"every seventh alike", true,
       [](Random&) { return filled([](std::uint64_t v) { return 1 + v % 7; }); }},
      {"uneven", false, uneven},
      {"two values", false,
       [](Random& r) {
         Counts counts(kBins16, 0);
         counts[r() % kBins16] += 1 + r() % 1'000'000;
         counts[r() % kBins16] += 1 + r() % 1'000'000;
         return counts;
       }},
      {"a mirror", false,  // values that separate equally well, except for rounding
       [](Random& r) {
         Counts counts(kBins16, 0);
         for (std::uint64_t i = 0; i < 1 + r() % 40; ++i) {
           const std::uint64_t v = r() % kBins16;
           const std::uint64_t count = 1 + r() % 9999;
           counts[v] += count;
           counts[kBins16 - 1 - v] += count;
         }
         return counts;
       }},
  };
}

TEST(OtsuChoice, EqualsTheReferenceOrIsUndecided) {
  for (const Kind& kind : kinds()) {
    std::mt19937_64 random(17);
    int decided = 0;
    constexpr int kTimes = 12;
    for (int i = 0; i < kTimes; ++i) {
      SCOPED_TRACE(kind.name + " " + std::to_string(i));
      const Counts counts = kind.make(random);
      const std::optional<int> value = chosen(counts);
      if (!value) continue;
      ++decided;
      ASSERT_EQ(*value, reference_of(counts));
    }
    if (kind.decided) {
      EXPECT_EQ(decided, kTimes) << kind.name;
    }
  }
}

// Tests many small histograms, which are fast, with ties and near ties.
TEST(OtsuChoice, ManySmallHistograms) {
  std::mt19937_64 random(18);
  int decided = 0;
  constexpr int kTimes = 60'000;
  for (int i = 0; i < kTimes; ++i) {
    Counts counts(2 + random() % 40, 0);
    const std::uint64_t most = std::uint64_t{1} << random() % 30;
    for (std::uint64_t& count : counts) count = random() % 3 == 0 ? 0 : random() % most;
    counts[random() % counts.size()] += 1;
    const std::optional<int> value = chosen(counts);
    if (!value) continue;
    ++decided;
    ASSERT_EQ(*value, reference_of(counts)) << "case " << i;
  }
  EXPECT_GT(decided, kTimes * 8 / 10);
}

// Class shares around the smallest allowed share, with totals that make them exact or inexact.
TEST(OtsuChoice, SmallestAllowedClasses) {
  constexpr std::uint64_t kSmall = std::uint64_t{1} << 23;
  int cases = 0;
  int decided = 0;
  for (const std::uint64_t all :
       {kSmall, 2 * kSmall, 3 * kSmall, 3 * kSmall + 1, 5 * kSmall - 1, 16 * kSmall}) {
    for (std::uint64_t first = 1; first < 20; ++first) {
      for (const std::uint64_t last : {std::uint64_t{0}, std::uint64_t{1}, first, std::uint64_t{16}}) {
        Counts counts(256, 0);
        counts[3] = first;
        counts[5] = 2;
        counts[100] = all / 2;
        counts[200] = all - all / 2 - first - last - 2;
        counts[255] = last;
        const std::optional<int> value = chosen(counts);
        ++cases;
        if (!value) continue;
        ++decided;
        ASSERT_EQ(*value, reference_of(counts)) << all << " " << first << " " << last;
      }
    }
  }
  EXPECT_GT(decided, cases / 2);
  EXPECT_LT(decided, cases);  // some cases around the smallest share are undecided
}

}  // namespace
}  // namespace imgpipe::test::otsu_choice_test
