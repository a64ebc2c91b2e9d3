// Images that go to a device, and come from it, as files have them: what goes up and what comes down.
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

// A JPEG whose scan is ready to go up.
struct StagedJpeg {
  const JpegScan* jpeg = nullptr;  // the reader's, which must stay
  StagedScan scan;
  Image bytes;  // scan.bytes of them are filled
};

// Stages the image of a reader, in memory of `memory`. nullopt where the device is not to decode it: the
// reader gives rows only, its markers are not in order, or what stands behind its end is not. Nothing was
// read then, and the reader's rows, with its verdict, are to be had as ever. Throws Error(memory).
[[nodiscard]] std::optional<StagedJpeg> stage_jpeg(Reader& reader, std::pmr::memory_resource& memory);

// What a device made of a finished image in place of its pixels.
struct OutputRecord {
  Image bytes;  // empty: nothing was made
  // PNG: top to bottom, where each lies in `bytes`. Of a JPEG one, all of it.
  struct Part {
    std::size_t offset = 0, bytes = 0;
    std::uint32_t adler = 1;  // these two as in Writer::EncodedStrip
    bool filtered = false;
  };
  std::vector<Part> parts;
};

// What of an image's way goes through the device's codecs.
struct CodedImage {
  std::optional<StagedJpeg> jpeg;  // set: the device decodes it
  bool is_intact = true;           // what it found of that; else there is no result
  DeviceForm form;                 // what it makes of the finished image; `none`: its pixels
  std::int64_t strip_rows = 0;     // of PNG
  OutputRecord made;
};

// Of an image that `writer` is for, if there is one, before anything is made.
[[nodiscard]] CodedImage coded_image_for(const Writer* writer);

// The whole file. `writer` has not been written to.
[[nodiscard]] EncodedFile file_of(const OutputRecord& made, Writer& writer, Timeline& timeline);

}  // namespace imgpipe
