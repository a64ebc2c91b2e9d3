// Reads any bytes as an EXIF block, an XMP packet, IPTC and a file with metadata. Preserved metadata is
// valid, and unchanged when it is preserved again.
#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "images/codecs/metadata/exif_block.h"
#include "images/codecs/metadata/iptc.h"
#include "images/codecs/metadata/xmp.h"
#include "images/error.h"
#include "images/formats/preserved_metadata.h"
#include "tests/fuzz/fuzz_target.h"

namespace {

using imgpipe::Error;

void write_exif_twice(std::span<const std::byte> bytes, bool of_tiff_file) {
  std::vector<std::byte> once;
  try {
    imgpipe::ExifBlock block = imgpipe::parse_exif(bytes, of_tiff_file);
    imgpipe::adapt_exif(block, imgpipe::Orientation::upright, 640, 480);
    if (block.empty()) return;
    once = imgpipe::build_exif(block, imgpipe::kMaxExifBytes);
    const std::vector<std::byte> moved = imgpipe::build_exif_directories(block, 8).bytes;
    if (moved.size() > once.size()) __builtin_trap();
  } catch (const Error&) {
    return;
  }
  // Throws if `once` is not valid; the exception ends the fuzzer.
  const imgpipe::ExifBlock block = imgpipe::parse_exif(once);
  if (imgpipe::build_exif(block, imgpipe::kMaxExifBytes) != once) __builtin_trap();
}

void check_xmp_twice(std::span<const std::byte> bytes) {
  std::vector<std::byte> once;
  try {
    once = imgpipe::checked_xmp(bytes, true);
  } catch (const Error&) {
    return;
  }
  if (imgpipe::checked_xmp(once, true).size() > once.size()) __builtin_trap();
}

void check_iptc_twice(std::span<const std::byte> bytes) {
  imgpipe::FoundMetadata found;
  imgpipe::find_photoshop_metadata(bytes, found);
  try {
    const std::span<const std::byte> once = imgpipe::checked_iptc(bytes);
    if (once.size() > imgpipe::kMaxIptcBytes) return;
    found = {};
    imgpipe::find_photoshop_metadata(imgpipe::iptc_resource(once), found);
    if (!std::ranges::equal(found.iptc, once)) __builtin_trap();
  } catch (const Error&) {
    return;
  }
}

// The last byte determines what has changed the image: a bit for each cause, two for the orientation.
imgpipe::ImageChanges changes_of(std::span<const std::byte> bytes, imgpipe::Format output) {
  const unsigned last = bytes.empty() ? 0 : std::to_integer<unsigned>(bytes.back());
  const auto has = [last](unsigned bit) { return (last >> bit & 1) != 0; };
  constexpr imgpipe::Orientation kApplied[] = {imgpipe::Orientation::upright, imgpipe::Orientation::rotate_90,
                                               imgpipe::Orientation::rotate_180,
                                               imgpipe::Orientation::transpose};
  return {.output = output,
          .shape = {3, 2, 3},
          .applied = kApplied[last >> 6],
          .moved = has(0) || has(2),
          .scaled = has(1),
          .turned = has(2),
          .reshaped = has(1) ? "image size changed" : "",
          .revalued = has(3),
          .to_srgb = has(4),
          .whole_stack = !has(5)};
}

}  // namespace

IMGPIPE_FUZZ_TARGET(fuzz_metadata) {
  const auto bytes = std::as_bytes(std::span(data, size));
  write_exif_twice(bytes, false);
  write_exif_twice(bytes, true);
  check_xmp_twice(bytes);
  check_iptc_twice(bytes);
  for (const imgpipe::Format format : {imgpipe::Format::png, imgpipe::Format::tiff, imgpipe::Format::jpeg}) {
    const imgpipe::PreservedMetadata kept = imgpipe::keep_metadata(bytes, changes_of(bytes, format));
    if (!kept.metadata) continue;
    imgpipe::EncodeOptions options;
    options.metadata = kept.metadata;
    const auto writer = imgpipe::make_writer(format, {3, 2, 3}, options);
    const imgpipe::Image image({3, 2, 3});
    writer->write_rows(image.untyped_view());
    (void)writer->finish();
  }
  return 0;
}
