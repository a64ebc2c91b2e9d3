// Compares random chains of up to 6 steps with the reference: on the CPU engine, in a device's bands in host
// memory, and on a CUDA device. Threads, strips, memory limits, fusion, kept outputs and repetitions vary.
// For each sample type, every ordered pair of stages runs, with random parameter values, on images from 1x1
// to 300x300: on grey and on colours, one of the two with alpha. A failure prints the smallest command line
// that still differs, and the seed of all chains.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <ctime>
#include <iostream>
#include <optional>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "kernels/stage.h"
#include "tests/support/chain_trial.h"
#include "tests/support/cuda_backend.h"
#include "tests/support/images.h"
#include "tests/support/random_stages.h"
#include "tests/support/sanitizers.h"

namespace imgpipe::test::random_chains_test {
namespace {

using Pair = std::pair<const Stage*, const Stage*>;

constexpr std::int64_t kMaxSteps = 6;
constexpr std::int64_t kMaxSide = 300;
constexpr std::int64_t kMaxPixels = kMaxSide * kMaxSide;  // of any frame of a chain
constexpr std::int64_t kMaxTableBytes = std::int64_t{2} << 20;
constexpr int kMaxDraws = 40;   // attempts per step
constexpr int kMaxImages = 40;  // attempts per pair
// Chains of any stages, which run before those for pairs; per sample type and number of channels.
constexpr int kFreeChains = kSanitized ? 100 : 250;
constexpr int kCudaChains = 150;

// IMGPIPE_CHAINS_SEED, if set, selects other chains.
std::uint64_t seed_of_all() {
  const char* const text = std::getenv("IMGPIPE_CHAINS_SEED");
  return text == nullptr ? 20261123 : std::stoull(text);
}

// ---- chains -----------------------------------------------------------------------------------------

struct ChainCounts {
  int chains = 0, steps = 0, runs = 0;
  // Drawn but not run:
  int rejected = 0;    // by the planner or the list's parser
  int too_large = 0;   // for this test
  int incomplete = 0;  // a step of the pair would change nothing
  std::string last_rejection;
};

// Returns the pairs of stages that a plan runs consecutively, ignoring steps that it leaves out or inserts.
std::vector<Pair> pairs_of(const Plan& plan) {
  std::vector<Pair> pairs;
  const Stage* before = nullptr;
  for (const Operation& step : plan.operations) {
    if (step.label.ends_with("*")) continue;
    if (before != nullptr) pairs.emplace_back(before, step.stage);
    before = step.stage;
  }
  return pairs;
}

bool is_small(const Plan& plan) {
  return std::ranges::all_of(plan.operations, [](const Operation& step) {
    return step.out.pixels() <= kMaxPixels &&
           table_bytes(*step.stage, step.in, step.parameters) <= kMaxTableBytes;
  });
}

// Most images are small; half of them are noise.
Trial random_image(Random& random, Sample sample, int channels) {
  Trial trial;
  trial.made = random_shape(random, sample, channels);
  if (below(random, 4) == 0) {
    trial.made.width = 1 + below(random, kMaxSide);
    trial.made.height = 1 + below(random, kMaxSide);
  }
  trial.width = trial.made.width;
  trial.height = trial.made.height;
  if (below(random, 2) == 0)
    trial.content = contents()[static_cast<std::size_t>(below(random, std::ssize(contents())))];
  trial.seed = random() % 1'000'000;
  return trial;
}

// Appends a step with random values that the planner accepts; returns false if no attempt finds one.
bool add_step(Random& random, const Stage& stage, Trial& trial, ChainCounts& counts) {
  trial.steps.emplace_back();
  for (int draw = 0; draw < kMaxDraws; ++draw) {
    trial.steps.back() = random_step(random, stage);
    try {
      if (is_small(trial.plan())) return true;
      ++counts.too_large;
    } catch (const Error& error) {
      EXPECT_TRUE(error.kind() == ErrorKind::usage || error.kind() == ErrorKind::input)
          << error.what() << "\n"
          << trial.text();
      ++counts.rejected;
      counts.last_rejection = trial.text() + ": " + error.what();
    }
  }
  trial.steps.pop_back();
  return false;
}

Trial free_chain(Random& random, Sample sample, int channels, ChainCounts& counts) {
  Trial trial = random_image(random, sample, channels);
  for (std::int64_t left = below(random, kMaxSteps + 1); left > 0; --left)
    static_cast<void>(add_step(random, *any_stage(random), trial, counts));
  return trial;
}

// Returns a stage whose pair with `before` has not run yet, if a few attempts find one.
const Stage* next_stage(Random& random, const Stage* before, const std::set<Pair>& left) {
  const Stage* next = any_stage(random);
  for (int draw = 0; draw < 50 && !left.contains({before, next}); ++draw) next = any_stage(random);
  return next;
}

// Returns a chain whose plan runs `pair` between random steps; nullopt if no attempt finds one.
std::optional<Trial> chain_with(Random& random, const Pair& pair, const std::set<Pair>& left, Sample sample,
                                int channels, ChainCounts& counts) {
  for (int draw = 0; draw < kMaxImages; ++draw) {
    Trial trial = random_image(random, sample, channels);
    // A pair is rejected more often after other steps, so later attempts add fewer of these, then none.
    for (std::int64_t before = draw < 4 ? below(random, 4 - draw) : 0; before > 0; --before)
      static_cast<void>(add_step(random, *any_stage(random), trial, counts));
    if (!add_step(random, *pair.first, trial, counts) || !add_step(random, *pair.second, trial, counts))
      continue;
    if (std::ranges::count(pairs_of(trial.plan()), pair) == 0) {
      ++counts.incomplete;
      continue;
    }
    const Stage* last = pair.second;
    while (std::ssize(trial.steps) < kMaxSteps && below(random, 8) != 0) {
      last = next_stage(random, last, left);
      if (!add_step(random, *last, trial, counts)) break;
    }
    return trial;
  }
  return std::nullopt;
}

// ---- runs -------------------------------------------------------------------------------------------

// Adds random settings with which an engine runs a chain.
Trial with_random_run(Random& random, Trial trial, TrialEngine engine) {
  trial.engine = engine;
  trial.threads = static_cast<int>(1 + below(random, 4));
  trial.strip_rows = below(random, 3) == 0 ? 0 : 1 + below(random, 40);
  trial.fuse = below(random, 3) == 0;
  trial.keep = below(random, 4) == 0;
  trial.repeat = below(random, 8) == 0 ? 2 : 0;
  if (engine == TrialEngine::bands) trial.device_bytes = std::int64_t{4096} << below(random, 8);
  // With fixed settings, most trials on CUDA share an engine.
  if (engine == TrialEngine::cuda && below(random, 3) != 0) {
    trial.threads = 2;
    trial.device_bytes = std::int64_t{1} << 20;
  }
  return trial;
}

// Runs a chain once on each of the engines.
void expect_equal(Random& random, const Trial& chain, const std::vector<TrialEngine>& engines,
                  ChainCounts& counts) {
  const Outcome expected = reference_outcome(chain);
  for (const TrialEngine engine : engines) {
    const Trial trial = with_random_run(random, chain, engine);
    ++counts.runs;
    const std::string differs = difference(trial, expected);
    if (differs.empty()) continue;
    FAIL() << "drawn: " << trial.text() << ": " << differs << "\nsmallest: " << report(shrunk(trial));
  }
  ++counts.chains;
  counts.steps += static_cast<int>(chain.steps.size());
}

// ---- the tests --------------------------------------------------------------------------------------

// The channels of an image that stages change.
struct Channels {
  bool is_color = false, has_alpha = false;
  friend bool operator==(const Channels&, const Channels&) = default;
};

// Returns the channels after a stage; nullopt if the planner skips or rejects it.
std::optional<Channels> after(const Stage& stage, const Channels& in) {
  const bool is_one = !in.is_color && !in.has_alpha;
  if (stage.tensor != nullptr && in.has_alpha) return std::nullopt;
  if (stage.name == "gray") return in.is_color ? std::optional(Channels{false, in.has_alpha}) : std::nullopt;
  if (stage.name == "rgb")
    return in.is_color && !in.has_alpha ? std::nullopt : std::optional(Channels{true, false});
  if (stage.name == "flatten")
    return in.has_alpha ? std::optional(Channels{in.is_color, false}) : std::nullopt;
  if (stage.name == "trim") return std::nullopt;  // plans contain the crop that replaces it
  if (stage.name == "colormap") return in.is_color ? std::nullopt : std::optional(Channels{true, false});
  if (stage.name == "saturation" || stage.name == "whitebalance")
    return in.is_color ? std::optional(in) : std::nullopt;
  // Appends a grey image.
  if (stage.name == "append")
    return in.is_color && in.has_alpha ? std::nullopt
                                       : std::optional(Channels{in.is_color || in.has_alpha, !in.has_alpha});
  if (stage.name == "channel") return is_one ? std::nullopt : std::optional(Channels{});
  const bool is_rejected = in.has_alpha && stage.tensor != nullptr;
  return is_rejected ? std::nullopt : std::optional(in);
}

bool can_run(const Pair& pair, const Channels& in) {
  const std::optional<Channels> between = after(*pair.first, in);
  return between && after(*pair.second, *between);
}

// Whether plans run a pair of stages on images with these channels at once, after other steps, or never.
enum class Runs : std::uint8_t { at_once, after_steps, never };
Runs when_run(const Pair& pair, int channels) {
  std::vector<Channels> reached{{channels > 2, channels % 2 == 0}};
  if (can_run(pair, reached.front())) return Runs::at_once;
  for (std::size_t i = 0; i < reached.size(); ++i) {
    for (const Stage* stage : selectable_stages()) {
      const std::optional<Channels> out = after(*stage, reached[i]);
      if (out && std::ranges::count(reached, *out) == 0) reached.push_back(*out);
    }
  }
  const bool ever = std::ranges::any_of(reached, [&](const Channels& in) { return can_run(pair, in); });
  return ever ? Runs::after_steps : Runs::never;
}

// Returns half of the ordered pairs of stages that a list may have, in random order: one half for grey and
// RGBA, the other for grey with alpha and RGB.
std::vector<Pair> pairs_for(int channels, Random& random) {
  std::vector<Pair> pairs;
  bool is_in_half = channels == 1 || channels == 4;
  for (const Stage* first : selectable_stages()) {
    if (first->tensor != nullptr) continue;  // only the last step makes a tensor
    for (const Stage* second : selectable_stages()) {
      if (is_in_half) pairs.emplace_back(first, second);
      is_in_half = !is_in_half;
    }
  }
  std::ranges::shuffle(pairs, random);
  return pairs;
}

struct Samples {
  Sample type;
  int channels;

