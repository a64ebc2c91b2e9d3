// flip, rotate and crop beyond what every stage's tests cover: pixels of 1 to 8 bytes, both layouts,
// bands, what the stages make together, images that go through in pieces, the program.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/codecs/codec.h"
#include "images/error.h"
#include "images/simd.h"
#include "images/synth.h"
#include "kernels/stage.h"
#include "pipeline/engine.h"
#include "pipeline/host/chains.h"
#include "tests/support/banded_reader.h"
#include "tests/support/cuda_backend.h"
#include "tests/support/files.h"
#include "tests/support/host_band_device.h"
#include "tests/support/images.h"
#include "tests/support/process.h"

namespace imgpipe::test {
namespace {

Image noise(const Shape& shape, unsigned seed) {
  Image image(shape);
  std::mt19937 random(seed);
  const HostView view = image.untyped_view();
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t i = 0; i < view.row_bytes(); ++i) view.row(y)[i] = static_cast<std::byte>(random());
  }
  return image;
}

// "" or where the bytes of two images begin to differ.
std::string difference(const Image& expected, const Image& got) {
  if (expected.shape() != got.shape()) return "the shapes differ";
  const Shape& shape = expected.shape();
  for (std::int64_t y = 0; y < shape.height; ++y) {
    const std::byte* const a = expected.untyped_view().row(y);
    const std::byte* const b = got.untyped_view().row(y);
    for (std::int64_t i = 0; i < shape.row_bytes(); ++i) {
      if (a[i] != b[i]) return "y=" + std::to_string(y) + " byte " + std::to_string(i);
    }
  }
  return "";
}

// Where pixel (x, y) of what a step makes comes from: the documentation's words a second time.
using From = std::function<std::pair<std::int64_t, std::int64_t>(std::int64_t x, std::int64_t y)>;

struct Move {
  std::string step;
  bool swaps_sides = false;
  std::int64_t width = 0, height = 0;  // of a crop
  std::function<From(std::int64_t width, std::int64_t height)> from;
};

const std::vector<Move>& moves() {
  using P = std::pair<std::int64_t, std::int64_t>;
  static const std::vector<Move> all{
      {"flip", false, 0, 0, [](auto w, auto) { return [=](auto x, auto y) {
                                                 return P{w - 1 - x, y};
                                               }; }},
      {"flip:vertical", false, 0, 0,
       [](auto, auto h) { return [=](auto x, auto y) {
                            return P{x, h - 1 - y};
                          }; }},
      {"rotate:90", true, 0, 0, [](auto, auto h) { return [=](auto x, auto y) {
                                                     return P{y, h - 1 - x};
                                                   }; }},
      {"rotate:180", false, 0, 0,
       [](auto w, auto h) { return [=](auto x, auto y) {
                              return P{w - 1 - x, h - 1 - y};
                            }; }},
      {"rotate:270", true, 0, 0,
       [](auto w, auto) { return [=](auto x, auto y) {
                            return P{w - 1 - y, x};
                          }; }},
      {"crop:1x1", false, 1, 1,
       [](auto w, auto h) { return [=](auto x, auto y) {
                              return P{x + (w - 1) / 2, y + (h - 1) / 2};
                            }; }},
      {"crop:17x9+3+5", false, 17, 9,
       [](auto, auto) { return [](auto x, auto y) {
                          return P{x + 3, y + 5};
                        }; }},
      {"crop:33x2:x=0", false, 33, 2,
       [](auto, auto h) { return [=](auto x, auto y) {
                            return P{x, y + (h - 2) / 2};
                          }; }},
      {"crop:100x31+29+0", false, 100, 31,
       [](auto, auto) { return [](auto x, auto y) {
                          return P{x + 29, y};
                        }; }},
      {"crop:16x70+16+1", false, 16, 70, [](auto, auto) {
         return [](auto x, auto y) { return P{x + 16, y + 1}; };
       }}};
  return all;
}

Image expected_of(const Move& move, const Image& in) {
  Shape shape = in.shape();
  const From from = move.from(shape.width, shape.height);
  if (move.swaps_sides) std::swap(shape.width, shape.height);
  if (move.width > 0) shape.width = move.width;
  if (move.height > 0) shape.height = move.height;
  Image out(shape);
  const auto pixel = static_cast<std::size_t>(shape.channels * sample_bytes(shape.sample));
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      const auto [from_x, from_y] = from(x, y);
      std::memcpy(out.untyped_view().row(y) + x * static_cast<std::int64_t>(pixel),
                  in.untyped_view().row(from_y) + from_x * static_cast<std::int64_t>(pixel), pixel);
    }
  }
  return out;
}

