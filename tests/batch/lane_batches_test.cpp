// Lists of images on lanes that keep the results: the same pixels as the reference's, whatever fails before.
#include "pipeline/jobs/lane_batches.h"

#include <atomic>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/error.h"
#include "pipeline/jobs/array_batch.h"
#include "pipeline/plan.h"
#include "pipeline/runner.h"
#include "pipeline/stage_list.h"
#include "tests/support/batch_folder.h"
#include "tests/support/files.h"
#include "tests/support/host_lane.h"

namespace imgpipe::test::lane_batches_test {
namespace {

constexpr const char* kEachStages = "gray,contrast";

std::vector<std::byte> encoded(Format format, const Shape& shape) {
  const Image image = synthesize(parse_pattern("photo"), shape, 7);
  const auto writer = make_writer(format, shape);
  writer->write_rows(image.untyped_view());
  return writer->finish().joined();
}

class LaneBatchesTest : public BatchTest {
 protected:
  void SetUp() override {
    BatchTest::SetUp();
    for (const std::string& name : names_) files_.push_back(load(in_.file(name)));
    files_[5].resize(files_[5].size() / 2);  // damaged: a JPEG without its end
    files_[7] = {std::byte{'x'}};            // not an image
  }

  LaneBatches& batches(LaneFaults faults, std::size_t lanes = 3) {
    batches_ = std::make_unique<LaneBatches>(
        LaneBatchSettings{.make_lane = [faults] { return std::make_unique<HostLane>("lane", faults, 1); },
                          .memory = make_lane_memory(1 << 20),
                          .lanes = lanes,
                          .memory_bytes = std::int64_t{1} << 24});
    return *batches_;
  }

  struct Result {
    std::vector<std::byte> bytes;
    std::string error;
  };

  LaneBatchRequest request(std::vector<LaneBatchImage>& images, std::vector<Result>& results,
                           int threads) const {
    return {.decode = {},
            .plans = &plans_,
            .allocate =
                [&images, &results] {
                  for (std::size_t i = 0; i < images.size(); ++i) {
                    if (!images[i].plan) continue;
                    results[i].bytes.resize(static_cast<std::size_t>(images[i].plan->plan.output.bytes()));
                    images[i].result = results[i].bytes.data();
                  }
                },
            .threads = threads};
  }

  std::vector<Result> run(LaneBatches& batches, int threads) const {
    std::vector<LaneBatchImage> images(files_.size());
    for (std::size_t i = 0; i < files_.size(); ++i)
      images[i].source.open = [this, i](const DecodeOptions& options) {
        return open_reader(files_[i], options);
      };
    std::vector<Result> results(files_.size());
    batches.run(images, request(images, results, threads));
    for (std::size_t i = 0; i < files_.size(); ++i) {
      if (images[i].error) results[i] = {{}, images[i].error->what()};
    }
    return results;
  }

  void expect_right(const std::vector<Result>& results) const {
    Runner runner({.device = "reference"});
    for (std::size_t i = 0; i < files_.size(); ++i) {
      SCOPED_TRACE(names_[i]);
      Result wanted;
      try {
        const auto reader = open_reader(files_[i]);
        Image image(reader->header().shape);
        reader->read_rows(image.untyped_view());
        const RunResult result = runner.run(std::as_const(image).untyped_view(), kEachStages);
        wanted.bytes.assign(result.pixels.data, result.pixels.data + result.pixels.bytes());
      } catch (const Error& error) {
        wanted.error = error.what();
      }
      EXPECT_EQ(results[i].error, wanted.error);
      EXPECT_TRUE(results[i].bytes == wanted.bytes);
    }
  }

