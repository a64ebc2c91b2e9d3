// Compares the CUDA engine with the reference on random chains of float samples, bit for bit.
#include <cstdlib>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "images/error.h"
#include "pipeline/engine.h"
#include "tests/support/cuda_backend.h"
#include "tests/support/error_kind.h"
#include "tests/support/float_chains.h"
#include "tests/support/images.h"

namespace imgpipe::test::cuda_float_test {
namespace {

#ifdef IMGPIPE_TEST_CUDA

constexpr int kChains = 1000;
constexpr std::uint64_t kSeed = 20261125;
// The device memory limit: bands of a few rows, several bands per chain.
constexpr std::int64_t kFewBytes = 200'000;

TEST(CudaFloats, RandomChainsEqualTheReference) {
  IMGPIPE_NEED_CUDA();
  Random random(kSeed);
  const std::unique_ptr<Engine> reference = make_reference_engine();
  const std::unique_ptr<Engine> resident = make_cuda_engine(kAnyCudaDevice, 2);
  const std::unique_ptr<Engine> banded = make_cuda_engine(kAnyCudaDevice, 2, kFewBytes);
  int in_bands = 0;
  for (int i = 0; i < kChains; ++i) {
    const FloatChain chain = random_float_chain(random);
    SCOPED_TRACE(chain.text());
    const Image image = noise_image(chain.shape, chain.seed);
    const Image expected = made_by(*reference, chain, image, {"reference", 0, false, true});
    for (const FloatRun& how :
         {FloatRun{"fused", 0, true, false}, FloatRun{"all outputs kept", 0, false, true}}) {
      SCOPED_TRACE(how.name);
      const Image got = made_by(*resident, chain, image, how);
      ASSERT_EQ(first_difference(expected.untyped_view(), got.untyped_view()), "");
    }
    SCOPED_TRACE("in bands");
    try {
      const Image got = made_by(*banded, chain, image, {"in bands", 7, false, false});
      ASSERT_EQ(first_difference(expected.untyped_view(), got.untyped_view()), "");
      ++in_bands;
    } catch (const Error& error) {
      ASSERT_EQ(error.kind(), ErrorKind::memory) << error.what();  // a single row needs more
    }
  }
  EXPECT_GT(in_bands, kChains / 2);
}

#endif

}  // namespace
}  // namespace imgpipe::test::cuda_float_test
