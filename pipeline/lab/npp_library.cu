#include "kernels/lab/npp_functions.cuh"
#include "pipeline/lab/npp_library.h"

#if IMGPIPE_HAS_NPP

#include <cuda_runtime.h>
#include <dlfcn.h>

namespace imgpipe {
namespace {

// Where the toolkit that this was built with keeps its libraries; then wherever the loader looks.
void* open_library(const char* name) {
  const std::string file = std::string("lib") + name + ".so." + std::to_string(CUDART_VERSION / 1000);
  if (void* library = ::dlopen((IMGPIPE_NPP_FOLDER "/" + file).c_str(), RTLD_NOW)) return library;
  return ::dlopen(file.c_str(), RTLD_NOW);
}

// False when it is not there.
template <class Function>
bool find(void* library, const char* name, Function*& found) {
  if (library != nullptr) found = reinterpret_cast<Function*>(::dlsym(library, name));
  return found != nullptr;
}

bool find_all(NppFunctions& npp) {
  void* color = open_library("nppicc");
  void* filter = open_library("nppif");
  void* statistics = open_library("nppist");
  return find(color, "nppiColorToGray_8u_C3C1R_Ctx", npp.to_gray) &&
         find(filter, "nppiFilterBoxBorder_8u_C1R_Ctx", npp.box) &&
         find(statistics, "nppiHistogramEven_8u_C1R_Ctx", npp.even) &&
         find(statistics, "nppiHistogramEvenGetBufferSize_8u_C1R_Ctx", npp.even_bytes);
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
