#include "lab/kernels/nvjpeg_functions.cuh"
#include "lab/pipeline/nvjpeg_library.h"
#include "lab/pipeline/toolkit_library.cuh"

namespace imgpipe {

#if IMGPIPE_HAS_NVJPEG

namespace {

bool find_all(NvjpegFunctions& f) {
  void* library = open_toolkit_library(IMGPIPE_TOOLKIT_FOLDER, "nvjpeg");
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

}  // namespace

NvjpegLibrary::NvjpegLibrary() {
  auto functions = std::make_unique<NvjpegFunctions>();
  if (find_all(*functions)) {
    functions_ = std::move(functions);
  } else {
    missing_ = "the library nvJPEG was not found";
  }
}

#else

NvjpegLibrary::NvjpegLibrary() : missing_("this build has no nvJPEG") {}

#endif

NvjpegLibrary::~NvjpegLibrary() = default;

}  // namespace imgpipe
