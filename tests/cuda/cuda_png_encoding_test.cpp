// Compares files from strips that a CUDA device encodes (kernels/png/encoding.h) with the host's.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/image.h"
#include "kernels/png/encoding.h"
#include "tests/support/cuda_backend.h"
#include "tests/support/images.h"

#ifdef IMGPIPE_TEST_CUDA
#include <cuda_runtime.h>

#include "pipeline/cuda/cuda_api.h"

namespace imgpipe::test::cuda_png_encoding_test {
namespace {

// ---- images -------------------------------------------------------------------------------------------

using Value = std::function<std::uint8_t(std::int64_t x, std::int64_t y, int c)>;

Image picture(Shape shape, const Value& value) {
  Image image(shape);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    Sample8* row = image.view().row(y);
    for (std::int64_t x = 0; x < shape.width; ++x) {
      for (int c = 0; c < shape.channels; ++c) *row++ = value(x, y, c);
    }
  }
  return image;
}

std::uint8_t byte_of(std::int64_t v) {
  return static_cast<std::uint8_t>(v & 255);
}

// Returns image contents by name; `seed` is for the random ones.
std::vector<std::pair<std::string, Value>> pictures(std::uint64_t seed) {
  const auto noise = [seed](std::int64_t x, std::int64_t y, int c) {
    std::uint64_t v = seed * 0x9E3779B97F4A7C15 + static_cast<std::uint64_t>(x) * 0xD1B54A32D192ED03 +
                      static_cast<std::uint64_t>(y) * 0x8CB92BA72F3D8DD7 + static_cast<std::uint64_t>(c);
    v = (v ^ v >> 31) * 0xBF58476D1CE4E5B9;
    v = (v ^ v >> 29) * 0x94D049BB133111EB;
    return static_cast<std::int64_t>((v ^ v >> 32) & 0xFFFF);
  };
  std::vector<std::pair<std::string, Value>> all;
  all.emplace_back("noise", [=](auto x, auto y, int c) { return byte_of(noise(x, y, c)); });
  all.emplace_back("constant", [](auto, auto, int c) { return byte_of(90 * c + 7); });
  all.emplace_back("zeros", [](auto, auto, int) { return byte_of(0); });
  // Smooth, with a little noise, and a noiseless sky.
  all.emplace_back("photo", [=](auto x, auto y, int c) {
    const std::int64_t base = 120 + (x * (3 + c)) / 40 % 60 + y / 30 % 50 - (x / 90) * (y / 70) % 30;
    return byte_of(std::clamp<std::int64_t>(y % 400 < 80 ? 200 + y % 7 : base + noise(x, y, c) % 9, 0, 255));
  });
  all.emplace_back("fine photo", [=](auto x, auto y, int c) {
    return byte_of(128 + (x + c) / 20 % 90 + noise(x, y, c) % 3 + (noise(x / 50, y / 50, 1) % 40));
  });
  all.emplace_back("gradient", [](auto x, auto y, int c) { return byte_of(x / 3 + y * (c + 1) / 5); });
  all.emplace_back("steep", [](auto x, auto y, int c) { return byte_of(x * 37 + y * y * 3 + c); });
  // Letters on white: repeats, which ISA-L handles.
  all.emplace_back("text", [=](auto x, auto y, int) {
    if (y % 24 > 15 || x % 12 > 9) return byte_of(255);
    const std::int64_t letter = noise(x / 12, y / 24, 5) % 30;
    return byte_of(noise(letter * 100 + x % 12, y % 24, 6) % 2 == 0 ? 0 : 255);
  });
  all.emplace_back("palette",
                   [=](auto x, auto y, int c) { return byte_of(noise(noise(x / 9, y / 5, 1) % 12, 3, c)); });
  // One band of rows per filter, for which that filter is the best.
  all.emplace_back("filters", [=](auto x, auto y, int c) {
    const std::int64_t n = noise(x, 1, c) % 256;
    switch (y / 5 % 5) {
      case 0:
        return byte_of(noise(x, y, c) % 4 == 0 ? noise(x, y, c) % 5 : 0);
      case 1:
        return byte_of(x * 5 + y * 77 + noise(x, y, c) % 2);
      case 2:
        return byte_of(n + y * 7 + noise(x, y, c) % 2);
      case 3:
        return byte_of((n + x * 3 + y * 2) / 2);
      default:
        return byte_of(x / 7 * 40 + y / 2 * 30 + noise(x, y, c) % 2);
    }
  });
  // Rows of runs of many lengths; the last run of a row may be cut off.
  all.emplace_back("runs", [=](auto x, auto y, int) {
    const std::int64_t length = y % 3 == 0 ? 1 + (y / 3) % 40 : y % 3 == 1 ? 240 + y % 40 : 500 + y % 30;
    return byte_of(noise(x / length, y, 2) % 3);
  });
  all.emplace_back("sparse",
                   [=](auto x, auto y, int c) { return byte_of(noise(x, y, c) % 997 == 0 ? 1 : 0); });
  return all;
}

std::vector<std::byte> file_of_host(const Image& image) {
  const auto writer = make_writer(Format::png, image.shape());
  writer->write_rows(image.view());
  return writer->finish().joined();
}

// ---- the device ---------------------------------------------------------------------------------------

class PlaneOnDevice {
 public:
  PlaneOnDevice(const Image& image, std::int64_t extra) : shape_(image.shape()) {
    stride_ = ((shape_.width + 15) / 16 * 16 * shape_.channels + 15) / 16 * 16 + 16 * extra;
    std::vector<Sample8> all(static_cast<std::size_t>(stride_ * shape_.height), Sample8{0xC7});
    for (std::int64_t y = 0; y < shape_.height; ++y)
      std::memcpy(all.data() + y * stride_, image.view().row(y),
                  static_cast<std::size_t>(shape_.row_bytes()));
    buffer_.reserve(all.size());
    IMGPIPE_CUDA(cudaMemcpy(buffer_.data(), all.data(), all.size(), cudaMemcpyHostToDevice));
  }
  [[nodiscard]] Plane<const Sample8, Device> plane() const {
    return {static_cast<const Sample8*>(buffer_.data()), shape_.width, shape_.height, stride_,
            shape_.channels};
  }

