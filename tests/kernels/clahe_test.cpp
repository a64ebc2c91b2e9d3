// Tests clahe beyond the tests of every stage: the division into tiles, many tiles, several threads and, on a
// GPU, counts that overflow its counters.
#include "kernels/clahe/clahe.h"

#include <cstdlib>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/codec_parts.h"
#include "images/error.h"
#include "images/image.h"
#include "kernels/stage.h"
#include "pipeline/engine.h"
#include "pipeline/stage_list.h"
#include "tests/support/cuda_backend.h"
#include "tests/support/images.h"
#include "tests/support/stage_cases.h"

#ifdef IMGPIPE_TEST_CUDA
#include "pipeline/cuda/cuda_api.h"
#endif

namespace imgpipe::test::clahe_test {
namespace {

const Stage& clahe() {
  return *find_stage("clahe");
}

Parameters parameters_of(const std::string& step) {
  return parse_stages(step).front().parameters;
}

// ---- the tiles --------------------------------------------------------------------------------------

TEST(ClaheTiles, OneIndivisibleSideEnlargesBoth) {
  const Parameters eight = parameters_of("clahe");
  const ClaheTiles both({.width = 640, .height = 480}, eight);
  EXPECT_EQ(both.width, 80);
  EXPECT_EQ(both.height, 60);
  const ClaheTiles one({.width = 640, .height = 481}, eight);
  EXPECT_EQ(one.width, 81);
  EXPECT_EQ(one.height, 61);
  const ClaheTiles small({.width = 3, .height = 1}, eight);
  EXPECT_EQ(small.width, 1);
  EXPECT_EQ(small.height, 1);
}

TEST(ClaheTiles, LimitIsRoundedDownButIsAtLeast1) {
  const FrameType narrow{.width = 640, .height = 480};
  EXPECT_EQ(ClaheTiles(narrow, parameters_of("clahe:2")).limit, 37);  // 37.5
  EXPECT_EQ(ClaheTiles(narrow, parameters_of("clahe:0.01")).limit, 1);
  EXPECT_EQ(ClaheTiles(narrow, parameters_of("clahe:0")).limit, 0);
  EXPECT_EQ(ClaheTiles(narrow, parameters_of("clahe:65536")).limit, 4800);  // the limit is all pixels
  const FrameType wide{.width = 640, .height = 480, .sample = Sample::u16};
  EXPECT_EQ(ClaheTiles(wide, parameters_of("clahe:40")).limit, 2);  // 2.93
}

TEST(ClaheExcess, EqualsTheLoop) {
  for (const std::uint32_t excess :
       {0U, 1U, 2U, 3U, 100U, 127U, 128U, 129U, 255U, 256U, 257U, 700U, 65535U}) {
    std::vector<std::uint32_t> counts(256, excess / 256);
    std::uint32_t left = excess % 256;
    const std::uint32_t step = left == 0 ? 1 : 256 / left;
    for (std::uint32_t i = 0; i < 256 && left > 0; i += step, --left) ++counts[i];
    std::uint32_t sum = 0;
    for (std::uint32_t v = 0; v < 256; ++v) {
      sum += counts[v];
      ASSERT_EQ(ClaheExcess(excess, 256).up_to(v), sum) << excess << " " << v;
    }
    EXPECT_EQ(sum, excess);
  }
}

std::string refusal(const std::string& stages, const Shape& shape) {
  try {
    (void)make_plan(parse_stages(stages), shape, false, std::numeric_limits<std::int64_t>::max());
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "";
}

TEST(Clahe, RejectsTooManyOrTooLargeTiles) {
  EXPECT_EQ(refusal("clahe:2:1", {65536, 32767, 1}), "");
  EXPECT_EQ(refusal("clahe:2:1", {65536, 32768, 1}),
            "clahe:tiles=1 on a 65536x32768 image: a tile exceeds 2147483647 pixels; use more tiles");
  EXPECT_EQ(refusal("clahe:2:2", {65536, 32768, 1}), "");
  EXPECT_EQ(refusal("clahe:2:17", {9, 9, 1}), "--stages: clahe: tiles: expected 1 to 16, got '17'");
  EXPECT_EQ(refusal("clahe:tiles=0", {9, 9, 1}), "--stages: clahe: tiles: expected 1 to 16, got '0'");
  EXPECT_EQ(refusal("clahe:-1", {9, 9, 1}),
            "--stages: clahe: clip: expected 0 to 65536 with at most 6 decimals, got '-1'");
}

// ---- engines ----------------------------------------------------------------------------------------

std::vector<std::byte> noise_file(const Shape& shape) {
  Image image(shape);
  fill({frame_type_of(shape), {image.untyped_view(), {}, {}, {}}}, "noise", 3);
  const auto writer = make_writer(Format::png, shape);
  writer->write_rows(std::as_const(image).untyped_view());
  return writer->finish().joined();
}

Outcome run(Engine& engine, const std::vector<std::byte>& file, const std::string& stages, bool to_file,
            int repeat = 0) {
  Job job;
  job.reader = open_reader(file);
  job.plan = make_plan(parse_stages(stages), job.reader->header().shape);
  job.repeat = repeat;
  job.keep_pixels = !to_file;
  if (to_file) job.writer = make_writer(Format::png, job.plan.output);
  Outcome outcome = engine.run(std::move(job));
  if (outcome.error) std::rethrow_exception(outcome.error);
  return outcome;
}

TEST(Clahe, EveryEngineEqualsTheReference) {
  for (const Sample sample : {Sample::u8, Sample::u16}) {
    const std::vector<std::byte> image = noise_file({203, 151, 4, sample});
    for (const char* stages : {"clahe:3:4", "smooth,clahe:40:5,smooth,hist", "clahe:0:2,clahe:2:3,contrast",
                               "gray,clahe,resize:90:0", "contrast,equalize,clahe:1:1"}) {
      const auto reference = make_reference_engine();
      const Outcome pixels = run(*reference, image, stages, false);
      const Outcome file = run(*reference, image, stages, true);
      for (const int threads : {1, 3}) {
        const auto engine = make_cpu_engine(threads);
        for (const int repeat : {0, 2}) {
          EXPECT_EQ(first_difference(pixels.pixels, run(*engine, image, stages, false, repeat).pixels), "")
              << stages << " " << threads << " threads";
          EXPECT_EQ(run(*engine, image, stages, true, repeat).file.joined(), file.file.joined())
              << stages << " " << threads << " threads";
        }
      }
    }
  }
}

// ---- one plane after the other ------------------------------------------------------------------------

using ValueOf = std::function<std::int64_t(std::int64_t x, std::int64_t y)>;

Image grey(const Size& size, Sample sample, const ValueOf& value) {
  Image image({size.width, size.height, 1, sample});
  for (std::int64_t y = 0; y < size.height; ++y) {
    for (std::int64_t x = 0; x < size.width; ++x) {
      if (sample == Sample::u16) {
        image.untyped_view().as<Sample16>().row(y)[x] = static_cast<Sample16>(value(x, y));
      } else {
        image.untyped_view().as<Sample8>().row(y)[x] = static_cast<Sample8>(value(x, y));
      }
    }
  }
  return image;
}

StageCall<Host> call_of(std::span<const Image> in, std::span<Image> out, const Parameters& parameters) {
  StageCall<Host> call{};
  const Shape& shape = in.front().shape();
  call.in.type = {.width = shape.width,
                  .height = shape.height,
                  .color_channels = static_cast<int>(in.size()),
                  .sample = shape.sample};
  call.out.type = call.in.type;
  for (std::size_t i = 0; i < in.size(); ++i) {
    call.in.planes[i] = in[i].untyped_view();
    call.out.planes[i] = out[i].untyped_view();
  }
  call.parameters = parameters;
  return call;
}

std::vector<Image> images_like(std::span<const Image> images) {
  std::vector<Image> others;
  for (const Image& image : images) others.emplace_back(image.shape());
  return others;
}

// Returns the reference's result for each plane separately.
std::vector<Image> expected_of(const std::vector<Image>& in, const Parameters& parameters) {
  std::vector<Image> all;
  for (const Image& plane : in) {
    Image& made = all.emplace_back(plane.shape());
    run_reference(clahe(), call_of({&plane, 1}, {&made, 1}, parameters));
  }
  return all;
}

// The maximum number of tiles, on images with fewer pixels than tiles and with more.
TEST(Clahe, SixteenTilesPerSide) {
  for (const Sample sample : {Sample::u8, Sample::u16}) {
    for (const Size& size : {Size{1, 1}, Size{15, 2}, Size{130, 97}, Size{160, 96}}) {
      std::vector<Image> in;
      in.push_back(
          grey(size, sample, [](auto x, auto y) { return (x * 7919 + y * 104729 + x * y) % 251 * 200; }));
      std::vector<Image> got = images_like(in);
      const Parameters parameters = parameters_of("clahe:1.25:16");
      const std::vector<Image> expected = expected_of(in, parameters);
      StageCall<Host> call = call_of(in, got, parameters);
      std::vector<std::byte> table = table_for(clahe(), call);
      call.table = {table.data(), std::ssize(table)};
      run_cpu(clahe(), call, {0, size.height, 0, 0});
      EXPECT_EQ(first_difference(expected.front().untyped_view(), std::as_const(got.front()).untyped_view()),
                "")
          << size.width << "x" << size.height;
    }
  }
}

#ifdef IMGPIPE_TEST_CUDA

struct LargeCase {
  std::string name;
  Size size;
  std::string step;
  ValueOf value;
};

// Cases with counts above 2^16, few or many values, tiles narrower than a vector, tiles of many blocks.
std::vector<LargeCase> large_cases() {
  const auto constant = [](auto, auto) { return std::int64_t{40000}; };
  const auto two = [](auto x, auto y) { return (x + y) % 2 == 0 ? std::int64_t{5} : std::int64_t{40007}; };
  const auto noise = [](auto x, auto y) {
    return static_cast<std::int64_t>((static_cast<std::uint64_t>(x * 48271 + y * 69621 + x * y * 31) >> 3) %
                                     65536);
  };
  const auto ramp = [](auto x, auto y) { return (x * 11 + y * 5) % 4096; };
  return {{"constant", {1500, 1203}, "clahe:2:1", constant},
          {"constant", {1600, 1200}, "clahe:40:2", constant},
          {"two values", {1501, 1203}, "clahe:0:2", two},
          {"noise", {2049, 1031}, "clahe", noise},
          {"ramp", {3001, 1009}, "clahe:3:16", ramp},
          {"noise", {37, 2003}, "clahe:2:16", noise},
          {"ramp", {4096, 33}, "clahe:2:7", ramp},
          {"flat and noise", {1999, 777}, "clahe:1:3", [=](auto x, auto y) {
             return x < 900 ? constant(x, y) : noise(x, y);
           }}};
}

using Launch = std::function<CudaStatus(const StageCall<Device>&, const CudaLaunch&)>;

// `planes` different planes: the second is mirrored, the third brighter.
void expect_on_cuda(const LargeCase& test, Sample sample, std::size_t planes, const Launch& launch) {
  SCOPED_TRACE(test.name + " " + test.step + " " + std::to_string(planes) + " planes, bits " +
               std::to_string(8 * bytes_per_sample(sample)));
  std::vector<Image> in;
  in.push_back(grey(test.size, sample, test.value));
  if (planes == 3) {
    in.push_back(
        grey(test.size, sample, [&](auto x, auto y) { return test.value(test.size.width - 1 - x, y); }));
    in.push_back(
        grey(test.size, sample, [&](auto x, auto y) { return test.value(x, y) * 3 + 1000 + x % 5; }));
  }
  const Parameters parameters = parameters_of(test.step);
  const std::vector<Image> expected = expected_of(in, parameters);
  std::vector<Image> got = images_like(in);
  std::vector<std::uint64_t> counts(planes);
  StageCall<Host> call = call_of(in, got, parameters);
  call.histogram = {counts.data(), 1, static_cast<int>(planes), 1, 1};
  const auto work = [&](const StageCall<Device>& device, const CudaLaunch& on) {
    IMGPIPE_CUDA(static_cast<cudaError_t>(launch(device, on)));
    return std::string();
  };
  ASSERT_EQ(run_on_cuda(work, call, clahe_scratch_bytes(call.in.type, parameters)), "");
  for (std::size_t i = 0; i < planes; ++i) {
    ASSERT_EQ(first_difference(expected[i].untyped_view(), std::as_const(got[i]).untyped_view()), "")
        << "plane " << i;
  }
}

TEST(Clahe, LargeImagesOnCuda) {
  IMGPIPE_NEED_CUDA();
  for (const LargeCase& test : large_cases()) {
    for (const std::size_t planes : {1, 3}) {
      expect_on_cuda(test, Sample::u8, planes, clahe_cuda);
      expect_on_cuda(test, Sample::u16, planes, clahe16_cuda);
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// Counts in several parts, as on devices with less shared memory.
TEST(Clahe, OtherPartCountsOnCuda) {
  IMGPIPE_NEED_CUDA();
  for (const LargeCase& test : large_cases()) {
    for (const int parts : {2, 4}) {
      expect_on_cuda(test, Sample::u16, 1, [parts](const auto& call, const auto& on) {
        return clahe16_parts_cuda(call, on, parts);
      });
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

// Small enough for tools that slow a kernel down a thousandfold.
TEST(Clahe, TinyImageOnCuda) {
  IMGPIPE_NEED_CUDA();
  const LargeCase tiny{"noise", {40, 30}, "clahe:2:2", large_cases()[3].value};
  expect_on_cuda(tiny, Sample::u8, 1, clahe_cuda);
  for (const int parts : {1, 2, 4}) {
    expect_on_cuda(tiny, Sample::u16, 1,
                   [parts](const auto& call, const auto& on) { return clahe16_parts_cuda(call, on, parts); });
  }
}

#endif

}  // namespace
}  // namespace imgpipe::test::clahe_test
