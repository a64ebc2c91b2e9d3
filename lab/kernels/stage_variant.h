// A variant in a stage's ladder: one method of doing the stage's work, from naive to production. The lab
// proves each variant right and shows its cost.
//
// Ladders run a stage with its default options (bt601, no clipping, box, shrink) or those in Ladder, on
// images without alpha. gray takes interleaved RGB, the others one grey plane, unless a variant states
// otherwise. Images have at most 2^32 - 1 pixels: blocks count in 32 bits.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "kernels/pixel.h"
#include "kernels/stage_call.h"

namespace imgpipe {

struct Stage;

// One thread's part of a host variant: part `index` of `count`.
struct Share {
  int index = 0;
  int count = 1;
};

struct NppFunctions;  // lab/kernels/npp_functions.cuh
struct UserVariant;   // lab/pipeline/user_kernel_library.h

// A launch whose grid the caller chooses, as far as the variant allows.
struct VariantLaunch : CudaLaunch {
  int block = 0;   // threads per block: a multiple of 32, at most StageVariant::max_threads; 0: the default
  int blocks = 0;  // 0: the default
  void* scratch =
      nullptr;  // StageVariant::scratch_bytes of device memory, aligned to 256 bytes, uninitialised
  const NppFunctions* npp = nullptr;  // for variants that need it
  const UserVariant* own = nullptr;   // for a user's variants
};

enum class VariantKind {
  reference,  // sequential, one thread
  cpu,        // all host threads
  cuda
};

// The results that the lab requires.
enum class Claim {
  exact,
  near,  // a library's own rounding and border: each sample within 1, except the outermost kRadius pixels
  wrong  // on purpose; exact only by luck
};

// The part of a launch's grid that the caller chooses.
enum class Grid {
  any,          // any block size and any number of blocks
  covering,     // one thread per item, so the image determines the number of blocks
  one_per_bin,  // any, but blocks beyond the number of bins are idle
  own,          // none: the variant determines both
};

// The fields common to all ladders' rows.
struct Variant {
  std::string_view name;    // unique in its ladder
  std::string_view idea;    // one line: what it does, or what it improves on
  std::string_view origin;  // who published or shipped it
  bool foreign = false;     // from another library, as a baseline
  bool production = false;  // codecs and transfers: the product runs it; for stages see is_production()
};

// A variant's implementation: one of these five; none for a CUDA variant in a build without CUDA.
struct VariantFunction {
  std::string_view functions;  // the function's name in the sources, for imgpipe bench --html
  // The kinds that a stage of the product has: its reference; its version for bands of rows, where each share
  // is a band and heights differ by at most one row; its CUDA version, which determines its grid.
  void (*reference)(const StageCall<Host>&) = nullptr;
  void (*cpu)(const StageCall<Host>&, const Band&) = nullptr;
  CudaStatus (*cuda)(const StageCall<Device>&, const CudaLaunch&) = nullptr;
  // The lab's kinds. `share` writes its part of `out` or adds it to `histogram`, which is zero at the start.
  void (*share)(const StageCall<Host>&, const Share&) = nullptr;
  // Launches the whole stage asynchronously.
  CudaStatus (*launch)(const StageCall<Device>&, const VariantLaunch&) = nullptr;
};

// A variant's requirements, and the checks that the lab applies to it.
struct VariantConditions {
  std::size_t (*scratch_bytes)(const FrameType&, const VariantLaunch&) = nullptr;  // nullptr: none
  // Copies a library's result to the stage's output, untimed; nullptr if the result is already there.
  CudaStatus (*collect)(const StageCall<Device>&, const VariantLaunch&) = nullptr;
  Claim claim = Claim::exact;
  Grid grid = Grid::any;
  int max_threads = 1024;    // per block
  bool wide = true;          // false: offsets are 32 bits, so the padded input must be smaller than 2 GiB
  int bins = kBins;          // 8-bit samples: v is counted in bin v * bins / kBins
  int shared_bytes = 0;      // needed per block; up to 48 KiB are available everywhere
  int capability = 0;        // minimum compute capability, 90 for 9.0
  bool interleaved = false;  // hist: takes interleaved RGB and makes three histograms
  bool counts_too = false;   // gray: also makes the histogram of its output
  bool needs_npp = false;    // calls VariantLaunch::npp
  const UserVariant* own = nullptr;  // a user's variant, called by `launch`
};

struct StageVariant : Variant, VariantFunction, VariantConditions {
  [[nodiscard]] constexpr VariantKind kind() const {
    if (reference != nullptr) return VariantKind::reference;
    return cpu != nullptr || share != nullptr ? VariantKind::cpu : VariantKind::cuda;
  }
};

// ---- rows of a ladder's table ------------------------------------------------------------------------
//
//   variant("naive", "one thread per pixel", "first version in most courses",
//   IMGPIPE_CUDA_VARIANT(gray_naive),
//        {.grid = Grid::covering})

constexpr VariantFunction named(std::string_view name, void (*reference)(const StageCall<Host>&)) {
  return {.functions = name, .reference = reference};
}
constexpr VariantFunction named(std::string_view name, void (*cpu)(const StageCall<Host>&, const Band&)) {
  return {.functions = name, .cpu = cpu};
}
constexpr VariantFunction named(std::string_view name,
                                CudaStatus (*cuda)(const StageCall<Device>&, const CudaLaunch&)) {
  return {.functions = name, .cuda = cuda};
}
constexpr VariantFunction named(std::string_view name, void (*share)(const StageCall<Host>&, const Share&)) {
  return {.functions = name, .share = share};
}
constexpr VariantFunction named(std::string_view name,
                                CudaStatus (*launch)(const StageCall<Device>&, const VariantLaunch&)) {
  return {.functions = name, .launch = launch};
}
// A function that is not in this build.
constexpr VariantFunction named(std::string_view name, std::nullptr_t) {
  return {.functions = name};
}

// Functions that only a build with CUDA has.
#ifdef IMGPIPE_WITH_CUDA
#define IMGPIPE_IF_CUDA(function) function
#else
#define IMGPIPE_IF_CUDA(function) nullptr
#endif
#define IMGPIPE_HOST_VARIANT(function) named(#function, function)
#define IMGPIPE_CUDA_VARIANT(function) named(#function, IMGPIPE_IF_CUDA(function))

constexpr StageVariant variant(std::string_view name, std::string_view idea, std::string_view origin,
                               const VariantFunction& function, const VariantConditions& conditions = {}) {
  return {{name, idea, origin}, function, conditions};
}
// A baseline: a variant from another library.
constexpr StageVariant baseline_variant(std::string_view name, std::string_view idea, std::string_view origin,
                                        const VariantFunction& function,
                                        const VariantConditions& conditions) {
  return {{name, idea, origin, true}, function, conditions};
}

// For 16-bit ladders: return the variant of that name in an 8-bit ladder, unchanged or with another function.
// The name must exist.
[[nodiscard]] StageVariant variant_of(std::span<const StageVariant> ladder, std::string_view name);
[[nodiscard]] StageVariant variant_of(std::span<const StageVariant> ladder, std::string_view name,
                                      const VariantFunction& function);

// Whether each share counts into its own zeroed histogram, for the caller to add up.
[[nodiscard]] bool has_private_counts(const StageVariant& variant, const Stage& stage);

// Runs a share of a host variant on the calling thread.
void run_share(const StageVariant& variant, const StageCall<Host>& call, const Share& share);

[[nodiscard]] CudaStatus launch_variant(const StageVariant& variant, const StageCall<Device>& call,
                                        const VariantLaunch& launch);

}  // namespace imgpipe
