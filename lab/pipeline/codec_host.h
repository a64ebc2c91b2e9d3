// Rungs of the codecs' ladders that the host's processor runs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "images/image.h"
#include "lab/kernels/codec_rung.h"
#include "lab/pipeline/codec_subject.h"

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

// A run that makes each image of the group on its own: thread `i` of `n` makes images i, i + n, i + 2n, ...
class GroupRun : public HostCodecRun {
 public:
  void run(const Share& share) override {
    for (auto i = static_cast<std::size_t>(share.index); i < images_;
         i += static_cast<std::size_t>(share.count))
      make(i);
  }

 protected:
  explicit GroupRun(const CodecGroup& group) : subject_(group.subject), images_(group.images) {}
  [[nodiscard]] const CodecSubject& subject() const { return *subject_; }
  [[nodiscard]] std::size_t images() const { return images_; }
  virtual void make(std::size_t /*image*/) {}

 private:
  std::shared_ptr<const CodecSubject> subject_;
  std::size_t images_;
};

// Entropy decoding: bit by bit on one thread; libjpeg-turbo or our decoder, an image a thread; all threads at
// one image.
MakeHostCodec sequential_entropy, turbo_entropy, own_entropy, speculative_entropy;
// Reconstruction: on one thread; bands of MCU rows.
MakeHostCodec sequential_reconstruction, simd_reconstruction;
// Whole decoding: an image a thread; all threads at one image.
MakeHostCodec turbo_decoding, own_decoding, band_decoding;
// Encoding, grey: on one thread; an image a thread. Packing, grey: byte by byte on one thread; a strip a
// thread.
MakeHostCodec sequential_encoding, turbo_encoding, sequential_packing, strip_packing;

}  // namespace imgpipe
