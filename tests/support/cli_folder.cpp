#include "tests/support/cli_folder.h"

#include <algorithm>
#include <filesystem>

#include "images/synth.h"
#include "images/text.h"

namespace imgpipe::test {

void Cli::SetUp() {
  write("color.png", make(3), Format::png);
  write("grey.pgm", make(1), Format::pgm);
  Image rgba({24, 18, 4});
  for (std::int64_t i = 0; i < rgba.shape().samples(); ++i) rgba.view().data[i] = static_cast<Sample8>(i * 7);
  write("alpha.png", rgba, Format::png);
}

Image Cli::make(int channels) {
  return synthesize(parse_pattern("photo"), {40, 30, channels}, 4);
}

void Cli::write(const std::string& name, const Image& image, Format format) const {
  const auto writer = make_writer(format, image.shape());
  writer->write_rows(image.view());
  save(file(name), writer->finish().joined());
}

bool Cli::exists(const std::string& name) const {
  return std::filesystem::exists(file(name));
}

void expect_one_line(const RunResult& run) {
  EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
  EXPECT_TRUE(run.err.starts_with("imgpipe: ")) << run.err;
  const std::string line = run.err.substr(0, run.err.empty() ? 0 : run.err.size() - 1);
  EXPECT_EQ(printable(line), line);
}

}  // namespace imgpipe::test
