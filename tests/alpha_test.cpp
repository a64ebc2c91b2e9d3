// Alpha through every pair and triple of stages, on every engine: it comes out as it went in, and the colour
// comes out as without it. A pointwise stage that is in no table stands for those that will be.
#include <cstdlib>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "pipeline/engine.h"
#include "tests/support/cuda_backend.h"
#include "tests/support/images.h"

#ifdef IMGPIPE_TEST_CUDA
#include <cuda_runtime.h>
#endif

namespace imgpipe::test {
namespace {

// Colour planes as they are: rows first..end-1.
void pass_rows(const StageCall<Host>& call, const Band& band) {
  for (std::size_t c = 0; c < static_cast<std::size_t>(call.in.type.color_channels); ++c) {
    for (std::int64_t y = band.first; y < band.end; ++y) {
      std::memcpy(call.out.planes[c].row(y - band.out_top), call.in.planes[c].row(y - band.in_top),
                  static_cast<std::size_t>(call.in.type.width));
    }
  }
}

void pass_reference(const StageCall<Host>& call) {
  pass_rows(call, {0, call.in.type.height, 0, 0});
}

#ifdef IMGPIPE_TEST_CUDA
CudaStatus pass_cuda(const StageCall<Device>& call, const CudaLaunch& launch) {
  for (std::size_t c = 0; c < static_cast<std::size_t>(call.in.type.color_channels); ++c) {
    const auto& from = call.in.planes[c];
    const auto& to = call.out.planes[c];
    const cudaError_t status =
        cudaMemcpy2DAsync(to.data, static_cast<std::size_t>(to.stride), from.data,
                          static_cast<std::size_t>(from.stride), static_cast<std::size_t>(from.width),
                          static_cast<std::size_t>(from.height), cudaMemcpyDeviceToDevice, launch.stream);
    if (status != cudaSuccess) return status;
  }
  return cudaSuccess;
}
#else
constexpr CudaStatus (*pass_cuda)(const StageCall<Device>&, const CudaLaunch&) = nullptr;
#endif

const Stage kPass{"pass", "colour as it is", Writes::pixels, true, false,          false,     false,
                  0,      Layout::planar,    Layout::planar, {},   pass_reference, pass_rows, pass_cuda};

std::vector<const Stage*> all_stages() {
  std::vector<const Stage*> stages{&kPass};
  for (const Stage& stage : stage_table()) {
    if (stage.selectable) stages.push_back(&stage);
  }
  return stages;
}

std::vector<std::vector<const Stage*>> singles_pairs_and_triples() {
  std::vector<std::vector<const Stage*>> lists;
  const std::vector<const Stage*> stages = all_stages();
  for (const Stage* first : stages) {
    lists.push_back({first});
    for (const Stage* second : stages) {
      lists.push_back({first, second});
      for (const Stage* third : stages) lists.push_back({first, second, third});
    }
  }
  return lists;
}

std::string names_of(const std::vector<const Stage*>& stages) {
  std::string names;
  for (const Stage* stage : stages) names += (names.empty() ? "" : ",") + std::string(stage->name);
  return names;
}

Image noise(Shape shape) {
  Image image(shape);
  fill({frame_type_of(shape), {image.view(), {}, {}, {}}}, "noise", 5);
  return image;
}

// The same image without its last channel, alpha.
Image without_alpha(const Image& image) {
  Shape shape = image.shape();
  --shape.channels;
  Image out(shape);
  for (std::int64_t y = 0; y < shape.height; ++y) {
    for (std::int64_t x = 0; x < shape.width; ++x) {
      std::memcpy(out.view().row(y) + x * shape.channels, image.view().row(y) + x * (shape.channels + 1),
                  static_cast<std::size_t>(shape.channels));
    }
  }
  return out;
}

// Keeps rows, as a format that is written strip by strip or row by row does.
class MemoryWriter final : public Writer {
 public:
  MemoryWriter(Shape shape, std::int64_t strip_rows) : image_(shape), strip_rows_(strip_rows) {}
  void write_rows(ConstHostView rows) override {
    write_strip(next_row_, rows);
    next_row_ += rows.height;
  }
  [[nodiscard]] std::int64_t strip_rows() const noexcept override { return strip_rows_; }
  void write_strip(std::int64_t first, ConstHostView rows) override {
    copy_pixels(rows, image_.view().rows(first, rows.height));
  }
  [[nodiscard]] std::int64_t working_bytes() const override { return 0; }
  EncodedFile finish() override {
    const auto* bytes = reinterpret_cast<const std::byte*>(std::as_const(image_).view().data);
    return {{std::vector<std::byte>(bytes, bytes + image_.size_bytes())}};
  }

