// For CUDA kernels that `imgpipe bench --with FILE.cu` checks and times alongside its own. The program
// provides this file: FILE.cu includes "imgpipe_kernel.h" without a path. A variant is a name, a line that
// describes its idea, and host code that launches one or more kernels:
//
//   #include "imgpipe_kernel.h"
//
//   __global__ void count(const uint8_t* in, size_t pitch, int width, int height, unsigned long long* counts)
//   {...}
//
//   IMGPIPE_HIST(mine, "one thread per pixel, counters in global memory") {
//     cudaMemsetAsync(call.counts, 0, 256 * sizeof(*call.counts), call.stream);
//     count<<<blocks, 256, 0, call.stream>>>(call.in, call.in_pitch, call.width, call.height, call.counts);
//   }
//
// `imgpipe bench --template STAGE` writes a complete file to start from. Contents of `call`, by stage (for
// all stages, see ImgpipeLaunch and ImgpipeImage):
//
//   macro                             in              out             counts
//   IMGPIPE_GRAY, _GRAY16             RGB, RGB, ...   grey
//   IMGPIPE_HIST, _HIST16             grey                            written: 256, or 65536
//   IMGPIPE_CONTRAST, _CONTRAST16     grey            grey            those of `in`, read-only
//   IMGPIPE_EQUALIZE                  grey            grey            those of `in`, read-only
//   IMGPIPE_SMOOTH, _SMOOTH16         grey            grey
//   IMGPIPE_MEDIAN, _MEDIAN5          grey            grey            (3x3; 5x5)
//   IMGPIPE_CLAHE                     grey            grey
//
// Samples are uint8_t, or uint16_t for names that end in 16. docs/pixels.md defines the results; all options
// have their defaults. Rules:
//
// - All pointers are to device memory. Launch, copy and clear on call.stream only.
// - The host must not wait or allocate (use IMGPIPE_SCRATCH instead): the stream is timed.
// - `out`, and counts to be written, hold garbage at first. Do not change the input.
// - Images have any size from 1 x 1. Up to 15 pixels after a row's end may be read; their values are
//   undefined.
// - Write only the image's own pixels.
// - Checks for launch errors are unnecessary: cudaGetLastError() is called at the end and its error reported.
#pragma once

#include <stddef.h>
#include <stdint.h>

// The version of the structures below; program and file must have the same.
#define IMGPIPE_KERNEL_ABI 1

struct CUstream_st;

// ---- interface between the program and the compiled file, hidden by the macros below -------------------

struct ImgpipeShape {
  int width, height;
  int multiprocessors;  // of the device
};

struct ImgpipeCall {
  const void* in;
  size_t in_pitch;
  void* out;
  size_t out_pitch;
  unsigned long long* counts;
  void* scratch;
  size_t scratch_bytes;
  struct CUstream_st* stream;
  struct ImgpipeShape shape;
};

struct ImgpipeVariant {
  const char* stage;
  const char* name;
  const char* idea;
  int (*launch)(const struct ImgpipeCall*);             // a cudaError_t; NULL for IMGPIPE_SCRATCH
  size_t (*scratch_bytes)(const struct ImgpipeShape*);  // NULL for a variant
  const struct ImgpipeVariant* next;
};

// Exported by the compiled file: the version above, the list of its variants, and cudaSetDevice.
typedef int ImgpipeAbi(void);
typedef const struct ImgpipeVariant* ImgpipeVariants(void);
typedef int ImgpipeUseDevice(int device);

#ifdef __CUDACC__

// ---- arguments of a variant -------------------------------------------------------------------------

struct ImgpipeLaunch {
  cudaStream_t stream;  // for all work
  int multiprocessors;  // of the device, for the size of grids that stride over the image
  void* scratch;        // for IMGPIPE_SCRATCH: aligned to 256 bytes, uninitialised; else nullptr
  size_t scratch_bytes;
};

// Row y begins at in + y * in_pitch bytes. The first pixel's address and in_pitch are multiples of 16.
template <class T>
struct ImgpipeImage : ImgpipeLaunch {
  const T* in;
  size_t in_pitch;    // bytes from one row to the next
  int width, height;  // pixels, rows; less than 2^32 pixels in all
};

// gray, smooth, median, clahe: pixels to pixels.
template <class T>
struct ImgpipeFilter : ImgpipeImage<T> {
  T* out;
  size_t out_pitch;
};

// contrast, equalize: also the histogram of `in`, one counter per value.
template <class T>
struct ImgpipeCounted : ImgpipeFilter<T> {
  const unsigned long long* counts;
};

// hist
template <class T>
struct ImgpipeHist : ImgpipeImage<T> {
  unsigned long long* counts;
};

// Returns row y of an image that begins at `first`.
template <class T>
__host__ __device__ inline T* imgpipe_row(T* first, size_t pitch, int y) {
  return reinterpret_cast<T*>(reinterpret_cast<uintptr_t>(first) + static_cast<size_t>(y) * pitch);
}

// ---- the macros ---------------------------------------------------------------------------------------

