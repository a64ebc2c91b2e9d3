// What an image file is, by its headers alone: no pixel is decoded, and of most formats no more is read than
// the headers (images/files/file_front.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "images/codecs/codec.h"
#include "images/codecs/file_details.h"
#include "images/codecs/metadata/metadata.h"
#include "images/formats/pending_input.h"

namespace imgpipe {

// A block of metadata.
struct MetadataBlock {
  std::string name;  // "EXIF", "XMP", "IPTC", "ICC profile", "comment", "text", "description", "GeoTIFF"
  // Of a description "OME-XML", "ImageJ", "tifffile", "text"; of a text its keyword; else empty.
  std::string kind;
  // Unpacked; 0: it has no block of its own (EXIF among a TIFF's directories).
  std::int64_t bytes = 0;
};

struct DecodingMemory {
  std::int64_t by_rows_bytes =
      0;                         // beside the file and the rows: the reader's own, rows asked for one by one
  std::int64_t whole_bytes = 0;  // beside the file: the image, and the reader's own
};

struct ImageInspection {
  ImageHeader header;  // its shape: as the pipeline sees it
  FileDetails details;
  std::int64_t file_bytes = 0, read_bytes = 0;       // of the file, and of them that were read
  std::int64_t stored_width = 0, stored_height = 0;  // before the orientation is applied
  std::int64_t images = 1;                           // pages of a TIFF, frames of an animation
  std::int64_t reduced_images = 0;                   // of them: pages that are smaller versions of another
  bool has_pages = false;                            // of the format: --pages
  std::optional<Resolution> resolution;              // the format's own, else EXIF's
  std::string profile;                               // name; empty: none
  std::vector<MetadataBlock> metadata;
  std::string decoder;             // which code here makes the pixels
  std::string no_device_decoding;  // why no device decodes it; empty: a device would
  DecodingMemory memory;
  std::vector<std::string> warnings;  // of metadata and pages: what is there and could not be had
};

// Opens the file as a run would, by `options`: with DecodeOptions::most_bits 16 as the pipeline has it.
// Throws Error(input) and Error(memory) as open_reader() does, with a reason that holds no byte of the file.
[[nodiscard]] ImageInspection inspect_image(InputFile file, DecodeOptions options);

// A file for inspect_image(): of a regular one of more than a megabyte its beginning only, of all else the
// whole. Throws Error(input) and Error(memory) as open_input() does.
[[nodiscard]] InputFile open_for_inspection(const std::string& path, const DecodeOptions& options,
                                            InputKind kind);

}  // namespace imgpipe
