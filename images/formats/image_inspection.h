// Properties of an image file from its headers alone. No pixel is decoded, and for most formats only the
// headers are read (images/files/partial_file.h).
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

struct MetadataBlock {
  std::string name;  // "EXIF", "XMP", "IPTC", "ICC profile", "comment", "text", "description", "GeoTIFF"
  // "OME-XML", "ImageJ", "tifffile" or "text" for a description; the keyword for a text; else empty.
  std::string kind;
  // Unpacked size; 0: not a separate block (EXIF among a TIFF's directories).
  std::int64_t bytes = 0;
};

struct DecodingMemory {
  std::int64_t by_rows_bytes = 0;  // the reader's memory when reading row by row, without file and rows
  std::int64_t whole_bytes = 0;    // the image and the reader's memory, without the file
};

struct ImageInspection {
  ImageHeader header;  // the shape as the pipeline receives it
  FileDetails details;
  std::int64_t file_bytes = 0, read_bytes = 0;       // size of the file, and how much of it was read
  std::int64_t stored_width = 0, stored_height = 0;  // before the orientation is applied
  std::int64_t images = 1;                           // pages of a TIFF, frames of an animation
  std::int64_t reduced_images = 0;       // the number of pages that are reduced versions of others
  bool has_pages = false;                // whether the format supports --pages
  std::optional<Resolution> resolution;  // from the format, else from EXIF
  std::string profile;                   // name; empty: none
  std::vector<MetadataBlock> metadata;
  std::string decoder;             // the code that decodes the pixels
  std::string no_device_decoding;  // why devices cannot decode it; empty: they can
  DecodingMemory memory;
  std::vector<std::string> warnings;  // the reader's, and parts that a run would drop or reject
};

// Opens the file like a run with these options; the pipeline sets DecodeOptions::max_bits to 16. Throws the
// errors of open_reader(), whose reasons contain no bytes of the file.
[[nodiscard]] ImageInspection inspect_image(InputFile file, DecodeOptions options);

// Opens a file for inspect_image(). Reads only the beginning of a regular file over one megabyte, otherwise
// the whole file. Throws the errors of open_input().
[[nodiscard]] InputFile open_for_inspection(const std::string& path, const DecodeOptions& options,
                                            InputKind kind);

}  // namespace imgpipe
