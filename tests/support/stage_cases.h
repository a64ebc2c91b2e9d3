// With what the tests run a stage of the table, and what its reference makes of that. All of it comes from
// the table and from the stage's row in tests/golden/oracle.py.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "images/image.h"
#include "kernels/stage.h"
#include "tests/support/images.h"

namespace imgpipe::test {

struct StageCase {
  std::string text;       // as --stages has it; of a fused stage both
  Parameters parameters;  // of a fused stage its first part's
  Parameters second;      // and its second part's
};

// Those of its row; of a fused stage its parts' side by side. Stages that the plan puts in take no
// parameters: one. Empty where a stage has no row.
[[nodiscard]] std::vector<StageCase> cases_of(const Stage& stage);

// The types of the frames of a size on which the stage can do something. Of samples that it has no functions
// for: none.
[[nodiscard]] std::vector<FrameType> inputs_of(const Stage& stage, const StageCase& test, Size size,
                                               Sample sample = Sample::u8);

// A frame in memory of its own. Alpha has a plane of its own in it where it does in the type.
struct OwnFrame {
  explicit OwnFrame(const FrameType& frame_type);
  [[nodiscard]] Frame<std::byte, Host> view();

  FrameType type;
  std::array<Image, 4> planes;
};

// Counts of a frame's colour channels, one channel after the other.
[[nodiscard]] std::vector<std::uint64_t> counts_of(const Frame<const std::byte, Host>& frame);

// The table that kernels of the call's stage read, made of its counts, pixels or type; empty where it has
// none.
[[nodiscard]] std::vector<std::byte> table_for(const Stage& stage, const StageCall<Host>& call);

// What the references make of a frame; of a fused stage its parts', one after the other.
struct Made {
  OwnFrame frame;                     // of stages that write pixels
  std::vector<std::uint64_t> counts;  // of stages that count
};
[[nodiscard]] Made made_by_reference(const Stage& stage, const StageCase& test,
                                     const Frame<const std::byte, Host>& in);

}  // namespace imgpipe::test
