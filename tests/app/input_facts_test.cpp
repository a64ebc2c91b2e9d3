// Facts in Netpbm and real files other than pixels, and bytes after the image in other formats.
#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>
#include <utility>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/support/bmp_file.h"
#include "tests/support/file_parts.h"
#include "tests/support/files.h"
#include "tests/support/gif_file.h"
#include "tests/support/images.h"
#include "tests/support/process.h"
#include "tests/support/psd_file.h"

namespace imgpipe::test::input_facts_test {
namespace {

// ---- Netpbm -----------------------------------------------------------------------------------------

TEST(NetpbmFacts, BitDepthFollowsMaxval) {
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

TEST(NetpbmFacts, WarnsAboutTrailingBytes) {
  struct Row {
    const char* file;
    const char* what;  // nullptr: no warning
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

TEST(NetpbmFacts, PnmOutputIsPgmOrPpm) {
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

// ---- bytes after the image ----------------------------------------------------------------------------

void expect_warning(const Bytes& file, const Strings& expected, const std::string& name) {
  for (const Decoded& decoded : {try_decode(file), decode_leniently(file)}) {
    EXPECT_EQ(decoded.reason, "") << name;
    EXPECT_EQ(decoded.warnings, expected) << name;
  }
}

void expect_counted(const Bytes& whole, const std::string& name) {
  const Bytes png = encoded(Format::png);
  expect_warning(whole, {}, name);
  expect_warning(whole + bytes_of("x"), {"1 byte follows the image"}, name);
  expect_warning(whole + Bytes(60'000, std::byte{7}), {"60000 bytes follow the image"}, name);
  expect_warning(whole + png, {std::to_string(png.size()) + " bytes follow the image (another image?)"},
                 name);
}

Bytes little(std::uint32_t value) {
  Bytes made = number(value);
  std::ranges::reverse(made);
  return made;
}

TEST(TrailingBytes, Gif) {
  const Bytes gif = make_gif({2, 1}, {1, 2}, {});
  expect_counted(gif, "GIF");
  const Bytes bare(gif.begin(), gif.end() - 1);
  expect_warning(bare, {}, "without the trailer");
  expect_warning(bare + Bytes(5), {}, "zeros between blocks");
  expect_warning(bare + bytes_of("xy"), {"2 bytes follow the image"}, "not a block");
}

TEST(TrailingBytes, Bmp) {
  expect_counted(encoded(Format::bmp, 3), "24 bits");
  expect_counted(encoded(Format::bmp, 4), "32 bits");
  Bmp packed = two_colors();
  packed.compression = 1;
  packed.pixels = {1, 0, 1, 1, 0, 1};
  expect_counted(packed.build(), "RLE8");
  // The size in the header includes the padding, or exceeds the size of the file.
  const Bytes bmp = encoded(Format::bmp, 3);
  for (const std::uint32_t extra : {2U, 1000U}) {
    Bytes padded = bmp + Bytes(2);
    const Bytes size = little(static_cast<std::uint32_t>(bmp.size()) + extra);
    std::ranges::copy(size, padded.begin() + 2);
    expect_warning(padded, extra == 2 ? Strings() : Strings{"2 bytes follow the image"}, "padding");
  }
}

TEST(TrailingBytes, Tga) {
  expect_counted(encoded(Format::tga), "as imgpipe writes it");
  Bytes raw = encoded(Format::tga);
  raw.resize(18);
  raw[0] = std::byte{0};
  Bytes packed = raw;
  raw[2] = std::byte{2};
  raw.resize(18 + 16 * 12 * 3);
  expect_counted(raw, "raw");
  packed[2] = std::byte{10};
  for (int row = 0; row < 12; ++row) packed = packed + bytes_of(std::string_view("\x8F\1\2\3", 4));
  expect_counted(packed, "packets");
  // A packet may reach beyond the image; its bytes up to the image's last pixel belong to the image.
  Bytes beyond(packed.begin(), packed.end() - 4);
  expect_counted(beyond + bytes_of(std::string_view("\xFF\1\2\3", 4)), "a repeated pixel");
  expect_counted(beyond + bytes_of(std::string_view("\x10", 1)) + Bytes(std::size_t{17} * 3), "17 pixels");
  // The areas that a footer points to belong to the file.
  const Bytes footer = Bytes(8) + bytes_of(std::string_view("TRUEVISION-XFILE.\0", 18));
  for (const Bytes& file : {raw, packed}) {
    expect_warning(file + footer, {}, "footer");
    expect_warning(file + Bytes(700) + footer, {}, "areas");
    expect_warning(file + footer + bytes_of("x"), {"27 bytes follow the image"}, "after the footer");
  }
}

TEST(TrailingBytes, Psd) {
  for (const int version : {1, 2}) {
    for (const int compression : {0, 1}) {
      const Psd psd{
          .width = 3,
          .height = 2,
          .version = version,
          .compression = compression,
          .channels = {{1, 2, 3, 4, 5, 6}, {1, 2, 3, 4, 5, 6}, {1, 1, 1, 1, 1, 1}, {9, 9, 9, 9, 9, 9}}};
      expect_counted(make_psd(psd), "PSD " + std::to_string(version) + std::to_string(compression));
    }
  }
}

TEST(TrailingBytes, AppearInEveryReport) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory.path() / "in");
  const Format formats[] = {Format::jpeg, Format::png, Format::webp, Format::bmp, Format::tga, Format::ppm};
  for (const Format format : formats) {
    const std::string name = "in/a." + std::string(format_info(format).endings[0]);
    save(directory.path() / name, encoded(format) + bytes_of("garbage"));
    const std::string text = directory.file(name) + ": 7 bytes follow the image";
    const RunResult one = run_imgpipe({directory.file(name), directory.file("o.png"), "--stages", "none",
                                       "--report", directory.file("one.json"), "--overwrite"});
    EXPECT_EQ(one.exit_code, 0) << one.err;
    EXPECT_EQ(one.err, "imgpipe: warning: " + text + "\n");
    EXPECT_EQ(nlohmann::json::parse(load_text(directory.file("one.json")))["warnings"],
              nlohmann::json::array({text}));
  }
  const RunResult batch =
      run_imgpipe({directory.file("in"), directory.file("out"), "--stages", "none", "--format", "png",
                   "--report", directory.file("r.ndjson"), "--name", "{stem}_{input_ext}.{ext}"});
  EXPECT_EQ(batch.exit_code, 0) << batch.err;
  std::istringstream lines(load_text(directory.file("r.ndjson")));
  std::size_t warned = 0;
  for (std::string line; std::getline(lines, line);) {
    const nlohmann::json json = nlohmann::json::parse(line);
    if (!json.contains("input")) continue;
    const std::string text = json["input"].get<std::string>() + ": 7 bytes follow the image";
    EXPECT_EQ(json["warnings"], nlohmann::json::array({text}));
    ++warned;
  }
  EXPECT_EQ(warned, std::size(formats));
}

// ---- real files -------------------------------------------------------------------------------------

TEST(InputFactsCorpus, FilesOnceRejectedByMistake) {
  IMGPIPE_NEED_CORPUS();
  const auto directory = *corpus() / "found";
  EXPECT_EQ(try_decode(load(directory / "app1_20000.jpg")).reason, "");
  EXPECT_EQ(try_decode(load(directory / "exif_late.png")).header.orientation, Orientation::rotate_90);
  for (const char* name : {"stricter1.png", "stricter2.png", "stricter3.png"})
    EXPECT_EQ(try_decode(load(directory / name)).reason, "") << name;
}

// Profiles from GIMP and HP, whose descriptions differ.
TEST(InputFactsCorpus, SrgbProfilesAreNotNamed) {
  IMGPIPE_NEED_CORPUS();
  for (const char* name :
       {"found/exif_late.png", "photos/skimage_astronaut.png", "photos/skimage_hubble_deep_field.jpg"})
    EXPECT_EQ(try_decode(load(*corpus() / name)).header.profile, "") << name;
}

TEST(InputFactsCorpus, ValidPngsCauseNoWarning) {
  IMGPIPE_NEED_CORPUS();
  for (const auto& path : files_below(*corpus() / "pngsuite/valid")) {
    const Decoded lenient = decode_leniently(load(path));
    EXPECT_EQ(lenient.reason, "") << path;
    EXPECT_EQ(lenient.warnings, Strings()) << path;
    EXPECT_EQ(first_difference(try_decode(load(path)).image.view(), lenient.image.view()), "") << path;
  }
}

TEST(InputFactsCorpus, PhotographsWithTrailingBytesAreAccepted) {
  IMGPIPE_NEED_CORPUS();
  for (const char* part : {"photos", "jpeg/exif_recurser", "pngsuite/valid"}) {
    for (const auto& path : files_below(*corpus() / part))
      EXPECT_EQ(try_decode(load(path)).reason, "") << path;
  }
}

}  // namespace
}  // namespace imgpipe::test::input_facts_test
