// The cases with which tests run a stage of the table, and the reference's results. They come from the table
// and from the stage's row in tests/golden/oracle.py.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "images/image.h"
#include "kernels/second_image.h"
#include "kernels/stage.h"
#include "tests/support/images.h"

namespace imgpipe::test {

struct StageCase {
  std::string text;       // as in --stages; for a fused stage, both
  Parameters parameters;  // for a fused stage, those of its first part, then those of its second
  std::shared_ptr<const SecondImage> image{};  // only its name: tests/support/second_images.h makes the image
};

// Returns the stages of the table, then the fused ones.
[[nodiscard]] std::vector<const Stage*> all_stages();
// Returns the stages that a fused stage runs; empty for all others.
[[nodiscard]] std::vector<const Stage*> parts_of(const Stage& stage);

// Returns the cases of the stage's row; for a fused stage, its parts' cases in pairs. Stages that the planner
// inserts have one case, without parameters. Empty for a stage without a row.
[[nodiscard]] std::vector<StageCase> cases_of(const Stage& stage);

// Returns the types of frames of a size that the stage can process; none without functions for `sample`.
[[nodiscard]] std::vector<FrameType> inputs_of(const Stage& stage, const StageCase& test, Size size,
                                               Sample sample = Sample::u8);

// A frame in its own memory. Alpha has its own plane if the type says so.
struct OwnFrame {
  explicit OwnFrame(const FrameType& frame_type);
  [[nodiscard]] Frame<std::byte, Host> view();

  FrameType type;
  std::array<Image, 4> planes;
};

// Returns the counts of a frame's colour channels, one channel after the other.
[[nodiscard]] std::vector<std::uint64_t> counts_of(const Frame<const std::byte, Host>& frame);

// Returns the table that the stage's kernels read, computed from the call's counts, pixels or type; empty if
// the stage has none.
[[nodiscard]] std::vector<std::byte> table_for(const Stage& stage, const StageCall<Host>& call);

// The references' results for a frame; for a fused stage, of its parts in sequence.
struct Made {
  OwnFrame frame;                     // for stages that write pixels
  std::vector<std::uint64_t> counts;  // for stages that count
};
[[nodiscard]] Made made_by_reference(const Stage& stage, const StageCase& test,
                                     const Frame<const std::byte, Host>& in);

}  // namespace imgpipe::test