  [[nodiscard]] std::string name() const {
    return "Of" + std::to_string(8 * bytes_per_sample(type)) + "Bits" + std::to_string(channels) + "Channels";
  }
};

void PrintTo(const Samples& samples, std::ostream* out) {
  *out << samples.name();
}

std::vector<Samples> all_samples() {
  std::vector<Samples> all;
  for (const Sample type : kTrialSamples) {
    for (int channels = 1; channels <= 4; ++channels) all.push_back({type, channels});
  }
  return all;
}

class RandomChains : public testing::TestWithParam<Samples> {
 protected:
  void run_free_chains(int chains, const std::vector<TrialEngine>& engines) {
    for (int i = 0; i < chains && !HasFatalFailure(); ++i)
      expect_equal(random_, free_chain(random_, GetParam().type, GetParam().channels, counts_), engines,
                   counts_);
  }

  // Runs chains until each pair has run.
  void run_pairs(const std::vector<Pair>& pairs, const std::vector<TrialEngine>& engines) {
    std::set<Pair> left(pairs.begin(), pairs.end());
    for (const Pair& pair : pairs) {
      if (!left.contains(pair)) continue;
      const std::optional<Trial> chain =
          chain_with(random_, pair, left, GetParam().type, GetParam().channels, counts_);
      const Runs runs = when_run(pair, GetParam().channels);
      ASSERT_TRUE(runs == Runs::after_steps || chain.has_value() == (runs == Runs::at_once))
          << pair.first->name << "," << pair.second->name << (chain ? " ran" : " never ran; ")
          << (chain ? "" : counts_.last_rejection);
      if (!chain) continue;
      expect_equal(random_, *chain, engines, counts_);
      if (HasFatalFailure()) return;
      for (const Pair& ran : pairs_of(chain->plan())) left.erase(ran);
    }
  }

