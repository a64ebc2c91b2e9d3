// The second images of the tests' steps, made for the image that a step processes. Their names:
//
//   grey    one channel of the image's size
//   same    the image's colour channels, of its size
//   logo    7x5 pixels with as many colour channels and alpha
//   map     256x1 pixels of 8 bits, RGB; tall: 1x256, grey
//
// Those of icc steps are tables: kProfileTables, by the intent. Grey images have the curve 2.19921875.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/second_image.h"
#include "pipeline/stage_list.h"

namespace imgpipe::test {

// A matrix (Adobe RGB), and grids of 4 and of 2 nodes per channel.
inline constexpr std::array<std::string_view, 3> kProfileTables{"matrix", "grid", "cube"};
[[nodiscard]] bool is_profile_table(std::string_view name);
// Returns the table's name, which is not loaded, for an icc step; nullptr for others.
[[nodiscard]] std::shared_ptr<const SecondImage> named_profile_table(const Stage& stage,
                                                                     const Parameters& parameters);

// Returns the image of that name, which tests/golden/oracle.py makes too; the same one for equal arguments.
[[nodiscard]] std::shared_ptr<const SecondImage> second_image(const std::string& name, const FrameType& in);

// Returns the parameters of a step with the second image for an image; others unchanged.
[[nodiscard]] Parameters with_second_image(Parameters parameters, const FrameType& in);
// Returns the steps for an image of shape `input`, with second images. Throw like parse_stages() and
// make_plan().
[[nodiscard]] std::vector<StageRequest> steps_for(std::vector<StageRequest> steps, const Shape& input);
[[nodiscard]] std::vector<StageRequest> steps_for(std::string_view list, const Shape& input);

}  // namespace imgpipe::test
