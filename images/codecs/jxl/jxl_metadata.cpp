// Metadata of a JPEG XL: the profile in its codestream, EXIF and XMP in boxes, which may be compressed.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "images/codecs/jxl/jxl_codec.h"
#include "images/codecs/jxl/jxl_decoder.h"
#include "images/codecs/jxl/jxl_functions.h"
#include "images/codecs/sniff.h"
#include "images/error.h"

namespace imgpipe {
namespace {

// Unpacks the first box of this type; nullopt if it is damaged, or longer than `most` bytes.
std::optional<std::vector<std::byte>> unpacked_box(Bytes file, std::string_view type, std::size_t most) {
  const JxlDecoderOwner decoder = start_jxl(file, JXL_DEC_BOX);
  if (late_jxl::JxlDecoderSetDecompressBoxes(decoder.get(), JXL_TRUE) != JXL_DEC_SUCCESS) return std::nullopt;
  std::vector<std::byte> box;
  bool is_open = false;
  while (true) {
    const JxlDecoderStatus status = late_jxl::JxlDecoderProcessInput(decoder.get());
    if (is_open && status != JXL_DEC_BOX_NEED_MORE_OUTPUT) {
      box.resize(box.size() - late_jxl::JxlDecoderReleaseBoxBuffer(decoder.get()));
      if (status != JXL_DEC_BOX && status != JXL_DEC_SUCCESS) return std::nullopt;
      return box;
    }
    if (status != JXL_DEC_BOX) return std::nullopt;
    JxlBoxType found{};
    if (late_jxl::JxlDecoderGetBoxType(decoder.get(), found, JXL_TRUE) != JXL_DEC_SUCCESS)
      return std::nullopt;
    if (std::string_view(found, sizeof found) != type) continue;
    box.resize(most);
    is_open = late_jxl::JxlDecoderSetBoxBuffer(decoder.get(), reinterpret_cast<std::uint8_t*>(box.data()),
                                               most) == JXL_DEC_SUCCESS;
    if (!is_open) return std::nullopt;
  }
}

void unpack(Bytes file, const JxlContents& contents, FoundMetadata& found) {
  if (contents.has_packed_exif && found.exif.empty()) {
    constexpr std::size_t kMost = 1 << 20;  // with a thumbnail, which is dropped
    if (auto box = unpacked_box(file, "Exif", kMost)) {
      found.exif_storage = std::make_shared<const std::vector<std::byte>>(std::move(*box));
      found.exif = jxl_exif(*found.exif_storage);
    } else {
      found.lose("EXIF (damaged, or too long)");
    }
  }
  if (contents.has_packed_xmp && found.xmp.empty()) {
    if (auto box = unpacked_box(file, "xml ", kMaxXmpBytes)) {
      found.xmp = std::move(*box);
    } else {
      found.lose("XMP (damaged, or too long)");
    }
  }
}

}  // namespace

FoundMetadata find_jxl_metadata(Bytes file) {
  FoundMetadata found;
  try {
    const JxlContents contents = read_jxl_contents(file);
    JxlHeaders headers = read_jxl_headers(contents.codestream);
    found.icc = std::move(headers.profile);
    found.orientation = static_cast<Orientation>(headers.info.orientation);
    found.exif = contents.exif;
    if (contents.xmp.size() > kMaxXmpBytes) {
      found.lose("XMP (too long)");
    } else {
      found.xmp.assign(contents.xmp.begin(), contents.xmp.end());
    }
    unpack(file, contents, found);
    for (const std::string& unread : contents.unread) found.lose(unread);
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::memory) throw;
    found = {};  // damaged: the reader reports it
  }
  return found;
}

}  // namespace imgpipe
