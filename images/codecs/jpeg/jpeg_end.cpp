// Finds the end of a JPEG: after its end marker, ignoring those inside segments (an Exif thumbnail has one),
// and after the further images that an MPF segment lists (CIPA DC-007: previews, gain maps).
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <vector>

#include "images/codecs/jpeg/jpeg_codec.h"
#include "images/codecs/jpeg/jpeg_segments.h"
#include "images/codecs/sniff.h"
#include "images/error.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;

// A stuffed 0xFF, a restart marker, or a code that images do not use. The latter may be damage, which the
// decoder handles.
bool has_no_segment(unsigned marker) {
  return marker < 0xC0 || (marker >= 0xD0 && marker <= 0xD7);
}

// Walks from marker to marker. Returns true after an image's end marker, or before a start marker: then this
// image was truncated. Returns false if the data ends first. Skips the contents of segments.
bool find_image_end(Bytes file, std::size_t& at) {
  while (at < file.size()) {
    const void* const found = std::memchr(file.data() + at, 0xFF, file.size() - at);
    if (found == nullptr) {
      at = file.size();
      return false;
    }
    at = static_cast<std::size_t>(static_cast<const std::byte*>(found) - file.data());
    while (at + 1 < file.size() && file[at + 1] == std::byte{0xFF}) ++at;  // fill bytes
    if (at + 1 >= file.size()) return false;
    const auto marker = std::to_integer<unsigned>(file[at + 1]);
    if (marker == kStartOfImage) return true;
    if (has_no_segment(marker) || marker == kEndOfImage) {
      at += 2;
      if (marker == kEndOfImage) return true;
      continue;
    }
    if (file.size() - at < 4) return false;
    const std::size_t length = big_endian(file, at + 2, 2);
    if (length < 2)
      throw Error(ErrorKind::input, "JPEG: segment length must be at least 2, got " + std::to_string(length));
    at += 2 + length;
  }
  return false;
}

struct Extent {
  std::size_t at = 0, bytes = 0;
};

// Returns the extents of the images that the index's MP entries list, in order (CIPA DC-007, 5.2.3), without
// the first image, which is at offset 0.
std::vector<Extent> further_image_extents(Bytes file, Bytes index) {
  constexpr std::size_t kMaxPictures = 64;
  constexpr std::size_t kFieldBytes = 12, kEntryBytes = 16;
  constexpr std::uint32_t kEntriesTag = 0xB002;
  std::vector<Extent> pictures;
  const bool little = matches_at(index, 0, "II*\0"sv);
  if (!little && !matches_at(index, 0, "MM\0*"sv)) return pictures;
  const auto number = [&](std::size_t at, std::size_t bytes) -> std::size_t {
    return little ? little_endian(index, at, bytes) : big_endian(index, at, bytes);
  };
  const auto begin = static_cast<std::size_t>(index.data() - file.data());
  const std::size_t directory = number(4, 4);
  const std::size_t fields = std::min(number(directory, 2), index.size() / kFieldBytes);
  for (std::size_t field = 0; field < fields; ++field) {
    const std::size_t at = directory + 2 + field * kFieldBytes;
    if (number(at, 2) != kEntriesTag) continue;
    const std::size_t count = std::min(number(at + 4, 4) / kEntryBytes, kMaxPictures);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t entry = number(at + 8, 4) + i * kEntryBytes;
      const Extent picture{begin + number(entry + 8, 4), number(entry + 4, 4)};
      if (picture.at > begin && picture.bytes > 0) pictures.push_back(picture);
    }
    break;
  }
  std::ranges::sort(pictures, {}, &Extent::at);
  return pictures;
}

class JpegEnd final : public EndFinder {
 public:
  bool find(Bytes image, bool all) override {
    if (image_bytes_ == 0) {
      if (!find_image_end(image, at_)) return false;
      image_bytes_ = taken_bytes_ = at_;
      const Bytes itself = image.first(at_);
      const JpegFacts facts = read_jpeg_facts(itself);
      has_exif_ = !facts.exif.empty();
      further_ = further_image_extents(itself, facts.multi_picture_index);
      if (!further_.empty() && further_.front().at < at_) further_.clear();
    }
    return accepts_further_images(image) || all;
  }

  std::size_t padding(Bytes after) const override { return after.size() - without_padding(after).size(); }
  // A file with Exif comes from a camera, which may append other data (previews without an index, videos).
  bool may_have_trailer() const override { return has_exif_; }

 private:
  // Accepts further images that have the position and length in the index. Data that differs begins a
  // separate image: some programs cut off the further images but keep the index.
  bool accepts_further_images(Bytes file) {
    while (next_ < further_.size()) {
      const Extent& picture = further_[next_];
      const std::size_t end = picture.at + picture.bytes;
      try {
        if (!passed_front_ && !pass_start_marker(file, picture)) return false;
        if (!passed_picture_ && !find_image_end(file, at_) && at_ <= end) return false;
      } catch (const Error&) {
        return true;  // not an image
      }
      passed_picture_ = at_ <= end;
      if (!passed_picture_) return true;
      if (!pass_padding(file, end)) return false;
      if (at_ < end) return true;
      taken_bytes_ = end;
      passed_front_ = passed_picture_ = false;
      ++next_;
    }
    return true;
  }

  // Moves from the end of one image past the start marker of the next. Returns false if more data is needed.
  // Throws Error if that marker is missing.
  bool pass_start_marker(Bytes file, const Extent& picture) {
    if (!pass_padding(file, picture.at)) return false;
    if (at_ != picture.at || (file.size() >= at_ + 2 && !matches_at(file, at_, "\xFF\xD8"sv)))
      throw Error(ErrorKind::input, "");
    if (file.size() < at_ + 2) return false;
    at_ += 2;
    return passed_front_ = true;
  }

  // Moves to `end`, or to the first byte before it that is not padding. Returns false if more data is needed.
  bool pass_padding(Bytes file, std::size_t end) {
    if (at_ >= end) return true;
    const Bytes front = file.subspan(at_, std::min(end, file.size()) - at_);
    const std::size_t passed = padding(front);
    at_ += passed;
    if (at_ == end || passed < front.size()) return true;
    if (passed > 0 && front.back() == std::byte{0xFF}) --at_;  // the next byte decides whether it is padding
    return false;
  }

  std::size_t at_ = 2;
  std::vector<Extent> further_;
  std::size_t next_ = 0;  // index into further_
  bool passed_front_ = false, passed_picture_ = false, has_exif_ = false;
};

}  // namespace

std::unique_ptr<EndFinder> find_jpeg_end() {
  return std::make_unique<JpegEnd>();
}

}  // namespace imgpipe
