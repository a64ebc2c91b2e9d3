// imgpipe info as a user runs it: which files it looks at, what it says of them, and what it says of those
// that are none.
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "tests/support/batch_cli.h"

namespace imgpipe::test::info_cli_test {
namespace {

using Json = nlohmann::json;

class InfoCli : public BatchCli {
 protected:
  [[nodiscard]] static RunResult info(std::vector<std::string> arguments, const std::string& input = "") {
    arguments.insert(arguments.begin(), "info");
    RunOptions options;
    options.input = input;
    return run_imgpipe(arguments, options);
  }
  [[nodiscard]] static Json json_of(const RunResult& run) {
    Json json = Json::parse(run.out, nullptr, false);
    EXPECT_FALSE(json.is_discarded()) << run.out << run.err;
    return json;
  }
};

TEST_F(InfoCli, OneFileHasALineAFact) {
  const RunResult run = info({file("in/b.jpg")});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  for (const char* line :
       {"format:", "size:            40x30 pixels\n", "colour:          YCbCr, 8 bits a sample\n",
        "compression:     baseline DCT, Huffman, 4:2:0\n", "metadata:        none\n",
        "on a device:     yes\n"})
    EXPECT_NE(run.out.find(line), std::string::npos) << line << run.out;
  EXPECT_EQ(info({file("in/b.jpg"), "-q"}).out, "");
}

TEST_F(InfoCli, SeveralHaveALineEach) {
  const RunResult run = info({in()});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(lines(run.out), 4U) << run.out;  // a head, and three
  EXPECT_EQ(run.out.find("d.png"), std::string::npos);
  const RunResult all = info({in(), "--recursive", "--exclude", "*.bmp"});
  EXPECT_EQ(lines(all.out), 5U) << all.out;
  EXPECT_NE(all.out.find("d.png"), std::string::npos);
}

TEST_F(InfoCli, JsonHoldsAllOfIt) {
  const RunResult run = info({in(), "--recursive", "--json", "-"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(lines(run.err), 6U);  // the table
  const Json json = json_of(run);
  EXPECT_EQ(json["schema"], "imgpipe/info/1");
  ASSERT_EQ(json["images"].size(), 5U);
  const Json& jpeg = json["images"][1];
  EXPECT_EQ(jpeg["input"], file("in/b.jpg"));
  EXPECT_EQ(jpeg["format"], "jpeg");
  EXPECT_EQ(jpeg["width_pixels"], 40);
  EXPECT_EQ(jpeg["stored_height_pixels"], 30);
  EXPECT_EQ(jpeg["file_bytes"], fs::file_size(file("in/b.jpg")));
  EXPECT_EQ(jpeg["subsampling"], "4:2:0");
  EXPECT_EQ(jpeg["device_decodes"], true);
  EXPECT_EQ(jpeg["metadata"], Json::array());
  EXPECT_EQ(json["failures"], Json::array());
}

TEST_F(InfoCli, DamagedFilesAreALineEachAndTheOthersAreListed) {
  save_text(file("in/broken.png"), "no image");
  save_text(file("in/empty.jpg"), "");
  const std::string whole = load_text(file("in/b.jpg"));
  save_text(file("in/cut.jpg"), whole.substr(0, 100));
  const RunResult run = info({in(), file("gone.png"), "--json", file("out.json")});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(lines(run.err), 4U) << run.err;
  EXPECT_EQ(lines(run.out), 4U) << run.out;
  const Json json = Json::parse(load_text(file("out.json")));
  EXPECT_EQ(json["images"].size(), 3U);
  ASSERT_EQ(json["failures"].size(), 4U);
  for (const Json& failure : json["failures"]) {
    EXPECT_EQ(failure["error"], "input");
    EXPECT_EQ(failure["reason"].get<std::string>().find(folder_.path().string()), std::string::npos)
        << failure["reason"];
  }
}

// It has no --max-pixels.
TEST_F(InfoCli, WhatIsTooLargeNamesNoOptionThatItHasNot) {
  save_text(file("in/large.pgm"), "P5 200000 200000 255\n");
  const RunResult run = info({file("in/large.pgm")});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("too large: 200000x200000 pixels, more than the greatest limit, 17179869184"),
            std::string::npos)
      << run.err;
  EXPECT_EQ(run.err.find("--max-pixels"), std::string::npos) << run.err;
}

TEST_F(InfoCli, HostileNamesAreMadePrintable) {
  const std::string name = "in/\x1B[31m\n.png";
  fs::copy_file(file("in/a.png"), file(name));
  const RunResult run = info({file(name)});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out.find('\x1B'), std::string::npos);
  EXPECT_NE(run.out.find("\\x1B[31m\\x0A.png"), std::string::npos) << run.out;
}

TEST_F(InfoCli, ReadsStdinAndLists) {
  const RunResult one = info({"-"}, load_text(file("in/a.png")));
  EXPECT_EQ(one.exit_code, 0) << one.err;
  EXPECT_NE(one.out.find("file:            stdin\n"), std::string::npos) << one.out;
  const RunResult none = info({"-"}, "no image");
  EXPECT_EQ(none.exit_code, 1);
  EXPECT_EQ(none.err.find("imgpipe: stdin: "), 0U) << none.err;
  const RunResult list = info({in(), "--files-from", "-"}, "a.png\nsub/d.png\n");
  EXPECT_EQ(list.exit_code, 0) << list.err;
  EXPECT_EQ(lines(list.out), 3U) << list.out;
  expect_refused(info({"-", "-"}), "stdin (-) can be read once");
  expect_refused(info({"-", "--files-from", "-"}), "cannot be an image too");
}

// As a shell's <(command) gives them.
TEST_F(InfoCli, SeveralThatAreNamedMayBePipes) {
  const std::string png = load_text(file("in/a.png")), jpeg = load_text(file("in/b.jpg"));
  ASSERT_EQ(::mkfifo(file("one").c_str(), 0600), 0);
  ASSERT_EQ(::mkfifo(file("two").c_str(), 0600), 0);
  std::thread writer([&] {
    save_text(file("one"), png);
    save_text(file("two"), jpeg);
  });
  const RunResult run = info({file("one"), file("two"), "--json", "-"});
  writer.join();
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const Json json = json_of(run);
  ASSERT_EQ(json["images"].size(), 2U);
  EXPECT_EQ(json["images"][0]["format"], "png");
  EXPECT_EQ(json["images"][1]["file_bytes"], jpeg.size());
  // No writer is waited for that a folder only happens to hold.
  ASSERT_EQ(::mkfifo(file("in/fifo.png").c_str(), 0600), 0);
  const RunResult folder = info({in()});
  EXPECT_EQ(folder.exit_code, 1);
  EXPECT_NE(folder.err.find("fifo.png: is not a regular file"), std::string::npos) << folder.err;
}

TEST_F(InfoCli, ResolutionIsTold) {
  ASSERT_EQ(run_imgpipe({"synth", file("in/b.bmp"), "--pattern", "ramp", "--size", "4x3", "-q"}).exit_code,
            0);
  std::string bitmap = load_text(file("in/b.bmp"));
  bitmap.replace(38, 8, std::string("\x23\x2E\0\0\x13\x0B\0\0", 8));  // 11,811 and 2,835 pixels a metre
  save_text(file("in/b.bmp"), bitmap);
  const RunResult run = info({file("in/b.bmp")});
  EXPECT_NE(run.out.find("resolution:      118.11x28.35 pixels per centimetre (300x72 per inch)\n"),
            std::string::npos)
      << run.out;
}

TEST_F(InfoCli, RefusesWhatCannotBeMeant) {
  expect_refused(info({}), "INPUT is missing");
  expect_refused(info({file("in"), "--json", "x.txt"}), "must end in .json");
  save_text(file("mine.json"), "{\"a\": 1}");
  expect_refused(info({in(), "--json", file("mine.json")}), "was not written by imgpipe");
  fs::create_directories(file("nothing"));
  expect_refused(info({file("nothing")}), "no images found");
}

}  // namespace
}  // namespace imgpipe::test::info_cli_test
