// A rung of a stage's ladder: one way to do the stage's work, from the naive one to the production kernel,
// kept so that the lab can prove it right and show what it costs.
//
// The ladders run the stages' default options (bt601, no clipping, box, shrink), or those that Ladder says,
// on images without alpha: gray on interleaved RGB, the others on one grey plane, unless a rung says
// otherwise. At most 2^32 - 1 pixels: blocks count in 32 bits.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>

#include "kernels/pixel.h"
#include "kernels/stage_call.h"

namespace imgpipe {

struct Stage;

// One thread's part of a rung on the processor: part `index` of `count`.
struct Share {
  int index = 0;
  int count = 1;
};

struct NppFunctions;  // lab/kernels/npp_functions.cuh
struct OwnVariant;    // lab/pipeline/own_library.h

// A launch with a grid of the caller's choice, as far as the rung leaves one.
struct RungLaunch : CudaLaunch {
  int block = 0;            // threads a block, a multiple of 32 up to Rung::most_threads; 0: the rung's own
  int blocks = 0;           // 0: the rung's own
  void* scratch = nullptr;  // Rung::scratch_bytes of device memory, on a 256-byte boundary; holds anything
  const NppFunctions* npp = nullptr;  // of rungs that need it
  const OwnVariant* own = nullptr;    // of rungs that are a user's
};

enum class RungKind {
  reference,  // sequential, one thread
  cpu,        // all threads of the processor
  cuda
};

// What the lab holds a rung to.
enum class Claim {
  exact,
  near,  // a library's own rounding and border: each sample within 1, the outermost kRadius pixels aside
  wrong  // on purpose; exact only by luck
};

// What of a launch is free.
enum class Grid {
  any,        // every block and every number of blocks is right
  covering,   // as many threads as there is work, so the image decides the number of blocks
  one_a_bin,  // any, but more blocks than bins find nothing to do
  own,        // the rung decides on both
};

// The fields that the rows of every ladder share.
struct Variant {
  std::string_view name;    // unique in its ladder
  std::string_view idea;    // one line: what it does, or what it improves on
  std::string_view origin;  // who published or shipped it
  bool foreign = false;     // another library's, as a baseline
  bool production =
      false;  // codecs and transfers: what the product runs; for a stage's rungs is_production()
};

// What a rung runs: one of these five; of a CUDA rung none in a build without CUDA.
struct RungFunction {
  std::string_view functions;  // its name in the sources, for imgpipe bench --html
  // First, what a stage of the product can have: its reference, its version for bands of rows (each share a
  // band; all equally high but for one), its CUDA version, which has a grid of its own.
  void (*reference)(const StageCall<Host>&) = nullptr;
  void (*cpu)(const StageCall<Host>&, const Band&) = nullptr;
  CudaStatus (*cuda)(const StageCall<Device>&, const CudaLaunch&) = nullptr;
  // Then, what only the lab runs. Writes the share's part of `out`, or adds it to `histogram` (which is all
  // zeros before the first share).
  void (*share)(const StageCall<Host>&, const Share&) = nullptr;
  // The whole stage, asynchronously.
  CudaStatus (*launch)(const StageCall<Device>&, const RungLaunch&) = nullptr;
};

// What it needs, and what it is held to.
struct RungConditions {
  std::size_t (*scratch_bytes)(const FrameType&, const RungLaunch&) = nullptr;  // nullptr: none
  // Brings a library's result from where it left it to where the stage has it; not timed. nullptr: it is
  // there.
  CudaStatus (*collect)(const StageCall<Device>&, const RungLaunch&) = nullptr;
  Claim claim = Claim::exact;
  Grid grid = Grid::any;
  int most_threads = 1024;   // a block
  bool wide = true;          // false: its offsets are 32 bits, so the input, padded, takes less than 2 GiB
  int bins = kBins;          // of samples of 8 bits it counts v * bins / kBins
  int shared_bytes = 0;      // that a block must be able to have; up to 48 KiB are everywhere
  int capability = 0;        // the first compute capability that runs it, 90 for 9.0
  bool interleaved = false;  // hist: takes interleaved RGB and makes three histograms
  bool counts_too = false;   // gray: also makes the histogram of what it writes
  bool needs_npp = false;    // calls RungLaunch::npp
  const OwnVariant* own = nullptr;  // a user's, whom `launch` calls
};

struct Rung : Variant, RungFunction, RungConditions {
  [[nodiscard]] constexpr RungKind kind() const {
    if (reference != nullptr) return RungKind::reference;
    return cpu != nullptr || share != nullptr ? RungKind::cpu : RungKind::cuda;
  }
};

// ---- rows of a ladder's table ------------------------------------------------------------------------
//
//   rung("naive", "a thread a pixel", "first attempt of every course", IMGPIPE_CUDA_RUNG(gray_naive),
//        {.grid = Grid::covering})

constexpr RungFunction named(std::string_view name, void (*reference)(const StageCall<Host>&)) {
  return {.functions = name, .reference = reference};
}
constexpr RungFunction named(std::string_view name, void (*cpu)(const StageCall<Host>&, const Band&)) {
  return {.functions = name, .cpu = cpu};
}
constexpr RungFunction named(std::string_view name,
                             CudaStatus (*cuda)(const StageCall<Device>&, const CudaLaunch&)) {
  return {.functions = name, .cuda = cuda};
}
constexpr RungFunction named(std::string_view name, void (*share)(const StageCall<Host>&, const Share&)) {
  return {.functions = name, .share = share};
}
constexpr RungFunction named(std::string_view name,
                             CudaStatus (*launch)(const StageCall<Device>&, const RungLaunch&)) {
  return {.functions = name, .launch = launch};
}
// A function that this build lacks.
constexpr RungFunction named(std::string_view name, std::nullptr_t) {
  return {.functions = name};
}

// Functions that only a build with CUDA has.
#ifdef IMGPIPE_WITH_CUDA
#define IMGPIPE_IF_CUDA(function) function
#else
#define IMGPIPE_IF_CUDA(function) nullptr
#endif
#define IMGPIPE_HOST_RUNG(function) named(#function, function)
#define IMGPIPE_CUDA_RUNG(function) named(#function, IMGPIPE_IF_CUDA(function))

constexpr Rung rung(std::string_view name, std::string_view idea, std::string_view origin,
                    const RungFunction& function, const RungConditions& conditions = {}) {
  return {{name, idea, origin}, function, conditions};
}
// The baselines: rungs of another library.
constexpr Rung foreign_rung(std::string_view name, std::string_view idea, std::string_view origin,
                            const RungFunction& function, const RungConditions& conditions) {
  return {{name, idea, origin, true}, function, conditions};
}

// For ladders of samples of 16 bits: the rung of that name of one of 8 bits, or the same idea with another
// function. The ladder has it.
[[nodiscard]] Rung same_rung(std::span<const Rung> ladder, std::string_view name);
[[nodiscard]] Rung same_rung(std::span<const Rung> ladder, std::string_view name,
                             const RungFunction& function);

// True when each share counts into a histogram of its own, all zeros before, and the caller adds them up.
[[nodiscard]] bool counts_apart(const Rung& rung, const Stage& stage);

// Runs a share of a rung for the processor on the calling thread.
void run_share(const Rung& rung, const StageCall<Host>& call, const Share& share);

// Launches a rung for CUDA.
[[nodiscard]] CudaStatus launch_rung(const Rung& rung, const StageCall<Device>& call,
                                     const RungLaunch& launch);

}  // namespace imgpipe
