// Random steps and images: any stage, random values of its parameters, awkward sizes.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "images/plane.h"

namespace imgpipe {
struct Stage;
}

namespace imgpipe::test {

using Random = std::mt19937_64;

// Returns a number from 0 to n-1.
[[nodiscard]] std::int64_t below(Random& random, std::int64_t n);

[[nodiscard]] const std::vector<const Stage*>& selectable_stages();
[[nodiscard]] const Stage* any_stage(Random& random);
// Returns a step as --stages accepts it, except for a few stages without valid combinations in 100 attempts.
[[nodiscard]] std::string random_step(Random& random, const Stage& stage);
// Returns a step of the recorded random chains; new stages, parameters and words do not change these chains.
[[nodiscard]] std::string recorded_step(Random& random);
[[nodiscard]] Shape random_shape(Random& random, Sample sample, int channels);

}  // namespace imgpipe::test