 private:
  Shape shape_;
  std::int64_t stride_ = 0;
  DeviceBuffer buffer_;
};

struct OutputRecord {
  std::vector<std::byte> bytes;
  std::size_t strips = 0, filtered = 0;
  std::size_t first = 0, end = 0;  // range of its strips in the group's memory
};

constexpr std::size_t kGuard = 4096;

// Encodes one group, with canaries on both sides of its memory, which initially holds noise.
std::vector<OutputRecord> files_of_device(const std::vector<const Image*>& images) {
  std::vector<std::unique_ptr<PlaneOnDevice>> planes;
  std::vector<std::unique_ptr<Writer>> writers;
  std::vector<PngEncodingTask> tasks;
  for (const Image* image : images) {
    planes.push_back(std::make_unique<PlaneOnDevice>(*image, static_cast<std::int64_t>(planes.size() % 3)));
    writers.push_back(make_writer(Format::png, image->shape()));
    EXPECT_EQ(writers.back()->device_form().kind, DeviceForm::Kind::png_strips);
    tasks.push_back({planes.back()->plane(), writers.back()->strip_rows()});
  }
  const PngEncoding encoding(tasks);
  const GroupMemory& memory = encoding.memory();
  std::vector<std::byte> host(memory.bytes + 2 * kGuard);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<std::byte>(i * 2654435761U >> 11);
  std::vector<std::byte> before = host;
  encoding.write_upload(host.data() + kGuard);
  DeviceBuffer buffer;
  buffer.reserve(host.size());
  IMGPIPE_CUDA(cudaMemcpy(buffer.data(), host.data(), host.size(), cudaMemcpyHostToDevice));
  IMGPIPE_CUDA(cudaDeviceSynchronize());
  int multiprocessors = 0;
  IMGPIPE_CUDA(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
  const Stream stream;
  auto* from = static_cast<std::byte*>(buffer.data()) + kGuard;
  IMGPIPE_CUDA(static_cast<cudaError_t>(encoding.launch(from, {stream.get(), multiprocessors})));
  IMGPIPE_CUDA(cudaStreamSynchronize(stream.get()));
  IMGPIPE_CUDA(cudaMemcpy(host.data(), buffer.data(), host.size(), cudaMemcpyDeviceToHost));
  EXPECT_TRUE(std::equal(host.begin(), host.begin() + kGuard, before.begin()));
  EXPECT_TRUE(std::equal(host.end() - kGuard, host.end(), before.end() - kGuard));
  const std::byte* made = host.data() + kGuard;
  std::vector<OutputRecord> files(images.size());
  for (std::size_t i = 0; i < images.size(); ++i) {
    const auto strips = encoding.strips(i, made + memory.results_offset);
    std::int64_t row = 0;
    OutputRecord& file = files[i];
    file.strips = strips.size();
    file.first = strips.front().offset;
    file.end = file.first;
    for (const PngEncoding::Strip& strip : strips) {
      EXPECT_GE(strip.offset, file.end);
      EXPECT_LT(strip.offset, file.end + 64);
      file.end = strip.offset + strip.bytes;
      if (file.end > memory.bytes) {
        ADD_FAILURE() << "a strip beyond the memory: " << strip.offset << " " << strip.bytes;
        return files;
      }
      file.filtered += strip.filtered ? 1 : 0;
      writers[i]->give_strip(row, {{made + strip.offset, strip.bytes}, strip.adler, strip.filtered});
      row += tasks[i].strip_rows;
    }
    file.bytes = writers[i]->finish().joined();
  }
  return files;
}

std::string name_of(const Image& image) {
  const Shape& s = image.shape();
  return std::to_string(s.width) + "x" + std::to_string(s.height) + "x" + std::to_string(s.channels);
}

// Returns "" or the first byte that differs.
std::string difference(const std::vector<std::byte>& expected, const std::vector<std::byte>& got) {
  const auto [a, b] = std::mismatch(expected.begin(), expected.end(), got.begin(), got.end());
  if (a == expected.end() && b == got.end()) return "";
  return "byte " + std::to_string(a - expected.begin()) + " of " + std::to_string(expected.size()) + " and " +
         std::to_string(got.size());
}

void check_group(const std::vector<Image>& images, const std::vector<std::string>& names) {
  std::vector<const Image*> pointers;
  for (const Image& image : images) pointers.push_back(&image);
  const std::vector<OutputRecord> files = files_of_device(pointers);
  for (std::size_t i = 0; i < images.size(); ++i) {
    EXPECT_EQ(difference(file_of_host(images[i]), files[i].bytes), "")
        << names[i] << " " << name_of(images[i]) << ", " << files[i].strips << " strips, "
        << files[i].filtered << " filtered";
  }
}

// ---- tests --------------------------------------------------------------------------------------------

TEST(CudaPngEncoding, EveryContentAndChannel) {
  IMGPIPE_NEED_CUDA();
  for (const int channels : {1, 2, 3, 4}) {
    std::vector<Image> images;
    std::vector<std::string> names;
    for (const auto& [name, value] : pictures(7)) {
      images.push_back(picture({channels == 1 ? 1501 : 801, channels == 1 ? 1203 : 700, channels}, value));
      names.push_back(name);
    }
    check_group(images, names);
  }
}

TEST(CudaPngEncoding, AwkwardShapesInOneGroup) {
  IMGPIPE_NEED_CUDA();
  std::vector<Shape> shapes;
  for (const int channels : {1, 2, 3, 4}) {
    for (const std::int64_t width : {1, 2, 3, 5, 7, 8, 15, 16, 17, 31, 32, 33, 511, 512, 513}) {
      shapes.push_back({width, 1, channels});
      shapes.push_back({width, 2, channels});
      shapes.push_back({width, 40000 / width + 3, channels});
    }
    shapes.push_back({1, 70001, channels});
    shapes.push_back({40001, 1, channels});
    shapes.push_back({40001, 30, channels});
  }
  for (const std::string content : {"photo", "runs", "noise", "filters"}) {
    std::vector<Image> images;
    std::vector<std::string> names;
    for (const auto& [name, value] : pictures(3)) {
      if (name != content) continue;
      for (const Shape& shape : shapes) {
        images.push_back(picture(shape, value));
        names.push_back(name);
      }
    }
    check_group(images, names);
  }
}

// Rows longer than a strip, strips of many tiles, and columns of one pixel.
TEST(CudaPngEncoding, LongRowsAndColumns) {
  IMGPIPE_NEED_CUDA();
  std::vector<Image> images;
  std::vector<std::string> names;
  for (const auto& [name, value] : pictures(11)) {
    if (name == "text" || name == "steep" || name == "gradient") continue;
    images.push_back(picture({1'100'003, 3, 1}, value));
    images.push_back(picture({300'001, 4, 3}, value));
    images.push_back(picture({70'001, 9, 4}, value));
    images.push_back(picture({1, 1'000'003, 1}, value));
    images.push_back(picture({2, 300'001, 3}, value));
    for (int i = 0; i < 5; ++i) names.push_back(name);
  }
  check_group(images, names);
}

// Runs of every length around the rule's limits, in one strip larger than kAlwaysTryBelowBytes.
TEST(CudaPngEncoding, RunsOfEveryLength) {
  IMGPIPE_NEED_CUDA();
  std::vector<Image> images;
  std::vector<std::string> names;
  std::mt19937 random(2);
  for (int round = 0; round < 12; ++round) {
    std::vector<std::uint8_t> bytes;
    std::int64_t length = 1;
    while (bytes.size() < 60000) {
      // Values near zero, so that filter None is the best.
      static constexpr std::uint8_t kValues[] = {0, 1, 255, 2, 254};
      bytes.insert(bytes.end(), static_cast<std::size_t>(length), kValues[(random() % 4 + bytes.size()) % 5]);
      length = round < 4   ? 1 + length % 620
               : round < 8 ? 13 + random() % 8
                           : 255 + random() % 20 * (random() % 30);
    }
    images.push_back(picture({static_cast<std::int64_t>(bytes.size()), 1, 1},
                             [&](auto x, auto, int) { return bytes[static_cast<std::size_t>(x)]; }));
    names.push_back("runs " + std::to_string(round));
  }
  check_group(images, names);
}

// A few values with Fibonacci frequencies, for codes up to the limit of 15 bits.
TEST(CudaPngEncoding, DeepestCodes) {
  IMGPIPE_NEED_CUDA();
  std::vector<Image> images;
  std::vector<std::string> names;
  for (const std::size_t symbols : {16U, 20U, 26U}) {
    std::vector<std::uint8_t> bytes;
    std::size_t before = 1, last = 1;
    for (std::size_t s = 0; s < symbols; ++s) {
      bytes.insert(bytes.end(), last, static_cast<std::uint8_t>(s * 7));
      last = before + std::exchange(before, last);
    }
    std::shuffle(bytes.begin(), bytes.end(), std::mt19937_64(4));
    // Running sums of the bytes, from which filter Sub restores the bytes.
    std::vector<std::uint8_t> sums(bytes.size());
    std::uint8_t sum = 0;
    for (std::size_t i = 0; i < bytes.size(); ++i) sums[i] = sum = static_cast<std::uint8_t>(sum + bytes[i]);
    for (const auto& row : {bytes, sums}) {
      images.push_back(picture({static_cast<std::int64_t>(row.size()), 1, 1},
                               [&](auto x, auto, int) { return row[static_cast<std::size_t>(x)]; }));
      names.push_back("deep " + std::to_string(symbols));
    }
  }
  check_group(images, names);
}

TEST(CudaPngEncoding, ManySmallImagesAndALargeOne) {
  IMGPIPE_NEED_CUDA();
  std::vector<Image> images;
  std::vector<std::string> names;
  const auto kinds = pictures(5);
  for (std::size_t i = 0; i < 150; ++i) {
    const auto& [name, value] = kinds[i % kinds.size()];
    const auto n = static_cast<std::int64_t>(i);
    images.push_back(picture({120 + 7 * n % 300, 90 + 11 * n % 250, static_cast<int>(1 + i % 4)}, value));
    names.push_back(name);
  }
  images.push_back(picture({6001, 4001, 1}, kinds[3].second));
  names.push_back(kinds[3].first);
  check_group(images, names);
}

TEST(CudaPngEncoding, SeveralStreamsAtOnce) {
  IMGPIPE_NEED_CUDA();
  const Image image = picture({1999, 1777, 3}, pictures(2)[3].second);
  const std::vector<std::byte> expected = file_of_host(image);
  std::vector<std::thread> crew;
  for (int t = 0; t < 4; ++t) {
    crew.emplace_back([&] {
      for (int round = 0; round < 3; ++round) {
        const auto files = files_of_device({&image, &image});
        for (const OutputRecord& file : files) EXPECT_EQ(difference(expected, file.bytes), "");
      }
    });
  }
  for (std::thread& thread : crew) thread.join();
}

TEST(CudaPngEncoding, RandomGroups) {
  IMGPIPE_NEED_CUDA();
  std::mt19937_64 random(99);
  for (int round = 0; round < 6; ++round) {
    std::vector<Image> images;
    std::vector<std::string> names;
    const auto kinds = pictures(random());
    for (int i = 0; i < 12; ++i) {
      const auto& [name, value] = kinds[random() % kinds.size()];
      const auto width = static_cast<std::int64_t>(1 + random() % (random() % 2 == 0 ? 60 : 3000));
      const auto height = static_cast<std::int64_t>(1 + random() % (random() % 2 == 0 ? 60 : 900));
      images.push_back(picture({width, height, static_cast<int>(1 + random() % 4)}, value));
      names.push_back(name);
    }
    check_group(images, names);
  }
}

}  // namespace
}  // namespace imgpipe::test::cuda_png_encoding_test

#else

TEST(CudaPngEncoding, NeedsCuda) {
  GTEST_SKIP() << "this build has no CUDA";
}

#endif
