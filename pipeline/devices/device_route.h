// How an image goes through a device: as a whole where there is memory for it, else in bands of rows.
#pragma once

#include <cstdint>

namespace imgpipe {

enum class Route : std::uint8_t {
  file,   // the file's bytes go up, and the device decodes them
  rows,   // the host decodes, and rows go up
  bands,  // the same in bands of rows, with memory for a few of them
};

// What an image takes as a whole.
struct RouteRequest {
  bool has_steps = true;  // without any there is nothing to cut into bands
  bool has_scan = false;  // its file holds a scan that the device can decode
  std::int64_t device_bytes = 0;
  std::int64_t host_bytes = 0;
};

// What a device has.
struct DeviceMemory {
  std::int64_t limit = 0;                  // bytes allowed; 0: the free memory
  std::int64_t held = 0;                   // is taken, and free to be used again
  std::int64_t (*free_bytes)() = nullptr;  // nullptr: there is no context yet
};

// Asked before there is a context, and again with it. The device's memory may still prove too small: then
// rows follow a file, and bands follow rows.
[[nodiscard]] Route choose_route(const RouteRequest& request, const DeviceMemory& memory);

// Whether the device can encode the result too, by an estimate. `image_bytes`: what the image takes of it
// without the outputs of its steps; `result_bytes`: of the finished image.
[[nodiscard]] bool can_encode(std::int64_t image_bytes, std::int64_t result_bytes,
                              const DeviceMemory& memory);

}  // namespace imgpipe
