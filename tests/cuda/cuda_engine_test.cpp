// Compares the CUDA engine with the reference, also when CUDA calls fail.
#include <cstdlib>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

#include "images/error.h"
#include "images/synth.h"
#include "pipeline/compare.h"
#include "pipeline/device.h"
#include "pipeline/engine.h"
#include "pipeline/owned_frame.h"
#include "tests/support/banded_reader.h"
#include "tests/support/cuda_backend.h"
#include "tests/support/error_kind.h"
#include "tests/support/images.h"

#ifdef IMGPIPE_TEST_CUDA
#include "pipeline/cuda/cuda_api.h"
#endif

namespace imgpipe::test::cuda_engine_test {
namespace {

Image make_image(Shape shape, const std::string& content = "noise") {
  Image image(shape);
  fill({frame_type_of(shape), {image.view(), {}, {}, {}}}, content, 9);
  return image;
}

Image copy_of(const ConstHostView& view) {
  Image image(view.shape());
  copy_pixels(view, image.untyped_view());
  return image;
}

struct JobOptions {
  std::string stages = "gray,hist,contrast,smooth";
  bool fuse = false;
  int repeat = 0;
  bool keep = true;
};

Outcome run(Engine& engine, const Image& image, const JobOptions& options) {
  Job job;
  job.reader = make_memory_reader(image.view());
  job.plan = make_plan(parse_stages(options.stages), image.shape(), options.fuse);
  job.repeat = options.repeat;
  job.keep_source = options.keep;
  job.keep_outputs = options.keep;
  return engine.run(std::move(job));
}

void expect_equal(Engine& cuda, const Image& image, const JobOptions& options) {
  SCOPED_TRACE(options.stages + (options.fuse ? " fused" : "") + " " + std::to_string(image.shape().width) +
               "x" + std::to_string(image.shape().height) + "x" + std::to_string(image.shape().channels));
  const std::unique_ptr<Engine> reference = make_reference_engine();
  const Outcome expected = run(*reference, image, options);
  ASSERT_FALSE(expected.error);
  const Outcome got = run(cuda, image, options);
  if (got.error) std::rethrow_exception(got.error);
  ASSERT_EQ(first_difference(expected.pixels.as<Sample8>(), got.pixels.as<Sample8>()), "");
  ASSERT_EQ(expected.histograms, got.histograms);
  if (!options.keep) return;
  for (const Difference& difference : compare_outcomes(got, expected))
    ASSERT_EQ(difference.text(), "identical");
  ASSERT_EQ(first_difference(image.view(), std::as_const(got.source).view()), "");
}

TEST(CudaEngine, EveryOptionOnAPhotographOfSeveralChunks) {
  IMGPIPE_NEED_CUDA();
  const std::unique_ptr<Engine> cuda = make_cuda_engine(0);
  // Four and a fraction chunks: 3 bytes * 2711 * 4133 = 33.6 MB.
  const Image image = synthesize(parse_pattern("photo"), {2711, 4133, 3}, 5);
  for (const std::string window : {"box", "triangle", "gauss"}) {
    for (const std::string border : {"shrink", "replicate", "reflect"}) {
      const std::string luma = window == "box" ? "bt601" : window == "triangle" ? "bt709" : "opencv";
      const std::string contrast = border == "shrink" ? "contrast" : "contrast:1.234567:0";
      expect_equal(*cuda, image,
                   {"gray:" + luma + ",hist," + contrast + (border == "reflect" ? ":stretch=each" : "") +
                        ",smooth:" + window + ":" + border,
                    border == "replicate", 0, false});
      if (HasFatalFailure()) return;
    }
  }
  expect_equal(*cuda, image, {"contrast,smooth", false, 0, true});
  expect_equal(*cuda, image, {"gray,hist,contrast,smooth", true, 3, true});
}

// All threads of the engine decode the bands of a reader: into chunks that are uploaded in order, into the
// whole image, and before the context exists.
TEST(CudaEngine, EveryThreadUploadsBandsOfAReader) {
  IMGPIPE_NEED_CUDA();
  const Image photo = synthesize(parse_pattern("photo"), {2711, 4133, 3}, 5);
  for (const int threads : {1, 2, 7, 16}) {
    const std::unique_ptr<Engine> cuda = make_cuda_engine(0, threads);
    for (const JobOptions& options :
         {JobOptions{.keep = false}, JobOptions{.keep = true}, JobOptions{.repeat = 2, .keep = false}}) {
      for (const std::int64_t height : {4133, 1, 17, 2000}) {
        const Image image = copy_of(std::as_const(photo).untyped_view().rows(0, height));
        const Outcome expected = run(*make_reference_engine(), image, options);
        BandedLog log;
        Job job;
        job.reader = std::make_unique<BandedReader>(
            image.untyped_view(), BandedBehaviour{.waits_for_earlier = threads == 2, .seed = 5}, log);
        job.plan = make_plan(parse_stages(options.stages), image.shape());
        job.repeat = options.repeat;
        job.keep_source = options.keep;
        const Outcome got = cuda->run(std::move(job));
        if (got.error) std::rethrow_exception(got.error);
        SCOPED_TRACE("threads " + std::to_string(threads) + " height " + std::to_string(height));
        ASSERT_EQ(log.faults, std::vector<std::string>());
        ASSERT_TRUE(log.complete(height));
        ASSERT_EQ(first_difference(expected.pixels.as<Sample8>(), got.pixels.as<Sample8>()), "");
        ASSERT_EQ(expected.histograms, got.histograms);
      }
    }
  }
}

TEST(CudaEngine, RepeatedRunsAndPassesAreEqual) {
  IMGPIPE_NEED_CUDA();
  const std::unique_ptr<Engine> cuda = make_cuda_engine(0);
  for (int i = 0; i < 20; ++i) {
    expect_equal(*cuda,
                 make_image({i * 31 + 1, i * 17 + 1, i % 4 + 1},
                            contents()[static_cast<std::size_t>(i) % contents().size()]),
                 {"gray,hist,contrast,smooth", i % 2 == 1, i % 3, i % 5 == 0});
    if (HasFatalFailure()) return;
  }
}

TEST(CudaEngine, TwoEnginesAtOnce) {
  IMGPIPE_NEED_CUDA();
  const auto work = [](int seed) {
    const std::unique_ptr<Engine> cuda = make_cuda_engine(0);
    for (int i = 0; i < 10; ++i)
      expect_equal(*cuda, make_image({300 + seed * 50 + i, 200 + i, 3}),
                   {"gray,hist,contrast,smooth", false, 2, false});
  };
  std::thread other([&] { work(1); });
  work(2);
  other.join();
}

TEST(CudaEngine, SpansNameTheDevicesWork) {
  IMGPIPE_NEED_CUDA();
  const std::unique_ptr<Engine> cuda = make_cuda_engine(0);
  const Outcome outcome =
      run(*cuda, make_image({400, 300, 3}), {"gray,hist,contrast,smooth", false, 4, false});
  ASSERT_FALSE(outcome.error);
  EXPECT_EQ(cuda->implementation(), "cuda");
  EXPECT_GT(cuda->copy_bandwidth(), 1e9);
  for (const char* name : {"context", "decode", "upload", "gray", "hist", "contrast", "smooth", "download"}) {
    int passes = 0;
    for (const Span& span : outcome.timeline.spans()) {
      passes += span.name == name && span.pass >= 0 ? 1 : 0;
      EXPECT_LE(span.start_ns, span.end_ns) << span.name;
    }
    const bool once = std::string_view(name) == "context" || std::string_view(name) == "decode";
    EXPECT_EQ(passes, once ? 1 : 4) << name;
  }
}

TEST(CudaEngine, MissingDeviceIsADeviceError) {
  const std::unique_ptr<Engine> cuda = built_with_cuda() ? make_cuda_engine(4000) : nullptr;
  if (cuda == nullptr) GTEST_SKIP() << "this build has no CUDA";
  for (int i = 0; i < 2; ++i) {
    const Outcome outcome = run(*cuda, make_image({5, 5, 1}), {});
    ASSERT_TRUE(outcome.error);
    try {
      std::rethrow_exception(outcome.error);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::device);
    }
  }
}

TEST(CudaEngine, BrokenReaderFailsOnlyItsImage) {
  IMGPIPE_NEED_CUDA();
  class BrokenReader final : public Reader {
   public:
    BrokenReader() { header_.shape = {3000, 4000, 3}; }

   protected:
    void read_next_rows(HostView) override {
      if (++calls_ > 2) throw Error(ErrorKind::input, "broken on purpose");
    }
    int calls_ = 0;
  };
  const std::unique_ptr<Engine> cuda = make_cuda_engine(0);
  for (int i = 0; i < 3; ++i) {
    Job job;
    job.reader = std::make_unique<BrokenReader>();
    job.plan = make_plan(parse_stages("gray"), job.reader->header().shape);
    const Outcome outcome = cuda->run(std::move(job));
    ASSERT_TRUE(outcome.error);
    expect_equal(*cuda, make_image({64, 64, 3}), {});
  }
}

#ifdef IMGPIPE_TEST_CUDA

// Every CUDA call for one image fails once, with each of three errors. The failed image has no pixels, and
// its error has the right kind. After an error that is not sticky, the next image is correct. If an
// allocation fails but the image does not, the image is correct.
//
// The number of calls is not measured beforehand, because it may differ between runs: a process's first image
// takes more calls than later ones. Instead, call k fails for k = 0, 1, 2, ... until several runs in a row
// end before call k. Every run checks whether it reached call k, which detects ignored failures: after any
// error but lack of memory, the image must fail if call k was reached.
TEST(CudaFaults, HandlesFailureOfEveryCall) {
  IMGPIPE_NEED_CUDA();
  constexpr int kRunsThatEnd = 4;  // this many runs in a row end before call k
  const Image image = make_image({700, 500, 3});
  const JobOptions options{"gray,hist,contrast,smooth", false, 1, true};
  const Outcome expected = run(*make_reference_engine(), image, options);
  const auto is_right = [&](const Outcome& outcome) {
    return !outcome.error &&
           compare_frames(frame_of_image(outcome.pixels), frame_of_image(expected.pixels)).identical();
  };
  for (const cudaError_t status :
       {cudaErrorMemoryAllocation, cudaErrorIllegalAddress, cudaErrorNoKernelImageForDevice}) {
    const bool memory = status == cudaErrorMemoryAllocation;
    std::int64_t failed_calls = 0;
    int ended = 0;
    for (std::int64_t k = 0; ended < kRunsThatEnd; ++k) {
      SCOPED_TRACE("call " + std::to_string(k));
      const std::int64_t before = cuda_calls();
      const std::unique_ptr<Engine> cuda = [&] {
        fail_cuda_call(k, status);
        return make_cuda_engine(0);
      }();
      const Outcome outcome = run(*cuda, image, options);
      const bool reached = cuda_calls() - before > k;
      fail_cuda_call(-1, cudaSuccess);
      if (!reached) {
        ++ended;
        EXPECT_TRUE(is_right(outcome));
        continue;
      }
      ended = 0;
      ++failed_calls;
      if (!outcome.error) {
        ASSERT_TRUE(memory);
        EXPECT_TRUE(is_right(outcome));
        continue;
      }
      EXPECT_TRUE(outcome.pixels.empty());
      EXPECT_EQ(kind_of(outcome.error), memory ? ErrorKind::memory : ErrorKind::device);
      const Outcome next = run(*cuda, image, options);
      if (!memory) {
        EXPECT_TRUE(next.error) << "after an error of the device nothing more comes from the engine";
      } else if (!next.error ||
                 kind_of(next.error) != ErrorKind::memory) {  // otherwise it had no memory for a context
        EXPECT_TRUE(is_right(next));
      }
    }
    EXPECT_GT(failed_calls, 30);
  }
  // The device still works: a new engine succeeds.
  const std::unique_ptr<Engine> cuda = make_cuda_engine(0);
  expect_equal(*cuda, image, options);
}

TEST(CudaFaults, OutOfMemoryNamesNeededAndFreeBytes) {
  IMGPIPE_NEED_CUDA();
  DeviceBuffer buffer;
  try {
    buffer.reserve(std::size_t{1} << 50);
    FAIL() << "a petabyte was there";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::memory);
    EXPECT_NE(std::string(error.what()).find("1125899906842624 bytes needed"), std::string::npos)
        << error.what();
    EXPECT_NE(std::string(error.what()).find("are free"), std::string::npos) << error.what();
  }
  buffer.reserve(1000);
  EXPECT_NE(buffer.data(), nullptr);
}

#endif

}  // namespace
}  // namespace imgpipe::test::cuda_engine_test
