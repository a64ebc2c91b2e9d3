// Random chains of three stages on the CPU engine, by threads and bands, against the reference engine: every
// ordered pair of stages, both sample types, every channel layout, awkward sizes, random values of every
// parameter. A failure prints the seed of all chains, the list of stages, the image's shape and its own seed.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "kernels/stage.h"
#include "pipeline/engine.h"
#include "tests/support/images.h"
#include "tests/support/memory_writer.h"
#include "tests/support/random_stages.h"

namespace imgpipe::test::random_chains_test {
namespace {

using Pair = std::pair<const Stage*, const Stage*>;

constexpr std::int64_t kMostPixels = 6000;  // of any frame of a chain
constexpr std::int64_t kMostTableBytes = std::int64_t{2} << 20;
constexpr int kMostDraws = 40;   // of the values of a step
constexpr int kMostImages = 40;  // for a list of stages

// IMGPIPE_CHAINS_SEED, where it is set, gives other chains.
std::uint64_t seed_of_all() {
  const char* const text = std::getenv("IMGPIPE_CHAINS_SEED");
  return text == nullptr ? 20261123 : std::stoull(text);
}

// ---- chains -----------------------------------------------------------------------------------------

struct RandomChain {
  std::string list;  // as --stages takes it
  Shape shape;
  std::uint64_t seed = 0;  // of the image's noise
  std::vector<StageRequest> requests;

  [[nodiscard]] std::string text() const {
    return "--stages " + list + ", noise_image({" + std::to_string(shape.width) + ", " +
           std::to_string(shape.height) + ", " + std::to_string(shape.channels) + ", " +
           (shape.sample == Sample::u16 ? "u16" : "u8") + "}, " + std::to_string(seed) + ")";
  }
};

struct ChainCounts {
  int run = 0;
  // Drawn and not run:
  int rejected = 0;    // by the planner or the list's parser
  int too_large = 0;   // for this test
  int incomplete = 0;  // a step of the pair would change nothing
  std::string last_rejection;
};

// The pairs of stages that a plan runs one after the other: steps that it left out or inserted do not count.
std::vector<Pair> pairs_of(const Plan& plan) {
  std::vector<Pair> pairs;
  const Stage* before = nullptr;
  for (const Step& step : plan.steps) {
    if (step.implicit) continue;
    if (before != nullptr) pairs.emplace_back(before, step.stage);
    before = step.stage;
  }
  return pairs;
}

bool is_small(const Plan& plan) {
  return std::ranges::all_of(plan.steps, [](const Step& step) {
    return step.out.pixels() <= kMostPixels &&
           table_bytes(*step.stage, step.in, step.parameters) <= kMostTableBytes;
  });
}

// Appends a step with values that the planner accepts after the chain's other steps; nullopt where no draw
// gives some.
std::optional<Plan> plan_with_step(Random& random, const Stage& stage, RandomChain& chain,
                                   ChainCounts& counts) {
  const std::string before = chain.list.empty() ? "" : chain.list + ",";
  for (int draw = 0; draw < kMostDraws; ++draw) {
    chain.list = before + random_step(random, stage);
    try {
      chain.requests = parse_stages(chain.list);
      Plan plan = make_plan(chain.requests, chain.shape, false, std::int64_t{1} << 32);
      if (is_small(plan)) return plan;
      ++counts.too_large;
    } catch (const Error& error) {
      EXPECT_TRUE(error.kind() == ErrorKind::usage || error.kind() == ErrorKind::input)
          << error.what() << "\n"
          << chain.text();
      ++counts.rejected;
      counts.last_rejection = chain.text() + ": " + error.what();
    }
  }
  return std::nullopt;
}

// A chain whose plan runs `pair`, its third stage `next`; nullopt where no draw gives one.
std::optional<RandomChain> chain_with(Random& random, const Pair& pair, const Stage* next, Sample sample,
                                      int channels, ChainCounts& counts) {
  for (int draw = 0; draw < kMostImages; ++draw) {
    RandomChain chain;
    chain.shape = random_shape(random, sample, channels);
    chain.seed = random() % 1'000'000;
    std::optional<Plan> plan;
    for (const Stage* stage : {pair.first, pair.second, next}) {
      plan = plan_with_step(random, *stage, chain, counts);
      if (!plan) break;
    }
    if (!plan) continue;
    if (std::ranges::count(pairs_of(*plan), pair) > 0) return chain;
    ++counts.incomplete;
  }
  return std::nullopt;
}

// ---- runs -------------------------------------------------------------------------------------------

// How the CPU engine runs a chain.
struct ChainSetting {
  const char* name;
  std::int64_t strip_rows;  // of the writer: the engine's bands. 0: it writes row by row
  bool fuse, keep;
};
constexpr ChainSetting kChainSettings[] = {{"strips of 2 rows", 2, false, false},
                                           {"strips of 7 rows, fused", 7, true, false},
                                           {"rows", 0, false, false},
                                           {"all outputs kept", 0, false, true}};

struct ChainResult {
  Image image;
  std::vector<std::vector<std::uint64_t>> histograms;
};

ChainResult run(Engine& engine, const Image& image, const RandomChain& chain, const ChainSetting& setting) {
  Job job;
  job.plan = make_plan(chain.requests, image.shape(), setting.fuse);
  ChainResult result{Image(job.plan.output), {}};
  job.writer = std::make_unique<MemoryWriter>(job.plan.output, setting.strip_rows);
  job.reader = make_memory_reader(image.untyped_view());
  job.keep_outputs = job.keep_pixels = setting.keep;
  const Outcome outcome = engine.run(std::move(job));
  if (outcome.error) std::rethrow_exception(outcome.error);
  const std::vector<std::byte> bytes = outcome.file.joined();
  std::memcpy(result.image.untyped_view().data, bytes.data(), bytes.size());
  result.histograms = outcome.histograms;
  return result;
}

struct Engines {
  std::unique_ptr<Engine> reference = make_reference_engine();
  std::unique_ptr<Engine> cpu = make_cpu_engine(3);
};

void expect_equal(Engines& engines, const RandomChain& chain) {
  const Image image = noise_image(chain.shape, chain.seed);
  const ChainResult expected = run(*engines.reference, image, chain, {"reference", 0, false, true});
  for (const ChainSetting& setting : kChainSettings) {
    SCOPED_TRACE(setting.name);
    const ChainResult got = run(*engines.cpu, image, chain, setting);
    ASSERT_EQ(first_difference(expected.image.untyped_view(), got.image.untyped_view()), "");
    // A plan with fused steps has other steps.
    ASSERT_TRUE(setting.fuse || got.histograms == expected.histograms) << "histograms differ";
  }
}

void expect_equal_or_throw(Engines& engines, const RandomChain& chain) {
  SCOPED_TRACE(chain.text());
  try {
    expect_equal(engines, chain);
  } catch (const std::exception& error) {
    FAIL() << error.what();
  }
}

// ---- the test ---------------------------------------------------------------------------------------

// Why no plan for images with that many channels runs a pair of stages; empty: some do.
std::string_view why_never(const Pair& pair, int channels) {
  const bool first = pair.first->name == "gray";
  const bool second = pair.second->name == "gray";
  const bool grey_before = channels < 3 ? first || second : first && second;
  return grey_before ? "an image of one colour channel is grey already" : "";
}

// Every ordered pair of stages, in random order.
std::vector<Pair> all_pairs(Random& random) {
  std::vector<Pair> pairs;
  for (const Stage* first : selectable_stages()) {
    for (const Stage* second : selectable_stages()) pairs.emplace_back(first, second);
  }
  std::ranges::shuffle(pairs, random);
  return pairs;
}

// A third stage whose pair with the second is still to run, if a few draws find one.
const Stage* third_stage(Random& random, const Stage* second, const std::set<Pair>& left) {
  const Stage* next = any_stage(random);
  for (int draw = 0; draw < 50 && !left.contains({second, next}); ++draw) next = any_stage(random);
  return next;
}

class RandomChains : public testing::TestWithParam<std::tuple<int, int>> {  // bits of a sample, channels
 protected:
  // Runs a chain with each pair that is still to run.
  void run_all(const std::vector<Pair>& pairs) {
    const auto [bits, channels] = GetParam();
    const Sample sample = bits == 16 ? Sample::u16 : Sample::u8;
    std::set<Pair> left(pairs.begin(), pairs.end());
    for (const Pair& pair : pairs) {
      if (!left.contains(pair)) continue;
      const Stage* const next = third_stage(random_, pair.second, left);
      const std::optional<RandomChain> chain = chain_with(random_, pair, next, sample, channels, counts_);
      const std::string_view why = why_never(pair, channels);
      ASSERT_EQ(chain.has_value(), why.empty())
          << pair.first->name << "," << pair.second->name << (why.empty() ? " never ran; " : " ran, but ")
          << (why.empty() ? std::string_view(counts_.last_rejection) : why);
      if (!chain) continue;
      expect_equal_or_throw(engines_, *chain);
      if (HasFatalFailure()) return;
      ++counts_.run;
      for (const Pair& ran : pairs_of(make_plan(chain->requests, chain->shape))) left.erase(ran);
    }
  }

