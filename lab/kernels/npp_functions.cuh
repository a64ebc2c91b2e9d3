// The NPP functions that the baselines call. IMGPIPE_HAS_NPP is 0 if the toolkit lacks the headers.
#pragma once

#if __has_include(<nppi_statistics_functions.h>)

#define IMGPIPE_HAS_NPP 1

#include <nppi_color_conversion.h>
#include <nppi_filtering_functions.h>
#include <nppi_statistics_functions.h>

namespace imgpipe {

struct NppFunctions {
  decltype(nppiColorToGray_8u_C3C1R_Ctx)* to_gray = nullptr;
  decltype(nppiFilterBoxBorder_8u_C1R_Ctx)* box = nullptr;
  decltype(nppiHistogramEven_8u_C1R_Ctx)* even = nullptr;
  decltype(nppiHistogramEvenGetBufferSize_8u_C1R_Ctx)* even_bytes = nullptr;
};

}  // namespace imgpipe

#else

#define IMGPIPE_HAS_NPP 0

namespace imgpipe {

struct NppFunctions {};

}  // namespace imgpipe

#endif
