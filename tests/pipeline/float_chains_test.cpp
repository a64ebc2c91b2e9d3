// Compares the CPU engine, with several threads and bands, with the reference on random chains of stages that
// accept floats, bit for bit. The CPU engine runs in an environment that flushes denormals, as a host process
// may have set it. A failure prints the list of stages, the image's shape and its seed.
#include "tests/support/float_chains.h"

#include <array>
#include <cstdlib>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "pipeline/engine.h"
#include "tests/support/hostile_floats.h"
#include "tests/support/images.h"
#include "tests/support/sanitizers.h"

namespace imgpipe::test::float_chains_test {
namespace {

constexpr int kChains = kSanitized ? 200 : 1000;
constexpr std::array<FloatRun, 4> kRuns{{{"strips of 2 rows", 2, false, false},
                                         {"strips of 7 rows, fused", 7, true, false},
                                         {"rows", 0, false, false},
                                         {"all outputs kept", 0, false, true}}};

// IMGPIPE_CHAINS_SEED, if set, selects other chains.
std::uint64_t seed_of_chains() {
  const char* const text = std::getenv("IMGPIPE_CHAINS_SEED");
  return text == nullptr ? 20261125 : std::stoull(text);
}

TEST(FloatChains, CpuEqualsReference) {
  const std::uint64_t seed = seed_of_chains();
  SCOPED_TRACE("IMGPIPE_CHAINS_SEED=" + std::to_string(seed));
  Random random(seed);
  const std::unique_ptr<Engine> reference = make_reference_engine();
  std::array<std::unique_ptr<Engine>, 2> engines;
  {
    const HostileFloats of_threads(Rounding::nearest);  // the engines' threads inherit it
    engines = {make_cpu_engine(1), make_cpu_engine(3)};
  }
  for (int i = 0; i < kChains; ++i) {
    const FloatChain chain = random_float_chain(random);
    SCOPED_TRACE(chain.text());
    const Image image = noise_image(chain.shape, chain.seed);
    const Image expected = made_by(*reference, chain, image, {"reference", 0, false, true});
    for (const FloatRun& how : kRuns) {
      const std::size_t engine = static_cast<std::size_t>(i) % engines.size();
      SCOPED_TRACE(std::string(how.name) + (engine == 0 ? ", 1 thread" : ", 3 threads"));
      const HostileFloats environment(Rounding::nearest);  // integer tables need this rounding
      const Image got = made_by(*engines[engine], chain, image, how);
      const bool is_kept = environment.is_set();
      ASSERT_TRUE(is_kept) << "the environment of floats has changed";
      ASSERT_EQ(first_difference(expected.untyped_view(), got.untyped_view()), "");
    }
  }
}

}  // namespace
}  // namespace imgpipe::test::float_chains_test
