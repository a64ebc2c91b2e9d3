// JPEGs as a group for the device's entropy decoder, and the results of the host's decoder.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "images/codecs/jpeg/library_jpeg.h"
#include "images/codecs/jpeg/staged_scan.h"
#include "kernels/jpeg/entropy_decoding.h"

namespace imgpipe::test {

// A JPEG with a header and tables that our own decoder accepts.
struct OpenJpeg {
  std::vector<std::byte> file;
  std::unique_ptr<LibraryJpeg> library;
  BaselineScan scan;
  EntropyTables tables;
};
[[nodiscard]] std::unique_ptr<OpenJpeg> open_jpeg_scan(std::vector<std::byte> file);

// All coefficients, in EntropyTask's order.
using Coefficients = std::vector<std::int16_t>;
struct HostCoefficients {
  Coefficients values;
  std::size_t after_end = 0;
};
// Returns nullopt if the data is invalid. `scan_chunk_bytes`: for ScanChunks; each chunk starts with the true
// state.
[[nodiscard]] std::optional<HostCoefficients> host_coefficients(const OpenJpeg& jpeg,
                                                                std::size_t scan_chunk_bytes = 1 << 20);

struct StagedJpeg {
  std::vector<std::byte> bytes;  // followed by kStreamMargin
  StagedScan scan;
};
[[nodiscard]] std::optional<StagedJpeg> staged(const OpenJpeg& jpeg);

// An image for any group decoder. Decoders return coefficients by image, empty if the data is invalid.
struct GroupImage {
  const OpenJpeg* jpeg = nullptr;
  const StagedJpeg* staged = nullptr;
};
using GroupResult = std::vector<Coefficients>;

// Emulates the device, one thread after the other.
[[nodiscard]] GroupResult decode_emulated(std::span<const GroupImage> images);
// Decodes on the device, with `streams` copies of the group at once. Throws Error if CUDA fails, and
// std::runtime_error if results differ or a canary was overwritten.
[[nodiscard]] GroupResult decode_on_cuda(std::span<const GroupImage> images, int streams = 1);

// Both decoders' verdicts on the same files. compare_with_host() returns "" if the group's decoder accepts
// only files that the host's accepts, and gives the same coefficients.
struct Verdicts {
  int is_intact = 0, damaged = 0;
  // Valid, but left to the host.
  int left = 0;
};
using GroupDecoder = GroupResult (*)(std::span<const GroupImage>);
[[nodiscard]] std::string compare_with_host(std::span<const std::vector<std::byte>> files,
                                            GroupDecoder decoder, Verdicts& verdicts);

}  // namespace imgpipe::test
