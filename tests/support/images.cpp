#include "tests/support/images.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <iterator>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "tests/support/sanitizers.h"

namespace imgpipe::test {
namespace {

constexpr std::size_t kGuard = 256;
constexpr std::uint64_t kCanarySeed = 0xC0FFEE;

std::uint64_t hash(std::uint64_t z) {
  z = (z + 0x9E3779B97F4A7C15U) * 0xBF58476D1CE4E5B9U;
  z = (z ^ (z >> 29)) * 0x94D049BB133111EBU;
  return z ^ (z >> 32);
}

std::byte canary(std::size_t index) {
  return static_cast<std::byte>(hash(kCanarySeed + index));
}

}  // namespace

const std::vector<Size>& awkward_sizes() {
  // With sanitizers, every pixel costs ten times as much; other builds test the long sizes in full.
  constexpr Size kLongRow = kSanitized ? Size{10007, 1} : Size{100003, 1};
  constexpr Size kLongColumn = kSanitized ? Size{3, 1009} : Size{3, 5003};
  static const std::vector<Size> sizes{
      {1, 1},   {1, 2},    {2, 1},    {1, 7},    {7, 1},    {2, 2},    {3, 3},   {3, 2},
      {2, 5},   {4, 4},    {5, 5},    {5, 4},    {4, 5},    {6, 6},    {15, 15}, {16, 16},
      {17, 17}, {31, 8},   {32, 8},   {33, 8},   {63, 65},  {64, 64},  {65, 63}, {97, 89},
      {127, 3}, {128, 32}, {129, 33}, {255, 31}, {257, 29}, {1, 1000}, kLongRow, kLongColumn};
  return sizes;
}

const std::vector<Size>& few_sizes() {
  static const std::vector<Size> sizes{{1, 1}, {2, 1}, {1, 3}, {4, 4}, {5, 5}, {33, 7}, {64, 17}, {97, 89}};
  return sizes;
}

const std::vector<std::string>& contents() {
  static const std::vector<std::string> names{"zeros",   "full",    "constant", "two_valued", "ramp",
                                              "checker", "outlier", "noise",    "narrow"};
  return names;
}

namespace {

// The names in contents(), in order.
enum class Content { zeros, full, constant, two_valued, ramp, checker, outlier, noise, narrow };

Content content_of(const std::string& name) {
  const auto found = std::ranges::find(contents(), name);
  if (found == contents().end()) throw std::invalid_argument("no such content: " + name);
  return static_cast<Content>(found - contents().begin());
}

// The values of the contents, by sample type; those of 16 bits are not multiples of 257.
template <class T>
struct Values;
template <>
struct Values<Sample8> {
  static constexpr int kShift = 24, kMiddle = 128;
  static constexpr std::int64_t kConstant = 77, kConstantStep = 10, kTwo[] = {40, 200}, kRamp[] = {1, 3, 50};
  static constexpr std::int64_t kOutlier = 9, kNarrow[] = {100, 5};
};
template <>
struct Values<Sample16> {
  static constexpr int kShift = 20, kMiddle = 32768;
  static constexpr std::int64_t kConstant = 19777, kConstantStep = 2571, kTwo[] = {10241, 51234};
  static constexpr std::int64_t kRamp[] = {331, 97, 12850}, kOutlier = 2313, kNarrow[] = {25601, 1301};
};

template <class T>
T made_sample(Content content, std::int64_t x, std::int64_t y, int c, std::uint64_t seed) {
  using Its = Values<T>;
  const auto random = [&] {
    return static_cast<T>(
        hash(seed ^ hash(static_cast<std::uint64_t>(x) ^
                         hash(static_cast<std::uint64_t>(y) * 4 + static_cast<std::uint64_t>(c)))) >>
        Its::kShift);
  };
  constexpr T kWhite = std::numeric_limits<T>::max();
  switch (content) {
    case Content::zeros:
      return 0;
    case Content::full:
      return kWhite;
    case Content::constant:
      return static_cast<T>(Its::kConstant + Its::kConstantStep * c);
    case Content::two_valued:
      return static_cast<T>(Its::kTwo[random() < Its::kMiddle ? 0 : 1]);
    case Content::ramp:
      return static_cast<T>(Its::kRamp[0] * x + Its::kRamp[1] * y + Its::kRamp[2] * c);
    case Content::checker:
      return (x + y) % 2 == 0 ? 0 : kWhite;
    case Content::outlier:
      return x == 0 && y == 0 ? kWhite : static_cast<T>(Its::kOutlier + c);
    case Content::noise:
      return random();
    case Content::narrow:
      return static_cast<T>(Its::kNarrow[0] + random() % Its::kNarrow[1]);
  }
  return 0;
}

// Returns noise that is mostly around 0..1, sometimes NaN, infinite, denormal, huge or any bits.
float noise_float(std::uint64_t random) {
  static constexpr std::uint32_t kSpecial[] = {
      0x7FC00000, 0x7F812345, 0xFFC54321, 0x7F800000, 0xFF800000, 0x00000000, 0x80000000, 0x00000001,
      0x807FFFFF, 0x00800000, 0x7F7FFFFF, 0xFF7FFFFF, 0x3F800000, 0xBF800000, 0x3F7FFFFF, 0x3F800001};
  const auto bits = static_cast<std::uint32_t>(random);
  const std::uint64_t kind = random >> 32 & 0xFF;
  if (kind < 8) return std::bit_cast<float>(kSpecial[bits % std::size(kSpecial)]);
  if (kind < 10) return std::bit_cast<float>(bits);
  if (kind < 16) return std::bit_cast<float>(bits & 0x807FFFFFU);
  return 1.5F * static_cast<float>(bits >> 8) / static_cast<float>(1 << 24) - 0.25F;
}

template <>
float made_sample<float>(Content content, std::int64_t x, std::int64_t y, int c, std::uint64_t seed) {
  const std::uint64_t random =
      hash(seed ^ hash(static_cast<std::uint64_t>(x) ^
                       hash(static_cast<std::uint64_t>(y) * 4 + static_cast<std::uint64_t>(c))));
  switch (content) {
    case Content::zeros:
      return 0;
    case Content::full:
      return 1;
    case Content::constant:
      return 0.3F + 0.04F * static_cast<float>(c);
    case Content::two_valued:
      return random % 2 == 0 ? -0.2F : 3e38F;
    case Content::ramp:
      return static_cast<float>(x) * 0.013F + static_cast<float>(y) * 0.0041F + static_cast<float>(c) * 0.2F;
    case Content::checker:
      return (x + y) % 2 == 0 ? 0.0F : 1.0F;
    case Content::outlier:
      return x == 0 && y == 0 ? std::numeric_limits<float>::infinity() : 1e-39F * static_cast<float>(c + 1);
    case Content::noise:
      return noise_float(random);
    case Content::narrow:
      return 0.4F + static_cast<float>(random % 1000) * 1e-4F;
  }
  return 0;
}

}  // namespace

Sample8 content_sample(const std::string& content, std::int64_t x, std::int64_t y, int c,
                       std::uint64_t seed) {
  return made_sample<Sample8>(content_of(content), x, y, c, seed);
}

Sample16 content_sample16(const std::string& content, std::int64_t x, std::int64_t y, int c,
                          std::uint64_t seed) {
  return made_sample<Sample16>(content_of(content), x, y, c, seed);
}

GuardedPlane::GuardedPlane(Shape shape, std::int64_t extra, std::int64_t offset)
    : shape_(shape),
      stride_bytes_(shape.row_bytes() + extra * bytes_per_sample(shape.sample)),
      first_(kGuard + static_cast<std::size_t>(offset * bytes_per_sample(shape.sample))),
      memory_(first_ + static_cast<std::size_t>(stride_bytes_ * shape.height) + kGuard) {
  for (std::size_t i = 0; i < memory_.size(); ++i) memory_[i] = canary(i);
}

HostView GuardedPlane::untyped_view() {
  return {memory_.data() + first_, shape_, stride_bytes_};
}

ConstHostView GuardedPlane::untyped_view() const {
  return {memory_.data() + first_, shape_, stride_bytes_};
}

std::string GuardedPlane::damage_between(std::size_t begin, std::size_t end) const {
  for (std::size_t i = begin; i < end; ++i) {
    if (memory_[i] == canary(i)) continue;
    std::ostringstream out;
    out << "canary hit " << static_cast<std::int64_t>(i) - static_cast<std::int64_t>(first_)
        << " bytes after the first pixel";
    return out.str();
  }
  return "";
}

std::string GuardedPlane::damage() const {
  std::size_t row = first_;
  std::string found = damage_between(0, row);
  for (std::int64_t y = 0; y < shape_.height && found.empty(); ++y) {
    const std::size_t padding = row + static_cast<std::size_t>(shape_.row_bytes());
    row += static_cast<std::size_t>(stride_bytes_);
    found = damage_between(padding, row);
  }
  return found.empty() ? damage_between(row, memory_.size()) : found;
}

std::vector<std::size_t> plane_indices(const FrameType& shape) {
  if (shape.layout == Layout::interleaved) return {0};
  std::vector<std::size_t> indices;
  for (std::size_t c = 0; c < static_cast<std::size_t>(shape.color_channels); ++c) indices.push_back(c);
  if (shape.alpha) indices.push_back(kAlphaPlane);
  return indices;
}

GuardedFrame::GuardedFrame(FrameType frame_shape, std::int64_t extra, std::int64_t offset)
    : shape(frame_shape) {
  const int channels = shape.layout == Layout::interleaved ? shape.channels() : 1;
  for (std::size_t i = 0; i < plane_indices(shape).size(); ++i) {
    planes.emplace_back(Shape{shape.width, shape.height, channels, shape.sample}, extra, offset);
  }
}

Frame<std::byte, Host> GuardedFrame::view() {
  Frame<std::byte, Host> frame{shape, {}};
  const std::vector<std::size_t> indices = plane_indices(shape);
  for (std::size_t i = 0; i < indices.size(); ++i) frame.planes[indices[i]] = planes[i].untyped_view();
  return frame;
}

std::string GuardedFrame::damage() const {
  for (const GuardedPlane& plane : planes) {
    if (std::string found = plane.damage(); !found.empty()) return found;
  }
  return "";
}

namespace {

template <class T>
void fill_samples(const Frame<std::byte, Host>& frame, const std::string& content, std::uint64_t seed) {
  const bool interleaved = frame.type.layout == Layout::interleaved;
  const Content color = content_of(content);
  for (const std::size_t index : plane_indices(frame.type)) {
    const Plane<T, Host> plane = frame.plane<T>(index);
    for (std::int64_t y = 0; y < plane.height; ++y) {
      T* sample = plane.row(y);
      for (std::int64_t x = 0; x < plane.width; ++x) {
        for (int k = 0; k < plane.channels; ++k) {
          const int channel = interleaved ? k : static_cast<int>(index);
          const bool alpha = interleaved ? channel == frame.type.color_channels : index == kAlphaPlane;
          *sample++ = made_sample<T>(alpha ? Content::noise : color, x, y, channel, seed + (alpha ? 1 : 0));
        }
      }
    }
  }
}

std::string sample_text(int sample) {
  return std::to_string(sample);
}
std::string sample_text(float sample) {
  std::ostringstream out;
  out << sample << " (bits " << std::hex << std::bit_cast<std::uint32_t>(sample) << ")";
  return out.str();
}

template <class T>
std::string first_difference_of(const Plane<const T, Host>& expected, const Plane<const T, Host>& got) {
  for (std::int64_t y = 0; y < expected.height; ++y) {
    const auto row_bytes = static_cast<std::size_t>(expected.row_samples()) * sizeof(T);
    if (std::memcmp(expected.row(y), got.row(y), row_bytes) == 0) continue;
    for (std::int64_t i = 0; i < expected.row_samples(); ++i) {
      if (std::memcmp(expected.row(y) + i, got.row(y) + i, sizeof(T)) == 0) continue;
      std::ostringstream out;
      out << "x=" << i / expected.channels << " y=" << y << " channel=" << i % expected.channels
          << ": expected " << sample_text(expected.row(y)[i]) << ", got " << sample_text(got.row(y)[i]);
      return out.str();
    }
  }
  return "";
}

}  // namespace

void fill(const Frame<std::byte, Host>& frame, const std::string& content, std::uint64_t seed) {
  visit_any_sample(frame.type.sample, [&]<class T>(T) { fill_samples<T>(frame, content, seed); });
}

Image noise_image(const Shape& shape, std::uint64_t seed) {
  Image image(shape);
  fill({frame_type_of(shape), {image.untyped_view(), {}, {}, {}}}, "noise", seed);
  return image;
}

std::string first_difference(const ConstHostView& expected, const ConstHostView& got) {
  if (expected.shape() != got.shape()) {
    std::ostringstream out;
    const auto bits = [](const ConstHostView& view) { return 8 * bytes_per_sample(view.sample); };
    out << "shapes differ: " << expected.width << "x" << expected.height << "x" << expected.channels << ", "
        << bits(expected) << " bits, and " << got.width << "x" << got.height << "x" << got.channels << ", "
        << bits(got) << " bits";
    return out.str();
  }
  switch (expected.sample) {
    case Sample::u8:
      return first_difference_of(expected.as<Sample8>(), got.as<Sample8>());
    case Sample::f32:
      return first_difference_of(expected.as<float>(), got.as<float>());
    case Sample::u16:
    case Sample::f16:
    case Sample::bf16:  // the bits of floats
      return first_difference_of(expected.as<Sample16>(), got.as<Sample16>());
  }
  unreachable();
}

}  // namespace imgpipe::test
