// Tests batches whose files are decoded and encoded on a CUDA device: outputs equal the reference's byte for
// byte, and damaged files get the same messages.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "images/synth.h"
#include "pipeline/decode_row.h"
#include "pipeline/engine.h"
#include "pipeline/jobs/batch.h"
#include "tests/support/coded_jpegs.h"
#include "tests/support/cuda_backend.h"
#include "tests/support/files.h"
#include "tests/support/host_lane.h"
#include "tests/support/made_jpegs.h"

#ifdef IMGPIPE_TEST_CUDA
#include "pipeline/cuda/cuda_api.h"
#endif

namespace imgpipe::test::cuda_coded_test {
namespace {

using FileBytes = std::vector<std::byte>;

FileBytes photo_jpeg(const Shape& shape, std::uint64_t seed, int quality = 90) {
  const Image image = synthesize(parse_pattern("photo"), shape, seed);
  const auto writer = make_writer(Format::jpeg, shape, {.quality = quality});
  writer->write_rows(image.untyped_view());
  return writer->finish().joined();
}

struct ItemOutcome {
  std::string messages;  // the error, or the warnings
  FileBytes file;
  bool decoded_by_device = false;
  bool operator==(const ItemOutcome& other) const { return messages == other.messages && file == other.file; }
};

class CudaCoded : public testing::Test {
 protected:
  void add(const std::string& name, const FileBytes& bytes) {
    save(in_.file(name), bytes);
    paths_.push_back(in_.file(name));
  }

  struct BatchMode {
    std::string stages = "gray,hist,contrast,smooth";
    Format format = Format::png;
    int quality = 90;
    bool fuse = false;
    bool lenient = false;
    bool host_helps = false;
  };

  [[nodiscard]] std::vector<BatchItem> items(const BatchMode& mode) const {
    std::vector<BatchItem> items;
    for (std::size_t i = 0; i < paths_.size(); ++i)
      items.push_back({paths_[i], out_.file(std::to_string(i)), mode.format});
    return items;
  }

  [[nodiscard]] static BatchSettings settings(const BatchMode& mode) {
    BatchSettings settings;
    settings.stages = parse_stages(mode.stages);
    settings.fuse = mode.fuse;
    settings.jobs = 6;
    settings.keep_spans = true;
    settings.decode.accept = mode.lenient ? Acceptance::lenient : Acceptance::strict;
    settings.encode.quality = mode.quality;
    settings.memory_bytes = std::int64_t{4} << 30;
    return settings;
  }

  [[nodiscard]] static BatchSettings with_lanes(const BatchMode& mode, std::size_t slots = 3) {
    BatchSettings with = settings(mode);
    with.host_helps = mode.host_helps;
    with.lanes_have_codecs = true;
    with.lane_memory = make_lane_memory(std::int64_t{1} << 28);
    with.find_lanes = offering(make_cuda_lanes(std::vector<int>{0}, slots, with.lane_memory));
    return with;
  }

  // Returns the outcome by input; removes the outputs.
  std::vector<ItemOutcome> run(const BatchMode& mode, BatchSettings with) {
    std::vector<ItemOutcome> ended(paths_.size());
    Batch batch(items(mode), std::move(with));
    while (!batch.finished()) {
      const std::optional<BatchResult> result = batch.next(std::chrono::seconds(1));
      if (!result) continue;
      ItemOutcome& one = ended[result->item];
      one.messages = result->reason;
      for (const std::string& warning : result->warnings) {
        // This warning needs counts, which stay on the device for images processed by a lane.
        if (warning.find("no range to stretch") == std::string::npos) one.messages += "\n" + warning;
      }
      for (const Span& span : result->spans)
        one.decoded_by_device |= span.kind == SpanKind::codec && is_decode_row(span.name);
      const std::string path = out_.file(std::to_string(result->item));
      EXPECT_EQ(std::filesystem::exists(path), !result->failed) << paths_[result->item];
      if (result->failed) continue;
      one.file = load(path);
      std::filesystem::remove(path);
    }
    EXPECT_FALSE(batch.fatal());
    return ended;
  }

  void expect_equal_to_reference(const BatchMode& mode) {
    SCOPED_TRACE(mode.stages + (mode.format == Format::jpeg ? " to jpeg" : " to png") +
                 (mode.fuse ? ", fused" : ""));
    BatchSettings by_reference = settings(mode);
    by_reference.make_engine = make_reference_engine;
    const std::vector<ItemOutcome> expected = run(mode, std::move(by_reference));
    const std::vector<ItemOutcome> got = run(mode, with_lanes(mode));
    for (std::size_t i = 0; i < paths_.size(); ++i) {
      EXPECT_EQ(got[i].messages, expected[i].messages);
      EXPECT_TRUE(got[i].file == expected[i].file) << paths_[i];
      by_device_ += got[i].decoded_by_device ? 1U : 0U;
    }
  }