 private:
  Image image_;
  std::int64_t strip_rows_;
  std::int64_t next_row_ = 0;
};

// How an engine is asked: streamed from reader to writer, or with every step's output kept.
struct Way {
  const char* name;
  bool keep;
  std::int64_t strip_rows;
};
constexpr Way kWays[] = {{"in strips", false, 32}, {"in rows", false, 0}, {"kept", true, 0}};

Image run(Engine& engine, const Image& image, const std::vector<const Stage*>& stages, const Way& way,
          bool fuse) {
  Job job;
  job.plan = make_plan(stages, image.shape(), {}, fuse);
  const Shape shape = job.plan.output;
  job.writer = std::make_unique<MemoryWriter>(shape, way.strip_rows);
  job.reader = make_memory_reader(image.view());
  job.keep_outputs = way.keep;
  job.keep_pixels = way.keep;
  const Outcome outcome = engine.run(std::move(job));
  if (outcome.error) std::rethrow_exception(outcome.error);
  const std::vector<std::byte> bytes = outcome.file.joined();
  Image out(shape);
  std::memcpy(out.view().data, bytes.data(), bytes.size());
  return out;
}

void expect_alpha_untouched(const Image& before, const Image& after) {
  const int in = before.shape().channels;
  const int out = after.shape().channels;
  for (std::int64_t y = 0; y < before.shape().height; ++y) {
    for (std::int64_t x = 0; x < before.shape().width; ++x) {
      const int expected = before.view().row(y)[x * in + in - 1];
      const int got = after.view().row(y)[x * out + out - 1];
      ASSERT_EQ(got, expected) << "alpha at x=" << x << " y=" << y;
    }
  }
}

// Every list of stages over an image of so many channels: the reference's colour of the image without alpha,
// and the alpha that went in.
void expect_alpha_carried(Engine& engine, Shape shape) {
  const Image image = noise(shape);
  const bool alpha = shape.has_alpha();
  const std::unique_ptr<Engine> reference = make_reference_engine();
  for (const std::vector<const Stage*>& stages : singles_pairs_and_triples()) {
    const Image opaque = alpha ? without_alpha(image) : noise(shape);
    const Image expected = run(*reference, opaque, stages, kWays[2], false);
    for (const Way& way : kWays) {
      for (const bool fuse : {false, true}) {
        SCOPED_TRACE(names_of(stages) + " " + way.name + (fuse ? " fused" : ""));
        const Image got = run(engine, image, stages, way, fuse);
        ASSERT_EQ(got.shape().has_alpha(), alpha);
        const Image color = alpha ? without_alpha(got) : Image();
        ASSERT_EQ(first_difference(expected.view(), alpha ? color.view() : got.view()), "");
        if (alpha) expect_alpha_untouched(image, got);
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

class Alpha : public ::testing::TestWithParam<int> {
 protected:
  // Several bands and strips, and rows that fill no vector.
  [[nodiscard]] static Shape shape() { return {37, 150, GetParam()}; }
};

TEST_P(Alpha, OfTheReference) {
  expect_alpha_carried(*make_reference_engine(), shape());
}

TEST_P(Alpha, OfTheCpuOnOneThread) {
  expect_alpha_carried(*make_cpu_engine(1), shape());
}

TEST_P(Alpha, OfTheCpuOnThreeThreads) {
  expect_alpha_carried(*make_cpu_engine(3), shape());
}

TEST_P(Alpha, OfCuda) {
  IMGPIPE_NEED_CUDA();
  expect_alpha_carried(*make_cuda_engine(0), shape());
}

std::string layout_name(const ::testing::TestParamInfo<int>& info) {
  constexpr const char* kNames[] = {"", "Grey", "GreyAlpha", "Rgb", "Rgba"};
  return kNames[info.param];
}

INSTANTIATE_TEST_SUITE_P(Layouts, Alpha, ::testing::Values(1, 2, 3, 4), layout_name);

}  // namespace
}  // namespace imgpipe::test
