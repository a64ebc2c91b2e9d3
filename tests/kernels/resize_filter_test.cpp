// resize by Pillow's filters: values of Pillow, and bands in SIMD against the reference.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "images/simd.h"
#include "kernels/resize/fixed_sine.h"
#include "kernels/resize/resize.h"
#include "kernels/stage.h"
#include "kernels/table/stage_parameters.h"
#include "tests/support/stage_cases.h"

namespace imgpipe::test::resize_filter_test {
namespace {

constexpr ResizeMethod kFilters[] = {ResizeMethod::box, ResizeMethod::bilinear, ResizeMethod::hamming,
                                     ResizeMethod::bicubic, ResizeMethod::lanczos};

std::string name_of(ResizeMethod method) {
  return std::string(kResizeMethodNames[static_cast<std::size_t>(method)]);
}

Parameters parameters_of(std::int64_t width, std::int64_t height, ResizeMethod method, FilterRule rule,
                         ResizeFit fit = ResizeFit::exact) {
  Parameters parameters = presets(kResizeParameters);
  parameters.values[0] = width;
  parameters.values[1] = height;
  parameters.values[2] = static_cast<std::int64_t>(method);
  parameters.values[3] = static_cast<std::int64_t>(fit);
  parameters.values[7] = static_cast<std::int64_t>(rule);
  return parameters;
}

FrameType type_of(std::int64_t width, std::int64_t height, int channels, Sample sample) {
  FrameType type = frame_type_of({width, height, channels, sample});
  type.layout = Layout::planar;
  return type;
}

// A resize of an image, in one call by the reference or in bands by the SIMD version.
class Resizing {
 public:
  Resizing(const FrameType& type, const Parameters& parameters)
      : in(type),
        parameters_(parameters),
        out_type_(resize_output(type, parameters)),
        table_(table_for(*find_stage("resize"), {.in = {type, {}}, .parameters = parameters})) {}

  // Returns a plane, packed.
  [[nodiscard]] static std::vector<std::byte> bytes_of(OwnFrame& frame, int channel) {
    const View<std::byte, Host> view = frame.view().planes[plane_of_channel(frame.type, channel)];
    std::vector<std::byte> bytes;
    for (std::int64_t y = 0; y < view.height; ++y)
      bytes.insert(bytes.end(), view.row(y), view.row(y) + view.row_bytes());
    return bytes;
  }

  [[nodiscard]] OwnFrame by_reference() {
    OwnFrame out(out_type_);
    resize_reference(call_of(in.view(), out.view()));
    return out;
  }

  // The planes of a band have exactly the rows that it needs, so that sanitizers detect accesses beyond them.
  [[nodiscard]] OwnFrame by_bands(std::int64_t rows) {
    OwnFrame out(out_type_);
    for (std::int64_t first = 0; first < out_type_.height; first += rows) {
      const RowRange made{first, std::min(out_type_.height, first + rows)};
      const RowRange needed = resize_needs(in.type, parameters_, made);
      StageCall<Host> call = call_of(in.view(), out.view());
      std::vector<std::vector<std::byte>> planes;
      for (int c = 0; c < in.type.channels(); ++c) {
        auto& view = call.in.planes[plane_of_channel(in.type, c)];
        const std::byte* const from = view.row(needed.first);
        EXPECT_EQ(view.row_bytes(), view.stride_bytes);
        planes.emplace_back(from, from + needed.count() * view.row_bytes());
        view = {planes.back().data(), {in.type.width, needed.count(), 1, in.type.sample}, view.row_bytes()};
      }
      resize_cpu(call, {made.first, made.end, needed.first, 0});
    }
    return out;
  }

  OwnFrame in;

 private:
  [[nodiscard]] StageCall<Host> call_of(const Frame<const std::byte, Host>& from,
                                        const Frame<std::byte, Host>& to) {
    StageCall<Host> call{.in = from, .out = to, .parameters = parameters_};
    call.table = {table_.data(), static_cast<std::int64_t>(table_.size())};
    return call;
  }

