// Real files, through IMGPIPE_CORPUS: valid ones decode, invalid ones are refused.
#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/error.h"
#include "images/image.h"
#include "images/text.h"
#include "tests/support/files.h"
#include "tests/support/images.h"

namespace imgpipe::test::corpus_test {
namespace {

namespace fs = std::filesystem;

Image decode(const fs::path& path, const DecodeOptions& options = {}) {
  const std::vector<std::byte> bytes = load(path);
  const auto reader = open_reader(bytes, options);
  Image image(reader->header().shape);
  reader->read_rows(image.view());
  return image;
}

// Converts to RGBA, so that files of different kinds can be compared.
Image rgba(const Image& image) {
  const Shape shape = image.shape();
  Image out({shape.width, shape.height, 4});
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const Sample8* in = image.view().row(y) + x * shape.channels;
      Sample8* to = out.view().row(y) + 4 * x;
      for (int c = 0; c < 3; ++c) to[c] = in[shape.color_channels() == 3 ? c : 0];
      to[3] = shape.has_alpha() ? in[shape.channels - 1] : 255;
    }
  }
  return out;
}

// Returns the largest difference of a sample. Ignores alpha unless `with_alpha`, and colours that are
// transparent in both.
int largest_difference(const Image& a, const Image& b, bool with_alpha) {
  if (a.shape().width != b.shape().width || a.shape().height != b.shape().height) return 1000;
  const Image first = rgba(a);
  const Image second = rgba(b);
  int largest = 0;
  for (std::int64_t i = 0; i < first.shape().pixels(); ++i) {
    const Sample8* p = first.view().data + 4 * i;
    const Sample8* q = second.view().data + 4 * i;
    if (with_alpha) largest = std::max(largest, std::abs(p[3] - q[3]));
    if (p[3] == 0 && q[3] == 0) continue;
    for (int c = 0; c < 3; ++c) largest = std::max(largest, std::abs(p[c] - q[c]));
  }
  return largest;
}

TEST(Corpus, PhotosDecode) {
  IMGPIPE_NEED_CORPUS();
  for (const fs::path& path : files_below(*corpus() / "photos")) {
    EXPECT_NO_THROW((void)decode(path)) << path;
  }
}

TEST(Corpus, PngSuiteDecodesAndCorruptFilesAreRejected) {
  IMGPIPE_NEED_CORPUS();
  const auto valid = files_below(*corpus() / "pngsuite/valid");
  EXPECT_EQ(valid.size(), 161U);
  for (const fs::path& path : valid) EXPECT_NO_THROW((void)decode(path)) << path;
  const auto corrupt = files_below(*corpus() / "pngsuite/corrupt");
  EXPECT_EQ(corrupt.size(), 14U);
  for (const fs::path& path : corrupt) EXPECT_THROW((void)decode(path), Error) << path;
}

// The suite stores the same image interlaced and not: basn3p04 and basi3p04.
TEST(Corpus, PngSuiteInterlacedEqualsPlain) {
  IMGPIPE_NEED_CORPUS();
  int pairs = 0;
  for (const fs::path& path : files_below(*corpus() / "pngsuite/valid")) {
    std::string name = path.filename().string();
    if (!name.starts_with("basn")) continue;
    name[3] = 'i';
    const fs::path interlaced = path.parent_path() / name;
    if (!fs::exists(interlaced)) continue;
    EXPECT_EQ(first_difference(decode(path).view(), decode(interlaced).view()), "") << path;
    ++pairs;
  }
  EXPECT_GE(pairs, 15);
}

TEST(Corpus, JpegReferences) {
  IMGPIPE_NEED_CORPUS();
  // Several decoders made the references, so pixels may differ by a level or two.
  int compared = 0;
  for (const fs::path& path : files_below(*corpus() / "jpeg/reftest")) {
    if (path.extension() != ".jpg") continue;
    fs::path reference = path;
    reference.replace_extension(".png");
    DecodeOptions options;
    options.accept = Acceptance::lenient;  // libjpeg warns about four of them, which a strict decode refuses
    Image image;
    ASSERT_NO_THROW(image = decode(path, options)) << path;
    // Decoders handle the damage in these two files differently.
    if (path.stem() == "partial_progressive" || path.stem() == "progressive-missing-dc") continue;
    if (!fs::exists(reference)) continue;
    EXPECT_LE(largest_difference(image, decode(reference), false), 2) << path;
    ++compared;
  }
  EXPECT_GE(compared, 10);
}

