// Tests that JPEG encoding on a CUDA device writes the same scans as libjpeg-turbo.
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/codecs/jpeg/scan_reference.h"
#include "images/image.h"
#include "images/synth.h"
#include "tests/support/cuda_backend.h"
#include "tests/support/cuda_jpeg.h"
#include "tests/support/images.h"

namespace imgpipe::test::cuda_jpeg_encoding_test {
namespace {

using File = std::vector<std::byte>;

constexpr std::int64_t kMaxJpegSide = 65500;

struct Case {
  Shape shape;
  std::string content;
  int quality = 90;
};

std::string text_of(const Case& c) {
  return c.content + " " + std::to_string(c.shape.width) + "x" + std::to_string(c.shape.height) + "x" +
         std::to_string(c.shape.channels) + " quality " + std::to_string(c.quality);
}

Image make_image(const Case& c) {
  if (c.content == "photo") return synthesize(parse_pattern("photo"), c.shape, 3);
  Image image(c.shape);
  for (std::int64_t y = 0; y < c.shape.height; ++y) {
    for (std::int64_t i = 0; i < c.shape.width * c.shape.channels; ++i) {
      image.view().row(y)[i] =
          content_sample(c.content, i / c.shape.channels, y, static_cast<int>(i % c.shape.channels), 7);
    }
  }
  return image;
}

std::unique_ptr<Writer> writer_of(const Case& c) {
  EncodeOptions options;
  options.quality = c.quality;
  return make_writer(Format::jpeg, c.shape, options);
}

// Encodes all cases in one group. `may_lack_room`: scans that exceed their capacity may be missing.
void expect_equal(const std::vector<Case>& cases, bool may_lack_room = false, unsigned seed = 1) {
  std::vector<Image> images;
  std::vector<JpegEncodingRequest> requests;
  for (const Case& c : cases) {
    images.push_back(make_image(c));
    const DeviceForm form = writer_of(c)->device_form();
    ASSERT_EQ(form.kind, DeviceForm::Kind::jpeg_scan);
    requests.push_back({images.back().view(), form.quality, form.subsampled_chroma});
  }
  std::vector<File> scans;
  ASSERT_EQ(encode_on_cuda(requests, seed, scans), "");
  for (std::size_t i = 0; i < cases.size(); ++i) {
    SCOPED_TRACE(text_of(cases[i]) + ", image " + std::to_string(i));
    const auto by_rows = writer_of(cases[i]);
    by_rows->write_rows(images[i].untyped_view());
    const File expected = by_rows->finish().joined();
    if (scans[i].empty()) {
      ASSERT_TRUE(may_lack_room) << expected.size();
      continue;
    }
    const auto by_scan = writer_of(cases[i]);
    by_scan->give_scan(scans[i]);
    const File got = by_scan->finish().joined();
    std::size_t at = 0;
    while (at < got.size() && at < expected.size() && got[at] == expected[at]) ++at;
    ASSERT_TRUE(got == expected) << "differ at byte " << at << " of " << got.size() << " and "
                                 << expected.size();
  }
}

TEST(CudaJpegEncoding, EqualForEverySmallShape) {
  IMGPIPE_NEED_CUDA();
  for (const int channels : {1, 3}) {
    for (const int quality : {75, 95}) {
      std::vector<Case> cases;
      for (std::int64_t height = 1; height <= 34; ++height) {
        for (std::int64_t width = 1; width <= 34; ++width)
          cases.push_back({{width, height, channels}, "noise", quality});
      }
      expect_equal(cases);
    }
  }
}

TEST(CudaJpegEncoding, EqualForAwkwardShapes) {
  IMGPIPE_NEED_CUDA();
  std::vector<Case> cases;
  for (const int channels : {1, 3}) {
    for (const int quality : {90, 91}) {
      for (const Size& size : awkward_sizes()) {
        if (size.width <= kMaxJpegSide && size.height <= kMaxJpegSide)
          cases.push_back({{size.width, size.height, channels}, "noise", quality});
      }
      cases.push_back({{kMaxJpegSide, 17, channels}, "photo", quality});
      cases.push_back({{19, kMaxJpegSide, channels}, "ramp", quality});
      // Whole runs of MCUs, and one block fewer or more.
      for (const std::int64_t blocks : {31, 32, 33, 63, 64, 65, 191, 192, 193, 384, 385})
        cases.push_back({{8 * blocks, 24, channels}, "noise", quality});
    }
  }
  expect_equal(cases, false, 5);
}

TEST(CudaJpegEncoding, EqualForEveryQuality) {
  IMGPIPE_NEED_CUDA();
  std::vector<Case> cases;
  for (int quality = 1; quality <= 100; ++quality) {
    for (const int channels : {1, 3}) {
      for (const char* content : {"noise", "photo", "ramp", "constant", "outlier"})
        cases.push_back({{203, 117, channels}, content, quality});
    }
  }
  expect_equal(cases, false, 9);
}

// Extreme contents take more bits than photographs. Only scans that do not fit are left to the host.
TEST(CudaJpegEncoding, ExtremesAreEqualOrExceedCapacity) {
  IMGPIPE_NEED_CUDA();
  std::vector<Case> cases;
  for (const int quality : {1, 25, 50, 75, 90, 91, 97, 100}) {
    for (const int channels : {1, 3}) {
      for (const std::string& content : contents()) cases.push_back({{301, 83, channels}, content, quality});
    }
  }
  expect_equal(cases, true, 11);
}

TEST(CudaJpegEncoding, OneLargeImageAmongSmallOnes) {
  IMGPIPE_NEED_CUDA();
  for (const int channels : {1, 3}) {
    std::vector<Case> cases{{{4001, 3003, channels}, "photo", 90}, {{1, 1, channels}, "full", 90}};
    for (int i = 0; i < 300; ++i) cases.push_back({{90 + i % 7, 61 + i % 5, channels}, "photo", 60 + i % 40});
    cases.push_back({{2048, 1025, 4 - channels}, "noise", 95});
    expect_equal(cases, false, 13);
  }
}

// For compute-sanitizer's initcheck.
TEST(CudaJpegEncoding, ReadsNoUninitialisedMemory) {
  IMGPIPE_NEED_CUDA();
  std::vector<Case> cases;
  for (const int channels : {1, 3}) {
    for (const int quality : {10, 90, 96}) {
      for (const char* content : {"noise", "photo", "constant", "checker"}) {
        cases.push_back({{8, 8, channels}, content, quality});
        cases.push_back({{617, 211, channels}, content, quality});
      }
    }
  }
  expect_equal(cases, true, 0);
}

// A scan that exceeds its capacity is missing; the scans of its neighbours are intact.
TEST(CudaJpegEncoding, NoScanBeyondCapacity) {
  IMGPIPE_NEED_CUDA();
  constexpr int kQuality = 97;
  std::mt19937 random(1);
  for (const int channels : {1, 3}) {
    Image extremes({400, 300, channels});
    Sample8* samples = extremes.view().data;
    for (std::size_t i = 0; i < extremes.size_bytes(); ++i) samples[i] = random() % 2 == 0 ? 0 : kMaxSample;
    // Extreme in a single run of MCUs.
    Image corner = make_image({{400, 300, channels}, "constant", 100});
    for (std::int64_t y = 96; y < 104; ++y) {
      for (std::int64_t i = 0; i < 400 * channels; ++i)
        corner.view().row(y)[i] = random() % 2 == 0 ? 0 : kMaxSample;
    }
    const Image plain = make_image({{401, 299, channels}, "noise", 100});
    std::vector<File> scans;
    const auto request = [](const Image& image) {
      return JpegEncodingRequest{image.view(), kQuality, false};
    };
    ASSERT_EQ(encode_on_cuda({request(plain), request(extremes), request(plain), request(corner)}, 3, scans),
              "");
    EXPECT_TRUE(scans[1].empty());
    EXPECT_TRUE(scans[0] == encode_scan_reference(plain.view(), kQuality, false));
    EXPECT_TRUE(scans[2] == scans[0]);
    EXPECT_TRUE(scans[3].empty() || scans[3] == encode_scan_reference(corner.view(), kQuality, false));
  }
}

TEST(CudaJpegEncoding, EmptyGroup) {
  IMGPIPE_NEED_CUDA();
  std::vector<File> scans;
  EXPECT_EQ(encode_on_cuda({}, 1, scans), "");
  EXPECT_TRUE(scans.empty());
}

}  // namespace
}  // namespace imgpipe::test::cuda_jpeg_encoding_test
