// Equal bins of floats.
#pragma once

#include "kernels/frame.h"

namespace imgpipe {

// Equal bins from least to most: bin i has the values from edge(i) up to edge(i + 1), and the last bin also
// has `most`. The edges are those of numpy.linspace(least, most, bins + 1) in doubles.
struct FloatBins {
  double least = 0, most = 1;  // finite, least < most
  int bins = kFloatBins;

  [[nodiscard]] constexpr double edge(int i) const {
    return i == bins ? most : i * ((most - least) / bins) + least;
  }
};

}  // namespace imgpipe
