// trim: the smallest rectangle that holds all pixels which differ from the background, as ImageMagick's
// -trim. The rectangle depends on the pixels: pipeline/trimmed_steps.h finds it and replaces the step by a
// crop, whose kernels these are.
#pragma once

#include "images/image.h"
#include "kernels/shared/canvas.h"
#include "kernels/stage_call.h"

namespace imgpipe {

inline constexpr std::int64_t kTrimCorner = -1;  // the value of the word "corner"

struct TrimParameters {
  explicit constexpr TrimParameters(const Parameters& values)
      : fuzz(static_cast<int>(values[0])), color(values[1]) {}
  int fuzz;            // the largest difference from the background, in levels
  std::int64_t color;  // of the background, or kTrimCorner: that of the top left pixel
};

// Always a reason: plans contain the crop.
[[nodiscard]] std::string_view trim_skip_reason(const FrameType& in, const Parameters&);

// The pixels that differ from the background, in rows added from top to bottom.
class TrimBox {
 public:
  explicit TrimBox(const TrimParameters& parameters) : parameters_(parameters) {}
  // Adds rows of 8 or 16 bits of an image of any number of channels; alpha counts like a colour.
  void add(ConstHostView rows);
  [[nodiscard]] bool empty() const { return right_ == 0; }
  [[nodiscard]] std::int64_t x() const { return left_; }
  [[nodiscard]] std::int64_t y() const { return top_; }
  [[nodiscard]] std::int64_t width() const { return right_ - left_; }
  [[nodiscard]] std::int64_t height() const { return bottom_ - top_; }
  [[nodiscard]] std::int64_t rows() const { return rows_; }  // added so far

 private:
  template <class T>
  void add_rows(const Plane<const T, Host>& rows);

  TrimParameters parameters_;
  int background_[4] = {};
  std::int64_t left_ = 0, top_ = 0, right_ = 0, bottom_ = 0;  // the last two are exclusive
  std::int64_t rows_ = 0;
};

}  // namespace imgpipe
