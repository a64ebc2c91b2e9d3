#include "pipeline/devices/device_route.h"

#include "images/memory/available_memory.h"

namespace imgpipe {
namespace {

bool is_within_limit(std::int64_t bytes, const DeviceMemory& memory) {
  return memory.limit == 0 || bytes <= memory.limit;
}

// Queries the driver's free memory only if the held memory does not suffice.
bool is_there(std::int64_t bytes, const DeviceMemory& memory) {
  return bytes <= memory.held || bytes <= memory.free_bytes() + memory.held;
}

bool fits_as_whole(const RouteRequest& request, const DeviceMemory& memory) {
  if (!request.has_steps) return true;
  if (memory.free_bytes != nullptr) return is_there(request.device_bytes, memory);
  return is_within_limit(request.device_bytes, memory) &&
         available_memory_bytes_for(request.host_bytes) >= request.host_bytes;
}

}  // namespace

Route choose_route(const RouteRequest& request, const DeviceMemory& memory) {
  if (!fits_as_whole(request, memory)) return Route::bands;
  return request.has_scan ? Route::file : Route::rows;
}

bool can_encode(std::int64_t image_bytes, std::int64_t result_bytes, const DeviceMemory& memory) {
  // Per byte of the result: filtered rows, their codes, and the file.
  constexpr std::int64_t kEncodingBytes = 8;
  const std::int64_t bytes = image_bytes + kEncodingBytes * result_bytes;
  return is_within_limit(bytes, memory) && is_there(bytes, memory);
}

}  // namespace imgpipe
