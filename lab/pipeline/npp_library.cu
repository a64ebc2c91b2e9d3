#include "lab/kernels/npp_functions.cuh"
#include "lab/pipeline/npp_library.h"

#if IMGPIPE_HAS_NPP

#include "lab/pipeline/toolkit_library.cuh"

namespace imgpipe {
namespace {

bool find_all(NppFunctions& npp) {
  void* color = open_toolkit_library(IMGPIPE_TOOLKIT_FOLDER, "nppicc");
  void* filter = open_toolkit_library(IMGPIPE_TOOLKIT_FOLDER, "nppif");
  void* statistics = open_toolkit_library(IMGPIPE_TOOLKIT_FOLDER, "nppist");
  return find_function(color, "nppiColorToGray_8u_C3C1R_Ctx", npp.to_gray) &&
         find_function(filter, "nppiFilterBoxBorder_8u_C1R_Ctx", npp.box) &&
         find_function(statistics, "nppiHistogramEven_8u_C1R_Ctx", npp.even) &&
         find_function(statistics, "nppiHistogramEvenGetBufferSize_8u_C1R_Ctx", npp.even_bytes);
}

}  // namespace

NppLibrary::NppLibrary() {
  auto npp = std::make_unique<NppFunctions>();
  if (find_all(*npp)) {
    functions_ = std::move(npp);
  } else {
    missing_ = "the libraries of NPP were not found";
  }
}

}  // namespace imgpipe

#else

namespace imgpipe {

NppLibrary::NppLibrary() : missing_("this build has no NPP") {}

}  // namespace imgpipe

#endif

namespace imgpipe {

NppLibrary::~NppLibrary() = default;

}  // namespace imgpipe
