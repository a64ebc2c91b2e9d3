#include "images/codecs/png/png_header_facts.h"

#include "images/codecs/codec_parts.h"
#include "images/codecs/metadata/exif_block.h"
#include "images/codecs/png/png_chunks.h"
#include "images/codecs/png/png_texts.h"

namespace imgpipe {

void read_png_header_facts(std::span<const std::byte> file, ImageHeader& header,
                           std::vector<std::string>& warnings) {
  const PngFacts facts = read_png_facts(file);
  header.orientation = exif_orientation(facts.exif);
  if (header.orientation == Orientation::upright && !facts.xmp.empty() && !states_orientation(facts.exif))
    header.orientation = png_xmp_orientation(facts.xmp);
  header.more_images = facts.images > 1;
  if (facts.profile) header.profile = compressed_profile_name(*facts.profile);
  if (facts.end != 0) warn_of_following_bytes(file, facts.end, warnings);
}

}  // namespace imgpipe
