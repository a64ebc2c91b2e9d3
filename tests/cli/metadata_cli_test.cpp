// Metadata through the program: between formats, in batches, from stdin, and the messages about losses.
#include <algorithm>
#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "images/codecs/metadata/metadata.h"
#include "tests/support/exif_maker.h"
#include "tests/support/file_parts.h"
#include "tests/support/files.h"
#include "tests/support/process.h"
#include "tests/support/profiles.h"

namespace imgpipe::test::metadata_cli_test {
namespace {

const std::string kXmp =
    "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF><rdf:Description "
    "tiff:Orientation=\"6\"/></rdf:RDF></x:xmpmeta>";

// A 16 x 12 camera photo with an orientation to apply.
Bytes photo(int orientation = 6) {
  Metadata metadata;
  metadata.icc = adobe_profile();
  metadata.exif = camera_exif(orientation).build();
  metadata.xmp = bytes_of(kXmp);
  metadata.resolution = Resolution{.x = 300, .y = 300, .unit = Resolution::Unit::inch};
  EncodeOptions options;
  options.metadata = std::make_shared<const Metadata>(metadata);
  const std::unique_ptr<Writer> writer = make_writer(Format::jpeg, {16, 12, 3}, options);
  Image image({16, 12, 3});
  std::mt19937_64 random(2);
  for (std::int64_t y = 0; y < 12; ++y)
    std::generate_n(image.view().row(y), 48, [&] { return static_cast<Sample8>(random()); });
  writer->write_rows(std::as_const(image).untyped_view());
  return writer->finish().joined();
}

// A parser of the metadata payloads in a file, which shares no code with imgpipe.
std::string number_text(const Bytes& file, std::size_t at, int bytes, bool big) {
  std::uint32_t value = 0;
  for (int i = 0; i < bytes; ++i)
    value = value << 8 |
            std::to_integer<std::uint32_t>(file.at(at + static_cast<std::size_t>(big ? i : bytes - 1 - i)));
  return std::to_string(value);
}
std::size_t number_at(const Bytes& file, std::size_t at, int bytes, bool big) {
  return std::stoul(number_text(file, at, bytes, big));
}
Bytes part(const Bytes& file, std::size_t at, std::size_t bytes) {
  if (at + bytes > file.size()) return {};
  return {file.begin() + static_cast<std::ptrdiff_t>(at),
          file.begin() + static_cast<std::ptrdiff_t>(at + bytes)};
}
std::string text(const Bytes& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

struct Seen {
  Bytes exif, xmp, icc;
  std::string resolution;
};

Seen seen_in(const Bytes& file) {
  Seen seen;
  if (text(part(file, 1, 3)) == "PNG") {
    for (std::size_t at = 8; at + 12 <= file.size(); at += number_at(file, at, 4, true) + 12) {
      const std::string type = text(part(file, at + 4, 4));
      const Bytes data = part(file, at + 8, number_at(file, at, 4, true));
      if (type == "eXIf") seen.exif = data;
      if (type == "iTXt") seen.xmp = part(data, 22, data.size() - 22);
      if (type == "iCCP") seen.icc = data;
      if (type == "pHYs") seen.resolution = number_text(data, 0, 4, true) + "/m";
    }
    return seen;
  }
  if (text(part(file, 0, 4)) == "RIFF") {
    for (std::size_t at = 12; at + 8 <= file.size();) {
      const std::size_t size = number_at(file, at + 4, 4, false);
      const std::string type = text(part(file, at, 4));
      if (type == "EXIF") seen.exif = part(file, at + 8, size);
      if (type == "XMP ") seen.xmp = part(file, at + 8, size);
      if (type == "ICCP") seen.icc = part(file, at + 8, size);
      at += 8 + size + size % 2;
    }
    return seen;
  }
  for (std::size_t at = 2; at + 4 <= file.size() && number_at(file, at + 1, 1, true) != 0xDA;) {
    const std::size_t length = number_at(file, at + 2, 2, true);
    const Bytes data = part(file, at + 4, length - 2);
    const std::string all = text(data);
    if (all.starts_with("JFIF") && number_at(data, 7, 1, true) == 1)
      seen.resolution = number_text(data, 8, 2, true) + "/inch";
    if (all.starts_with("Exif")) seen.exif = part(data, 6, data.size() - 6);
    if (all.starts_with("http")) seen.xmp = part(data, 29, data.size() - 29);
    if (all.starts_with("ICC_")) seen.icc = part(data, 14, data.size() - 14);
    at += 2 + length;
  }
  return seen;
}

void expect_all(const Bytes& file, const std::string& name) {
  const Seen seen = seen_in(file);
  const ExifParts exif = read_exif(seen.exif);
  EXPECT_EQ(exif.image.at(0x0112).values.at(0), 1U) << name;
  EXPECT_EQ(exif.image.at(0x010F).values, exif_text("Maker").values) << name;
  EXPECT_EQ(exif.exif.at(0xA002).values.at(0), 12U) << name << ": turned by 90 degrees";
  EXPECT_EQ(exif.exif.at(0xA003).values.at(0), 16U) << name;
  EXPECT_FALSE(exif.exif.contains(0x927C)) << name;
  EXPECT_TRUE(exif.thumbnail.empty()) << name;
  EXPECT_EQ(exif.gps.at(0x0002).values, camera_exif(1).gps.at(0x0002).values) << name;
  EXPECT_NE(text(seen.xmp).find("tiff:Orientation=\"1\""), std::string::npos) << name;
  EXPECT_FALSE(seen.icc.empty()) << name;
}

RunResult run(const std::string& input, const std::string& output, std::vector<std::string> more = {}) {
  more.insert(more.begin(), {input, output, "--device", "cpu", "--stages", "smooth", "--no-color"});
  return run_imgpipe(more);
}

TEST(MetadataCli, IsPreservedBetweenFormats) {
  const TemporaryDirectory directory;
  save(directory.path() / "a.jpg", photo());
  const RunResult first = run(directory.file("a.jpg"), directory.file("b.png"));
  EXPECT_EQ(first.exit_code, 0);
  EXPECT_EQ(first.err, "imgpipe: " + directory.file("a.jpg") +
                           ": dropped metadata: EXIF thumbnail, maker note (unknown format)\n");
  expect_all(load(directory.file("b.png")), "png");
  EXPECT_EQ(seen_in(load(directory.file("b.png"))).resolution, "11811/m");
  EXPECT_EQ(run(directory.file("b.png"), directory.file("c.jpg")).err, "");
  expect_all(load(directory.file("c.jpg")), "jpg");
  EXPECT_EQ(seen_in(load(directory.file("c.jpg"))).resolution, "300/inch");
  EXPECT_EQ(seen_in(load(directory.file("c.jpg"))).icc, adobe_profile());
  EXPECT_EQ(
      run(directory.file("c.jpg"), directory.file("d.webp")).err,
      "imgpipe: " + directory.file("c.jpg") + ": dropped metadata: resolution (webp cannot store it)\n");
  expect_all(load(directory.file("d.webp")), "webp");
  EXPECT_EQ(seen_in(load(directory.file("d.webp"))).icc, adobe_profile());
  EXPECT_EQ(run(directory.file("d.webp"), directory.file("e.jpg")).err, "");
  expect_all(load(directory.file("e.jpg")), "jpg of webp");
  EXPECT_EQ(run(directory.file("c.jpg"), directory.file("f.tif")).err, "");
  EXPECT_EQ(run(directory.file("f.tif"), directory.file("g.jpg")).err, "");
  expect_all(load(directory.file("g.jpg")), "jpg of tiff");
  EXPECT_EQ(seen_in(load(directory.file("g.jpg"))).resolution, "300/inch");
  EXPECT_EQ(seen_in(load(directory.file("g.jpg"))).icc, adobe_profile());
}

TEST(MetadataCli, StripRemovesEverything) {
  const TemporaryDirectory directory;
  save(directory.path() / "a.jpg", photo(1));
  Bytes plain;
  for (const std::string ending : {"png", "jpg", "webp"}) {
    const RunResult result =
        run(directory.file("a.jpg"), directory.file("b." + ending), {"--metadata", "strip"});
    EXPECT_EQ(result.exit_code, 0);
    EXPECT_NE(result.err.find("dropped colour profile \"Adobe RGB (1998)\"; the colours were not converted"),
              std::string::npos);
    EXPECT_EQ(result.err.find("metadata"), std::string::npos);
    const Seen seen = seen_in(load(directory.file("b." + ending)));
    EXPECT_TRUE(seen.exif.empty() && seen.xmp.empty() && seen.icc.empty() && seen.resolution.empty())
        << ending;
  }
  const RunResult wrong = run(directory.file("a.jpg"), directory.file("c.png"), {"--metadata", "some"});
  EXPECT_EQ(wrong.exit_code, 2);
}

TEST(MetadataCli, EveryDeviceAndCodecWritesIt) {
  const TemporaryDirectory directory;
  save(directory.path() / "a.jpg", photo());
  for (const std::string ending : {"png", "jpg"}) {
    const std::vector<std::vector<std::string>> variants{
        {"--device", "reference"}, {"--threads", "1"}, {"--codec", "turbo"}};
    ASSERT_EQ(run_imgpipe({directory.file("a.jpg"), directory.file("0." + ending), "--stages", "smooth",
                           "--device", "cpu"})
                  .exit_code,
              0);
    for (std::size_t i = 0; i < variants.size(); ++i) {
      const std::string output = directory.file(std::to_string(i + 1) + "." + ending);
      std::vector<std::string> command{directory.file("a.jpg"), output, "--stages", "smooth"};
      command.insert(command.end(), variants[i].begin(), variants[i].end());
      if (i > 0) command.insert(command.end(), {"--device", "cpu"});
      ASSERT_EQ(run_imgpipe(command).exit_code, 0);
      EXPECT_EQ(load(output), load(directory.file("0." + ending))) << ending << i;
    }
    const std::string output = directory.file("stb." + ending);
    ASSERT_EQ(run(directory.file("a.jpg"), output, {"--codec", "stb"}).exit_code, 0);
    EXPECT_FALSE(seen_in(load(output)).exif.empty());
    EXPECT_FALSE(seen_in(load(output)).icc.empty());
  }
}

TEST(MetadataCli, NoOrientPreservesOrientation) {
  const TemporaryDirectory directory;
  save(directory.path() / "a.jpg", photo());
  EXPECT_EQ(run(directory.file("a.jpg"), directory.file("b.png"), {"--no-orient"}).exit_code, 0);
  const Seen seen = seen_in(load(directory.file("b.png")));
  EXPECT_EQ(read_exif(seen.exif).image.at(0x0112).values.at(0), 6U);
  EXPECT_NE(text(seen.xmp).find("tiff:Orientation=\"6\""), std::string::npos);
}

TEST(MetadataCli, OrientationIsResetAfterRotation) {
  const TemporaryDirectory directory;
  save(directory.path() / "a.jpg", photo());
  const auto orientation = [&](const std::string& stages) {
    EXPECT_EQ(run_imgpipe({directory.file("a.jpg"), directory.file("b.png"), "--no-orient", "--overwrite",
                           "-q", "--device", "cpu", "--stages", stages})
                  .exit_code,
              0);
    const Seen seen = seen_in(load(directory.file("b.png")));
    const std::uint32_t exif = read_exif(seen.exif).image.at(0x0112).values.at(0);
    EXPECT_NE(text(seen.xmp).find("tiff:Orientation=\"" + std::to_string(exif) + "\""), std::string::npos);
    return exif;
  };
  EXPECT_EQ(orientation("rotate:90"), 1U);
  EXPECT_EQ(orientation("smooth,rotate:180,sharpen"), 1U);
  EXPECT_EQ(orientation("flip"), 1U);
  EXPECT_EQ(orientation("crop:8x8"), 6U);
  EXPECT_EQ(orientation("resize:8:8"), 6U);
}

TEST(MetadataCli, BatchesPreserveItAndCountLosses) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory.path() / "in");
  for (const char* name : {"in/a.jpg", "in/b.jpg", "in/c.jpg"}) save(directory.path() / name, photo());
  const RunResult kept = run(directory.file("in"), directory.file("out"), {"--format", "png"});
  EXPECT_EQ(kept.exit_code, 0) << kept.err;
  for (const char* name : {"out/a.png", "out/b.png", "out/c.png"})
    expect_all(load(directory.file(name)), name);
  EXPECT_NE(kept.out.find("3 images had metadata that was dropped, for example "), std::string::npos)
      << kept.out;
  const RunResult lost = run(directory.file("in"), directory.file("bmp"),
                             {"--format", "bmp", "--report", directory.file("r.json")});
  EXPECT_EQ(lost.exit_code, 0);
  EXPECT_EQ(nlohmann::json::parse(load_text(directory.file("r.json")))["metadata_dropped"], 3);
  EXPECT_EQ(nlohmann::json::parse(load_text(directory.file("r.json")))["profiles_dropped"], 3);
}

TEST(MetadataCli, StreamsPreserveIt) {
  const TemporaryDirectory directory;
  save(directory.path() / "a.jpg", photo());
  EXPECT_EQ(run_bash("$I - - --stages smooth --device cpu --format png -q < a.jpg > b.png",
                     directory.path().string()),
            0);
  expect_all(load(directory.file("b.png")), "stdout");
}

TEST(MetadataCli, DamagedMetadataIsReportedAndDropped) {
  const TemporaryDirectory directory;
  Bytes file = photo(1);
  const Bytes magic = bytes_of("Exif");
  const auto found = std::search(file.begin(), file.end(), magic.begin(), magic.end());
  ASSERT_NE(found, file.end());
  for (int i = 10; i < 14; ++i) found[i] = std::byte{0xEE};  // the offset of its first directory
  save(directory.path() / "a.jpg", file);
  const RunResult result = run(directory.file("a.jpg"), directory.file("b.png"));
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_EQ(result.err, "imgpipe: " + directory.file("a.jpg") +
                            ": dropped metadata: EXIF (damaged: an offset is out of bounds)\n");
  EXPECT_TRUE(seen_in(load(directory.file("b.png"))).exif.empty());
  EXPECT_FALSE(seen_in(load(directory.file("b.png"))).xmp.empty());
}

TEST(MetadataCli, GreyOutputDropsColourProfiles) {
  const TemporaryDirectory directory;
  save(directory.path() / "a.jpg", photo(1));
  const RunResult result = run_imgpipe(
      {directory.file("a.jpg"), directory.file("b.png"), "--device", "cpu", "--stages", "gray", "-q"});
  EXPECT_EQ(result.exit_code, 0);
  EXPECT_TRUE(seen_in(load(directory.file("b.png"))).icc.empty());
  EXPECT_FALSE(seen_in(load(directory.file("b.png"))).exif.empty());
}

}  // namespace
}  // namespace imgpipe::test::metadata_cli_test