  Parameters parameters_;
  FrameType out_type_;
  std::vector<std::byte> table_;
};

void expect_equal(OwnFrame expected, OwnFrame got) {
  for (int c = 0; c < expected.type.channels(); ++c)
    ASSERT_EQ(Resizing::bytes_of(expected, c), Resizing::bytes_of(got, c)) << "channel " << c;
}

// ---- Pillow -----------------------------------------------------------------------------------------

template <class T, class Visit>
void for_samples(OwnFrame& frame, const Visit& visit) {
  for (std::int64_t y = 0; y < frame.type.height; ++y) {
    for (std::int64_t x = 0; x < frame.type.width; ++x) {
      for (int c = 0; c < frame.type.channels(); ++c)
        visit(x, y, c, frame.view().plane<T>(plane_of_channel(frame.type, c)).row(y)[x]);
    }
  }
}

// Images with the samples 37 x + 91 y + 13 x y + 59 c, modulo 256; of 16 bits, times 40503, modulo 65536.
// Hashes of Image.resize of Pillow 13.0.0 and of Pillow 12.3.0, modes L, LA, RGB, RGBA and I;16: h =
// 2166136261, and for each sample v, h = (h ^ v) * 16777619 modulo 2^32.
struct PillowRow {
  std::int64_t in_width, in_height, width, height;
  int channels, bits;
  const char* method;
  std::uint32_t hashes[2];  // by FilterRule
};

const PillowRow kPillowRows[] = {
    {13, 11, 5, 4, 1, 8, "box", {0x2AC35A93, 0x2AC35A93}},
    {13, 11, 5, 4, 4, 8, "bilinear", {0x5C327F6E, 0x5C327F6E}},
    {13, 11, 5, 4, 2, 8, "hamming", {0x7A9F532B, 0x7A9F532B}},
    {13, 11, 5, 4, 1, 16, "bicubic", {0xCAD03397, 0xCAD03397}},
    {13, 11, 5, 4, 3, 8, "lanczos", {0xB75A85B0, 0xB75A85B0}},
    {7, 6, 31, 19, 2, 8, "box", {0x98A2D33B, 0x98A2D33B}},
    {7, 6, 31, 19, 1, 16, "bilinear", {0x42755ACC, 0x42755ACC}},
    {7, 6, 31, 19, 3, 8, "hamming", {0x5A8905EE, 0x5A8905EE}},
    {7, 6, 31, 19, 1, 8, "bicubic", {0x3CB8E5E1, 0x3CB8E5E1}},
    {7, 6, 31, 19, 4, 8, "lanczos", {0x2B37C7FF, 0x2B37C7FF}},
    {64, 40, 21, 40, 3, 8, "box", {0xE9750F2A, 0xE9750F2A}},
    {64, 40, 21, 40, 1, 8, "bilinear", {0x3D75A974, 0x3D75A974}},
    {64, 40, 21, 40, 4, 8, "hamming", {0x3721C5E5, 0x3721C5E5}},
    {64, 40, 21, 40, 2, 8, "bicubic", {0x39FA898B, 0x39FA898B}},
    {64, 40, 21, 40, 1, 16, "lanczos", {0xF94E6418, 0xF94E6418}},
    {5, 90, 9, 30, 4, 8, "box", {0x4C5897D3, 0x4C5897D3}},
    {5, 90, 9, 30, 2, 8, "bilinear", {0xB677E11B, 0x69660A28}},
    {5, 90, 9, 30, 1, 16, "hamming", {0xA7D400E9, 0x518ABDE7}},
    {5, 90, 9, 30, 3, 8, "bicubic", {0x9D439DF8, 0xCA330DD7}},
    {5, 90, 9, 30, 1, 8, "lanczos", {0xBBFD91CB, 0xB2AA1BF4}},
    {3, 301, 2, 70, 1, 16, "box", {0x4FC55578, 0x4FC55578}},
    {3, 301, 2, 70, 3, 8, "bilinear", {0xACC977F4, 0xACC977F4}},
    {3, 301, 2, 70, 1, 8, "hamming", {0xFBD50BE0, 0xFBD50BE0}},
    {3, 301, 2, 70, 4, 8, "bicubic", {0x6E15B1E4, 0x6E15B1E4}},
    {3, 301, 2, 70, 2, 8, "lanczos", {0x9AA4351B, 0x9AA4351B}},
    {1, 1, 4, 3, 1, 8, "box", {0xE23C62B5, 0xE23C62B5}},
    {1, 1, 4, 3, 4, 8, "bilinear", {0x7BF64805, 0x7BF64805}},
    {1, 1, 4, 3, 2, 8, "hamming", {0x703758B5, 0x703758B5}},
    {1, 1, 4, 3, 1, 16, "bicubic", {0xE23C62B5, 0xE23C62B5}},
    {1, 1, 4, 3, 3, 8, "lanczos", {0xC4AB8409, 0xC4AB8409}},
    {300, 200, 17, 13, 2, 8, "box", {0xACAD7AF9, 0xACAD7AF9}},
    {300, 200, 17, 13, 1, 16, "bilinear", {0xFDAB8A14, 0xFDAB8A14}},
    {300, 200, 17, 13, 3, 8, "hamming", {0x6825FC72, 0x6825FC72}},
    {300, 200, 17, 13, 1, 8, "bicubic", {0x5C0541F3, 0x5C0541F3}},
    {300, 200, 17, 13, 4, 8, "lanczos", {0x61D84D99, 0x61D84D99}},
    {40, 1, 13, 1, 3, 8, "box", {0x1BF169FA, 0x1BF169FA}},
    {40, 1, 13, 1, 1, 8, "bilinear", {0x3789D28D, 0x3789D28D}},
    {40, 1, 13, 1, 4, 8, "hamming", {0x26059065, 0x26059065}},
    {40, 1, 13, 1, 2, 8, "bicubic", {0x9BF33775, 0x9BF33775}},
    {40, 1, 13, 1, 1, 16, "lanczos", {0xDAE5A1BF, 0xDAE5A1BF}},
    {9000, 2, 3, 5, 4, 8, "box", {0x078A07EE, 0x078A07EE}},
    {9000, 2, 3, 5, 2, 8, "bilinear", {0x605FF59E, 0x605FF59E}},
    {9000, 2, 3, 5, 1, 16, "hamming", {0x7DE23240, 0x7DE23240}},
    {9000, 2, 3, 5, 3, 8, "bicubic", {0x53A1904C, 0x53A1904C}},
    {9000, 2, 3, 5, 1, 8, "lanczos", {0x8A722467, 0x8A722467}},
};

std::uint32_t hash_of(const PillowRow& row, FilterRule rule) {
  const auto method = std::ranges::find(kFilters, row.method, name_of);
  const Sample sample = row.bits == 16 ? Sample::u16 : Sample::u8;
  Resizing resizing(type_of(row.in_width, row.in_height, row.channels, sample),
                    parameters_of(row.width, row.height, *method, rule));
  std::uint32_t hash = 2166136261U;
  visit_sample(sample, [&]<class T>(T) {
    const std::int64_t factor = kIsWide<T> ? 40503 : 1;
    for_samples<T>(resizing.in, [&](std::int64_t x, std::int64_t y, int c, T& value) {
      value = static_cast<T>((37 * x + 91 * y + 13 * x * y + 59 * c) * factor);
    });
    OwnFrame out = resizing.by_reference();
    for_samples<T>(out,
                   [&](std::int64_t, std::int64_t, int, T& value) { hash = (hash ^ value) * 16777619U; });
  });
  return hash;
}

TEST(ResizeFilter, EqualsPillow) {
  for (const PillowRow& row : kPillowRows) {
    SCOPED_TRACE(std::to_string(row.in_width) + "x" + std::to_string(row.in_height) + " to " +
                 std::to_string(row.width) + "x" + std::to_string(row.height) + " " + row.method);
    EXPECT_EQ(hash_of(row, FilterRule::pillow13), row.hashes[0]);
    EXPECT_EQ(hash_of(row, FilterRule::pillow12), row.hashes[1]);
  }
}

// ---- bands ------------------------------------------------------------------------------------------

class Random {
 public:
  explicit Random(std::uint32_t seed) : state_(seed) {}
  std::uint32_t next() {
    state_ = state_ * 1664525U + 1013904223U;
    return state_ >> 16;
  }
  std::int64_t up_to(std::int64_t most) { return static_cast<std::int64_t>(next()) % most + 1; }

