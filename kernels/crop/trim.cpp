#include "kernels/crop/trim.h"

#include <algorithm>
#include <cstdlib>

#include "kernels/shared/color.h"

namespace imgpipe {

std::string_view trim_skip_reason(const FrameType&, const Parameters&) {
  return "its rectangle depends on the pixels";
}

template <class T>
void TrimBox::add_rows(const Plane<const T, Host>& rows) {
  const int channels = rows.channels;
  if (rows_ == 0) {
    const FrameType type = frame_type_of(rows.shape());
    for (int c = 0; c < channels; ++c)
      background_[c] =
          parameters_.color == kTrimCorner ? rows.row(0)[c] : color_sample<T>(parameters_.color, type, c);
  }
  const auto differs = [&](const T* pixel) {
    for (int c = 0; c < channels; ++c) {
      if (std::abs(pixel[c] - background_[c]) > parameters_.fuzz) return true;
    }
    return false;
  };
  for (std::int64_t y = 0; y < rows.height; ++y, ++rows_) {
    const T* const row = rows.row(y);
    std::int64_t first = 0;
    while (first < rows.width && !differs(row + first * channels)) ++first;
    if (first == rows.width) continue;
    std::int64_t end = rows.width;
    while (!differs(row + (end - 1) * channels)) --end;
    if (empty()) {
      top_ = rows_;
      left_ = first;
    }
    left_ = std::min(left_, first);
    right_ = std::max(right_, end);
    bottom_ = rows_ + 1;
  }
}

void TrimBox::add(ConstHostView rows) {
  visit_sample(rows.sample, [&]<class T>(T) { add_rows<T>(rows.as<T>()); });
}

}  // namespace imgpipe
