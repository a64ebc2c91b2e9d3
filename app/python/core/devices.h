// The state that the module keeps for each CUDA device: lanes, and memory for results.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "pipeline/jobs/lane_batches.h"
#include "pipeline/result_memory.h"

namespace imgpipe::python {

struct DeviceSession {
  int index = 0;
  std::unique_ptr<ResultMemory> results;
  std::unique_ptr<LaneBatches> lanes;
};

// Returns the session for "cuda" or "cuda:N", which lives as long as the process; the first call initialises
// the device. Throws Error(usage) for another name, and Error(device), also in a process forked after a
// session was made.
[[nodiscard]] DeviceSession& device_session(const std::string& device);

// Throws Error(device) in a process forked after a session was made, or after note_device_use().
void check_process();
// Records that this process has used a device without a session.
void note_device_use();
// Returns the device on which a call runs: with "auto", a process forked after the use of a device runs on
// the CPU. Throws as check_process() for a CUDA device.
[[nodiscard]] std::string device_of_call(const std::string& device);

// The limit of device memory besides the context and results, for each device.
[[nodiscard]] std::int64_t device_memory_limit();
// The part of it for images in progress: of all batches of a session together, and of each engine and each
// run_directory(). The rest is for idle results and kernels.
[[nodiscard]] std::int64_t device_image_limit();
void set_device_memory_limit(std::int64_t bytes);

// Frees the idle memory of all sessions of this process.
void trim_devices();

}  // namespace imgpipe::python
