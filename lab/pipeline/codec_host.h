// The host variants of the codecs' ladders.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "images/image.h"
#include "lab/kernels/codec_variant.h"
#include "lab/pipeline/codec_subject.h"

namespace imgpipe {

// A variant's result for one image of the group; members that its work does not produce are empty.
struct CodecOutput {
  bool is_intact = true;
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

// A host variant prepared for a group. An exception from run() ends the run.
class HostCodecRun {
 public:
  virtual ~HostCodecRun() = default;
  HostCodecRun(const HostCodecRun&) = delete;
  HostCodecRun& operator=(const HostCodecRun&) = delete;

  // Called once before the shares of each run.
  virtual void begin() {}
  // Runs one thread's share; all shares run at the same time.
  virtual void run(const Share& share) = 0;
  // Returns the last run's result.
  [[nodiscard]] virtual CodecOutput answer(std::size_t image) = 0;

 protected:
  HostCodecRun() = default;
};

// A run that processes images independently: thread `i` of `n` takes images i, i + n, i + 2n, ...
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

// Entropy decoding: one thread; libjpeg-turbo or our decoder, one image per thread; all threads on one image.
MakeHostCodec sequential_entropy, turbo_entropy, own_entropy, speculative_entropy;
// Reconstruction: on one thread; by bands of MCU rows.
MakeHostCodec sequential_reconstruction, simd_reconstruction;
// Whole decoding: libjpeg-turbo and our decoder, one image per thread; all threads on one image.
MakeHostCodec turbo_decoding, own_decoding, band_decoding;
// Encoding and packing, grey: on one thread; one image or one strip per thread.
MakeHostCodec sequential_encoding, turbo_encoding, sequential_packing, strip_packing;

}  // namespace imgpipe
