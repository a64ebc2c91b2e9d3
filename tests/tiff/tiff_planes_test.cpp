// --bands all: each band of a TIFF is processed as a grey image and written as a plane of one TIFF.
#include <cstring>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <tiffio.h>

#include "images/codecs/tiff/tiff_codec.h"
#include "images/error.h"
#include "images/files/input_file.h"
#include "images/formats/page_list.h"
#include "pipeline/engine.h"
#include "pipeline/jobs/input_job.h"
#include "pipeline/second_images.h"
#include "pipeline/stage_list.h"
#include "tests/support/error_kind.h"
#include "tests/support/files.h"
#include "tests/support/random_stages.h"
#include "tests/support/tiff_file.h"

namespace imgpipe::test::tiff_planes_test {
namespace {

DecodeOptions decoding(std::vector<int> bands = {}) {
  DecodeOptions options;
  options.max_bits = 32;
  options.bands = std::move(bands);
  return options;
}

// Chunky or separate floats, which make_tiff() does not write.
FileBytes float_tiff(int width, int height, int samples, bool separate, Random& random) {
  MadeTiff file(width, height);
  const auto plane_bytes = static_cast<std::uint64_t>(width) * static_cast<std::uint64_t>(height) * 4;
  const auto count = static_cast<std::uint64_t>(samples);
  file.set(258, std::vector<std::uint64_t>(count, 32));
  file.set(277, {count});
  file.set(339, std::vector<std::uint64_t>(count, 3));
  file.set(338, std::vector<std::uint64_t>(count - 1, 0));
  if (samples == 1) file.fields.erase(338);
  file.pixels.resize(plane_bytes * count);
  for (std::size_t at = 0; at < file.pixels.size(); at += 4) {
    const float value = static_cast<float>(below(random, 4001) - 1000) / 2000;
    std::memcpy(file.pixels.data() + at, &value, 4);
  }
  std::vector<std::uint64_t> offsets, counts;
  for (std::uint64_t plane = 0; plane < (separate ? count : 1); ++plane) {
    offsets.push_back(8 + plane * plane_bytes);
    counts.push_back(separate ? plane_bytes : plane_bytes * count);
  }
  file.set(273, offsets, 4);
  file.set(279, counts, 4);
  if (separate) file.set(284, {2});
  return file.build();
}

TiffKind random_kind(Random& random) {
  constexpr int kCompressions[] = {COMPRESSION_NONE, COMPRESSION_PACKBITS, COMPRESSION_LZW,
                                   COMPRESSION_ADOBE_DEFLATE, COMPRESSION_ZSTD};
  TiffKind kind{.width = static_cast<int>(1 + below(random, 50)),
                .height = static_cast<int>(1 + below(random, 40))};
  kind.bits = below(random, 2) == 0 ? 8 : 16;
  kind.samples = static_cast<int>(1 + below(random, below(random, 20) == 0 ? 64 : 7));
  kind.compression = kCompressions[below(random, 5)];
  if (kind.compression >= COMPRESSION_LZW && kind.compression != COMPRESSION_PACKBITS)
    kind.predictor = static_cast<int>(1 + below(random, 2));
  kind.separate = below(random, 2) == 0;
  kind.big = below(random, 4) == 0;
  kind.big_endian = below(random, 3) == 0;
  if (below(random, 3) == 0) kind.tile_width = kind.tile_height = 16;
  if (kind.tile_width == 0) kind.rows_per_strip = static_cast<int>(below(random, 12));
  const bool rgb = kind.samples >= 3 && below(random, 3) == 0;
  kind.photometric = rgb                     ? PHOTOMETRIC_RGB
                     : below(random, 6) == 0 ? PHOTOMETRIC_MINISWHITE
                                             : PHOTOMETRIC_MINISBLACK;
  kind.extra.assign(static_cast<std::size_t>(kind.samples - (rgb ? 3 : 1)),
                    static_cast<int>(below(random, 2)));
  kind.orientation = below(random, 4) == 0 ? static_cast<int>(1 + below(random, 8)) : 0;
  return kind;
}

std::string random_list(Random& random, bool floats) {
  static const std::vector<std::string> kAny{"smooth",    "resize:13x9", "resize:70%",     "crop:1x1",
                                             "flip",      "rotate:90",   "pad:60x70:gray", "invert",
                                             "gamma:1.7", "add:0.1",     "levels:10:200",  "subtract:dark"};
  static const std::vector<std::string> kIntegers{
      "contrast",   "contrast:1",    "hist",         "threshold:otsu", "threshold:77", "equalize",
      "clahe:2",    "median",        "sobel",        "box:3",          "gauss:1.5",    "sharpen",
      "erode:2",    "tophat:2",      "posterize:3",  "depth:16",       "depth:8",      "add:20",
      "absdiff:90", "subtract:dark", "multiply:dark"};
  std::string list;
  for (std::int64_t i = below(random, 4); i >= 0; --i) {
    const std::vector<std::string>& from = floats || below(random, 3) == 0 ? kAny : kIntegers;
    list += (list.empty() ? "" : ",") + from[static_cast<std::size_t>(below(random, std::ssize(from)))];
  }
  return list;
}

class TiffPlanes : public testing::Test {
 protected:
  // Returns why the run fails; empty: it does not.
  std::string process(const std::string& input, const std::string& output, const ImageSettings& settings) {
    InputJob job({.input = directory_.file(input),
                  .output = directory_.file(output),
                  .input_name = "in",
                  .output_name = "out",
                  .format = Format::tiff},
                 settings, PageRequest{}, InputKind::any, Timeline());
    try {
      job.open([](const Plan&, const ImageHeader&) {}, [](const std::string&) {});
      job.run(*engine_, {});
      job.finish();
    } catch (const Error& error) {
      const std::string text = error.what();
      return text.substr(text.find(": "));
    }
    return "";
  }