  void print_counts(std::clock_t begin) const {
    std::cout << counts_.chains << " chains of " << counts_.steps << " steps, " << counts_.runs << " runs, "
              << (std::clock() - begin) / CLOCKS_PER_SEC
              << " CPU seconds; drawn and not run: " << counts_.rejected << " steps rejected by the planner, "
              << counts_.too_large << " too large, " << counts_.incomplete << " pairs with a step left out\n";
  }

  const std::uint64_t seed_ = seed_of_all();
  Random random_{seed_ +
                 static_cast<std::uint64_t>(80 * bytes_per_sample(GetParam().type) + GetParam().channels)};
  ChainCounts counts_;
};

TEST_P(RandomChains, HostEqualsReference) {
  SCOPED_TRACE("IMGPIPE_CHAINS_SEED=" + std::to_string(seed_));
  const std::clock_t begin = std::clock();
  const std::vector<TrialEngine> engines{TrialEngine::cpu, TrialEngine::cpu, TrialEngine::bands};
  run_free_chains(kFreeChains, engines);
  if (!HasFatalFailure() && !kSanitized) run_pairs(pairs_for(GetParam().channels, random_), engines);
  print_counts(begin);
}

TEST_P(RandomChains, CudaEqualsReference) {
  IMGPIPE_NEED_CUDA();
  SCOPED_TRACE("IMGPIPE_CHAINS_SEED=" + std::to_string(seed_));
  const std::clock_t begin = std::clock();
  run_free_chains(kCudaChains, {TrialEngine::cuda, TrialEngine::cuda, TrialEngine::cuda});
  print_counts(begin);
}

INSTANTIATE_TEST_SUITE_P(Samples, RandomChains, testing::ValuesIn(all_samples()),
                         [](const auto& samples) { return samples.param.name(); });

}  // namespace
}  // namespace imgpipe::test::random_chains_test