  TemporaryDirectory in_, out_;
  std::vector<std::string> paths_;
  std::size_t by_device_ = 0;  // images that the device decoded
};

TEST_F(CudaCoded, GeneratedJpegs) {
  IMGPIPE_NEED_CUDA();
  for (std::uint64_t seed = 0; seed < 2000; ++seed)
    add("made" + std::to_string(seed) + ".jpg", make_jpeg(random_jpeg(seed)));
  expect_equal_to_reference({});
  expect_equal_to_reference({.stages = "gray", .format = Format::jpeg, .quality = 95});
  // Colour, in both chroma samplings.
  expect_equal_to_reference({.stages = "contrast", .format = Format::jpeg, .fuse = true});
  expect_equal_to_reference({.stages = "smooth", .format = Format::jpeg, .quality = 96});
  EXPECT_GT(by_device_, 2000U) << "of 8,000; the others are progressive, CMYK and so on";
}

TEST_F(CudaCoded, CodedJpegs) {
  IMGPIPE_NEED_CUDA();
  for (std::uint64_t seed = 0; seed < 2000; ++seed)
    add("coded" + std::to_string(seed) + ".jpg", random_coded_jpeg(seed).file);
  expect_equal_to_reference({});
  expect_equal_to_reference({.stages = "gray:bt709,hist", .lenient = true});
  EXPECT_GT(by_device_, 1000U);
}

// Truncated files and files with flipped bits among intact ones.
TEST_F(CudaCoded, DamagedAmongIntactFiles) {
  IMGPIPE_NEED_CUDA();
  const FileBytes whole = photo_jpeg({97, 61, 3}, 3);
  std::mt19937 random(17);
  for (int i = 0; i < 1500; ++i) {
    FileBytes bytes = whole;
    if (i % 3 == 1) bytes.resize(random() % bytes.size());
    if (i % 3 == 2) bytes[600 + random() % (bytes.size() - 600)] ^= std::byte{1} << random() % 8;
    add("file" + std::to_string(i) + ".jpg", bytes);
  }
  expect_equal_to_reference({});
  EXPECT_GE(by_device_, 500U);
  expect_equal_to_reference({.lenient = true});
}

TEST_F(CudaCoded, LargeAndSmallTogether) {
  IMGPIPE_NEED_CUDA();
  const std::vector<Shape> shapes{{3000, 2000, 3}, {64, 48, 3}, {1, 1, 3},       {1, 5000, 3},
                                  {5000, 1, 1},    {16, 16, 1}, {4000, 3000, 1}, {65000, 9, 3}};
  for (std::size_t i = 0; i < 96; ++i) {
    const std::size_t which = i < shapes.size() ? i : 1 + i % 5;
    add("image" + std::to_string(i) + ".jpg", photo_jpeg(shapes[which], i, 50 + static_cast<int>(i % 50)));
  }
  for (const char* stages :
       {"gray,hist,contrast,smooth", "hist", "invert,gray", "resize:200:100,gray,contrast"}) {
    for (const Format format : {Format::png, Format::jpeg, Format::ppm}) {
      if (format == Format::ppm && std::string(stages).find("gray") != std::string::npos) continue;
      expect_equal_to_reference({.stages = stages, .format = format});
    }
  }
  EXPECT_EQ(by_device_, 96U * 9U);
}

// Real files of every kind, valid and broken, in one batch.
TEST_F(CudaCoded, Corpus) {
  IMGPIPE_NEED_CUDA();
  IMGPIPE_NEED_CORPUS();
  for (const char* directory : {"photos", "jpeg", "broken", "bombs", "found", "other", "pngsuite"}) {
    for (const std::filesystem::path& path : files_below(*corpus() / directory))
      paths_.push_back(path.string());
  }
  ASSERT_GT(paths_.size(), 300U);
  expect_equal_to_reference({});
  expect_equal_to_reference({.stages = "gray,contrast", .format = Format::jpeg});
  EXPECT_GT(by_device_, 20U) << "most of the JPEGs there are progressive, damaged or turned";
}

// The engine for single images takes the same route.
TEST_F(CudaCoded, SingleImage) {
  IMGPIPE_NEED_CUDA();
  const std::unique_ptr<Engine> cuda = make_cuda_engine(0, 2);
  const std::unique_ptr<Engine> reference = make_reference_engine();
  const auto run_one = [](Engine& engine, const FileBytes& file, Format format, bool keep) {
    Job job;
    job.reader = open_reader(file);
    job.plan = make_plan(parse_stages("gray,hist,contrast,smooth"), job.reader->header().shape);
    job.writer = make_writer(format, job.plan.output);
    job.keep_pixels = job.keep_source = job.keep_outputs = keep;
    return engine.run(std::move(job));
  };
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    const FileBytes file = seed % 2 == 0 ? photo_jpeg({300 + static_cast<std::int64_t>(seed), 200, 3}, seed)
                                         : random_coded_jpeg(seed).file;
    for (const bool keep : {false, true}) {
      const Format format = seed % 3 == 0 ? Format::jpeg : Format::png;
      const Outcome expected = run_one(*reference, file, format, keep);
      const Outcome got = run_one(*cuda, file, format, keep);
      ASSERT_EQ(got.error == nullptr, expected.error == nullptr) << seed;
      EXPECT_EQ(got.file.joined(), expected.file.joined()) << seed;
      EXPECT_EQ(got.histograms, expected.histograms) << seed;
      EXPECT_EQ(got.warnings, expected.warnings);
    }
  }
}

#ifdef IMGPIPE_TEST_CUDA

// Whichever call fails, every output is correct or missing, and at most one image is lost.
TEST_F(CudaCoded, HandlesFailureOfEveryCall) {
  IMGPIPE_NEED_CUDA();
  for (std::uint64_t seed = 0; seed < 4; ++seed)
    add("image" + std::to_string(seed) + ".jpg",
        photo_jpeg({500 + 40 * static_cast<std::int64_t>(seed), 300, 3}, seed));
  FileBytes broken = photo_jpeg({200, 200, 3}, 9);
  broken[broken.size() / 2] ^= std::byte{0x55};
  add("broken.jpg", broken);
  for (const Format format : {Format::png, Format::jpeg}) {
    const BatchMode mode{.format = format};
    BatchSettings by_reference = settings(mode);
    by_reference.make_engine = make_reference_engine;
    const std::vector<ItemOutcome> expected = run(mode, std::move(by_reference));
    const auto run_with = [&](bool host_helps, std::int64_t failing, cudaError_t status) {
      BatchSettings with = with_lanes({.format = format, .host_helps = host_helps}, 2);
      fail_cuda_call(failing, status);
      std::size_t failed = 0;
      {
        Batch batch(items(mode), std::move(with));
        std::size_t ended = 0;
        while (!batch.finished()) {
          const std::optional<BatchResult> result = batch.next(std::chrono::seconds(1));
          if (!result) continue;
          ++ended;
          const std::string path = out_.file(std::to_string(result->item));
          if (result->failed && expected[result->item].file.empty()) continue;
          if (result->failed) {
            ++failed;
            EXPECT_EQ(result->failed, ErrorKind::memory) << result->reason;
            EXPECT_FALSE(std::filesystem::exists(path));
          } else {
            EXPECT_EQ(load(path), expected[result->item].file);
            std::filesystem::remove(path);
          }
        }
        EXPECT_TRUE(ended == paths_.size() || batch.fatal());
        EXPECT_FALSE(host_helps && batch.fatal());
      }
      fail_cuda_call(-1, cudaSuccess);
      EXPECT_TRUE(out_.names().empty());
      EXPECT_LE(failed, 1U);
    };
    const std::int64_t before = cuda_calls();
    run_with(false, -1, cudaSuccess);
    const std::int64_t calls = cuda_calls() - before;
    EXPECT_GT(calls, 60);
    for (const cudaError_t status : {cudaErrorMemoryAllocation, cudaErrorIllegalAddress}) {
      for (std::int64_t k = 0; k < calls; k += status == cudaErrorMemoryAllocation ? 1 : 3) {
        SCOPED_TRACE("call " + std::to_string(k) + " of " + std::to_string(calls));
        run_with(k % 2 == 0, k, status);
        if (HasFailure()) return;
      }
    }
  }
}

// Over thousands of images, device memory does not grow after the first ones.
TEST_F(CudaCoded, DeviceMemoryDoesNotGrow) {
  IMGPIPE_NEED_CUDA();
  const int rounds = std::getenv("IMGPIPE_LONG_TESTS") != nullptr ? 2500 : 250;
  const std::vector<Shape> shapes{{640, 480, 3}, {64, 48, 3}, {333, 777, 1}, {1200, 60, 3}};
  for (std::uint64_t seed = 0; seed < 8; ++seed)
    add("image" + std::to_string(seed) + ".jpg", photo_jpeg(shapes[seed % 4], seed));
  std::vector<BatchItem> many;
  for (int i = 0; i < rounds * 8; ++i)
    many.push_back({paths_[static_cast<std::size_t>(i) % 8], out_.file(std::to_string(i)), Format::png});
  Batch batch(many, with_lanes({}, 4));
  int done = 0;
  std::size_t free_settled = 0, free_after = 0, total = 0;
  while (!batch.finished()) {
    const std::optional<BatchResult> result = batch.next(std::chrono::seconds(1));
    if (!result) continue;
    EXPECT_FALSE(result->failed) << result->reason;
    std::filesystem::remove(out_.file(std::to_string(result->item)));
    if (++done == rounds * 4) {
      ASSERT_EQ(cudaMemGetInfo(&free_settled, &total), cudaSuccess);
    }
  }
  EXPECT_EQ(done, rounds * 8);
  ASSERT_EQ(cudaMemGetInfo(&free_after, &total), cudaSuccess);
  // The sizes of groups vary: a slot may get its largest group late.
  EXPECT_GE(free_after + (std::size_t{256} << 20), free_settled);
}

#endif  // IMGPIPE_TEST_CUDA

}  // namespace
}  // namespace imgpipe::test::cuda_coded_test