// Pixels of every size, 8 and 16 bits.
std::vector<Shape> shapes_of(const Size& size) {
  std::vector<Shape> shapes;
  for (const SampleType sample : {SampleType::u8, SampleType::u16}) {
    for (int channels = 1; channels <= 4; ++channels)
      shapes.push_back({size.width, size.height, channels, sample});
  }
  return shapes;
}

// Around vectors of 16 to 64 bytes, tiles of 32 to 128 pixels and groups of 64 rows.
const std::vector<Size> kSizes{{1, 1},   {1, 2},    {2, 1},     {1, 37},    {37, 1},   {3, 5},    {8, 8},
                               {15, 17}, {16, 16},  {17, 15},   {31, 33},   {32, 32},  {33, 31},  {64, 65},
                               {65, 64}, {127, 66}, {128, 128}, {129, 130}, {131, 71}, {257, 40}, {5, 300},
                               {300, 5}, {97, 89},  {1000, 3},  {130, 257}};

std::string named(const Move& move, const Shape& shape) {
  return move.step + " of " + std::to_string(shape.width) + "x" + std::to_string(shape.height) + " with " +
         std::to_string(shape.channels) + " channels of " + std::to_string(8 * sample_bytes(shape.sample)) +
         " bits";
}

bool fits(const Move& move, const Shape& shape) {
  const StageRequest request = parse_stages(move.step).front();
  const Stage& stage = *request.stage;
  return stage.misfit == nullptr || stage.misfit(frame_type_of(shape), request.parameters).empty();
}

