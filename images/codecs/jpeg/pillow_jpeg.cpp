#include "images/codecs/jpeg/pillow_jpeg.h"

#include <algorithm>
#include <string_view>
#include <vector>

#include "images/codecs/jpeg/jpeg_segments.h"
#include "images/codecs/pillow_orientation.h"
#include "images/codecs/sniff.h"
#include "images/error.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;
using Bytes = std::span<const std::byte>;

constexpr std::string_view kExifHead = "Exif\0\0"sv, kXmpHead = "http://ns.adobe.com/xap/1.0/\0"sv;
constexpr unsigned kQuantization = 0xDB;
constexpr unsigned kHierarchical = 0xDE;
constexpr std::size_t kPillowBlockBytes = 65'536;

[[noreturn]] void fail_header(const char* reason) {
  throw Error(ErrorKind::input, std::string("JPEG: ") + reason);
}

bool pillow_reads_as_frame(unsigned marker) {
  return (marker >= 0xC0 && marker <= 0xCF && marker != 0xC4 && marker != 0xC8 && marker != 0xCC) ||
         marker == kHierarchical;
}

// Restart markers, SOI, EOI and JPGn have no length for Pillow.
bool has_no_length(unsigned marker) {
  return marker == 0xC8 || (marker >= 0xD0 && marker <= 0xD9) || (marker >= 0xF0 && marker <= 0xFD);
}

void check_quantization(Bytes tables) {
  while (!tables.empty()) {
    const std::size_t size = (std::to_integer<unsigned>(tables[0]) >> 4) == 0 ? 65 : 129;
    if (tables.size() < size) fail_header("truncated quantization table");
    tables = tables.subspan(size);
  }
}

// Follows the image resources as far as Pillow does, which rejects a resource that ends at its name.
void check_photoshop(Bytes segment) {
  constexpr std::uint32_t kResolution = 0x03ED;
  for (std::size_t at = 14; matches_at(segment, at, "8BIM");) {
    const std::uint32_t code = big_endian(segment, at + 4, 2);
    at += 6;
    if (at > segment.size()) return;
    if (at == segment.size()) fail_header("truncated Photoshop resource");
    at += 1 + big_endian(segment, at, 1);
    at += at & 1U;
    if (at + 4 > segment.size()) return;
    const std::size_t size = big_endian(segment, at, 4);
    at += 4;
    if (code == kResolution && (size < 14 || segment.size() - at < 14)) return;
    at += size;
    at += at & 1U;
  }
}

class HeaderWalk {
 public:
  explicit HeaderWalk(Bytes file) : file_(file) {}

  PillowJpegHeader walk() {
    for (unsigned marker = next_marker(); marker != kStartOfScan; marker = next_marker()) {
      if (!has_no_length(marker)) read_segment(marker, segment());
    }
    (void)segment();
    if (header_.width == 0 || header_.height == 0) fail_header("no frame header, or one without pixels");
    header_.orientation = pillow_exif_orientation(exif_).value_or(pillow_xmp_orientation(xmp_));
    return header_;
  }

 private:
  // Returns the code of the next marker. Other bytes, and 0xFF before a marker, are skipped.
  unsigned next_marker() {
    for (;;) {
      while (at_ < file_.size() && file_[at_] != std::byte{0xFF}) ++at_;
      while (at_ < file_.size() && file_[at_] == std::byte{0xFF}) ++at_;
      if (at_ >= file_.size()) fail_header("the file ends before the first scan");
      const auto marker = std::to_integer<unsigned>(file_[at_++]);
      if (marker == 0) continue;
      if (marker < 0xC0) fail_header("unknown marker");
      return marker;
    }
  }

  Bytes segment() {
    if (file_.size() - at_ < 2) fail_header("truncated segment");
    const std::size_t length = std::max<std::size_t>(big_endian(file_, at_, 2), 2);
    if (file_.size() - at_ < length) fail_header("truncated segment");
    const Bytes payload = file_.subspan(at_ + 2, length - 2);
    at_ += length;
    return payload;
  }