  std::vector<std::vector<std::byte>> files_;
  mutable ArrayPlans plans_{{.stages = parse_stages(kEachStages)}};
  std::unique_ptr<LaneBatches> batches_;
};

TEST_F(LaneBatchesTest, ResultsAndErrorsAreTheReferences) {
  for (const bool codecs : {false, true}) {
    for (const int threads : {1, 3}) expect_right(run(batches({.group = 8, .codecs = codecs}), threads));
  }
}

TEST_F(LaneBatchesTest, GroupsWithoutMemoryAreSplit) {
  for (int launch = 1; launch < 4; ++launch) {
    expect_right(run(batches({.no_memory_in_launch = launch}), 1));
    expect_right(run(batches({.no_memory_in_finish = launch}), 1));
  }
}

TEST_F(LaneBatchesTest, AnImageThatNeverFitsFailsAlone) {
  constexpr std::int64_t kRoom = 40000;  // less than 200 x 150 RGB and its result
  const std::vector<Result> results = run(batches({.room_bytes = kRoom}), 2);
  int failed = 0;
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (results[i].error == "not enough device memory") ++failed;
  }
  EXPECT_EQ(failed, 3);  // a fourth of this size is damaged
}

TEST_F(LaneBatchesTest, ABrokenLaneFailsTheCallAndNotTheNext) {
  std::atomic<int> made{0};
  LaneBatches batches({.make_lane =
                           [&made] {
                             const LaneFaults faults{.breaks_in_launch = made++ == 0 ? 1 : 0};
                             return std::make_unique<HostLane>("lane", faults, 1);
                           },
                       .memory = make_lane_memory(1 << 20),
                       .lanes = 1,
                       .memory_bytes = std::int64_t{1} << 24});
  EXPECT_THROW((void)run(batches, 2), Error);
  expect_right(run(batches, 2));
}

TEST_F(LaneBatchesTest, ConcurrentCallsShareLanes) {
  LaneBatches& shared = batches({.image_ms = 1}, 2);
  std::vector<std::thread> callers;
  std::vector<std::vector<Result>> results(4);
  for (auto& result : results) callers.emplace_back([&] { result = run(shared, 2); });
  for (std::thread& caller : callers) caller.join();
  for (const auto& result : results) expect_right(result);
  shared.trim();
  expect_right(run(shared, 2));
}

// Counts the files of a list that are open.
class OpenFiles {
 public:
  ArraySource source(const std::vector<std::byte>& file, bool is_on_disk) {
    const auto is_open = std::make_shared<bool>(false);
    return {.open =
                [this, &file, is_open](const DecodeOptions& options) {
                  EXPECT_FALSE(std::exchange(*is_open, true));
                  const int open = ++open_;
                  for (int most = most_; open > most && !most_.compare_exchange_weak(most, open);) {
                  }
                  return open_reader(file, options);
                },
            .close = [this, is_open] { open_ -= std::exchange(*is_open, false) ? 1 : 0; },
            .is_on_disk = [is_on_disk] { return is_on_disk; }};
  }
  [[nodiscard]] int open() const { return open_; }
  [[nodiscard]] int most() const { return most_; }