  const std::uint64_t seed_ = seed_of_all();
  Random random_{seed_ + static_cast<std::uint64_t>(10 * std::get<0>(GetParam()) + std::get<1>(GetParam()))};
  Engines engines_;
  ChainCounts counts_;
};

TEST_P(RandomChains, CpuEqualsReference) {
  SCOPED_TRACE("IMGPIPE_CHAINS_SEED=" + std::to_string(seed_));
  const int channels = std::get<1>(GetParam());
  const std::vector<Pair> pairs = all_pairs(random_);
  const auto never =
      std::ranges::count_if(pairs, [&](const Pair& pair) { return !why_never(pair, channels).empty(); });
  run_all(pairs);
  if (HasFatalFailure()) return;
  std::cout << counts_.run << " chains of " << std::ssize(pairs) - never << " pairs; " << never
            << " pairs never run; drawn and not run: " << counts_.rejected << " rejected by the planner, "
            << counts_.too_large << " too large, " << counts_.incomplete << " with a step left out\n";
}

std::string samples_name(const testing::TestParamInfo<std::tuple<int, int>>& samples) {
  return "Of" + std::to_string(std::get<0>(samples.param)) + "Bits" +
         std::to_string(std::get<1>(samples.param)) + "Channels";
}

INSTANTIATE_TEST_SUITE_P(Samples, RandomChains,
                         testing::Combine(testing::Values(8, 16), testing::Range(1, 5)), samples_name);

}  // namespace
}  // namespace imgpipe::test::random_chains_test
