// Random chains of the stages that accept floats, on images of any sample type, and their results.
#pragma once

#include <cstdint>
#include <string>

#include "images/image.h"
#include "pipeline/engine.h"
#include "tests/support/random_stages.h"

namespace imgpipe::test {

struct FloatChain {
  std::string list;  // as --stages accepts it
  Shape shape;
  std::uint64_t seed = 0;  // of the image's noise

  [[nodiscard]] std::string text() const;
};

// Returns a chain that the planner accepts, with small frames, and floats in at least one step.
[[nodiscard]] FloatChain random_float_chain(Random& random);

// How an engine runs a chain.
struct FloatRun {
  const char* name;
  std::int64_t strip_rows;  // per strip of the writer; 0: it accepts rows
  bool fuse, keep;
};

// Returns the finished image. Throws the engine's error.
[[nodiscard]] Image made_by(Engine& engine, const FloatChain& chain, const Image& image, const FloatRun& how);

}  // namespace imgpipe::test