  void read_segment(unsigned marker, Bytes payload) {
    if (pillow_reads_as_frame(marker)) return read_frame(payload);
    if (marker == kQuantization) return check_quantization(payload);
    const bool short_head = payload.size() < 7;
    if (marker == 0xE0 && matches_at(payload, 0, "JFIF") && short_head) fail_header("truncated JFIF segment");
    if (marker == 0xEE && matches_at(payload, 0, "Adobe") && short_head)
      fail_header("truncated Adobe segment");
    if (marker == 0xE1 && matches_at(payload, 0, kExifHead)) {
      const Bytes more = payload.subspan(kExifHead.size());
      exif_.insert(exif_.end(), more.begin(), more.end());
    }
    if (marker == 0xE1 && matches_at(payload, 0, kXmpHead)) xmp_ = payload.subspan(kXmpHead.size());
    if (marker == 0xE2 && matches_at(payload, 0, "ICC_PROFILE\0"sv)) profile_.push_back(payload);
    if (marker == 0xED && matches_at(payload, 0, "Photoshop 3.0\0"sv)) check_photoshop(payload);
  }

  void read_frame(Bytes payload) {
    if (payload.size() < 6 || payload.size() % 3 != 0) fail_header("truncated frame header");
    if (payload[0] != std::byte{8}) fail_header("samples do not have 8 bits");
    const std::uint32_t components = big_endian(payload, 5, 1);
    if (components != 1 && components != 3 && components != 4) fail_header("neither 1, 3 nor 4 components");
    header_.width = big_endian(payload, 3, 2);
    header_.height = big_endian(payload, 1, 2);
    const auto first = std::ranges::min_element(
        profile_, [](Bytes a, Bytes b) { return std::ranges::lexicographical_compare(a, b); });
    if (first != profile_.end() && first->size() < 14) fail_header("truncated profile segment");
    profile_.clear();
  }

  Bytes file_;
  std::size_t at_ = 0;
  PillowJpegHeader header_;
  std::vector<Bytes> profile_;
  std::vector<std::byte> exif_;  // of all segments
  Bytes xmp_;                    // of the last segment
};

void leave_source(j_decompress_ptr) {}

boolean suspend_input(j_decompress_ptr) {
  return FALSE;
}

void skip_input(j_decompress_ptr decoder, long count) {
  auto& source = *reinterpret_cast<PillowJpegSource*>(decoder->src);
  const auto wanted = static_cast<std::size_t>(count);
  const std::size_t now = std::min(wanted, source.base.bytes_in_buffer);
  source.base.next_input_byte += now;
  source.base.bytes_in_buffer -= now;
  source.skipped = wanted - now;
}

}  // namespace

PillowJpegHeader read_pillow_jpeg_header(std::span<const std::byte> file) {
  return HeaderWalk(file).walk();
}

void set_pillow_source(jpeg_decompress_struct& decoder, PillowJpegSource& source,
                       std::span<const std::byte> file) {
  source.base.next_input_byte = reinterpret_cast<const JOCTET*>(file.data());
  source.base.bytes_in_buffer = 0;
  source.base.init_source = leave_source;
  source.base.fill_input_buffer = suspend_input;
  source.base.skip_input_data = skip_input;
  source.base.resync_to_restart = jpeg_resync_to_restart;
  source.base.term_source = leave_source;
  source.end = source.base.next_input_byte + file.size();
  source.skipped = 0;
  decoder.src = &source.base;
}

bool next_pillow_block(PillowJpegSource& source) {
  do {
    const auto left = static_cast<std::size_t>(source.end - source.base.next_input_byte);
    const std::size_t more = std::min(kPillowBlockBytes, left - source.base.bytes_in_buffer);
    if (more == 0) return false;
    source.base.bytes_in_buffer += more;
    const std::size_t now = std::min(source.skipped, source.base.bytes_in_buffer);
    source.base.next_input_byte += now;
    source.base.bytes_in_buffer -= now;
    source.skipped -= now;
  } while (source.skipped > 0);
  return true;
}

}  // namespace imgpipe
