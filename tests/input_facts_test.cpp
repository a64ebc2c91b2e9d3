// What Netpbm and real files hold besides their picture.
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "tests/support/file_parts.h"
#include "tests/support/files.h"
#include "tests/support/images.h"

namespace imgpipe::test {
namespace {

// ---- Netpbm -----------------------------------------------------------------------------------------

TEST(NetpbmFacts, BitsAreThoseOfTheMaximum) {
  for (const auto& [maximum, bits] : {std::pair{1, 1},
                                      {2, 2},
                                      {3, 2},
                                      {100, 7},
                                      {255, 8},
                                      {256, 9},
                                      {1023, 10},
                                      {4095, 12},
                                      {4096, 13},
                                      {65535, 16}}) {
    const std::string plain = "P2 2 1 " + std::to_string(maximum) + " 0 1";
    EXPECT_EQ(try_decode(bytes_of(plain)).header.bits_per_sample, bits) << maximum;
    const std::string raw =
        "P5 1 1 " + std::to_string(maximum) + "\n" + std::string(maximum > 255 ? 2 : 1, '\0');
    EXPECT_EQ(try_decode(bytes_of(raw)).header.bits_per_sample, bits) << maximum;
  }
  EXPECT_EQ(try_decode(bytes_of("P1 1 1 1")).header.bits_per_sample, 1);
}

TEST(NetpbmFacts, BytesBehindTheImage) {
  struct Row {
    const char* file;
    const char* what;  // nullptr: nothing is wrong
  };
  const Row rows[] = {{"P5 2 1 255\nab", nullptr},
                      {"P5 2 1 255\nab\n", nullptr},
                      {"P5 2 1 255\nab \r\n\t ", nullptr},
                      {"P2 2 1 255\n1 2", nullptr},
                      {"P2 2 1 255\n1 2\n\n", nullptr},
                      {"P2 2 1 255\n1 2\n# made by hand\n", nullptr},
                      {"P1 2 1\n01\n", nullptr},
                      {"P5 2 1 255\nabc", "1 byte follows the image"},
                      {"P5 2 1 255\nab\nP5 2 1 255\ncd", "14 bytes follow the image (another image?)"},
                      {"P5 2 1 255\nabP5 2 1 255\ncd", "13 bytes follow the image (another image?)"},
                      {"P6 1 1 255\nabcd", "1 byte follows the image"},
                      {"P4 9 1\nabc", "1 byte follows the image"},
                      {"P2 2 1 255\n1 2 3", "1 byte follows the image"},
                      {"P3 1 1 9\n1 2 3 P3 1 1 9 1 2 3", "14 bytes follow the image (another image?)"},
                      {"P1 2 1\n011", "1 byte follows the image"}};
  for (const Row& row : rows) {
    const Bytes file = bytes_of(row.file);
    for (const Decoded& decoded : {try_decode(file), decode_leniently(file)}) {
      EXPECT_EQ(decoded.reason, "") << row.file;
      EXPECT_EQ(decoded.warnings, row.what == nullptr ? Strings() : Strings{row.what}) << row.file;
    }
  }
}

TEST(NetpbmFacts, PnmIsWrittenAsWhatTheImageIs) {
  EXPECT_EQ(format_by_ending("a.PNM"), Format::pnm);
  const auto text = [](const Bytes& bytes) {
    return std::string(reinterpret_cast<const char*>(bytes.data()), 2);
  };
  EXPECT_EQ(text(encoded(Format::pnm, 1)), "P5");
  EXPECT_EQ(text(encoded(Format::pnm, 2)), "P5");
  EXPECT_EQ(text(encoded(Format::pnm, 3)), "P6");
  EXPECT_EQ(text(encoded(Format::ppm, 1)), "P6");
  EXPECT_EQ(encoded(Format::pnm, 3), encoded(Format::ppm, 3));
}

// ---- real files -------------------------------------------------------------------------------------

TEST(InputFactsCorpus, FilesThatWereGotWrong) {
  IMGPIPE_NEED_CORPUS();
  const auto folder = *corpus() / "found";
  EXPECT_EQ(try_decode(load(folder / "app1_20000.jpg")).reason, "");
  EXPECT_EQ(try_decode(load(folder / "exif_late.png")).header.orientation, Orientation::rotate_90);
  for (const char* name : {"stricter1.png", "stricter2.png", "stricter3.png"})
    EXPECT_EQ(try_decode(load(folder / name)).reason, "") << name;
}

// By GIMP and by HP, whose descriptions differ.
TEST(InputFactsCorpus, SrgbProfilesAreNotNamed) {
  IMGPIPE_NEED_CORPUS();
  for (const char* name :
       {"found/exif_late.png", "photos/skimage_astronaut.png", "photos/skimage_hubble_deep_field.jpg"})
    EXPECT_EQ(try_decode(load(*corpus() / name)).header.profile, "") << name;
}

TEST(InputFactsCorpus, NoValidPngIsWarnedOf) {
  IMGPIPE_NEED_CORPUS();
  for (const auto& path : files_below(*corpus() / "pngsuite/valid")) {
    const Decoded lenient = decode_leniently(load(path));
    EXPECT_EQ(lenient.reason, "") << path;
    EXPECT_EQ(lenient.warnings, Strings()) << path;
    EXPECT_EQ(first_difference(try_decode(load(path)).image.view(), lenient.image.view()), "") << path;
  }
}

TEST(InputFactsCorpus, NoPhotographIsRefusedForWhatFollowsIt) {
  IMGPIPE_NEED_CORPUS();
  for (const char* part : {"photos", "jpeg/exif_recurser", "pngsuite/valid"}) {
    for (const auto& path : files_below(*corpus() / part))
      EXPECT_EQ(try_decode(load(path)).reason, "") << path;
  }
}

}  // namespace
}  // namespace imgpipe::test
