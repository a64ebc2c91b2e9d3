#include <cuda_runtime.h>
#include <dlfcn.h>

#include "lab/kernels/npp_functions.cuh"
#include "lab/kernels/nvjpeg_functions.cuh"
#include "lab/pipeline/toolkit_library.h"

namespace imgpipe {
namespace {

#if IMGPIPE_HAS_NPP || IMGPIPE_HAS_NVJPEG
// Tries the toolkit of this build, then the loader's search path. Returns nullptr if neither has the library.
void* open_library(const char* name) {
  const std::string file = "lib" + std::string(name) + ".so." + std::to_string(CUDART_VERSION / 1000);
  if (void* library = ::dlopen((IMGPIPE_TOOLKIT_DIRECTORY "/" + file).c_str(), RTLD_NOW)) return library;
  return ::dlopen(file.c_str(), RTLD_NOW);
}

template <class Function>
bool find_function(void* library, const char* name, Function*& found) {
  if (library != nullptr) found = reinterpret_cast<Function*>(::dlsym(library, name));
  return found != nullptr;
}
#endif

}  // namespace

// find_all() is outside of the unnamed namespace: nvcc puts the number of its process into the names of a
// file that defines only templates for other files, and each build differs.
#if IMGPIPE_HAS_NPP
constexpr const char* kMissingNpp = "the NPP libraries were not found";
bool find_all(NppFunctions& npp) {
  void* color = open_library("nppicc");
  void* filter = open_library("nppif");
  void* statistics = open_library("nppist");
  return find_function(color, "nppiColorToGray_8u_C3C1R_Ctx", npp.to_gray) &&
         find_function(filter, "nppiFilterBoxBorder_8u_C1R_Ctx", npp.box) &&
         find_function(statistics, "nppiHistogramEven_8u_C1R_Ctx", npp.even) &&
         find_function(statistics, "nppiHistogramEvenGetBufferSize_8u_C1R_Ctx", npp.even_bytes);
}
#else
constexpr const char* kMissingNpp = "this build has no NPP";
bool find_all(NppFunctions&) {
  return false;
}
#endif

#if IMGPIPE_HAS_NVJPEG
constexpr const char* kMissingNvjpeg = "the nvJPEG library was not found";
bool find_all(NvjpegFunctions& f) {
  void* library = open_library("nvjpeg");
  return find_function(library, "nvjpegCreateEx", f.create) &&
         find_function(library, "nvjpegDestroy", f.destroy) &&
         find_function(library, "nvjpegJpegStateCreate", f.create_state) &&
         find_function(library, "nvjpegJpegStateDestroy", f.destroy_state) &&
         find_function(library, "nvjpegDecodeBatchedInitialize", f.begin_batch) &&
         find_function(library, "nvjpegDecodeBatched", f.decode_batch) &&
         find_function(library, "nvjpegDecoderCreate", f.create_decoder) &&
         find_function(library, "nvjpegDecoderDestroy", f.destroy_decoder) &&
         find_function(library, "nvjpegDecoderStateCreate", f.create_decoder_state) &&
         find_function(library, "nvjpegBufferPinnedCreate", f.create_pinned) &&
         find_function(library, "nvjpegBufferPinnedDestroy", f.destroy_pinned) &&
         find_function(library, "nvjpegBufferDeviceCreate", f.create_device) &&
         find_function(library, "nvjpegBufferDeviceDestroy", f.destroy_device) &&
         find_function(library, "nvjpegStateAttachPinnedBuffer", f.attach_pinned) &&
         find_function(library, "nvjpegStateAttachDeviceBuffer", f.attach_device) &&
         find_function(library, "nvjpegJpegStreamCreate", f.create_stream) &&
         find_function(library, "nvjpegJpegStreamDestroy", f.destroy_stream) &&
         find_function(library, "nvjpegJpegStreamParse", f.parse) &&
         find_function(library, "nvjpegDecodeParamsCreate", f.create_parameters) &&
         find_function(library, "nvjpegDecodeParamsDestroy", f.destroy_parameters) &&
         find_function(library, "nvjpegDecodeParamsSetOutputFormat", f.set_format) &&
         find_function(library, "nvjpegDecodeJpeg", f.decode) &&
         find_function(library, "nvjpegEncoderStateCreate", f.create_encoder) &&
         find_function(library, "nvjpegEncoderStateDestroy", f.destroy_encoder) &&
         find_function(library, "nvjpegEncoderParamsCreate", f.create_settings) &&
         find_function(library, "nvjpegEncoderParamsDestroy", f.destroy_settings) &&
         find_function(library, "nvjpegEncoderParamsSetQuality", f.set_quality) &&
         find_function(library, "nvjpegEncoderParamsSetSamplingFactors", f.set_sampling) &&
         find_function(library, "nvjpegEncodeYUV", f.encode) &&
         find_function(library, "nvjpegEncodeRetrieveBitstream", f.retrieve);
}
#else
constexpr const char* kMissingNvjpeg = "this build has no nvJPEG";
bool find_all(NvjpegFunctions&) {
  return false;
}
#endif

namespace {

template <class Functions>
constexpr const char* kMissing = kMissingNpp;
template <>
constexpr const char* kMissing<NvjpegFunctions> = kMissingNvjpeg;

}  // namespace

template <class Functions>
ToolkitLibrary<Functions>::ToolkitLibrary() {
  auto functions = std::make_unique<Functions>();
  if (find_all(*functions)) {
    functions_ = std::move(functions);
  } else {
    missing_ = kMissing<Functions>;
  }
}

template <class Functions>
ToolkitLibrary<Functions>::~ToolkitLibrary() = default;

template class ToolkitLibrary<NppFunctions>;
template class ToolkitLibrary<NvjpegFunctions>;

}  // namespace imgpipe
