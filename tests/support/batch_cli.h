// A directory of images of several formats, for tests of the program's batches.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/synth.h"
#include "tests/support/files.h"
#include "tests/support/process.h"

namespace imgpipe::test {

namespace fs = std::filesystem;

class BatchCli : public testing::Test {
 protected:
  void SetUp() override { write_images(); }

  // Writes five images of several formats in directories, and files that a batch skips.
  void write_images() const {
    fs::create_directories(file("in/sub/deep"));
    write("in/a.png", 1);
    write("in/b.jpg", 2);
    write("in/c.GIF.ppm", 3);
    write("in/sub/d.png", 4);
    write("in/sub/deep/e.bmp", 5);
    save_text(file("in/notes.txt"), "no image");
    save_text(file("in/.hidden.png"), "passed over");
  }

  void write(const std::string& name, std::uint64_t seed, std::int64_t width = 40) const {
    const Image image = synthesize(parse_pattern("photo"), {width, 30, 3}, seed);
    const auto writer = make_writer(*format_by_ending(name), image.shape());
    writer->write_rows(image.view());
    save(file(name), writer->finish().joined());
  }
  [[nodiscard]] std::string file(const std::string& name) const { return directory_.file(name); }
  [[nodiscard]] std::string in() const { return file("in"); }
  [[nodiscard]] std::string out() const { return file("out"); }

  // Returns the names below OUTPUT, sorted.
  [[nodiscard]] std::vector<std::string> written() const {
    std::vector<std::string> names;
    if (!fs::exists(out())) return names;
    for (const fs::path& path : files_below(out())) names.push_back(path.lexically_relative(out()).string());
    return names;
  }
  [[nodiscard]] std::map<std::string, std::string> contents(const std::string& directory) const {
    std::map<std::string, std::string> all;
    for (const fs::path& path : files_below(directory))
      all[path.lexically_relative(directory).string()] = load_text(path);
    return all;
  }

  using Names = std::vector<std::string>;
  TemporaryDirectory directory_;
};

inline std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

inline void expect_refused(const RunResult& run, const std::string& words) {
  EXPECT_EQ(run.exit_code, 2) << run.err;
  EXPECT_EQ(lines(run.err), 1U) << run.err;
  EXPECT_NE(run.err.find(words), std::string::npos) << run.err;
  EXPECT_EQ(run.out, "");
}

}  // namespace imgpipe::test
