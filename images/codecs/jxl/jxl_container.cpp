#include "images/codecs/jxl/jxl_container.h"

#include <algorithm>
#include <array>

#include "images/codecs/heif/heif_boxes.h"
#include "images/codecs/sniff.h"
#include "images/text.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;

constexpr std::string_view kCodestream = "\xFF\x0A"sv, kContainer = "\0\0\0\x0CJXL \x0D\x0A\x87\x0A"sv;

void take_metadata(const Box& box, JxlContents& contents) {
  // Boxes without metadata; jbrd restores the bytes of a JPEG.
  constexpr std::array kOthers{"JXL "sv, "ftyp"sv, "jxll"sv, "jxlc"sv, "jxlp"sv, "jxli"sv, "jbrd"sv};
  constexpr std::size_t kMaxUnread = 16;
  if (std::ranges::find(kOthers, box.type) != kOthers.end()) return;
  const bool is_packed = box.type == "brob"sv && box.payload.size() >= 4;
  const std::string_view type =
      is_packed ? std::string_view(reinterpret_cast<const char*>(box.payload.data()), 4) : box.type;
  if (type == "Exif"sv) {
    if (is_packed) contents.has_packed_exif = true;
    if (!is_packed && contents.exif.empty()) contents.exif = jxl_exif(box.payload);
  } else if (type == "xml "sv) {
    if (is_packed) contents.has_packed_xmp = true;
    if (!is_packed && contents.xmp.empty()) contents.xmp = box.payload;
  } else if (contents.unread.size() < kMaxUnread) {
    contents.unread.push_back(type == "jumb"sv ? "JUMBF" : printable(type) + " box");
  }
}

}  // namespace

bool is_jxl(Bytes beginning) {
  return matches_at(beginning, 0, kCodestream) || matches_at(beginning, 0, kContainer);
}

Bytes jxl_exif(Bytes box) {
  const std::size_t start = 4 + std::size_t{big_endian(box, 0, 4)};
  return box.subspan(std::min(box.size(), start));
}

JxlContents read_jxl_contents(Bytes file) {
  JxlContents contents;
  if (!matches_at(file, 0, kContainer)) {
    contents.codestream = file;
    return contents;
  }
  contents.has_boxes = true;
  std::vector<Bytes> parts;
  Bytes rest = file;
  while (const std::optional<Box> box = next_box(rest)) {
    contents.is_truncated = contents.is_truncated || box->is_truncated;
    if (box->type == "jxlc"sv) parts = {box->payload};
    if (box->type == "jxlp"sv && box->payload.size() >= 4) parts.push_back(box->payload.subspan(4));
    take_metadata(*box, contents);
  }
  contents.is_truncated = contents.is_truncated || !rest.empty();
  if (parts.size() == 1) contents.codestream = parts.front();
  if (parts.size() > 1) {
    for (const Bytes part : parts) contents.joined.insert(contents.joined.end(), part.begin(), part.end());
    contents.codestream = contents.joined;
  }
  return contents;
}

}  // namespace imgpipe
