// The nvJPEG functions that the baselines call. IMGPIPE_HAS_NVJPEG is 0 if the toolkit lacks the header.
#pragma once

#if __has_include(<nvjpeg.h>)

#define IMGPIPE_HAS_NVJPEG 1

#include <nvjpeg.h>

namespace imgpipe {

struct NvjpegFunctions {
  decltype(nvjpegCreateEx)* create = nullptr;
  decltype(nvjpegDestroy)* destroy = nullptr;
  decltype(nvjpegJpegStateCreate)* create_state = nullptr;
  decltype(nvjpegJpegStateDestroy)* destroy_state = nullptr;
  decltype(nvjpegDecodeBatchedInitialize)* begin_batch = nullptr;
  decltype(nvjpegDecodeBatched)* decode_batch = nullptr;
  decltype(nvjpegDecoderCreate)* create_decoder = nullptr;
  decltype(nvjpegDecoderDestroy)* destroy_decoder = nullptr;
  decltype(nvjpegDecoderStateCreate)* create_decoder_state = nullptr;
  decltype(nvjpegBufferPinnedCreate)* create_pinned = nullptr;
  decltype(nvjpegBufferPinnedDestroy)* destroy_pinned = nullptr;
  decltype(nvjpegBufferDeviceCreate)* create_device = nullptr;
  decltype(nvjpegBufferDeviceDestroy)* destroy_device = nullptr;
  decltype(nvjpegStateAttachPinnedBuffer)* attach_pinned = nullptr;
  decltype(nvjpegStateAttachDeviceBuffer)* attach_device = nullptr;
  decltype(nvjpegJpegStreamCreate)* create_stream = nullptr;
  decltype(nvjpegJpegStreamDestroy)* destroy_stream = nullptr;
  decltype(nvjpegJpegStreamParse)* parse = nullptr;
  decltype(nvjpegDecodeParamsCreate)* create_parameters = nullptr;
  decltype(nvjpegDecodeParamsDestroy)* destroy_parameters = nullptr;
  decltype(nvjpegDecodeParamsSetOutputFormat)* set_format = nullptr;
  decltype(nvjpegDecodeJpeg)* decode = nullptr;
  decltype(nvjpegEncoderStateCreate)* create_encoder = nullptr;
  decltype(nvjpegEncoderStateDestroy)* destroy_encoder = nullptr;
  decltype(nvjpegEncoderParamsCreate)* create_settings = nullptr;
  decltype(nvjpegEncoderParamsDestroy)* destroy_settings = nullptr;
  decltype(nvjpegEncoderParamsSetQuality)* set_quality = nullptr;
  decltype(nvjpegEncoderParamsSetSamplingFactors)* set_sampling = nullptr;
  decltype(nvjpegEncodeYUV)* encode = nullptr;
  decltype(nvjpegEncodeRetrieveBitstream)* retrieve = nullptr;
};

}  // namespace imgpipe

#else

#define IMGPIPE_HAS_NVJPEG 0

namespace imgpipe {

struct NvjpegFunctions {};

}  // namespace imgpipe

#endif
