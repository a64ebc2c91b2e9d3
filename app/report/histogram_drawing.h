// Draws histograms before and after, for pages whose style sheet colours them.
#pragma once

#include <string>

#include "app/report/histogram_file.h"

namespace imgpipe {

// Has no title. Classes: plane-r, range-r and so on, panel, tick, grid, axis, mark, marktext.
struct HistogramDrawing {
  int width = 0, height = 0;  // in pixels
  int title_height = 0;       // unused space at the top
  std::string elements;
};
[[nodiscard]] HistogramDrawing histogram_drawing(const HistogramPair& pair);

}  // namespace imgpipe
