#include "tests/support/tiff_seeds.h"

#include <utility>

#include "images/codecs/codec.h"
#include "images/image.h"
#include "tests/support/tiff_file.h"

namespace imgpipe::test {

std::vector<std::vector<std::byte>> tiff_seeds() {
  std::vector<TiffKind> kinds;
  for (const int compression : {1, 5, 8, 32773, 50000}) {
    for (const int bits : {1, 4, 8, 12, 16}) {
      TiffKind kind{.width = 19, .height = 11, .bits = bits, .compression = compression, .rows_per_strip = 4};
      kind.big = bits == 4;
      kind.big_endian = bits == 12;
      kind.reversed_bits = bits == 1;
      kind.photometric = bits == 1 ? 0 : 1;
      kinds.push_back(kind);
      kind.samples = 3;
      kind.photometric = 2;
      kind.tile_width = kind.tile_height = 16;
      kind.separate = bits == 16;
      if (compression != 1 && compression != 32773 && bits >= 8 && bits != 12) kind.predictor = 2;
      kinds.push_back(kind);
    }
  }
  for (const int compression : {2, 3, 4})
    kinds.push_back({.width = 40, .height = 9, .bits = 1, .photometric = 0, .compression = compression});
  for (const int photometric : {1, 2, 6})
    kinds.push_back({.width = 17,
                     .height = 16,
                     .samples = photometric == 1 ? 1 : 3,
                     .photometric = photometric,
                     .compression = 7});
  kinds.push_back({.width = 9, .height = 4, .samples = 4, .photometric = 2, .compression = 8, .extra = {1}});
  kinds.push_back(
      {.width = 9, .height = 4, .samples = 4, .photometric = 5, .compression = 8, .orientation = 6});
  TiffKind palette{.width = 9, .height = 4, .bits = 2, .photometric = 3, .compression = 5};
  for (int i = 0; i < 12; ++i) palette.palette.push_back(i * 5000);
  kinds.push_back(palette);
  std::vector<std::vector<std::byte>> seeds;
  std::vector<TiffPageSource> pages;
  for (const TiffKind& kind : kinds) {
    Values samples;
    for (int i = 0; i < kind.width * kind.height * kind.samples; ++i)
      samples.push_back(i / 3 * 5 % (1 << kind.bits));
    seeds.push_back(make_tiff(kind, samples));
    pages.push_back({kind, std::move(samples)});
  }
  const std::vector<TiffPageSource> some(pages.end() - 4, pages.end());
  seeds.push_back(make_tiff_stack(some));
  const TiffPageSource grey{{.width = 6, .height = 5}, Values(30, 77)};
  seeds.push_back(make_imagej_stack({grey, grey, grey}));
  // Floats with their predictor in tiles, and integers of 32 bits.
  const Image floats({19, 11, 3, Sample::f32});
  const auto writer = make_writer(Format::tiff, floats.shape(), {.tiff_tile = 16});
  writer->write_rows(floats.untyped_view());
  seeds.push_back(writer->finish().joined());
  for (const std::uint64_t format : {1, 2, 3}) {
    MadeTiff wide(7, 5);
    wide.pixels.resize(4 * 7 * 5);
    wide.set(258, {32});
    wide.set(279, {wide.pixels.size()}, 4);
    wide.set(339, {format});
    seeds.push_back(wide.build());
  }
  return seeds;
}

}  // namespace imgpipe::test
