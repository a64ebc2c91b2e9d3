#include "tests/support/cuda_jpeg.h"

#ifdef IMGPIPE_TEST_CUDA

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>

#include <cuda_runtime.h>

#include "images/error.h"
#include "kernels/jpeg/encoding.h"
#include "pipeline/cuda/cuda_api.h"

namespace imgpipe::test {
namespace {

constexpr std::size_t kGuard = 512;

std::vector<std::byte> rubbish(std::size_t bytes, unsigned seed) {
  std::vector<std::byte> made(bytes);
  std::uint32_t noise = seed;
  for (std::byte& byte : made) {
    noise = noise * 1664525 + 1013904223;  // Numerical Recipes
    byte = static_cast<std::byte>(noise >> 24);
  }
  return made;
}

void upload(void* to, const std::vector<std::byte>& from) {
  IMGPIPE_CUDA(cudaMemcpy(to, from.data(), from.size(), cudaMemcpyHostToDevice));
}

std::vector<std::byte> download(const void* from, std::size_t bytes) {
  std::vector<std::byte> got(bytes);
  IMGPIPE_CUDA(cudaMemcpy(got.data(), from, bytes, cudaMemcpyDeviceToHost));
  return got;
}

// Rows of device memory with garbage after each; the seed determines how much.
struct DevicePixels {
  DeviceBuffer buffer;
  std::vector<std::byte> bytes;
  Plane<const Sample8, Device> plane;

  DevicePixels(ConstHostPlane pixels, unsigned seed) {
    const std::int64_t row = (pixels.width + kDeviceRowPixels - 1) / kDeviceRowPixels * kDeviceRowPixels;
    const std::int64_t stride = row * pixels.channels + 16 * static_cast<std::int64_t>(seed % 3);
    bytes = rubbish(static_cast<std::size_t>(stride * pixels.height), seed);
    for (std::int64_t y = 0; y < pixels.height; ++y)
      std::memcpy(bytes.data() + y * stride, pixels.row(y), static_cast<std::size_t>(pixels.row_samples()));
    buffer.reserve(bytes.size());
    upload(buffer.data(), bytes);
    plane = {static_cast<const Sample8*>(buffer.data()), pixels.width, pixels.height, stride,
             pixels.channels};
  }
};

// Encodes in memory that was never written to.
std::string run_bare(const JpegEncoding& encoding, const Stream& stream,
                     std::vector<std::vector<std::byte>>& scans) {
  const GroupMemory& memory = encoding.memory();
  void* group = nullptr;
  IMGPIPE_CUDA(cudaMalloc(&group, memory.bytes));
  const std::unique_ptr<void, cudaError_t (*)(void*)> owner(group, cudaFree);
  std::vector<std::byte> upload_bytes(memory.upload_bytes);
  encoding.write_upload(upload_bytes.data());
  upload(group, upload_bytes);
  IMGPIPE_CUDA(cudaDeviceSynchronize());
  auto* bytes = static_cast<std::byte*>(group);
  IMGPIPE_CUDA(static_cast<cudaError_t>(encoding.launch(bytes, {stream.get(), 1})));
  IMGPIPE_CUDA(cudaStreamSynchronize(stream.get()));
  const std::vector<std::byte> results = download(bytes + memory.results_offset, memory.results_bytes);
  for (std::size_t i = 0; i < scans.size(); ++i) {
    const JpegEncoding::Scan scan = encoding.scan(i, results.data());
    scans[i] = download(bytes + scan.offset, scan.bytes);
  }
  return "";
}

std::string run(const std::vector<JpegEncodingRequest>& requests, unsigned seed,
                std::vector<std::vector<std::byte>>& scans) {
  const Stream stream;
  const bool is_bare = seed == 0;
  std::vector<std::unique_ptr<DevicePixels>> pixels;
  std::vector<JpegEncodingTask> tasks;
  scans.assign(requests.size(), {});
  for (const JpegEncodingRequest& request : requests) {
    pixels.push_back(std::make_unique<DevicePixels>(request.pixels, seed++));
    tasks.push_back({pixels.back()->plane, request.quality, request.subsampled_chroma});
  }
  const JpegEncoding encoding(tasks);
  const GroupMemory& memory = encoding.memory();
  if (is_bare) return run_bare(encoding, stream, scans);
  std::vector<std::byte> before = rubbish(memory.bytes + 2 * kGuard, seed);
  encoding.write_upload(before.data() + kGuard);
  DeviceBuffer buffer;
  buffer.reserve(before.size());
  upload(buffer.data(), before);
  IMGPIPE_CUDA(cudaDeviceSynchronize());
  auto* group = static_cast<std::byte*>(buffer.data()) + kGuard;
  IMGPIPE_CUDA(static_cast<cudaError_t>(encoding.launch(group, {stream.get(), 1})));
  IMGPIPE_CUDA(cudaStreamSynchronize(stream.get()));
  const std::vector<std::byte> after = download(buffer.data(), before.size());
  const auto same = [&](std::size_t first, std::size_t count) {
    return std::equal(after.begin() + static_cast<std::ptrdiff_t>(first),
                      after.begin() + static_cast<std::ptrdiff_t>(first + count),
                      before.begin() + static_cast<std::ptrdiff_t>(first));
  };
  if (!same(0, kGuard) || !same(kGuard + memory.bytes, kGuard)) return "canary hit";
  if (!same(kGuard, memory.upload_bytes)) return "the upload was changed";
  for (const std::unique_ptr<DevicePixels>& image : pixels) {
    if (download(image->buffer.data(), image->bytes.size()) != image->bytes) return "pixels were changed";
  }
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const JpegEncoding::Scan scan = encoding.scan(i, after.data() + kGuard + memory.results_offset);
    if (scan.offset > memory.bytes || scan.bytes > memory.bytes - scan.offset) return "a scan lies outside";
    const auto first = after.begin() + static_cast<std::ptrdiff_t>(kGuard + scan.offset);
    scans[i].assign(first, first + static_cast<std::ptrdiff_t>(scan.bytes));
  }
  return "";
}

}  // namespace

std::string encode_on_cuda(const std::vector<JpegEncodingRequest>& requests, unsigned seed,
                           std::vector<std::vector<std::byte>>& scans) {
  try {
    return run(requests, seed, scans);
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace imgpipe::test

#else

namespace imgpipe::test {

std::string encode_on_cuda(const std::vector<JpegEncodingRequest>&, unsigned,
                           std::vector<std::vector<std::byte>>&) {
  return "this build has no CUDA";
}

}  // namespace imgpipe::test

#endif