#define IMGPIPE_GRAY(name, idea) IMGPIPE_VARIANT_OF(gray, name, idea, ImgpipeFilter<uint8_t>)
#define IMGPIPE_HIST(name, idea) IMGPIPE_VARIANT_OF(hist, name, idea, ImgpipeHist<uint8_t>)
#define IMGPIPE_CONTRAST(name, idea) IMGPIPE_VARIANT_OF(contrast, name, idea, ImgpipeCounted<uint8_t>)
#define IMGPIPE_SMOOTH(name, idea) IMGPIPE_VARIANT_OF(smooth, name, idea, ImgpipeFilter<uint8_t>)
#define IMGPIPE_EQUALIZE(name, idea) IMGPIPE_VARIANT_OF(equalize, name, idea, ImgpipeCounted<uint8_t>)
#define IMGPIPE_CLAHE(name, idea) IMGPIPE_VARIANT_OF(clahe, name, idea, ImgpipeFilter<uint8_t>)
#define IMGPIPE_MEDIAN(name, idea) IMGPIPE_VARIANT_OF(median, name, idea, ImgpipeFilter<uint8_t>)
#define IMGPIPE_MEDIAN5(name, idea) IMGPIPE_VARIANT_OF(median5, name, idea, ImgpipeFilter<uint8_t>)
#define IMGPIPE_GRAY16(name, idea) IMGPIPE_VARIANT_OF(gray16, name, idea, ImgpipeFilter<uint16_t>)
#define IMGPIPE_HIST16(name, idea) IMGPIPE_VARIANT_OF(hist16, name, idea, ImgpipeHist<uint16_t>)
#define IMGPIPE_CONTRAST16(name, idea) IMGPIPE_VARIANT_OF(contrast16, name, idea, ImgpipeCounted<uint16_t>)
#define IMGPIPE_SMOOTH16(name, idea) IMGPIPE_VARIANT_OF(smooth16, name, idea, ImgpipeFilter<uint16_t>)

// Defines how many bytes of call.scratch a variant of this stage needs for an image of this shape:
//   IMGPIPE_SCRATCH(smooth, mine) { return size_t(shape.width) * shape.height * 2; }
#define IMGPIPE_SCRATCH(stage, name)                                          \
  static size_t imgpipe_scratch_##stage##_##name(const ImgpipeShape& shape);  \
  static size_t imgpipe_bytes_##stage##_##name(const ImgpipeShape* shape) {   \
    return imgpipe_scratch_##stage##_##name(*shape);                          \
  }                                                                           \
  static ImgpipeListed imgpipe_listed_scratch_##stage##_##name(               \
      {#stage, #name, "", nullptr, imgpipe_bytes_##stage##_##name, nullptr}); \
  static size_t imgpipe_scratch_##stage##_##name([[maybe_unused]] const ImgpipeShape& shape)

#define IMGPIPE_VARIANT_OF(stage, name, idea, Call)                              \
  static void imgpipe_run_##stage##_##name(const Call& call);                    \
  static int imgpipe_launch_##stage##_##name(const ImgpipeCall* call) {          \
    (void)cudaGetLastError();                                                    \
    Call typed;                                                                  \
    imgpipe_fill(*call, typed);                                                  \
    imgpipe_run_##stage##_##name(typed);                                         \
    return cudaGetLastError();                                                   \
  }                                                                              \
  static ImgpipeListed imgpipe_listed_##stage##_##name(                          \
      {#stage, #name, idea, imgpipe_launch_##stage##_##name, nullptr, nullptr}); \
  static void imgpipe_run_##stage##_##name([[maybe_unused]] const Call& call)

// ---- implementation -----------------------------------------------------------------------------------

template <class T>
inline void imgpipe_fill(const ImgpipeCall& from, ImgpipeImage<T>& to) {
  to.stream = from.stream;
  to.multiprocessors = from.shape.multiprocessors;
  to.scratch = from.scratch;
  to.scratch_bytes = from.scratch_bytes;
  to.in = static_cast<const T*>(from.in);
  to.in_pitch = from.in_pitch;
  to.width = from.shape.width;
  to.height = from.shape.height;
}
template <class T>
inline void imgpipe_fill(const ImgpipeCall& from, ImgpipeFilter<T>& to) {
  imgpipe_fill(from, static_cast<ImgpipeImage<T>&>(to));
  to.out = static_cast<T*>(from.out);
  to.out_pitch = from.out_pitch;
}
template <class T>
inline void imgpipe_fill(const ImgpipeCall& from, ImgpipeCounted<T>& to) {
  imgpipe_fill(from, static_cast<ImgpipeFilter<T>&>(to));
  to.counts = from.counts;
}
template <class T>
inline void imgpipe_fill(const ImgpipeCall& from, ImgpipeHist<T>& to) {
  imgpipe_fill(from, static_cast<ImgpipeImage<T>&>(to));
  to.counts = from.counts;
}

// Internal linkage: two loaded files have separate lists.
static ImgpipeVariant* imgpipe_first_variant = nullptr;
static ImgpipeVariant* imgpipe_last_variant = nullptr;

struct ImgpipeListed {
  explicit ImgpipeListed(const ImgpipeVariant& listed) : variant(listed) {
    if (imgpipe_last_variant == nullptr) {
      imgpipe_first_variant = &variant;
    } else {
      imgpipe_last_variant->next = &variant;
    }
    imgpipe_last_variant = &variant;
  }
  ImgpipeVariant variant;
};

extern "C" __attribute__((visibility("default"), used)) int imgpipe_kernel_abi(void) {
  return IMGPIPE_KERNEL_ABI;
}
extern "C" __attribute__((visibility("default"), used)) const ImgpipeVariant* imgpipe_kernel_variants(void) {
  return imgpipe_first_variant;
}
// This file has its own CUDA runtime, on the same device and context as the program's.
extern "C" __attribute__((visibility("default"), used)) int imgpipe_kernel_use_device(int device) {
  return cudaSetDevice(device);
}

#endif  // __CUDACC__