// Every move of an image of every size and kind.
void for_every_move(const std::function<void(const Move&, const Image&)>& action) {
  for (const Size& size : kSizes) {
    for (const Shape& shape : shapes_of(size)) {
      const Image in = noise(shape, 7);
      for (const Move& move : moves()) {
        if (!fits(move, shape)) continue;
        SCOPED_TRACE(named(move, shape));
        action(move, in);
        if (testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

StageCall<Host> call_of(const StageRequest& request, const Image& in, Image& out) {
  StageCall<Host> call;
  call.in.type = frame_type_of(in.shape());
  call.out.type = output_type(*request.stage, call.in.type, request.parameters);
  call.in.planes[0] = in.untyped_view();
  call.out.planes[0] = out.untyped_view();
  call.parameters = request.parameters;
  return call;
}

TEST(Geometry, ReferenceMovesPixelsOfEverySize) {
  for_every_move([](const Move& move, const Image& in) {
    const Image expected = expected_of(move, in);
    Image out(expected.shape());
    const StageRequest request = parse_stages(move.step).front();
    functions(*request.stage, in.shape().sample).reference(call_of(request, in, out));
    ASSERT_EQ(difference(expected, out), "");
  });
}

// Bands whose rows are all that is there: a sanitizer sees a step beyond them.
TEST(Geometry, CpuMovesPixelsOfEverySizeByBandsOnEveryTarget) {
  for (const std::string& target : simd_targets()) {
    use_simd(target);
    ASSERT_EQ(simd_target(), target);
    for_every_move([&](const Move& move, const Image& in) {
      const Image expected = expected_of(move, in);
      const StageRequest request = parse_stages(move.step).front();
      const std::int64_t height = expected.shape().height;
      for (const std::int64_t rows : {std::int64_t{1}, std::int64_t{7}, std::int64_t{65}, height}) {
        Image out(expected.shape());
        for (std::int64_t first = 0; first < height; first += rows) {
          const RowRange made{first, std::min(height, first + rows)};
          StageCall<Host> call = call_of(request, in, out);
          const RowRange read = rows_needed(*request.stage, call.in.type, request.parameters, made);
          Shape part = in.shape();
          part.height = read.count();
          Image held(part);
          copy_pixels(in.untyped_view().rows(read.first, read.count()), held.untyped_view());
          part = out.shape();
          part.height = made.count();
          Image band(part);
          call.in.planes[0] = std::as_const(held).untyped_view();
          call.out.planes[0] = band.untyped_view();
          functions(*request.stage, part.sample).cpu(call, {made.first, made.end, read.first, made.first});
          copy_pixels(std::as_const(band).untyped_view(), out.untyped_view().rows(first, made.count()));
        }
        ASSERT_EQ(difference(expected, out), "") << target << ", bands of " << rows;
      }
    });
  }
  use_simd("");
}

TEST(Geometry, CudaMovesPixelsOfEverySize) {
  IMGPIPE_NEED_CUDA();
  for_every_move([](const Move& move, const Image& in) {
    const Image expected = expected_of(move, in);
    Image out(expected.shape());
    const StageRequest request = parse_stages(move.step).front();
    StageCall<Host> call = call_of(request, in, out);
    call.in.type.layout = call.out.type.layout = Layout::interleaved;
    std::uint64_t no_counts[1] = {};
    call.histogram = {no_counts, 1, 1, 1, 1};
    ASSERT_EQ(run_on_cuda(*request.stage, call), "");
    ASSERT_EQ(difference(expected, out), "");
  });
}

// ---- together ---------------------------------------------------------------------------------------

Image made_by(Engine& engine, const std::string& stages, const Image& in) {
  Job job;
  job.reader = make_memory_reader(in.untyped_view());
  job.plan = stages.empty() ? make_plan({}, in.shape()) : make_plan(parse_stages(stages), in.shape());
  const Outcome outcome = engine.run(std::move(job));
  if (outcome.error) std::rethrow_exception(outcome.error);
  Image out(outcome.pixels.shape());
  copy_pixels(outcome.pixels, out.untyped_view());
  return out;
}

struct Same {
  const char *one, *other;
};
// Of images of 61x47 pixels.
const std::vector<Same> kSame{{"rotate:90,rotate:90,rotate:90,rotate:90", ""},
                              {"rotate:90,rotate:270", ""},
                              {"rotate:180,rotate:180", ""},
                              {"flip,flip", ""},
                              {"flip:vertical,flip:vertical", ""},
                              {"flip,flip:vertical", "rotate:180"},
                              {"rotate:90,rotate:90", "rotate:180"},
                              {"rotate:90,rotate:180", "rotate:270"},
                              {"rotate:90,flip", "flip:vertical,rotate:90"},
                              {"rotate:90,flip", "rotate:270,flip:vertical"},
                              {"crop:40x30+5+6,crop:9x8+7+3", "crop:9x8+12+9"},
                              {"crop:40x30", "crop:40x30+10+8"},
                              {"crop:61x47+0+0", ""},
                              {"flip,crop:9x8+7+3", "crop:9x8+45+3,flip"},
                              {"flip:vertical,crop:9x8+7+3", "crop:9x8+7+36,flip:vertical"},
                              {"rotate:90,crop:9x8+7+3", "crop:8x9+3+31,rotate:90"},
                              {"rotate:270,crop:9x8+7+3", "crop:8x9+50+7,rotate:270"}};

TEST(Geometry, WhatIsTheSameIsTheSameOnEveryEngine) {
  std::vector<std::unique_ptr<Engine>> engines;
  engines.push_back(make_reference_engine());
  engines.push_back(make_cpu_engine(1));
  engines.push_back(make_cpu_engine(3));
  for (const Shape& shape : shapes_of({61, 47})) {
    const Image in = noise(shape, 3);
    for (const Same& same : kSame) {
      for (const auto& engine : engines) {
        SCOPED_TRACE(std::string(same.one) + " and " + same.other + " on " +
                     std::string(engine->implementation()));
        ASSERT_EQ(difference(made_by(*engine, same.other, in), made_by(*engine, same.one, in)), "");
      }
    }
  }
}

TEST(Geometry, WhatIsTheSameIsTheSameOnCuda) {
  IMGPIPE_NEED_CUDA();
  const auto engine = make_cuda_engine(0);
  for (const Shape& shape : shapes_of({61, 47})) {
    const Image in = noise(shape, 3);
    for (const Same& same : kSame) {
      SCOPED_TRACE(std::string(same.one) + " and " + same.other);
      ASSERT_EQ(difference(made_by(*engine, same.other, in), made_by(*engine, same.one, in)), "");
    }
  }
}

// ---- in pieces --------------------------------------------------------------------------------------

const std::vector<std::string> kLists{"crop:50x40+20+700",
                                      "crop:50x1+0+1300",
                                      "crop:9x9+0+0,smooth,contrast",
                                      "hist,crop:70x300+1+500,hist",
                                      "smooth,crop:70x300+1+500,smooth",
                                      "crop:90x1200,resize:40:0,crop:11x50+3+100",
                                      "flip:vertical",
                                      "flip,smooth,flip:vertical,contrast",
                                      "rotate:90",
                                      "smooth,rotate:270,gray,smooth",
                                      "rotate:180,crop:30x200+4+1100,contrast",
                                      "crop:60x900,rotate:90,crop:500x20",
                                      "resize:0:400:nearest,rotate:90,rotate:90"};
constexpr std::int64_t kWidth = 91, kHeight = 1301;

Job job_of(const Image& in, const std::string& stages, BandedLog* log, const BandedWays& ways = {.seed = 5}) {
  Job job;
  if (log == nullptr) {
    job.reader = make_memory_reader(in.untyped_view());
  } else {
    job.reader = std::make_unique<BandedReader>(in.untyped_view(), ways, *log);
  }
  job.plan = make_plan(parse_stages(stages), in.shape());
  job.writer = make_writer(Format::ppm, job.plan.output);
  job.keep_pixels = false;
  return job;
}

std::vector<std::byte> file_of(Engine& engine, Job job) {
  const Outcome outcome = engine.run(std::move(job));
  if (outcome.error) std::rethrow_exception(outcome.error);
  return outcome.file.joined();
}

TEST(Geometry, FromReaderToFileInBands) {
  const Image in = noise({kWidth, kHeight, 3}, 11);
  for (const std::string& stages : kLists) {
    const auto expected = file_of(*make_reference_engine(), job_of(in, stages, nullptr));
    for (const int threads : {1, 2, 5}) {
      SCOPED_TRACE(stages + ", threads: " + std::to_string(threads));
      const auto engine = make_cpu_engine(threads);
      EXPECT_EQ(file_of(*engine, job_of(in, stages, nullptr)), expected);
      BandedLog log;
      EXPECT_EQ(file_of(*engine, job_of(in, stages, &log)), expected);
      EXPECT_EQ(log.faults, std::vector<std::string>());
      EXPECT_TRUE(log.complete(kHeight)) << "rows that nothing needs are read too";
    }
  }
}

TEST(Geometry, OfADeviceInBands) {
  const Image in = noise({kWidth, kHeight, 3}, 12);
  for (const std::string& stages : kLists) {
    const auto expected = file_of(*make_reference_engine(), job_of(in, stages, nullptr));
    for (const std::int64_t bytes : {std::int64_t{150'000}, std::int64_t{600'000}, std::int64_t{1} << 30}) {
      for (const int threads : {1, 4}) {
        SCOPED_TRACE(stages + ", threads: " + std::to_string(threads) + ", bytes: " + std::to_string(bytes));
        HostBandDevice device(bytes, threads == 1 ? Queued::when_waited_for : Queued::at_once);
        HostBandEngine engine(device, threads);
        BandedLog log;
        EXPECT_EQ(file_of(engine, job_of(in, stages, threads == 1 ? nullptr : &log)), expected);
        EXPECT_EQ(device.faults, std::vector<std::string>());
        EXPECT_EQ(log.faults, std::vector<std::string>());
      }
    }
  }
}

// A file is judged whole, whatever is left of its image.
TEST(Geometry, DamageBesideTheRectangleIsAnError) {
  const Image in = noise({kWidth, kHeight, 3}, 13);
  for (const char* stages : {"crop:50x40+20+700", "crop:50x1+0+0", "crop:50x1+0+1300"}) {
    for (const std::int64_t row : {0, 100, 720, 1299, 1300}) {
      for (const int threads : {1, 3}) {
        BandedLog log;
        Job job = job_of(in, stages, &log, {.fails_at = row});
        EXPECT_TRUE(make_cpu_engine(threads)->run(std::move(job)).error) << stages << " row " << row;
        EXPECT_EQ(log.faults, std::vector<std::string>());
      }
    }
  }
}

// A small part of a large image takes what its bands take, wherever it lies; what lies beside it is read
// in pieces.
TEST(Geometry, APartOfALargeImageHoldsLittleOfIt) {
  const Shape shape{50'000, 40'000, 3};
  for (const char* stages : {"crop:100x100+7+20000", "crop:100x1+7+39999", "crop:40000x30000+0+10000,smooth",
                             "crop:100x100+7+0,smooth,gray", "smooth,crop:9000x9000,invert"}) {
    const Plan plan = make_plan(parse_stages(stages), shape);
    for (const Format format : {Format::png, Format::ppm}) {
      const auto writer = make_writer(format, plan.output);
      const ChainedPlan chained(plan, true, {}, ChainLength::longest);
      EXPECT_EQ(chained.chains.size(), 1U) << stages;
      const BandPlan bands(chained, chained.chains.front(), writer.get(), 2);
      EXPECT_LT(bands.band_bytes(), std::int64_t{32} << 20) << stages;
      EXPECT_LT(bands.rows_read(), 400) << stages;
    }
  }
}

// A work that needs all rows begins a chain, and goes on in it; on a device it has one for itself.
TEST(Geometry, WhatNeedsAllRowsBeginsAChain) {
  const auto chains = [](const char* stages, ChainLength length) {
    const Plan plan = make_plan(parse_stages(stages), {300, 200, 3});
    std::string text;
    for (const Chain& chain : ChainedPlan(plan, true, {}, length).chains)
      text += std::to_string(chain.end - chain.first) + (chain.of_all_rows ? "! " : " ");
    return text;
  };
  EXPECT_EQ(chains("rotate:90", ChainLength::longest), "0 1! ");
  EXPECT_EQ(chains("invert,rotate:90,flip,gray,smooth", ChainLength::longest), "2 5! ");
  EXPECT_EQ(chains("invert,rotate:90,flip,gray,smooth", ChainLength::longest_on_device), "2 1! 4 ");
  EXPECT_EQ(chains("flip:vertical,rotate:90", ChainLength::longest), "0 1! 1! ");
  EXPECT_EQ(chains("flip,crop:20x20", ChainLength::longest), "2 ");
  EXPECT_EQ(chains("hist,crop:20x20,gray", ChainLength::longest), "2 3 ");
}

// ---- the program ------------------------------------------------------------------------------------

class GeometryCli : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder_.path() / "in");
    write("in/large.png", {40, 30, 3});
    write("in/small.png", {20, 30, 3});
  }
  void write(const std::string& name, const Shape& shape) const {
    const Image image = synthesize(parse_pattern("photo"), shape, 4);
    const auto writer = make_writer(Format::png, shape);
    writer->write_rows(image.view());
    save(folder_.file(name), writer->finish().joined());
  }
  [[nodiscard]] Shape shape_of_file(const std::string& name) const {
    const std::vector<std::byte> bytes = load(folder_.file(name));
    return open_reader(bytes)->header().shape;
  }

  TemporaryFolder folder_;
};

TEST_F(GeometryCli, AnImageHasItsNewSizeAndTheReportItsSteps) {
  const RunResult run =
      run_imgpipe({folder_.file("in/large.png"), folder_.file("out.png"), "--stages",
                   "crop:30x20+4+3,rotate:90,flip", "--device", "cpu", "--cpu", "--keep-stages",
                   folder_.file("steps"), "--report", folder_.file("report.json")});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(shape_of_file("out.png"), (Shape{20, 30, 3}));
  EXPECT_EQ(shape_of_file("steps/01_crop-30x20+4+3.png"), (Shape{30, 20, 3}));
  EXPECT_EQ(shape_of_file("steps/02_rotate-90.png"), (Shape{20, 30, 3}));
  for (const char* row : {"crop:30x20+4+3", "rotate:90", "flip"}) {
    EXPECT_NE(run.out.find(row), std::string::npos) << row << "\n" << run.out;
    EXPECT_NE(load_text(folder_.file("report.json")).find(row), std::string::npos) << row;
  }
}

TEST_F(GeometryCli, ARectangleOutsideIsOneLine) {
  const RunResult run = run_imgpipe(
      {folder_.file("in/small.png"), folder_.file("out.png"), "--stages", "crop:30x20", "--device", "cpu"});
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.err, "imgpipe: " + folder_.file("in/small.png") +
                         ": crop:30x20 of 20x30 pixels: the rectangle is not inside the image\n");
  EXPECT_FALSE(std::filesystem::exists(folder_.file("out.png")));
}

// Of a batch it is that image's failure, and no other's.
TEST_F(GeometryCli, OfABatchOnlyTheImageThatIsTooSmallFails) {
  const RunResult run = run_imgpipe(
      {folder_.file("in"), folder_.file("out"), "--stages", "crop:30x20,flip:vertical", "--device", "cpu"});
  EXPECT_EQ(run.exit_code, 1) << run.out << run.err;
  EXPECT_EQ(shape_of_file("out/large.png"), (Shape{30, 20, 3}));
  EXPECT_FALSE(std::filesystem::exists(folder_.file("out/small.png")));
  EXPECT_NE(run.err.find("small.png: crop:30x20 of 20x30 pixels"), std::string::npos) << run.err;
}

}  // namespace
}  // namespace imgpipe::test
