// Files of listed samples, for tests of the program that check every one of them.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "images/image.h"
#include "tests/support/batch_cli.h"

namespace imgpipe::test {

class SamplesCli : public BatchCli {
 protected:
  void SetUp() override { fs::create_directories(in()); }

  // Writes 8-bit samples that are listed pixel by pixel.
  void write_samples(const std::string& name, const Shape& shape, const std::vector<int>& samples) const {
    Image image(shape);
    for (std::size_t i = 0; i < samples.size(); ++i)
      image.untyped_view().data[i] = static_cast<std::byte>(samples[i]);
    const auto writer = make_writer(*format_by_ending(name), shape);
    writer->write_rows(std::as_const(image).untyped_view());
    save(file(name), writer->finish().joined());
  }
};

}  // namespace imgpipe::test