 private:
  std::uint32_t state_;
};

// Noise, or only black and white.
void fill(OwnFrame& frame, Random& random) {
  const bool two_valued = random.next() % 2 == 0;
  visit_sample(frame.type.sample, [&]<class T>(T) {
    for_samples<T>(frame, [&](std::int64_t, std::int64_t, int, T& value) {
      value = static_cast<T>(!two_valued ? random.next() : random.next() % 2 == 0 ? 0 : kLargest<T>);
    });
  });
}

struct Geometry {
  std::int64_t in_width, in_height, width, height;
};

void check_bands(const Geometry& g, int channels, Sample sample, const Parameters& parameters,
                 Random& random) {
  const FrameType type = type_of(g.in_width, g.in_height, channels, sample);
  SCOPED_TRACE(std::to_string(g.in_width) + "x" + std::to_string(g.in_height) + " to " +
               std::to_string(g.width) + "x" + std::to_string(g.height) + ", " + std::to_string(channels) +
               " channels, " + std::to_string(8 * bytes_per_sample(sample)) + " bits, " +
               name_of(ResizeParameters(parameters).method) + ", rule " + std::to_string(parameters[7]) +
               ", fit " + std::to_string(parameters[3]) + ", " + simd_target());
  Resizing resizing(type, parameters);
  fill(resizing.in, random);
  expect_equal(resizing.by_reference(), resizing.by_bands(random.up_to(g.height)));
}

Parameters random_parameters(const Geometry& g, Random& random) {
  return parameters_of(g.width, g.height, kFilters[random.next() % 5],
                       random.next() % 2 == 0 ? FilterRule::pillow13 : FilterRule::pillow12,
                       random.next() % 3 == 0 ? ResizeFit::cover : ResizeFit::exact);
}

TEST(ResizeFilter, CpuEqualsTheReferenceByBandsOnEveryTarget) {
  for (const std::string& target : simd_targets()) {
    use_simd(target);
    Random random(20261126);
    for (int i = 0; i < 400; ++i) {
      const std::int64_t most = i % 4 == 0 ? 200 : 40;
      Geometry g{random.up_to(most), random.up_to(most), random.up_to(most), random.up_to(most)};
      if (random.next() % 8 == 0) g.width = g.in_width;
      if (random.next() % 8 == 0) g.height = g.in_height;
      const Sample sample = random.next() % 3 == 0 ? Sample::u16 : Sample::u8;
      check_bands(g, 1 + i % 4, sample, random_parameters(g, random), random);
      if (HasFatalFailure()) return;
    }
  }
  use_simd("");
}

// Windows that are larger than the caches of lines, on either axis and in either order.
TEST(ResizeFilter, CpuEqualsTheReferenceForHugeWindows) {
  constexpr Geometry kGeometries[] = {{9001, 5, 3, 2},    {5, 9001, 2, 3},   {9001, 70, 2, 69},
                                      {70, 9001, 69, 2},  {70'001, 1, 1, 2}, {1, 70'001, 2, 1},
                                      {3000, 90, 300, 2}, {2, 2, 700, 400}};
  Random random(34);
  for (const Geometry& g : kGeometries) {
    for (const Sample sample : {Sample::u8, Sample::u16}) {
      for (const FilterRule rule : {FilterRule::pillow13, FilterRule::pillow12}) {
        const Parameters parameters = parameters_of(g.width, g.height, ResizeMethod::lanczos, rule);
        check_bands(g, 1 + static_cast<int>(random.next() % 4), sample, parameters, random);
        if (HasFatalFailure()) return;
      }
    }
  }
}

// ---- weights ----------------------------------------------------------------------------------------

// The nearest doubles, computed with 60 decimal digits.
TEST(ResizeFilter, SineAndCosineAreTheNearestDoubles) {
  struct Row {
    double x, sine, cosine;
  };
  constexpr Row kRows[] = {
      {0x1.56e1fc2f8f359p-997, 0x1.56e1fc2f8f359p-997, 0x1.0000000000000p+0},
      {0x1.0000000000000p-2, 0x1.faaeed4f31577p-3, 0x1.f01549f7deea1p-1},
      {0x1.921fb54442d18p-1, 0x1.6a09e667f3bccp-1, 0x1.6a09e667f3bcdp-1},
      {0x1.0000000000000p+0, 0x1.aed548f090ceep-1, 0x1.14a280fb5068cp-1},
      {0x1.921fb54442d18p+0, 0x1.0000000000000p+0, 0x1.1a62633145c07p-54},
      {0x1.4000000000000p+1, 0x1.326af0dcfcab1p-1, -0x1.9a2f7ef858b7dp-1},
      {0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53, -0x1.0000000000000p+0},
      {0x1.0000000000000p+2, -0x1.837b9dddc1eaep-1, -0x1.4eaa606db24c1p-1},
      {0x1.2d97c7f3321d2p+2, -0x1.0000000000000p+0, -0x1.a79394c9e8a0ap-53},
      {0x1.6000000000000p+2, -0x1.693c94e0ab057p-1, 0x1.6ad6c3c07d448p-1},
      {0x1.921fb54442d18p+2, -0x1.1a62633145c07p-52, 0x1.0000000000000p+0},
      {0x1.d000000000000p+2, 0x1.a56adb62a27b9p-1, 0x1.22c6f50dc3fbep-1},
      {0x1.f6a7a2955385ep+2, 0x1.0000000000000p+0, 0x1.60fafbfd97309p-52},
      {0x1.2d97c7f3321d2p+3, 0x1.a79394c9e8a0ap-52, -0x1.0000000000000p+0},
      {0x1.4405a5da4d022p+0, 0x1.e85b46a2650ebp-1, 0x1.339558316b3c5p-2},
      {0x1.fee69e314239cp+2, 0x1.fbc18d8c94bb9p-1, -0x1.0724b46321b9dp-3},
      {0x1.cc76e5b09881cp+2, 0x1.94b8223fc7b3bp-1, 0x1.399a26b378165p-1},
      {0x1.338d51bcf9035p+1, 0x1.58cc29739cabbp-1, -0x1.7a7ecad449ec7p-1},
      {0x1.2ab01a8fe7f82p+2, -0x1.ff78fff06fb53p-1, -0x1.73b602af96f09p-5},
      {0x1.0efd3a736dabbp+2, -0x1.c691f94be07b3p-1, -0x1.d735fc683f1e1p-2},
  };
  for (const Row& row : kRows) {
    EXPECT_EQ(sine(row.x), row.sine) << row.x;
    EXPECT_EQ(sine(-row.x), -row.sine) << row.x;
    EXPECT_EQ(cosine(row.x), row.cosine) << row.x;
  }
}

TEST(ResizeFilter, WindowsAreInsideTheImageAndMonotonic) {
  Random random(5);
  for (int i = 0; i < 2000; ++i) {
    const std::int64_t in = random.up_to(300);
    const float from = static_cast<float>(random.up_to(256)) / 256 * static_cast<float>(in) / 2;
    const float to = from + static_cast<float>(random.up_to(256)) / 256 * (static_cast<float>(in) - from);
    const FilterAxis axis(in, random.up_to(300), from, to);
    const auto filter = static_cast<Filter>(i % 5);
    RowRange before{0, 0};
    for (std::int64_t out = 0; out < axis.out; ++out) {
      const RowRange needed = filter_needs(axis, filter, {out, out + 1});
      ASSERT_TRUE(needed.first >= before.first && needed.end >= before.end && needed.count() > 0 &&
                  needed.end <= in)
          << in << " to " << axis.out << ", from " << from << " to " << to << ", filter " << i % 5;
      before = needed;
    }
  }
}

}  // namespace
}  // namespace imgpipe::test::resize_filter_test
