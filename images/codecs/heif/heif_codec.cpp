#include "images/codecs/heif/heif_codec.h"

#include <utility>

#include "images/codecs/icc.h"
#include "images/error.h"

namespace imgpipe {
namespace {

FoundMetadata find_heif_metadata(Bytes file, const std::string& name) {
  FoundMetadata found;
  try {
    const HeifContents contents = read_heif_contents(file, name);
    const Bytes profile = contents.profile.first(std::min(contents.profile.size(), kMaxProfileBytes));
    found.icc.assign(profile.begin(), profile.end());
    found.exif = contents.exif;
    if (contents.xmp.size() > kMaxXmpBytes) {
      found.lose("XMP (too long)");
    } else {
      found.xmp.assign(contents.xmp.begin(), contents.xmp.end());
    }
    found.orientation = contents.orientation;
    for (const std::string& unread : contents.unread) found.lose(unread);
    if (!contents.color_space.empty()) found.lose("colour space (" + contents.color_space + ")");
  } catch (const Error& error) {
    if (error.kind() == ErrorKind::memory) throw;
    found = {};  // damaged: the reader reports it
  }
  return found;
}

template <class From, class To>
void scale_samples(ConstHostView from, std::uint32_t most, HostView to) {
  constexpr std::uint32_t kMost = kLargest<To>;
  for (std::int64_t y = 0; y < to.height; ++y) {
    const From* in = from.as<From>().row(y);
    To* out = to.as<To>().row(y);
    for (std::int64_t i = 0; i < to.width * to.channels; ++i)
      out[i] = static_cast<To>((std::min<std::uint32_t>(in[i], most) * kMost + most / 2) / most);
  }
}

}  // namespace

FoundMetadata find_avif_metadata(Bytes file) {
  return find_heif_metadata(file, "AVIF");
}

FoundMetadata find_heic_metadata(Bytes file) {
  return find_heif_metadata(file, "HEIC");
}

FileDetails describe_heif(const HeifContents& contents) {
  FileDetails details;
  const HeifCoding& coding = contents.coding;
  details.color = coding.is_grey ? "grey" : contents.is_rgb ? "RGB" : "YCbCr";
  details.channels = (coding.is_grey ? 1 : 3) + (contents.has_alpha ? 1 : 0);
  if (!coding.is_grey) details.subsampling = chroma_sampling(coding.chroma_across, coding.chroma_down);
  if (contents.item_type == "grid") details.layout = "grid of images";
  details.color_space = contents.color_space;
  details.variant = "brand " + contents.brand;
  details.images = contents.images;
  return details;
}

HeifStart start_heif(Bytes file, Format format, const std::string& name, const DecodeOptions& options) {
  HeifStart start{.contents = read_heif_contents(file, name), .header = {}, .warnings = {}};
  const HeifContents& contents = start.contents;
  check_header({contents.width, contents.height, 1}, options);
  check_header({contents.largest.width, contents.largest.height, 1}, options);
  if (contents.is_truncated && !options.lenient())
    throw Error(ErrorKind::input, name + ": the file is truncated");
  if (contents.is_truncated) start.warnings.push_back("damaged " + name + ": the file is truncated");
  start.header.format = format;
  start.header.shape = {contents.crop.width, contents.crop.height, 3};
  start.header.orientation = contents.orientation;
  start.header.more_images = contents.images > 1;
  if (!contents.profile.empty())
    start.header.profile =
        profile_name(contents.profile.first(std::min(contents.profile.size(), kMaxProfileBytes)));
  return start;
}

void scale_rows(ConstHostView from, int bits, HostView to) {
  const std::uint32_t most = (1U << bits) - 1;
  if (bits == 8 && !is_wide(to.sample)) {
    if (from.data != to.data) copy_pixels(from, to);
  } else if (bits == 8) {
    scale_samples<Sample8, Sample16>(from, most, to);
  } else if (!is_wide(to.sample)) {
    scale_samples<Sample16, Sample8>(from, most, to);
  } else {
    scale_samples<Sample16, Sample16>(from, most, to);
  }
}

}  // namespace imgpipe
