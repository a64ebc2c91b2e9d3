// The drawing of a histogram before and after, for a page of which the style sheet colours it.
#pragma once

#include <string>

#include "app/report/histogram_file.h"

namespace imgpipe {

// Without a title. Classes: plane-r, range-r and so on, panel, tick, grid, axis, mark, marktext.
struct HistogramDrawing {
  int width = 0, height = 0;  // in pixels
  int title_height = 0;       // free at the top
  std::string elements;
};
[[nodiscard]] HistogramDrawing histogram_drawing(const HistogramPair& pair);

}  // namespace imgpipe
