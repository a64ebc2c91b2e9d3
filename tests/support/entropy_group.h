// JPEGs as a group for the device's entropy decoder, and what the host's decoder makes of them.
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

// A JPEG whose header and tables our own decoder takes.
struct OpenJpeg {
  std::vector<std::byte> file;
  std::unique_ptr<LibraryJpeg> library;
  BaselineScan scan;
  EntropyTables tables;
};
[[nodiscard]] std::unique_ptr<OpenJpeg> open_jpeg_scan(std::vector<std::byte> file);

// All coefficients, as EntropyTask has them.
using Coefficients = std::vector<std::int16_t>;
struct HostCoefficients {
  Coefficients values;
  std::size_t behind_end = 0;
};
// nullopt: not in order. `piece_bytes`: as ScanPieces takes them; in turn, each from the true state.
[[nodiscard]] std::optional<HostCoefficients> host_coefficients(const OpenJpeg& jpeg,
                                                                std::size_t piece_bytes = 1 << 20);

struct StagedJpeg {
  std::vector<std::byte> bytes;  // with kStreamMargin behind
  StagedScan scan;
};
[[nodiscard]] std::optional<StagedJpeg> staged(const OpenJpeg& jpeg);

// Decodes a group, wherever: coefficients by image, empty where it is not in order.
struct GroupImage {
  const OpenJpeg* jpeg = nullptr;
  const StagedJpeg* staged = nullptr;
};
using GroupResult = std::vector<Coefficients>;

// What the device does, one thread after the other.
[[nodiscard]] GroupResult decode_emulated(std::span<const GroupImage> images);
// On the device; `streams` times the same group at once. Throws Error where CUDA fails, std::runtime_error
// where the results are not the same or a canary was hit.
[[nodiscard]] GroupResult decode_on_cuda(std::span<const GroupImage> images, int streams = 1);

// ---- cases --------------------------------------------------------------------------------------------

// Both decoders' verdicts on the same files; "" where the group's decoder calls nothing in order that the
// host's does not, gives the same coefficients, and gives up nothing that is in order.
struct Verdicts {
  int in_order = 0, damaged = 0;
  // In order, but left to the host.
  int left = 0;
};
using GroupDecoder = GroupResult (*)(std::span<const GroupImage>);
[[nodiscard]] std::string compare_with_host(std::span<const std::vector<std::byte>> files,
                                            GroupDecoder decoder, Verdicts& verdicts);

}  // namespace imgpipe::test
