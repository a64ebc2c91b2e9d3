// Reading into chunks on one and several threads, from any row: in order, within the promised memory.
#include "pipeline/host/chunk_reading.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "pipeline/engine.h"
#include "tests/support/banded_reader.h"
#include "tests/support/sanitizers.h"

namespace imgpipe::test::chunk_reading_test {
namespace {

// Returns an image that is fast to make and to compare. Some must be large, because chunks have a fixed size.
Image make_image(const Shape& shape) {
  Image image(shape);
  const HostView all = image.untyped_view();
  for (std::int64_t y = 0; y < shape.height; ++y) {
    std::memset(all.row(y), static_cast<int>(y % 251), static_cast<std::size_t>(all.row_bytes()));
    std::memcpy(all.row(y), &y, static_cast<std::size_t>(std::min<std::int64_t>(8, all.row_bytes())));
  }
  return image;
}

bool are_equal(const Image& a, const Image& b) {
  return std::memcmp(a.untyped_view().data, b.untyped_view().data,
                     static_cast<std::size_t>(a.shape().bytes())) == 0;
}

// A ring of chunks like a device's, whose contents go to an image.
class Ring {
 public:
  // Provides no memory from row `stops_at` on.
  Ring(const Shape& shape, std::int64_t stops_at) : uploaded_(shape), stops_at_(stops_at) {
    for (Image& chunk : chunks_)
      chunk = Image({shape.width, chunk_rows(shape), shape.channels, shape.sample});
  }

  [[nodiscard]] ChunkSteps steps() {
    return {[this](std::int64_t first, std::int64_t rows) { return next(first, rows); },
            [this](const HostView& chunk, std::int64_t first) { filled(chunk, first); }};
  }
  void go_on() { stops_at_ = uploaded_.shape().height; }
  [[nodiscard]] const Image& uploaded() const { return uploaded_; }
  [[nodiscard]] int faults() const { return faults_; }

 private:
  HostView next(std::int64_t first, std::int64_t rows) {
    faults_ += busy_.exchange(true) ? 1 : 0;
    HostView chunk;
    if (first < stops_at_) {
      faults_ += given_.size() >= kRingChunks || rows > chunk_rows(uploaded_.shape()) ? 1 : 0;
      chunk = chunks_[next_++ % kRingChunks].untyped_view().rows(0, rows);
      given_.push_back({chunk, first});
    }
    busy_ = false;
    return chunk;
  }

  void filled(const HostView& chunk, std::int64_t first) {
    faults_ += busy_.exchange(true) ? 1 : 0;
    const auto& [expected, expected_first] = given_.front();
    faults_ += chunk.data != expected.data || first != expected_first ? 1 : 0;
    copy_pixels(chunk, uploaded_.untyped_view().rows(first, chunk.height));
    std::memset(chunk.data, 0x55, static_cast<std::size_t>(chunk.bytes()));
    given_.pop_front();
    busy_ = false;
  }

  Image uploaded_;
  Image chunks_[kRingChunks];
  std::int64_t stops_at_;
  std::size_t next_ = 0;
  std::deque<std::pair<HostView, std::int64_t>> given_;  // not filled yet
  std::atomic<bool> busy_ = false;
  int faults_ = 0;
};

const std::vector<Shape>& shapes() {
  // One chunk; several, the last one partly filled; rows so long that a chunk holds one or two.
  static const std::vector<Shape> all{{1, 1, 1},       {700, 500, 3},     {3000, 4133, 1},
                                      {2711, 2700, 3}, {5'000'000, 4, 1}, {9'000'000, 3, 1}};
  return all;
}

TEST(ChunkReading, RowsArriveInOrder) {
  for (const Shape& shape : shapes()) {
    const Image image = make_image(shape);
    for (const int threads : {1, 2, 7, 20}) {
      if (kSanitized && threads % 2 == 0) continue;
      HostThreads host(threads);
      for (const std::int64_t stops_at : {std::int64_t{0}, shape.height / 2, shape.height}) {
        for (const bool by_bands : {true, false}) {
          SCOPED_TRACE(std::to_string(shape.width) + "x" + std::to_string(shape.height) + " threads " +
                       std::to_string(threads) + " stops at " + std::to_string(stops_at) +
                       (by_bands ? " bands" : " rows"));
          BandedLog log;
          const BandedBehaviour behaviour{.waits_for_earlier = threads == 7, .seed = 3};
          std::unique_ptr<Reader> reader = make_memory_reader(image.untyped_view());
          if (by_bands) reader = std::make_unique<BandedReader>(image.untyped_view(), behaviour, log);
          Ring ring(shape, stops_at);
          Timeline timeline;
          const std::int64_t first = read_chunks(*reader, 0, host, timeline, ring.steps());
          ASSERT_GE(first, stops_at);
          ASSERT_LT(first - stops_at, chunk_rows(shape));
          ring.go_on();
          ASSERT_EQ(read_chunks(*reader, first, host, timeline, ring.steps()), shape.height);
          ASSERT_EQ(log.faults, std::vector<std::string>());
          ASSERT_EQ(log.complete(shape.height), by_bands);
          ASSERT_EQ(ring.faults(), 0);
          ASSERT_TRUE(are_equal(image, ring.uploaded()));
          std::int64_t bytes = 0;
          for (const Span& span : timeline.spans()) {
            bytes += span.bytes;
            ASSERT_EQ(span.name, by_bands ? "decode (parallel)" : "decode");
          }
          EXPECT_EQ(bytes, shape.bytes());
        }
      }
    }
  }
}

TEST(ChunkReading, ThreadsReadConcurrently) {
  const Image image = make_image({2711, 3500, 3});
  HostThreads host(4);
  int at_once = 0;
  for (int i = 0; i < 20 && at_once < 2; ++i) {
    BandedLog log;
    BandedReader reader(image.untyped_view(), {.seed = 7}, log);
    Ring ring(image.shape(), image.shape().height);
    Timeline timeline;
    (void)read_chunks(reader, 0, host, timeline, ring.steps());
    at_once = log.max_at_once;
  }
  EXPECT_GE(at_once, 2);
}

TEST(ChunkReading, FailureEndsReadingWithItsError) {
  const Shape shape{2711, 3500, 3};
  const Image image = make_image(shape);
  for (const int threads : {1, 3, 7}) {
    HostThreads host(threads);
    for (std::int64_t row = 0; row < shape.height; row += kSanitized ? 1111 : 333) {
      BandedLog log;
      BandedReader reader(image.untyped_view(),
                          {.fails_at = row, .waits_for_earlier = row % 2 == 0, .seed = 3}, log);
      Ring ring(shape, shape.height);
      Timeline timeline;
      try {
        (void)read_chunks(reader, 0, host, timeline, ring.steps());
        ADD_FAILURE() << row;
      } catch (const Error& error) {
        EXPECT_EQ(std::string(error.what()), "row " + std::to_string(row) + " is broken on purpose");
      }
      EXPECT_EQ(log.faults, std::vector<std::string>());
      EXPECT_EQ(ring.faults(), 0);
    }
    // The consumer of the chunks fails.
    BandedLog log;
    BandedReader reader(image.untyped_view(), {.waits_for_earlier = true, .seed = 3}, log);
    Ring ring(shape, shape.height);
    ChunkSteps steps = ring.steps();
    steps.filled = [](const HostView&, std::int64_t) { throw Error(ErrorKind::device, "gone"); };
    Timeline timeline;
    EXPECT_THROW((void)read_chunks(reader, 0, host, timeline, steps), Error);
  }
}

}  // namespace
}  // namespace imgpipe::test::chunk_reading_test
