// What this machine offers, and what `--device` means on it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "images/memory/available_memory.h"
#include "kernels/backend.h"
#include "pipeline/threads/processor_limits.h"

namespace imgpipe {

struct HostInfo {
  std::string processor;
  int threads = 1;  // for what this process may use: the default of --threads and --jobs
  std::int64_t memory_bytes = 0;
  std::int64_t available_bytes = 0;
  std::vector<ProcessorLimit> processor_limits;  // what says so, the tightest first; never empty
  std::vector<MemoryBound> memory_bounds;        // the tightest first; may be empty
};
[[nodiscard]] HostInfo host_info();

struct CudaDevice {
  int index = 0;
  std::string name;
  int major = 0, minor = 0;  // compute capability
  std::int64_t memory_bytes = 0;
  int multiprocessors = 0;
};

struct CudaDevices {
  std::vector<CudaDevice> devices;
  std::string unusable_reason;  // why there are none; empty otherwise
};

// For find_cuda_device() and make_cuda_engine(): the first device that is not too old.
inline constexpr int kAnyCudaDevice = -1;

// True when the release build has code for a device of its compute capability.
[[nodiscard]] bool can_run_on(const CudaDevice& device);

// "cuda:1 (NVIDIA TITAN Xp) has compute capability 6.1, and imgpipe needs 7.5": of one that it cannot run on.
[[nodiscard]] std::string why_too_old(const CudaDevice& device);

// Notes a warning about CUDA devices that concerns no single image; each text once in a process. Thread-safe.
void warn_of_devices(const std::string& warning);
// The warnings that were noted and not taken yet.
[[nodiscard]] std::vector<std::string> take_device_warnings();

// True when this build can talk to CUDA devices at all.
[[nodiscard]] bool built_with_cuda();
// The CUDA runtime's version, "13.0"; "none" without it. Makes no CUDA context.
[[nodiscard]] std::string cuda_version();
// Lists the devices; makes no context on them.
[[nodiscard]] CudaDevices list_cuda_devices();
// The device of that number, or with kAnyCudaDevice the first that is not too old; a warning names those that
// are skipped. Throws Error(device).
[[nodiscard]] CudaDevice find_cuda_device(int index);

struct DeviceChoice {
  std::optional<Backend> backend = Backend::reference;  // none for "auto": chosen by the cost of the work
  // All that were named; empty for "cuda", which is the first for an image and every one for a batch.
  std::vector<int> cuda_devices;
  std::string why;  // one clause for the user: what was taken and why; empty where that is what was asked for

  std::int64_t memory_bytes = 0;  // that one image may take of a CUDA device; 0: what is free
  // The device of one image: its number, or kAnyCudaDevice for "cuda".
  [[nodiscard]] int cuda_index() const {
    return cuda_devices.empty() ? kAnyCudaDevice : cuda_devices.front();
  }
};

// Reads `auto`, `cpu`, `reference`, `cuda` (every one that is visible), `cuda:N` or `cuda:N,M`. Throws
// Error(usage) for anything else. Touches no device: whether one asked for by name can be used, its engine
// finds out.
[[nodiscard]] DeviceChoice choose_device(std::string_view text);

// Bytes a second, read plus written, that so many threads of the host (or as many as can be had) copy
// together, each its share of a buffer: the median of several copies. Takes twice the bytes, and with the
// usual ones some tens of milliseconds; those are past a core's own caches, and no more than a run's own
// memory.
[[nodiscard]] double measure_host_copy_bandwidth(int threads, std::size_t bytes = std::size_t{24} << 20);

}  // namespace imgpipe
