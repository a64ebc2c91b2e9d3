#include "kernels/second_image.h"

#include <algorithm>

namespace imgpipe {

std::int64_t second_image_bytes(const FrameType&, const Parameters& parameters) {
  return std::ssize(parameters.image->planes);
}

void copy_second_image(const StageCall<Host>& call, const Band&) {
  std::ranges::copy(call.parameters.image->planes, call.table.data);
}

}  // namespace imgpipe