  // Processes all bands, and each band extracted as a grey TIFF, and compares the pixels.
  void expect_bands_as_alone(const FileBytes& file, const std::string& list, Random& random) {
    save(directory_.file("in.tif"), file);
    ImageSettings settings;
    settings.decode = decoding();
    settings.stages = parse_stages(list);
    (void)load_second_images(settings.stages, {.named = dark_});
    settings.encode.tiff_packing = static_cast<TiffPacking>(below(random, 5));
    settings.encode.tiff_tile = below(random, 3) == 0 ? 16 : 0;
    ImageSettings of_all = settings;
    of_all.decode.bands_of_page = 0;
    const std::string why = process("in.tif", "out.tif", of_all);
    const PageList bands(directory_.file("in.tif"), of_all.decode, InputKind::any);
    for (std::int64_t band = 1; band <= bands.size(); ++band) {
      const DecodeOptions options = decoding({static_cast<int>(band)});
      const Image alone = decode(file, options);
      const auto writer = make_writer(Format::tiff, alone.shape(), {});
      writer->write_rows(alone.untyped_view());
      save(directory_.file("band.tif"), writer->finish().joined());
      ASSERT_EQ(process("band.tif", "band_out.tif", settings), why) << band;
      if (!why.empty()) continue;
      ++bands_compared_;
      const Image expected = decode(load(directory_.file("band_out.tif")), decoding());
      const Image result = decode(load(directory_.file("out.tif")), options);
      ASSERT_EQ(result.shape(), expected.shape()) << band;
      ASSERT_EQ(std::memcmp(result.untyped_view().data, expected.untyped_view().data,
                            static_cast<std::size_t>(expected.shape().bytes())),
                0)
          << band;
    }
  }

  void make_dark(Shape shape) {
    Image dark(shape);
    for (std::int64_t i = 0; i < shape.bytes(); ++i)
      dark.untyped_view().data[i] = static_cast<std::byte>(i % 7);
    dark_ = {{.name = "dark", .path = "", .image = make_second_image("dark", dark.untyped_view())}};
  }

  TemporaryDirectory directory_;
  std::unique_ptr<Engine> engine_ = make_cpu_engine(2);
  std::vector<NamedImage> dark_;
  int bands_compared_ = 0;
};

TEST_F(TiffPlanes, AreTheResultsOfTheBandsAlone) {
  Random random(36);
  for (int trial = 0; trial < 80; ++trial) {
    const TiffKind kind = random_kind(random);
    Values values(static_cast<std::size_t>(kind.width * kind.height * kind.samples));
    for (int& value : values) value = static_cast<int>(below(random, std::int64_t{1} << kind.bits));
    make_dark({kind.width, kind.height, 1, kind.bits == 8 ? Sample::u8 : Sample::u16});
    const std::string list = random_list(random, false);
    SCOPED_TRACE(std::to_string(trial) + ": " + list + " " + std::to_string(kind.width) + "x" +
                 std::to_string(kind.height) + " " + std::to_string(kind.samples) + " of " +
                 std::to_string(kind.bits) + " bits" + (kind.separate ? ", separate" : ""));
    ASSERT_NO_FATAL_FAILURE(expect_bands_as_alone(make_tiff(kind, values), list, random));
  }
  EXPECT_GT(bands_compared_, 150);
}

TEST_F(TiffPlanes, MayBeFloats) {
  Random random(5);
  for (int trial = 0; trial < 40; ++trial) {
    const int width = static_cast<int>(1 + below(random, 40)),
              height = static_cast<int>(1 + below(random, 30));
    const int samples = static_cast<int>(1 + below(random, 6));
    make_dark({width, height, 1, Sample::f32});
    const FileBytes file = float_tiff(width, height, samples, trial % 2 == 0, random);
    const std::string list = random_list(random, true);
    SCOPED_TRACE(std::to_string(trial) + ": " + list);
    ASSERT_NO_FATAL_FAILURE(expect_bands_as_alone(file, list, random));
  }
  EXPECT_GT(bands_compared_, 50);
}

}  // namespace
}  // namespace imgpipe::test::tiff_planes_test
