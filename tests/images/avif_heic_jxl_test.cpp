// Reading AVIF, HEIC and JPEG XL: pixels, orientation and metadata of files by the libraries' encoders,
// damage at every byte, and sizes that contradict each other.
#include <algorithm>
#include <random>
#include <utility>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/error.h"
#include "images/formats/codec_table.h"
#include "images/formats/preserved_metadata.h"
#include "tests/support/decoding.h"
#include "tests/support/images.h"
#include "tests/support/library_encoders.h"
#include "tests/support/profiles.h"

namespace imgpipe::test::avif_heic_jxl_test {
namespace {

// Samples of `bits` bits; two neighbours are rarely equal.
Image noise(const Size& size, int channels, int bits, std::uint32_t seed) {
  Image image({size.width, size.height, channels, bits > 8 ? Sample::u16 : Sample::u8});
  std::mt19937 random(seed);
  const HostView view = image.untyped_view();
  visit_sample(view.sample, [&]<class T>(T) {
    for (std::int64_t y = 0; y < view.height; ++y) {
      for (std::int64_t i = 0; i < view.width * channels; ++i)
        view.as<T>().row(y)[i] = static_cast<T>(random() & ((1U << bits) - 1));
    }
  });
  return image;
}

// A smooth image, which lossy coding changes little.
Image ramp(const Size& size, int channels) {
  Image image({size.width, size.height, channels});
  for (std::int64_t y = 0; y < size.height; ++y) {
    for (std::int64_t x = 0; x < size.width; ++x) {
      for (int c = 0; c < channels; ++c)
        image.view().row(y)[x * channels + c] = static_cast<Sample8>(60 + 2 * x + y + 20 * c);
    }
  }
  return image;
}

Image scaled(const Image& stored, int bits, int max_bits) {
  const ConstHostView in = stored.untyped_view();
  Image out({in.width, in.height, in.channels, decoded_sample(bits, max_bits)});
  const std::uint64_t most = (1U << bits) - 1;
  const HostView to = out.untyped_view();
  const std::uint64_t full = to.sample == Sample::u8 ? 255 : 65535;
  for (std::int64_t y = 0; y < in.height; ++y) {
    for (std::int64_t i = 0; i < in.width * in.channels; ++i) {
      const std::uint64_t value =
          in.sample == Sample::u8 ? std::uint64_t{in.as<Sample8>().row(y)[i]} : in.as<Sample16>().row(y)[i];
      const std::uint64_t wanted = (value * full + most / 2) / most;
      if (to.sample == Sample::u8) to.as<Sample8>().row(y)[i] = static_cast<Sample8>(wanted);
      if (to.sample == Sample::u16) to.as<Sample16>().row(y)[i] = static_cast<Sample16>(wanted);
    }
  }
  return out;
}

// The lossless formats in every layout and depth: values v of a maximum m become (v * M + m / 2) / m.
TEST(AvifHeicJxl, LosslessPixelsAreExact) {
  for (const Format format : library_formats()) {
    if (format == Format::heic) continue;
    for (const int bits : {8, 10, 12, 16}) {
      if (format == Format::avif && bits == 16) continue;
      for (const Size& size : {Size{1, 1}, {1, 37}, {37, 1}, {31, 17}, {67, 131}}) {
        for (const int channels : {1, 2, 3, 4}) {
          SCOPED_TRACE(std::string(format_info(format).name) + " bits " + std::to_string(bits) + " " +
                       std::to_string(size.width) + "x" + std::to_string(size.height) + " channels " +
                       std::to_string(channels));
          const Image image = noise(size, channels, bits, 7);
          const Bytes file = encode_by_library(format, std::as_const(image).untyped_view(), {.bits = bits});
          const auto reader = open_reader(file);
          EXPECT_EQ(reader->header().format, format);
          EXPECT_EQ(reader->header().bits_per_sample, bits);
          for (const int max_bits : {8, 16}) {
            const DecodeOptions options{.max_bits = max_bits};
            const Image got = decode(file, options);
            const Image expected = scaled(image, bits, max_bits);
            ASSERT_EQ(got.shape(), expected.shape());
            EXPECT_EQ(first_difference(std::as_const(expected).untyped_view(), got.untyped_view()), "");
            EXPECT_EQ(first_difference(got.untyped_view(), decode_in_bands(file, 5, options).untyped_view()),
                      "");
          }
        }
      }
    }
  }
}

TEST(AvifHeicJxl, LossyPixelsAreClose) {
  for (const Format format : library_formats()) {
    for (const int channels : {1, 3, 4}) {
      SCOPED_TRACE(std::string(format_info(format).name) + " channels " + std::to_string(channels));
      const Image image = ramp({48, 34}, channels);
      const Image got = decode(encode_by_library(format, image.view(), {.lossless = format == Format::heic}));
      ASSERT_EQ(got.shape(), image.shape());
      for (std::int64_t y = 0; y < 34; ++y) {
        for (std::int64_t i = 0; i < std::int64_t{48} * channels; ++i)
          ASSERT_NEAR(got.view().row(y)[i], image.view().row(y)[i], 6) << i << "," << y;
      }
    }
  }
}

// An AVIF is rotated, then mirrored (ISO/IEC 23000-22, section 7.3.6.7); EXIF's orientation is ignored.
TEST(AvifHeicJxl, OrientationIsAppliedOnce) {
  const Image image = noise({9, 5}, 3, 8, 3);
  DecodeOptions stored;
  stored.orient = false;
  for (const Format format : library_formats()) {
    if (format == Format::heic) continue;
    for (int kind = 0; kind < (format == Format::avif ? 12 : 8); ++kind) {
      LibraryCoding coding{.exif = turned_exif()};
      Image expected = decode(encode_by_library(format, image.view()));
      const auto apply = [&](Orientation orientation) {
        Image turned(oriented_shape(expected.shape(), orientation));
        orient_pixels(std::as_const(expected).untyped_view(), turned.untyped_view(), orientation);
        expected = std::move(turned);
      };
      if (format == Format::avif) {
        coding.quarter_turns = kind % 4;
        coding.mirror = kind / 4 - 1;
        for (int turn = 0; turn < coding.quarter_turns; ++turn) apply(Orientation::rotate_270);
        if (coding.mirror == 0) apply(Orientation::mirror_vertical);
        if (coding.mirror == 1) apply(Orientation::mirror_horizontal);
      } else {
        coding.orientation = kind + 1;
        apply(static_cast<Orientation>(coding.orientation));
      }
      SCOPED_TRACE(std::string(format_info(format).name) + " " + std::to_string(kind));
      const Bytes file = encode_by_library(format, image.view(), coding);
      const Image got = decode(file);
      ASSERT_EQ(got.shape(), expected.shape());
      EXPECT_EQ(first_difference(std::as_const(expected).view(), got.view()), "");
      EXPECT_EQ(first_difference(image.view(), decode(file, stored).view()), "");
    }
  }
}

TEST(AvifHeicJxl, MetadataIsPreserved) {
  const Bytes xmp = bytes_of(
      "<x:xmpmeta xmlns:x='adobe:ns:meta/'><rdf:RDF "
      "xmlns:rdf='http://www.w3.org/1999/02/22-rdf-syntax-ns#'></rdf:RDF></x:xmpmeta>");
  for (const Format format : library_formats()) {
    for (const bool packed : {false, true}) {
      SCOPED_TRACE(std::string(format_info(format).name) + " packed " + std::to_string(packed));
      const Image image = ramp({16, 12}, 3);
      const Bytes file = encode_by_library(
          format, image.view(),
          {.packed_boxes = packed, .exif = turned_exif(), .xmp = xmp, .icc = adobe_profile()});
      EXPECT_EQ(open_reader(file)->header().orientation, Orientation::upright);
      const PreservedMetadata kept = keep_metadata(
          file, {.output = Format::png, .shape = image.shape(), .applied = Orientation::upright});
      ASSERT_TRUE(kept.metadata != nullptr);
      EXPECT_EQ(lost_metadata_text(kept.lost), "");
      EXPECT_EQ(kept.metadata->icc, adobe_profile());
      EXPECT_EQ(exif_orientation(kept.metadata->exif), Orientation::upright);
      EXPECT_FALSE(kept.metadata->exif.empty());
      EXPECT_FALSE(kept.metadata->xmp.empty());
    }
  }
}

// Every beginning of a file, and files with changed bytes, decode or fail with one line.
TEST(AvifHeicJxl, DamageIsReported) {
  for (const Format format : library_formats()) {
    SCOPED_TRACE(std::string(format_info(format).name));
    const Image image = ramp({12, 10}, 3);
    const Bytes file =
        encode_by_library(format, image.view(), {.exif = turned_exif(), .icc = adobe_profile()});
    for (std::size_t size = 0; size < file.size(); ++size) {
      EXPECT_NE(failure(cut(file, size)), "") << size;
      (void)try_decode(cut(file, size), lenient());
    }
    std::mt19937 random(11);
    for (int trial = 0; trial < 300; ++trial) {
      Bytes changed = file;
      for (auto count = 1 + random() % 3; count > 0; --count)
        changed[random() % changed.size()] = static_cast<std::byte>(random());
      const std::string reason = failure(changed);
      EXPECT_EQ(reason.find('\n'), std::string::npos) << trial;
    }
  }
}

// Replaces the first occurrence of a box's fields after its name.
Bytes patched(Bytes file, std::string_view name, std::size_t at, const Bytes& value) {
  const Bytes wanted = bytes_of(name);
  const auto found = std::search(file.begin(), file.end(), wanted.begin(), wanted.end());
  if (found == file.end()) throw std::runtime_error("no box " + std::string(name));
  std::ranges::copy(value, found + static_cast<std::ptrdiff_t>(4 + at));
  return file;
}

TEST(AvifHeicJxl, SizesAreCheckedBeforeDecoding) {
  const Image image = ramp({64, 64}, 3);
  for (const Format format : library_formats()) {
    if (format == Format::jxl) continue;
    const std::string name = format == Format::avif ? "AVIF: " : "HEIC: ";
    const Bytes file = encode_by_library(format, image.view());
    EXPECT_EQ(failure(patched(file, "ispe", 4, number(60'000) + number(60'000))),
              "too large: 60000x60000 pixels; raise --max-pixels (now 268435456)");
    constexpr std::uint32_t kMost = 0xFFFFFFFF;  // squared, it exceeds 63 bits
    EXPECT_EQ(failure(patched(file, "ispe", 4, number(kMost) + number(kMost))),
              "too large: 4294967295x4294967295 pixels; expected at most 2147483647 per side");
    EXPECT_EQ(failure(patched(file, "ispe", 4, number(0) + number(64))), "the width or height is 0 (0x64)");
    EXPECT_EQ(failure(file, {.max_pixels = 4095}), "too large: 64x64 pixels; raise --max-pixels (now 4095)");
    EXPECT_EQ(failure(file + bytes_of("trailing")).substr(0, name.size()), name);
  }
}

// A list of 65,535 parts, none of which takes a byte of the list.
TEST(AvifHeicJxl, ListsOfPartsTakeBytes) {
  const Bytes list =
      number(0) + number(0, 2) + number(1, 2) + number(1, 2) + number(0, 2) + number(65'535, 2);
  for (const Format format : library_formats()) {
    if (format == Format::jxl) continue;
    EXPECT_EQ(failure(patched(encode_by_library(format, ramp({64, 64}, 3).view()), "iloc", 0, list)),
              "damaged: too many parts of items in the container");
  }
}

// The sequence parameter set declares 16 times the size of the image.
TEST(AvifHeicJxl, CodedSizeOfHevcIsChecked) {
  const std::vector<Format> formats = library_formats();
  if (std::ranges::find(formats, Format::heic) == formats.end()) GTEST_SKIP() << "no encoder of HEVC";
  const Bytes large = encode_by_library(Format::heic, ramp({512, 512}, 3).view());
  EXPECT_EQ(failure(patched(large, "ispe", 4, number(64) + number(64))),
            "HEIC: the image differs from its description in the container");
}

// Writes numbers from the lowest bit on.
class BitWriter {
 public:
  BitWriter& put(std::uint64_t value, int bits) {
    for (int i = 0; i < bits; ++i, ++used_) {
      if (used_ % 8 == 0) bytes_.push_back(std::byte{0});
      bytes_.back() |= static_cast<std::byte>((value >> i & 1) << used_ % 8);
    }
    return *this;
  }
  BitWriter& align() { return put(0, static_cast<int>((8 - used_ % 8) % 8)); }
  [[nodiscard]] const Bytes& bytes() const { return bytes_; }

 private:
  Bytes bytes_;
  std::size_t used_ = 0;
};

// A JPEG XL of 8x8 pixels whose first frame, a reference, has `side` x `side`.
Bytes jxl_with_reference(std::uint64_t side) {
  BitWriter bits;
  bits.put(0x0AFF, 16);
  bits.put(1, 1).put(0, 5).put(1, 3);            // 8x8
  bits.put(1, 1);                                // default metadata
  bits.put(1, 1).align();                        // default transform
  bits.put(0, 1).put(2, 2).put(1, 1).put(0, 2);  // reference, modular, no flags
  bits.put(0, 2).put(1, 2);                      // no upsampling, groups of 256
  bits.put(1, 1);
  for (int i = 0; i < 2; ++i) bits.put(3, 2).put(side - 18688, 30);
  bits.put(0, 64).align();
  return bits.bytes() + Bytes(4096);
}

TEST(AvifHeicJxl, FramesOfJpegXlAreChecked) {
  if (!format_info(Format::jxl).readable) GTEST_SKIP() << "built without libjxl";
  EXPECT_EQ(failure(jxl_with_reference(30'000)),
            "too large: 30000x30000 pixels; raise --max-pixels (now 268435456)");
  EXPECT_EQ(failure(jxl_with_reference(30'000), {.max_pixels = std::int64_t{1} << 34}),
            "JPEG XL: the frames are much larger than the image");
}

}  // namespace
}  // namespace imgpipe::test::avif_heic_jxl_test
