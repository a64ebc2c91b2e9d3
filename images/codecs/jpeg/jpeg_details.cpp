// Describes how a JPEG is coded, from its header (ITU-T T.81, B.2.2; JFIF 1.02; Adobe Technical Note 5116).
#include <algorithm>
#include <array>
#include <string>

#include "images/codecs/codec_parts.h"
#include "images/codecs/file_details.h"
#include "images/codecs/jpeg/jpeg_segments.h"
#include "images/codecs/sniff.h"
#include "images/files/partial_file.h"

namespace imgpipe {
namespace {

std::string coding_of(unsigned marker) {
  constexpr std::array<std::string_view, 4> kProcesses{"baseline DCT", "extended sequential DCT",
                                                       "progressive DCT", "lossless"};
  const std::string process(kProcesses[marker & 3]);
  return (marker & 4) != 0 ? "hierarchical " + process
                           : process + (marker >= 0xC8 ? ", arithmetic" : ", Huffman");
}

// Without a marker that states the colour space, uses the component names, as libjpeg does (jdapimin.c).
std::string color_of(const JpegFacts& facts) {
  const Bytes frame = facts.frame;
  switch (big_endian(frame, 5, 1)) {
    case 1:
      return "grey";
    case 3:
      if (facts.jfif) return "YCbCr";
      if (facts.adobe_transform) return *facts.adobe_transform == 0 ? "RGB" : "YCbCr";
      return big_endian(frame, 6, 1) == 'R' && big_endian(frame, 9, 1) == 'G' &&
                     big_endian(frame, 12, 1) == 'B'
                 ? "RGB"
                 : "YCbCr";
    case 4:
      return facts.adobe_transform.value_or(0) == 0 ? "CMYK" : "YCCK";
    default:
      return "";
  }
}

// Names the sampling if both chroma planes are alike and any fourth plane is like the first; otherwise lists
// the sampling factors.
std::string sampling_of(Bytes frame, std::size_t components) {
  if (components < 3 || frame.size() < 6 + 3 * components) return "";
  const auto across = [&](std::size_t c) { return big_endian(frame, 6 + 3 * c + 1, 1) >> 4; };
  const auto down = [&](std::size_t c) { return big_endian(frame, 6 + 3 * c + 1, 1) & 15; };
  const auto alike = [&](std::size_t a, std::size_t b) {
    return across(a) == across(b) && down(a) == down(b);
  };
  const bool named = alike(1, 2) && (components == 3 || alike(0, 3)) && across(1) > 0 && down(1) > 0 &&
                     across(0) % across(1) == 0 && down(0) % down(1) == 0;
  std::string text = named ? chroma_sampling(across(0) / across(1), down(0) / down(1)) : "";
  if (!text.empty()) return text;
  for (std::size_t c = 0; c < components; ++c)
    text += (c == 0 ? "" : ",") + std::to_string(across(c)) + "x" + std::to_string(down(c));
  return text;
}

}  // namespace

FileDetails describe_jpeg(Bytes file) {
  const JpegFacts facts = read_jpeg_facts(file);
  FileDetails details;
  if (facts.frame.empty()) return details;
  const std::size_t components = big_endian(facts.frame, 5, 1);
  details.color = color_of(facts);
  details.channels = static_cast<int>(components);
  details.compression = coding_of(facts.frame_marker);
  details.subsampling = sampling_of(facts.frame, components);
  if (facts.restart_interval > 0)
    details.layout = "a restart marker every " + std::to_string(facts.restart_interval) + " MCUs";
  details.decoder = "libjpeg-turbo";
  return details;
}

void load_jpeg_header(PartialFile& front) {
  const std::size_t size = front.bytes().size();
  for (std::size_t count = std::size_t{64} << 10;; count *= 2) {
    front.load(0, count);
    if (count >= size || read_jpeg_facts(front.bytes().first(count)).header_end > 0) return;
  }
}

}  // namespace imgpipe
