// Chooses how a device processes an image: as a whole if memory suffices, else in bands of rows.
#pragma once

#include <cstdint>

namespace imgpipe {

enum class Route : std::uint8_t {
  file,   // uploads the file's entropy-coded data; the device decodes
  rows,   // the host decodes; uploads rows
  bands,  // the host decodes; uploads bands of rows, with memory for a few bands
};

// An image, and the memory that it takes as a whole.
struct RouteRequest {
  bool has_steps = true;  // without steps the image never goes in bands
  bool has_scan = false;  // the file has a scan that the device can decode
  std::int64_t device_bytes = 0;
  std::int64_t host_bytes = 0;
};

// Memory of a device, in bytes.
struct DeviceMemory {
  std::int64_t limit = 0;                  // the maximum to use; 0: all free memory
  std::int64_t held = 0;                   // already taken, and available for reuse
  std::int64_t (*free_bytes)() = nullptr;  // nullptr: no context exists yet
};

// Called before a context exists, and again with one. If the device's memory still does not suffice, the
// caller falls back from `file` to `rows`, and from `rows` to `bands`.
[[nodiscard]] Route choose_route(const RouteRequest& request, const DeviceMemory& memory);

// Estimates whether the device's memory also suffices to encode the result. `image_bytes`: device memory of
// the image without kept outputs of steps; `result_bytes`: size of the finished image.
[[nodiscard]] bool can_encode(std::int64_t image_bytes, std::int64_t result_bytes,
                              const DeviceMemory& memory);

}  // namespace imgpipe
