// The second images of the tests' steps, made for the image that a step processes. Their names:
//
//   grey    one channel of the image's size
//   same    the image's colour channels, of its size
//   logo    7x5 pixels with as many colour channels and alpha
//   map     256x1 pixels of 8 bits, RGB; tall: 1x256, grey
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "kernels/second_image.h"
#include "pipeline/stage_list.h"

namespace imgpipe::test {

// Returns the image of that name, which tests/golden/oracle.py makes too; the same one for equal arguments.
[[nodiscard]] std::shared_ptr<const SecondImage> second_image(const std::string& name, const FrameType& in);

// Returns the parameters of a step with the second image for an image; others unchanged.
[[nodiscard]] Parameters with_second_image(Parameters parameters, const FrameType& in);
// Returns the steps for an image of shape `input`, with second images. Throw like parse_stages() and
// make_plan().
[[nodiscard]] std::vector<StageRequest> steps_for(std::vector<StageRequest> steps, const Shape& input);
[[nodiscard]] std::vector<StageRequest> steps_for(std::string_view list, const Shape& input);

}  // namespace imgpipe::test
