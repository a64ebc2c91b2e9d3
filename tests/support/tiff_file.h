// TIFF files for tests: complete ones of any kind, made by libtiff, and directories made field by field.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "images/codecs/pages.h"
#include "tests/support/decoding.h"

namespace imgpipe::test {

struct TiffKind {
  int width = 1, height = 1;
  int bits = 8;
  int samples = 1;
  int photometric = 1;
  int compression = 1;
  int predictor = 1;
  int tile_width = 0, tile_height = 0;  // 0: strips
  int rows_per_strip = 0;               // 0: all
  bool separate = false, big = false, big_endian = false, reversed_bits = false;
  Values extra = {};    // ExtraSamples
  Values palette = {};  // 16 bits: reds, greens, blues
  int orientation = 0;  // 0: no such field; likewise the next ones
  int t4_options = 0;
  int subsampling = 1;  // of YCbCr
  int subfile = 0;      // NewSubfileType
  std::string description = {};
};

// `samples` are in stored order, row by row, with those of a pixel together.
[[nodiscard]] FileBytes make_tiff(const TiffKind& kind, const Values& samples);
// Makes a directory for each page; byte order and size of offsets are those of the first.
struct TiffPageSource {
  TiffKind kind;
  Values samples;
};
[[nodiscard]] FileBytes make_tiff_stack(const std::vector<TiffPageSource>& pages);
// Makes one directory and N images, as ImageJ writes large stacks: 8 or 16 bits, grey, uncompressed.
[[nodiscard]] FileBytes make_imagej_stack(const std::vector<TiffPageSource>& pages);
// Returns the number of directories that libtiff finds.
[[nodiscard]] int pages_by_libtiff(const FileBytes& file);

// Returns all pixels converted to RGBA by libtiff, four values each.
[[nodiscard]] Values rgba_by_libtiff(const FileBytes& file);
// Return all samples of a page as read by libtiff, with 8 or 16 bits, and the page's description.
[[nodiscard]] Values samples_by_libtiff(const FileBytes& file, int page = 0);
[[nodiscard]] std::string description_by_libtiff(const FileBytes& file, int page);

// Returns the file of one page.
[[nodiscard]] inline FileBytes page_bytes(const Pages& pages, std::int64_t page,
                                          Pages::Part part = Pages::Part::all) {
  const InputFile file = pages.page(page, part);
  return {file.bytes().begin(), file.bytes().end()};
}

// A little-endian file with one directory, whose fields may be anything.
struct MadeTiff {
  struct Field {
    int type = 3;  // 3: 16 bits, 4: 32 bits, 16: 64 bits, else bytes
    std::vector<std::uint64_t> values;
  };
  bool big = false;
  std::map<int, Field> fields;
  std::vector<std::pair<int, Field>> more_fields;  // after the others, whatever their tags
  FileBytes pixels;                                // after the header
  std::uint64_t next = 0;

  // Grey, 8 bits, one strip.
  MadeTiff(int width, int height);
  void set(int tag, std::vector<std::uint64_t> values, int type = 3) {
    fields[tag] = {type, std::move(values)};
  }
  [[nodiscard]] FileBytes build() const;
};

}  // namespace imgpipe::test