 private:
  std::atomic<int> open_ = 0, most_ = 0;
};

TEST_F(LaneBatchesTest, FewFilesAreOpenAtOnce) {
  files_ = {encoded(Format::pgm, {3, 5, 1}),
            encoded(Format::jpeg, {9, 8, 3}),
            {std::byte{'x'}},
            encoded(Format::png, {1, 7, 3})};
  constexpr int kThreads = 3;
  for (const auto& [is_on_disk, most] : {std::pair{false, 1024 + kThreads * 128}, {true, kThreads}}) {
    if (is_on_disk) files_.erase(files_.begin() + 1);  // JPEG files are never read from the disk
    const std::vector<Result> wanted = run(batches({}), 1);
    OpenFiles files;
    std::vector<LaneBatchImage> images(3000);
    for (std::size_t i = 0; i < images.size(); ++i)
      images[i].source = files.source(files_[i % files_.size()], is_on_disk);
    std::vector<Result> results(images.size());
    batches({.group = 128, .codecs = !is_on_disk}).run(images, request(images, results, kThreads));
    EXPECT_EQ(files.open(), 0);
    EXPECT_LE(files.most(), most);
    for (std::size_t i = 0; i < images.size(); ++i) {
      const Result& one = wanted[i % wanted.size()];
      EXPECT_EQ(images[i].error ? images[i].error->what() : "", one.error);
      EXPECT_TRUE(!one.error.empty() || results[i].bytes == one.bytes) << i;
    }
  }
}

TEST_F(LaneBatchesTest, AFileThatChangesFailsAlone) {
  const std::vector<std::byte> small = encoded(Format::pgm, {3, 5, 1}),
                               large = encoded(Format::pgm, {4, 5, 1});
  std::vector<LaneBatchImage> images(2);
  int opened = 0;
  images[0].source = {
      .open =
          [&](const DecodeOptions& options) { return open_reader(opened++ == 0 ? small : large, options); },
      .is_on_disk = [] { return true; }};
  images[1].source = {.open = [&](const DecodeOptions& options) { return open_reader(small, options); }};
  std::vector<Result> results(images.size());
  batches({}).run(images, request(images, results, 1));
  ASSERT_TRUE(images[0].error);
  EXPECT_STREQ(images[0].error->what(), "the file was changed while it was read");
  EXPECT_FALSE(images[1].error);
}

TEST_F(LaneBatchesTest, BoxesFlipsAndPlanes) {
  const Image image = synthesize(parse_pattern("photo"), {31, 22, 3}, 7);
  const ConstHostView view = image.untyped_view();
  const Box box{.top = 2, .left = 5, .height = 9, .width = 11};
  for (const TensorLayout layout : {TensorLayout::nhwc, TensorLayout::nchw}) {
    const ArrayStages stages{.stages = parse_stages("contrast"), .layout = layout};
    ArrayPlans plans(stages);
    std::vector<LaneBatchImage> images(4);
    for (std::size_t i = 0; i < images.size(); ++i) {
      images[i].source.pixels = view;
      images[i].source.flip = i % 2 == 1;
      if (i >= 2) images[i].source.box = box;
    }
    images[3].source.box->left = 25;  // outside
    std::vector<Result> results(images.size());
    LaneBatchRequest list = request(images, results, 1);
    list.plans = &plans;
    batches({}).run(images, list);
    EXPECT_TRUE(images[3].error);
    BatchThreads threads("reference", 1);
    for (std::size_t i = 0; i < 3; ++i) {
      const BatchedArrays wanted = run_array_batch({&images[i].source, 1}, plans, {}, threads);
      ASSERT_FALSE(images[i].error) << images[i].error->what();
      ASSERT_EQ(wanted.items[0].type, images[i].plan->result);
      EXPECT_EQ(std::memcmp(results[i].bytes.data(), wanted.items[0].pixels.data, results[i].bytes.size()), 0)
          << i;
    }
  }
}

TEST_F(LaneBatchesTest, PixelsAreSourcesToo) {
  LaneBatches& shared = batches({});
  const Image image = synthesize(parse_pattern("photo"), {31, 22, 3}, 7);
  const ConstHostView view = image.untyped_view();
  std::vector<LaneBatchImage> images(3);
  images[0].source.pixels = view;
  images[1].device_pixels = {view.data, view.shape(), view.stride_bytes};
  images[2].source.pixels = view.rows(3, 9);
  std::vector<Result> results(3);
  shared.run(images, request(images, results, 2));
  Runner runner({.device = "reference"});
  for (std::size_t i = 0; i < 3; ++i) {
    const RunResult wanted = runner.run(i == 2 ? view.rows(3, 9) : view, kEachStages);
    ASSERT_FALSE(images[i].error);
    EXPECT_EQ(std::memcmp(results[i].bytes.data(), wanted.pixels.data, results[i].bytes.size()), 0) << i;
  }
}

}  // namespace
}  // namespace imgpipe::test::lane_batches_test