TEST(Corpus, ExifOrientationsShowTheSameImage) {
  IMGPIPE_NEED_CORPUS();
  const fs::path directory = *corpus() / "jpeg/exif_recurser";
  const Image upright = decode(directory / "Landscape_1.jpg");
  for (int i = 2; i <= 8; ++i) {
    const Image turned = decode(directory / ("Landscape_" + std::to_string(i) + ".jpg"));
    ASSERT_EQ(turned.shape(), upright.shape()) << i;
    double sum = 0;
    for (std::int64_t k = 0; k < upright.shape().samples(); ++k)
      sum += std::abs(upright.view().data[k] - turned.view().data[k]);
    EXPECT_LT(sum / static_cast<double>(upright.shape().samples()), 6.0)
        << "each is its own JPEG, so not equal: " << i;
  }
}

TEST(Corpus, BmpReferences) {
  IMGPIPE_NEED_CORPUS();
  // Files with the same image as another file, whose PNG is the reference for both.
  const std::map<std::string, std::string> twins{{"pal1wb", "pal1"},
                                                 {"pal4rle", "pal4"},
                                                 {"pal8-0", "pal8"},
                                                 {"pal8os2", "pal8"},
                                                 {"pal8rle", "pal8"},
                                                 {"pal8v4", "pal8"},
                                                 {"pal8topdown", "pal8"},
                                                 {"pal8v5", "pal8"},
                                                 {"rgb24pal", "rgb24"},
                                                 {"rgb32", "rgb24"},
                                                 {"rgb32bf", "rgb24"},
                                                 {"rgb16-565pal", "rgb16-565"},
                                                 {"pal8nonsquare", "pal8nonsquare-e"}};
  int compared = 0;
  for (const fs::path& path : files_below(*corpus() / "other/bmp_suite_good")) {
    Image image;
    ASSERT_NO_THROW(image = decode(path)) << path;
    const std::string stem = path.stem().string();
    const auto twin = twins.find(stem);
    const fs::path reference =
        *corpus() / "other/bmp_reference_png" / ((twin != twins.end() ? twin->second : stem) + ".png");
    if (!fs::exists(reference)) continue;
    // Rules for widening 5-bit and 6-bit samples differ.
    const int most = stem.starts_with("rgb16") ? 1 : 0;
    EXPECT_LE(largest_difference(image, decode(reference), true), most) << path;
    ++compared;
  }
  EXPECT_EQ(compared, 23);
}

TEST(Corpus, TgaReferences) {
  IMGPIPE_NEED_CORPUS();
  int compared = 0;
  for (const fs::path& path : files_below(*corpus() / "other/tga_pillow_with_png_refs")) {
    if (path.extension() != ".tga") continue;
    const std::string name = path.filename().string();
    const fs::path reference =
        path.parent_path() / (name.substr(0, name.find('_', name.find('_') + 1)) + ".png");
    EXPECT_EQ(largest_difference(decode(path), decode(reference), true), 0) << path;
    ++compared;
  }
  EXPECT_EQ(compared, 24);
}

TEST(Corpus, GifFirstFrames) {
  IMGPIPE_NEED_CORPUS();
  for (const char* name : {"cogs", "dispose-background", "dispose-previous", "trans-x"}) {
    const fs::path directory = *corpus() / "other/gif";
    const Image gif = decode(directory / (std::string(name) + ".gif"));
    const Image frames = decode(directory / (std::string(name) + ".png"));  // all frames, one below the other
    Image first({frames.shape().width, gif.shape().height, frames.shape().channels});
    copy_pixels(frames.view().rows(0, gif.shape().height), first.view());
    EXPECT_EQ(largest_difference(gif, first, true), 0) << name;
  }
}

// The same checks protect stb when it is selected.
TEST(Corpus, EveryFileIsHandledSafelyByStb) {
  IMGPIPE_NEED_CORPUS();
  for (const char* part : {"broken", "bombs", "pngsuite"}) {
    for (const fs::path& path : files_below(*corpus() / part)) {
      for (const bool lenient : {false, true}) {
        DecodeOptions options;
        options.codec = CodecChoice::stb;
        options.accept = lenient ? Acceptance::lenient : Acceptance::strict;
        options.max_pixels = 40'000'000;
        try {
          (void)decode(path, options);
        } catch (const Error& error) {
          EXPECT_EQ(printable(error.what()), error.what()) << path;
        }
      }
    }
  }
}

TEST(Corpus, LenientNeverCrashes) {
  IMGPIPE_NEED_CORPUS();
  for (const char* part : {"broken", "bombs", "jpeg"}) {
    for (const fs::path& path : files_below(*corpus() / part)) {
      DecodeOptions options;
      options.accept = Acceptance::lenient;
      options.max_pixels = 40'000'000;
      try {
        (void)decode(path, options);
      } catch (const Error& error) {
        EXPECT_EQ(printable(error.what()), error.what()) << path;
      }
    }
  }
}

}  // namespace
}  // namespace imgpipe::test::corpus_test
