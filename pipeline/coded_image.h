// Images that a device decodes and encodes: the data to upload and the data that it returns.
//
//   file --stage_jpeg()--> StagedJpeg --> device: decode, steps, encode --> OutputRecord --file_of()--> file
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <optional>
#include <vector>

#include "images/codecs/codec.h"
#include "images/codecs/jpeg/jpeg_scan.h"
#include "images/codecs/jpeg/staged_scan.h"
#include "images/image.h"
#include "pipeline/timeline.h"

namespace imgpipe {

// A JPEG whose scan is ready for upload.
struct StagedJpeg {
  const JpegScan* jpeg = nullptr;  // owned by the reader, which must outlive this
  StagedScan scan;
  Image bytes;  // the first scan.bytes bytes are filled
};

// Stages a reader's image in memory from `memory`. Returns nullopt if the device must not decode it: not a
// supported JPEG, irregular markers, or invalid data after its end. The reader is then unchanged: it still
// returns the rows, and throws its errors. Throws Error(memory).
[[nodiscard]] std::optional<StagedJpeg> stage_jpeg(Reader& reader, std::pmr::memory_resource& memory);

// A finished image as encoded by a device.
struct OutputRecord {
  Image bytes;  // empty: the device encoded nothing
  // A slice of `bytes`. A PNG has one per strip, from top to bottom; a JPEG has one, the entropy-coded data.
  struct Part {
    std::size_t offset = 0, bytes = 0;
    std::uint32_t adler = 1;  // PNG: this and `filtered` as in Writer::EncodedStrip
    bool filtered = false;
  };
  std::vector<Part> parts;
};

// The data of one image that the device's codecs read and write.
struct CodedImage {
  std::optional<StagedJpeg> jpeg;  // set: the device decodes it
  bool is_intact = true;           // false: the device found damage; there are no results
  DeviceForm form;                 // how the device encodes the finished image; `none`: it returns pixels
  std::int64_t strip_rows = 0;     // PNG: rows per strip
  OutputRecord made;
};

// Returns the request to encode for `writer`, or to return pixels if it is null.
[[nodiscard]] CodedImage coded_image_for(const Writer* writer);

// Returns the whole file. `writer` must not have been written to.
[[nodiscard]] EncodedFile file_of(const OutputRecord& made, Writer& writer, Timeline& timeline);

}  // namespace imgpipe
