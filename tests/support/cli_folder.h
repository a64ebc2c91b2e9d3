// A directory of images for tests of the program, and a common expectation.
#pragma once

#include <cstdint>
#include <string>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/image.h"
#include "tests/support/files.h"
#include "tests/support/process.h"

namespace imgpipe::test {

// Has a small colour image, a grey one and one with alpha.
class Cli : public testing::Test {
 protected:
  void SetUp() override;
  static Image make(int channels);
  void write(const std::string& name, const Image& image, Format format) const;
  [[nodiscard]] std::string file(const std::string& name) const { return directory_.file(name); }
  [[nodiscard]] bool exists(const std::string& name) const;

  TemporaryDirectory directory_;
};

// Expects one printable line on stderr that begins with the program's name.
void expect_one_line(const RunResult& run);

}  // namespace imgpipe::test
