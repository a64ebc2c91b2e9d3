#include "tests/support/entropy_cases.h"

#include <random>

#include "tests/support/coded_jpegs.h"
#include "tests/support/entropy_group.h"
#include "tests/support/made_jpegs.h"

namespace imgpipe::test {

JpegFiles made_files(std::uint64_t first_seed, std::uint64_t count) {
  JpegFiles files;
  for (std::uint64_t i = 0; i < count; ++i) files.push_back(make_jpeg(random_jpeg(first_seed + i)));
  return files;
}

JpegFiles coded_files(std::uint64_t first_seed, std::uint64_t count) {
  JpegFiles files;
  for (std::uint64_t i = 0; i < count; ++i) files.push_back(random_coded_jpeg(first_seed + i).file);
  return files;
}

JpegFiles large_files() {
  JpegFiles files;
  for (const JpegContent content : {JpegContent::photo, JpegContent::noise, JpegContent::constant,
                                    JpegContent::tiles, JpegContent::gradient, JpegContent::sparse}) {
    for (const int restart : {0, 1, 7}) {
      MadeJpeg jpeg{.width = 1001, .height = 777, .quality = 90, .restart_mcus = restart, .content = content};
      jpeg.factors = {{{2, 2}, {1, 1}, {1, 1}}};
      files.push_back(make_jpeg(jpeg));
      jpeg.factors = {{{1, 1}, {1, 1}, {1, 1}}};
      jpeg.optimised = true;
      files.push_back(make_jpeg(jpeg));
    }
  }
  return files;
}

std::vector<std::byte> file_out_of_step() {
  MadeJpeg jpeg{.width = 1001, .height = 777, .content = JpegContent::dense};
  jpeg.factors = {{{2, 2}, {1, 1}, {1, 1}}};
  return make_jpeg(jpeg);
}

std::vector<std::byte> constant_file(bool subsampled) {
  MadeJpeg jpeg{.width = 3001, .height = 2003, .quality = 90, .content = JpegContent::constant};
  jpeg.factors = {{{1, 1}, {1, 1}, {1, 1}}};
  if (subsampled) jpeg.factors[0] = {2, 2};
  return make_jpeg(jpeg);
}

JpegFiles changed_files(const std::vector<std::byte>& whole, int count) {
  const std::unique_ptr<OpenJpeg> open = open_jpeg_scan(whole);
  const std::size_t codes = open->scan.data.size();
  std::mt19937_64 random(7);
  JpegFiles files;
  for (int i = 0; i < count; ++i) {
    std::vector<std::byte>& file = files.emplace_back(whole);
    for (std::uint64_t bits = 1 + random() % 3; bits > 0; --bits)
      file[whole.size() - 1 - random() % codes] ^= std::byte{1} << static_cast<int>(random() % 8);
  }
  return files;
}

std::vector<std::byte> small_file(int restart_mcus) {
  MadeJpeg jpeg{.width = 61, .height = 45, .quality = 88, .restart_mcus = restart_mcus, .optimised = true};
  jpeg.factors = {{{2, 2}, {1, 1}, {1, 1}}};
  return make_jpeg(jpeg);
}

JpegFiles damaged_files(const std::vector<std::byte>& whole, std::size_t step) {
  JpegFiles files;
  const auto keep = [&files](std::vector<std::byte> file) {
    // A changed bit in the header can make an image large.
    constexpr std::int64_t kMaxMcus = 1000;
    const std::unique_ptr<OpenJpeg> open = open_jpeg_scan(file);
    if (open && open->scan.mcus() <= kMaxMcus) files.push_back(std::move(file));
  };
  for (std::size_t at = 0; at < whole.size(); at += step) {
    keep({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(at)});
    for (int bit = 0; bit < 8; ++bit) {
      std::vector<std::byte> file = whole;
      file[at] ^= std::byte{1} << bit;
      keep(std::move(file));
    }
  }
  return files;
}

}  // namespace imgpipe::test
