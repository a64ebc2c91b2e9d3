// Walks the segments of a JPEG as stb_image 2.27 does.
//
// stb_image writes past its memory for a Huffman table of more than 256 codes (stb issue 1289), so this walk
// must see every table that stb sees. Each step goes where stb goes, refuses the file, or stops if stb fails.
//
// Markers: stbi__get_marker() takes 0xFF, any number of further 0xFF, and the next byte. Before the frame
// header, from the second segment on, stbi__decode_jpeg_header() skips other bytes; later they are an error.
//
// Segments: stbi__process_marker() leaves each segment that it accepts at the end of its declared length. It
// skips APPn and COM; DQT, DHT, DRI, frame, scan and DNL must end there exactly. It accepts no others, and no
// second frame header.
//
// Scans: entropy-coded data extends to a marker (0xFF, any number of 0xFF, then neither 0xFF nor 0) and past
// RSTn. If stb gives up earlier, it searches for the next 0xFF and continues only at that same marker: it
// does not accept a 0 or RSTn as a segment's marker.
//
// An image or component without a scan would come out as zeros; that is refused too.
#include <bitset>
#include <cstring>
#include <string>

#include "images/codecs/sniff.h"
#include "images/codecs/stb/stb_claims.h"
#include "images/error.h"

namespace imgpipe {
namespace {

using Bytes = std::span<const std::byte>;

void require_jpeg(bool condition, const char* reason) {
  if (!condition) throw Error(ErrorKind::input, reason);
}

class SegmentWalk {
 public:
  explicit SegmentWalk(Bytes bytes) : bytes_(bytes) {}

  StbClaims walk() {
    bool first = true;
    while (claims_.width == 0) {
      const std::uint32_t marker = next_marker(!first);
      require_jpeg(is_frame(marker) || is_common(marker), "jpeg: no frame header that stb_image supports");
      segment(marker);
      first = false;
    }
    for (std::uint32_t marker = 0; (marker = next_marker(false)) != 0xD9;) {
      require_jpeg(marker == 0xDA || marker == 0xDC || is_common(marker),
                   "jpeg: contains a marker that stb_image does not support");
      segment(marker);
      if (marker == 0xDA) skip_entropy_coded_data();
    }
    require_jpeg((in_frame_ & ~in_scans_).none(), "jpeg: a component has no scan");
    return claims_;
  }

 private:
  static bool is_frame(std::uint32_t marker) { return marker >= 0xC0 && marker <= 0xC2; }
  // Tables, APPn and COM, which are allowed before and after the frame header.
  static bool is_common(std::uint32_t marker) {
    return marker == 0xC4 || marker == 0xDB || marker == 0xDD || (marker >= 0xE0 && marker <= 0xEF) ||
           marker == 0xFE;
  }

  std::uint32_t next_marker(bool scan) {
    while (scan && at_ < bytes_.size() && bytes_[at_] != std::byte{0xFF}) ++at_;
    require_jpeg(at_ < bytes_.size(), "jpeg: the file is truncated");
    require_jpeg(bytes_[at_] == std::byte{0xFF}, "jpeg: a marker is missing");
    while (at_ < bytes_.size() && bytes_[at_] == std::byte{0xFF}) ++at_;
    require_jpeg(at_ < bytes_.size(), "jpeg: the file is truncated");
    return little_endian(bytes_, at_++, 1);
  }

  // Moves at_ from the segment's length to its end.
  void segment(std::uint32_t marker) {
    const std::size_t length = big_endian(bytes_, at_, 2);
    require_jpeg(length >= 2, "jpeg: invalid segment length");
    // Before all other checks, because stb builds the tables before it compares their total length.
    if (marker == 0xC4) check_huffman_tables(at_ + 2, length - 2);
    require_jpeg(length <= bytes_.size() - at_, "jpeg: the file is truncated");
    if (marker == 0xDC) require_jpeg(length == 4, "jpeg: invalid segment length");
    if (is_frame(marker)) read_frame();
    if (marker == 0xDA) {
      require_jpeg(++scans_ <= kMaxScans, "jpeg: more than 500 scans");
      mark_components(in_scans_, at_ + 2, 2);
    }
    at_ += length;
  }

  void read_frame() {
    claims_.height = big_endian(bytes_, at_ + 3, 2);
    claims_.width = big_endian(bytes_, at_ + 5, 2);
    require_jpeg(claims_.width > 0 && claims_.height > 0, "jpeg: the width or height is 0");
    mark_components(in_frame_, at_ + 7, 3);
  }

  // `at` is the offset of the number of components; each has `bytes` bytes, beginning with its name.
  void mark_components(std::bitset<256>& set, std::size_t at, std::size_t bytes) const {
    const std::uint32_t count = little_endian(bytes_, at, 1);
    for (std::size_t i = 0; i < count; ++i) set.set(little_endian(bytes_, at + 1 + bytes * i, 1));
  }

  // Like stb, reads past the end of a segment that ends inside a table.
  void check_huffman_tables(std::size_t at, std::size_t segment_bytes) const {
    constexpr std::size_t kLengths = 16;
    const std::size_t end = at + segment_bytes;
    while (at < end) {
      std::uint32_t codes = 0;
      for (std::size_t i = 0; i < kLengths; ++i) codes += little_endian(bytes_, at + 1 + i, 1);
      require_jpeg(codes <= 256, "jpeg: a Huffman table has more than 256 codes");
      const std::uint32_t name = little_endian(bytes_, at, 1);
      require_jpeg(name >> 4 <= 1 && (name & 15) <= 3,
                   "jpeg: invalid Huffman table; expected DC or AC, 0 to 3");
      at += 1 + kLengths + codes;
    }
  }

  // Moves at_ to the 0xFF of the marker that ends the scan.
  void skip_entropy_coded_data() {
    while (at_ < bytes_.size()) {
      const void* found = std::memchr(&bytes_[at_], 0xFF, bytes_.size() - at_);
      if (found == nullptr) break;
      const auto start = static_cast<std::size_t>(static_cast<const std::byte*>(found) - bytes_.data());
      at_ = start;
      while (at_ < bytes_.size() && bytes_[at_] == std::byte{0xFF}) ++at_;
      const std::uint32_t marker = little_endian(bytes_, at_++, 1);
      if (marker == 0 || (marker >= 0xD0 && marker <= 0xD7)) continue;
      at_ = start;
      return;
    }
    require_jpeg(false, "jpeg: the file is truncated");
  }

  // Each scan may be a pass over the whole image; real encoders write about ten.
  static constexpr int kMaxScans = 500;

  Bytes bytes_;
  std::size_t at_ = 2;
  int scans_ = 0;
  std::bitset<256> in_frame_;  // component names
  std::bitset<256> in_scans_;
  StbClaims claims_;
};

}  // namespace

StbClaims read_stb_jpeg_claims(std::span<const std::byte> bytes) {
  StbClaims claims = SegmentWalk(bytes).walk();
  claims.bytes_per_pixel = 16;
  return claims;
}

}  // namespace imgpipe
