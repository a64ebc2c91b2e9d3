// icc: grids of inks against rational arithmetic, bands, and 8 bits against 16. The golden values and the
// differential tests cover profiles of grey and RGB.
#include "kernels/icc/icc.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "images/image.h"
#include "pipeline/color_profiles.h"
#include "tests/support/profiles.h"
#include "tests/support/stage_cases.h"

namespace imgpipe::test::icc_test {
namespace {

constexpr std::int32_t kPoints = 5;

std::uint32_t node_value(std::size_t i) {
  return static_cast<std::uint32_t>(i * 40503 % 65521);
}

SecondImage ink_table() {
  IccHead head;
  head.rule = IccRule::grid;
  head.inputs = 4;
  head.points = kPoints;
  SecondImage made{.name = "inks"};
  made.planes.resize(sizeof head);
  std::memcpy(made.planes.data(), &head, sizeof head);
  for (std::size_t i = 0; i < std::size_t{3} * kPoints * kPoints * kPoints * kPoints; ++i) {
    made.planes.push_back(static_cast<std::byte>(node_value(i) & 0xFF));
    made.planes.push_back(static_cast<std::byte>(node_value(i) >> 8));
  }
  return made;
}

// Searches the simplex among those of all orders of the inputs.
std::array<std::uint32_t, 3> interpolated(const std::array<std::int64_t, 4>& v) {
  std::array<std::int64_t, 4> cell{}, distance{};
  for (std::size_t c = 0; c < 4; ++c) {
    cell[c] = std::min<std::int64_t>(v[c] * (kPoints - 1) / 65535, kPoints - 2);
    distance[c] = v[c] * (kPoints - 1) - cell[c] * 65535;
  }
  std::array<std::size_t, 4> order{0, 1, 2, 3};
  const auto descends = [&] {
    return distance[order[0]] >= distance[order[1]] && distance[order[1]] >= distance[order[2]] &&
           distance[order[2]] >= distance[order[3]];
  };
  while (!descends()) std::ranges::next_permutation(order);
  std::array<std::int64_t, 3> sums{};
  std::int64_t weight = 65535 - distance[order[0]];
  for (std::size_t i = 0;; ++i) {
    const std::int64_t node = ((cell[0] * kPoints + cell[1]) * kPoints + cell[2]) * kPoints + cell[3];
    for (std::size_t c = 0; c < 3; ++c)
      sums[c] += weight * node_value(static_cast<std::size_t>(3 * node) + c);
    if (i == 4) break;
    weight = distance[order[i]] - (i < 3 ? distance[order[i + 1]] : 0);
    ++cell[order[i]];
  }
  std::array<std::uint32_t, 3> made{};
  for (std::size_t c = 0; c < 3; ++c) made[c] = static_cast<std::uint32_t>((2 * sums[c] + 65535) / 131070);
  return made;
}

template <class T>
void fill(OwnFrame& frame, std::mt19937& random) {
  constexpr std::array<std::uint32_t, 6> kEdges{0, 1, 16383, 16384, kLargest<T> - 1U, kLargest<T>};
  for (Image& image : frame.planes) {
    if (image.shape().pixels() == 0) continue;
    const Plane<T, Host> plane = image.untyped_view().as<T>();
    for (std::int64_t y = 0; y < plane.height; ++y)
      for (std::int64_t x = 0; x < plane.width; ++x)
        plane.row(y)[x] = static_cast<T>(random() % 3 == 0 ? kEdges[random() % 6] : random());
  }
}

StageCall<Host> call_of(OwnFrame& in, OwnFrame& out, const SecondImage& table) {
  StageCall<Host> call{.in = in.view(), .out = out.view()};
  call.parameters.image = &table;
  call.table = {const_cast<std::byte*>(table.planes.data()), std::ssize(table.planes)};
  return call;
}

// Runs the reference, and the CPU in two bands, which must agree.
OwnFrame converted_by(OwnFrame& in, const SecondImage& table) {
  Parameters parameters;
  parameters.image = &table;
  FrameType type = in.type;
  EXPECT_EQ(icc_infer(in.type, parameters, type), "");
  OwnFrame made(type), in_bands(type);
  icc_reference(call_of(in, made, table));
  const StageCall<Host> call = call_of(in, in_bands, table);
  const std::int64_t half = type.height / 2;
  icc_cpu(call, {0, half});
  icc_cpu(call, {half, type.height});
  const Frame<std::byte, Host> a = made.view(), b = in_bands.view();
  for (int c = 0; c < type.channels(); ++c) {
    const HostView &one = a.planes[plane_of_channel(type, c)], &other = b.planes[plane_of_channel(type, c)];
    for (std::int64_t y = 0; y < type.height; ++y)
      EXPECT_EQ(std::memcmp(one.row(y), other.row(y), static_cast<std::size_t>(one.row_bytes())), 0);
  }
  return made;
}

template <class T>
void expect_inks_interpolated() {
  const SecondImage table = ink_table();
  std::mt19937 random(20261126);
  OwnFrame in({61, 37, 3, true, Layout::planar, sample_type_of<T>});
  fill<T>(in, random);
  OwnFrame made = converted_by(in, table);
  ASSERT_FALSE(made.type.alpha);
  const Frame<std::byte, Host> from = in.view(), to = made.view();
  for (std::int64_t y = 0; y < in.type.height; ++y) {
    for (std::int64_t x = 0; x < in.type.width; ++x) {
      std::array<std::int64_t, 4> v{};
      for (std::size_t c = 0; c < 4; ++c) v[c] = converted<Sample16>(from.plane<T>(c).row(y)[x]);
      const auto expected = interpolated(v);
      for (std::size_t c = 0; c < 3; ++c)
        ASSERT_EQ(to.plane<T>(c).row(y)[x], converted<T>(static_cast<Sample16>(expected[c])))
            << "x=" << x << " y=" << y << " channel " << c;
    }
  }
}

TEST(Icc, InksAreInterpolated) {
  expect_inks_interpolated<Sample8>();
  expect_inks_interpolated<Sample16>();
}

// The table of 8-bit samples agrees with that of 16 bits.
TEST(Icc, BytesAreRoundedWords) {
  const auto grey = profile_table(make_profile("GRAY", {{"kTRC", srgb_table(37)}}), 0);
  const auto color = profile_table(adobe_profile(), 0);
  std::mt19937 random(7);
  for (const SecondImage* table : {grey.get(), color.get()}) {
    const int channels = table == grey.get() ? 1 : 3;
    OwnFrame bytes({256, 9, channels, false, Layout::planar, Sample::u8});
    fill<Sample8>(bytes, random);
    OwnFrame words({256, 9, channels, false, Layout::planar, Sample::u16});
    for (int c = 0; c < channels; ++c)
      for (std::int64_t y = 0; y < 9; ++y)
        for (std::int64_t x = 0; x < 256; ++x) {
          const Plane<Sample8, Host> plane =
              bytes.planes[static_cast<std::size_t>(c)].untyped_view().as<Sample8>();
          if (y == 0) plane.row(y)[x] = static_cast<Sample8>(x);
          words.planes[static_cast<std::size_t>(c)].untyped_view().as<Sample16>().row(y)[x] =
              converted<Sample16>(plane.row(y)[x]);
        }
    OwnFrame from_bytes = converted_by(bytes, *table), from_words = converted_by(words, *table);
    for (int c = 0; c < channels; ++c)
      for (std::int64_t y = 0; y < 9; ++y)
        for (std::int64_t x = 0; x < 256; ++x)
          ASSERT_EQ(
              from_bytes.view().plane<Sample8>(static_cast<std::size_t>(c)).row(y)[x],
              converted<Sample8>(from_words.view().plane<Sample16>(static_cast<std::size_t>(c)).row(y)[x]));
  }
}

TEST(Icc, OtherChannelsAreRejected) {
  const SecondImage inks = ink_table();
  const auto grey = profile_table(make_profile("GRAY", {{"kTRC", curve({})}}), 0);
  const auto color = profile_table(adobe_profile(), 0);
  const auto reason = [](const SecondImage& table, int colors, bool alpha) {
    Parameters parameters;
    parameters.image = &table;
    FrameType in{.width = 1, .height = 1, .color_channels = colors, .alpha = alpha}, out = in;
    return icc_infer(in, parameters, out);
  };
  EXPECT_EQ(reason(inks, 3, true), "");
  EXPECT_NE(reason(inks, 3, false), "");
  EXPECT_NE(reason(*grey, 3, false), "");
  EXPECT_EQ(reason(*grey, 1, true), "");
  EXPECT_NE(reason(*color, 1, false), "");
  EXPECT_EQ(reason(*color, 3, true), "");
}

}  // namespace
}  // namespace imgpipe::test::icc_test
