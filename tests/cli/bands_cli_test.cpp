// imgpipe in.tif out.tif --bands all: what is rejected, and how it combines with other options.
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/support/cli_folder.h"
#include "tests/support/tiff_file.h"

namespace imgpipe::test::bands_cli_test {
namespace {

class BandsCli : public Cli {
 protected:
  void SetUp() override {
    Cli::SetUp();
    save(file("in.tif"), make_tiff(page(5).kind, page(5).samples));
  }
  static TiffPageSource page(int samples, int compression = 1, bool separate = false, int first = 0) {
    TiffPageSource page{{.width = 40,
                         .height = 30,
                         .bits = 16,
                         .samples = samples,
                         .compression = compression,
                         .rows_per_strip = 7,
                         .separate = separate},
                        {}};
    page.kind.extra.assign(static_cast<std::size_t>(samples - 1), 0);
    for (int i = 0; i < 40 * 30 * samples; ++i) page.samples.push_back((first + i * 7919) % 65536);
    return page;
  }
  [[nodiscard]] RunResult all(std::vector<std::string> arguments) const {
    arguments.insert(arguments.end(), {"--bands", "all", "-q"});
    return run_imgpipe(arguments);
  }
  // Returns the samples of one band of a file.
  [[nodiscard]] Values band(const std::string& name, int number) const {
    DecodeOptions options = sixteen_bits();
    options.bands = {number};
    return samples(decode(load(file(name)), options));
  }
};

TEST_F(BandsCli, WhatCannotBeDoneIsOneLine) {
  save(file("dark.tif"), make_tiff(page(2).kind, page(2).samples));
  const std::pair<std::vector<std::string>, const char*> refused[] = {
      {{"in.tif", "out.png"}, "png cannot store all bands; write a TIFF"},
      {{"in.tif", "-", "--format", "tiff"}, "need a regular file"},
      {{"in.tif", "out.tif", "--stages", "smooth,gray"}, "--stages: gray needs the channels"},
      {{"in.tif", "out.tif", "--stages", "colormap:viridis"}, "colormap needs the channels"},
      {{"in.tif", "out.tif", "--also", "a=saturation:2"}, "--also a: saturation needs the channels"},
      {{"in.tif", "out.tif", "--stages", "normalize:imagenet"}, "normalize needs the channels"},
      {{"in.tif", "out.tif", "--stages", "trim"}, "trim would cut each band differently; use crop"},
      {{"in.tif", "out.tif", "--pages", "all"}, "choose it with --pages N"},
      {{"in.tif", "out.tif", "--pages", "7"}, "page 7 does not exist; the file has 1"},
      {{"in.tif", "out.tif", "--stack", "max"}, "cannot be combined with --stack"},
      {{"in.tif", "out.tif", "--split", "rgb"}, "cannot be combined with --split"},
      {{"in.tif", "out.tif", "--keep-stages", "kept"}, "cannot be combined with --keep-stages"},
      {{"in.tif", "out.tif", "--report", "o.html"}, "--report FILE.html; use .json or .csv"},
      {{"in.tif", "out/", "--name", "{page}.tif"}, "one file stores all bands"},
      {{"in.tif", "out.tif", "--stages", "subtract:dark.tif"}, "dark.tif: "},
      {{"color.png", "out.tif"}, "needs a TIFF, got a png file"}};
  write("color.png", make(3), Format::png);
  for (const auto& [arguments, text] : refused) {
    std::vector<std::string> given = arguments;
    given.insert(given.end(), {"--bands", "all", "-q"});
    RunOptions inside;
    inside.directory = directory_.path().string();
    const RunResult run = run_imgpipe(given, inside);
    SCOPED_TRACE(text);
    EXPECT_NE(run.exit_code, 0);
    expect_one_line(run);
    EXPECT_NE(run.err.find(text), run.err.npos) << run.err;
    EXPECT_FALSE(exists("out.tif"));
    EXPECT_FALSE(exists("out.png"));
  }
}

TEST_F(BandsCli, DamageIsNamedByBandAndLeavesNoOutput) {
  MadeTiff hostile(4, 3);
  hostile.set(277, {65535});
  save(file("many.tif"), hostile.build());
  EXPECT_NE(all({file("many.tif"), file("out.tif")}).err.find("expected 1 to 64 samples"), std::string::npos);
  TiffPageSource source = page(4, 8, true);
  const FileBytes whole = make_tiff(source.kind, source.samples);
  // Every field of the directory, and every part of the file, damaged in turn: one line, or a result.
  for (std::size_t at = 0; at < whole.size(); at += 1 + whole.size() / 150) {
    FileBytes bytes = whole;
    bytes[at] ^= std::byte{0xFF};
    save(file("damaged.tif"), bytes);
    const RunResult run = all({file("damaged.tif"), file("out.tif"), "--device", "cpu"});
    SCOPED_TRACE(at);
    ASSERT_TRUE(run.exit_code == 0 || run.exit_code == 1) << run.exit_code << run.err;
    ASSERT_EQ(exists("out.tif"), run.exit_code == 0);
    if (run.exit_code == 0)
      std::filesystem::remove(file("out.tif"));
    else
      expect_one_line(run);
  }
  // A strip of the third band is outside the file.
  MadeTiff made(4, 3);
  made.set(258, {8, 8, 8});
  made.set(277, {3});
  made.set(284, {2});
  made.pixels.resize(36);
  made.set(273, {8, 20, 5000}, 4);
  made.set(279, {12, 12, 12}, 4);
  save(file("outside.tif"), made.build());
  const RunResult run = all({file("outside.tif"), file("out.tif")});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_TRUE(run.err.starts_with("imgpipe: " + file("outside.tif") + ", band 3: ")) << run.err;
  EXPECT_FALSE(exists("out.tif"));
}

TEST_F(BandsCli, OnePageIsChosen) {
  const std::vector<TiffPageSource> pages{page(5, 8, true), page(3, 5, false, 77), page(2, 1, true, 5)};
  save(file("in.tif"), make_tiff_stack(pages));
  for (int number = 1; number <= 3; ++number) {
    std::vector<std::string> arguments{file("in.tif"), file("out.tif"), "--overwrite"};
    if (number > 1) arguments.insert(arguments.end(), {"--pages", std::to_string(number)});
    const RunResult run = all(arguments);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.err.find("only the first") != run.err.npos, number == 1) << run.err;
    const TiffPageSource& source = pages[static_cast<std::size_t>(number - 1)];
    EXPECT_EQ(samples_by_libtiff(load(file("out.tif"))), source.samples) << number;
    EXPECT_EQ(pages_by_libtiff(load(file("out.tif"))), 1);
  }
}

TEST_F(BandsCli, AlsoAndStreamsAsSeparateRuns) {
  ASSERT_EQ(all({file("in.tif"), file("a.tif"), "--stages", "median", "--also", "s=resize:9x8"}).exit_code,
            0);
  ASSERT_EQ(all({file("in.tif"), file("b.tif"), "--stages", "median"}).exit_code, 0);
  ASSERT_EQ(all({file("in.tif"), file("c.tif"), "--stages", "resize:9x8"}).exit_code, 0);
  for (int number = 1; number <= 5; ++number) {
    EXPECT_EQ(band("a.tif", number), band("b.tif", number));
    EXPECT_EQ(band("a.s.tif", number), band("c.tif", number));
  }
  RunOptions stream;
  stream.input = load_text(file("in.tif"));
  const RunResult piped =
      run_imgpipe({"-", file("d.tif"), "--stages", "median", "--bands", "all", "-q"}, stream);
  ASSERT_EQ(piped.exit_code, 0) << piped.err;
  for (int number = 1; number <= 5; ++number) EXPECT_EQ(band("d.tif", number), band("b.tif", number));
}

TEST_F(BandsCli, BatchesProcessEachFile) {
  std::filesystem::create_directory(file("in"));
  save(file("in/a.tif"), make_tiff(page(5).kind, page(5).samples));
  save(file("in/b.tif"), make_tiff(page(2, 8, true).kind, page(2, 8, true).samples));
  save(file("in/c.tif"), make_tiff(page(1).kind, page(1).samples));
  const std::vector<std::string> arguments{file("in"), file("out/"), "--bands", "all",
                                           "--stages", "invert",     "--update"};
  ASSERT_EQ(run_imgpipe(arguments).exit_code, 0);
  for (const auto& [name, count] : {std::pair{"a.tif", 5}, {"b.tif", 2}, {"c.tif", 1}}) {
    for (int number = 1; number <= count; ++number) {
      Values expected = band(std::string("in/") + name, number);
      for (int& value : expected) value = 65535 - value;
      EXPECT_EQ(band(std::string("out/") + name, number), expected) << name << number;
    }
  }
  const RunResult again = run_imgpipe(arguments);
  EXPECT_NE(again.out.find("3 up to date"), std::string::npos) << again.out << again.err;
  write("in/d.png", make(3), Format::png);
  const RunResult mixed = run_imgpipe({file("in"), file("out2/"), "--bands", "all", "--format", "tiff"});
  EXPECT_EQ(mixed.exit_code, 1);
  EXPECT_NE(mixed.err.find("d.png: --bands: needs a TIFF, got a png file"), std::string::npos) << mixed.err;
  EXPECT_TRUE(exists("out2/a.tif"));
}

}  // namespace
}  // namespace imgpipe::test::bands_cli_test
