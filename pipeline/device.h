// The processors, memory and devices of this machine, and the meaning of `--device`.
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
  int threads = 1;  // one per processor that this process may use: the default of --threads and --jobs
  std::int64_t memory_bytes = 0;
  std::int64_t available_bytes = 0;
  std::vector<ProcessorLimit> processor_limits;  // the sources of `threads`, tightest first; never empty
  std::vector<MemoryBound> memory_bounds;        // tightest first; may be empty
};
[[nodiscard]] HostInfo host_info();
// Returns HostInfo::threads without reading anything else.
[[nodiscard]] int host_threads();
// Returns HostInfo::processor, which is read once.
[[nodiscard]] const std::string& host_processor();

struct CudaDevice {
  int index = 0;
  std::string name;
  int major = 0, minor = 0;  // compute capability
  std::int64_t memory_bytes = 0;
  int multiprocessors = 0;
};

struct CudaDevices {
  std::vector<CudaDevice> devices;
  std::string unusable_reason;  // set if `devices` is empty
};

// Selects the first supported device in find_cuda_device() and make_cuda_engine().
inline constexpr int kAnyCudaDevice = -1;

// Whether the release build has code for the device's compute capability.
[[nodiscard]] bool can_run_on(const CudaDevice& device);

// "cuda:1 (NVIDIA TITAN Xp): compute capability 6.1; imgpipe needs at least 7.5".
[[nodiscard]] std::string why_too_old(const CudaDevice& device);

// Records a warning about CUDA devices that concerns no single image; repeats in a process are ignored.
// Thread-safe, as is take_device_warnings().
void warn_of_devices(const std::string& warning);
// Returns and clears the recorded warnings.
[[nodiscard]] std::vector<std::string> take_device_warnings();

[[nodiscard]] bool built_with_cuda();
// The version of the CUDA runtime, "13.0", or "none" in a build without CUDA. Creates no CUDA context.
[[nodiscard]] std::string cuda_version();
// Creates no CUDA context.
[[nodiscard]] CudaDevices list_cuda_devices();
// Returns device `index`, or with kAnyCudaDevice the first supported one; a warning names each skipped
// device. Throws Error(device).
[[nodiscard]] CudaDevice find_cuda_device(int index);

struct DeviceChoice {
  std::optional<Backend> backend = Backend::reference;  // none for "auto": chosen by the cost of the work
  // The named devices; empty for "cuda": the first device for one image, all devices for a batch.
  std::vector<int> cuda_devices;
  std::string why;  // a clause for the user: the choice and its reason; empty if the user made the choice

  std::int64_t memory_bytes = 0;  // limit of CUDA device memory for one image; 0: all that is free
  // The index of the device for one image, or kAnyCudaDevice for "cuda".
  [[nodiscard]] int cuda_index() const {
    return cuda_devices.empty() ? kAnyCudaDevice : cuda_devices.front();
  }
};

// Parses `auto`, `cpu`, `reference`, `cuda` (every visible device), `cuda:N` or `cuda:N,M`. Throws
// Error(usage) for anything else. Accesses no device: its engine checks whether a named device is usable.
[[nodiscard]] DeviceChoice choose_device(std::string_view text);

// Measures the bytes per second, read plus written, that `threads` threads (or as many as can start) copy
// together, each a share of a buffer of `bytes` bytes; the median of several copies. Allocates twice `bytes`.
// The default size takes some tens of milliseconds; it exceeds a core's private caches, but not the memory of
// a typical run.
[[nodiscard]] double measure_host_copy_bandwidth(int threads, std::size_t bytes = std::size_t{24} << 20);

}  // namespace imgpipe
