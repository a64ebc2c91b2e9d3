// Random chains of the stages that take floats, on images of any samples, and what an engine makes of one.
#pragma once

#include <cstdint>
#include <string>

#include "images/image.h"
#include "pipeline/engine.h"
#include "tests/support/random_stages.h"

namespace imgpipe::test {

struct FloatChain {
  std::string list;  // as --stages takes it
  Shape shape;
  std::uint64_t seed = 0;  // of the image's noise

  [[nodiscard]] std::string text() const;
};

// One that the planner accepts and whose frames are small; at least one of its steps reads or makes floats.
[[nodiscard]] FloatChain random_float_chain(Random& random);

// How an engine runs it.
struct FloatRun {
  const char* name;
  std::int64_t strip_rows;  // of the writer: the engine's bands. 0: it writes row by row
  bool fuse, keep;
};

// The finished image. Throws the engine's error.
[[nodiscard]] Image made_by(Engine& engine, const FloatChain& chain, const Image& image, const FloatRun& how);

}  // namespace imgpipe::test
