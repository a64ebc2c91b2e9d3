// Rungs of the codecs' ladders that the host's processor runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "images/image.h"
#include "lab/kernels/codec_rung.h"

namespace imgpipe {

// What a rung made of one image of the group: what its work gives, the rest is empty.
struct CodecAnswer {
  bool in_order = true;
  std::vector<std::int16_t> coefficients;
  Image pixels;
  std::vector<std::uint64_t> counts;
  struct Part {
    std::vector<std::byte> bytes;
    std::uint32_t adler = 1;
    bool filtered = false;
  };
  std::vector<Part> parts;
};

// A rung of the host made ready for a group. Whatever throws in run() ends the run.
class HostCodecRun {
 public:
  virtual ~HostCodecRun() = default;
  HostCodecRun(const HostCodecRun&) = delete;
  HostCodecRun& operator=(const HostCodecRun&) = delete;

  // Once before the shares of each run.
  virtual void begin() {}
  // A thread's share; all shares at the same time.
  virtual void run(const Share& share) = 0;
  // Of the last run.
  [[nodiscard]] virtual CodecAnswer answer(std::size_t image) = 0;

 protected:
  HostCodecRun() = default;
};

using HostCodec = std::unique_ptr<HostCodecRun>;

// Entropy decoding.
[[nodiscard]] HostCodec sequential_entropy(const CodecGroup& group);   // bit by bit; one thread
[[nodiscard]] HostCodec turbo_entropy(const CodecGroup& group);        // libjpeg-turbo; an image a thread
[[nodiscard]] HostCodec own_entropy(const CodecGroup& group);          // our decoder; an image a thread
[[nodiscard]] HostCodec speculative_entropy(const CodecGroup& group);  // all threads at one image
// Reconstruction.
[[nodiscard]] HostCodec sequential_reconstruction(const CodecGroup& group);  // one thread
[[nodiscard]] HostCodec simd_reconstruction(const CodecGroup& group);        // bands of MCU rows
// Whole decoding.
[[nodiscard]] HostCodec turbo_decoding(const CodecGroup& group);  // an image a thread
[[nodiscard]] HostCodec own_decoding(const CodecGroup& group);    // an image a thread
[[nodiscard]] HostCodec band_decoding(const CodecGroup& group);   // all threads at one image
// Encoding.
[[nodiscard]] HostCodec sequential_encoding(const CodecGroup& group);  // grey, as all four; one thread
[[nodiscard]] HostCodec turbo_encoding(const CodecGroup& group);       // an image a thread
[[nodiscard]] HostCodec sequential_packing(const CodecGroup& group);   // byte by byte; one thread
[[nodiscard]] HostCodec strip_packing(const CodecGroup& group);        // a strip a thread

}  // namespace imgpipe
