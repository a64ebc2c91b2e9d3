// Samples as TIFF, PFM and NPY files store them, and their conversion to those of images (docs/pixels.md).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "images/codecs/codec.h"

namespace imgpipe {

enum class StoredType : std::uint8_t { u8, u16, u32, i8, i16, i32, f16, f32 };

[[nodiscard]] int stored_bytes(StoredType type);
[[nodiscard]] SampleFormat format_of(StoredType type);

// Returns the problem and the remedy if these samples need DecodeOptions::integers; otherwise empty.
[[nodiscard]] std::string missing_rule_reason(SampleFormat format, int bits);
// Returns a notice of the conversion that a rule made; empty for samples without one.
[[nodiscard]] std::string conversion_text(const ImageHeader& header, const DecodeOptions& options);

class SampleConversion {
 public:
  // Throws Error(input), with `name` in front, if the options do not accept these samples.
  SampleConversion(const char* name, StoredType type, bool big_endian, const DecodeOptions& options);

  [[nodiscard]] Sample sample() const noexcept { return sample_; }
  [[nodiscard]] std::int64_t stored_bytes() const noexcept { return imgpipe::stored_bytes(type_); }
  // Whether the stored bytes are the samples.
  [[nodiscard]] bool is_copy() const noexcept { return is_copy_; }
  // Converts `count` samples; the buffers need no alignment and must not overlap.
  void convert(const std::byte* in, std::int64_t count, std::byte* out) const;

 private:
  StoredType type_;
  bool swapped_;
  IntegerRule rule_;
  Sample sample_;
  bool is_copy_;
};

}  // namespace imgpipe
