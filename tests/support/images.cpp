#include "tests/support/images.h"

#include <cstring>
#include <sstream>

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
  static const std::vector<Size> sizes{
      {1, 1},   {1, 2},    {2, 1},    {1, 7},    {7, 1},    {2, 2},    {3, 3},      {3, 2},
      {2, 5},   {4, 4},    {5, 5},    {5, 4},    {4, 5},    {6, 6},    {15, 15},    {16, 16},
      {17, 17}, {31, 8},   {32, 8},   {33, 8},   {63, 65},  {64, 64},  {65, 63},    {97, 89},
      {127, 3}, {128, 32}, {129, 33}, {255, 31}, {257, 29}, {1, 1000}, {100003, 1}, {3, 5003}};
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

Sample content_sample(const std::string& content, std::int64_t x, std::int64_t y, int c, std::uint64_t seed) {
  const auto random = static_cast<Sample>(
      hash(seed ^ hash(static_cast<std::uint64_t>(x) ^
                       hash(static_cast<std::uint64_t>(y) * 4 + static_cast<std::uint64_t>(c)))) >>
      24);
  if (content == "zeros") return 0;
  if (content == "full") return 255;
  if (content == "constant") return static_cast<Sample>(77 + 10 * c);
  if (content == "two_valued") return random < 128 ? 40 : 200;
  if (content == "ramp") return static_cast<Sample>(x + 3 * y + 50 * c);
  if (content == "checker") return (x + y) % 2 == 0 ? 0 : 255;
  if (content == "outlier") return x == 0 && y == 0 ? 255 : static_cast<Sample>(9 + c);
  if (content == "narrow") return static_cast<Sample>(100 + random % 5);
  return random;
}

Sample16 content_sample16(const std::string& content, std::int64_t x, std::int64_t y, int c,
                          std::uint64_t seed) {
  const auto random = static_cast<Sample16>(
      hash(seed ^ hash(static_cast<std::uint64_t>(x) ^
                       hash(static_cast<std::uint64_t>(y) * 4 + static_cast<std::uint64_t>(c)))) >>
      20);
  if (content == "zeros") return 0;
  if (content == "full") return 65535;
  if (content == "constant") return static_cast<Sample16>(19777 + 2571 * c);
  if (content == "two_valued") return random < 32768 ? 10241 : 51234;
  if (content == "ramp") return static_cast<Sample16>(331 * x + 97 * y + 12850 * c);
  if (content == "checker") return (x + y) % 2 == 0 ? 0 : 65535;
  if (content == "outlier") return x == 0 && y == 0 ? 65535 : static_cast<Sample16>(2313 + c);
  if (content == "narrow") return static_cast<Sample16>(25601 + random % 1301);
  return random;
}

GuardedPlane::GuardedPlane(Shape shape, std::int64_t extra, std::int64_t offset)
    : shape_(shape),
      stride_bytes_(shape.row_bytes() + extra * sample_bytes(shape.sample)),
      first_(kGuard + static_cast<std::size_t>(offset * sample_bytes(shape.sample))),
      memory_(first_ + static_cast<std::size_t>(stride_bytes_ * shape.height) + kGuard) {
  for (std::size_t i = 0; i < memory_.size(); ++i) memory_[i] = canary(i);
}

HostView GuardedPlane::untyped_view() {
  return {memory_.data() + first_, shape_, stride_bytes_};
}

ConstHostView GuardedPlane::untyped_view() const {
  return {memory_.data() + first_, shape_, stride_bytes_};
}

bool GuardedPlane::is_sample(std::size_t byte) const {
  if (byte < first_) return false;
  const auto inside = static_cast<std::int64_t>(byte - first_);
  return inside < stride_bytes_ * shape_.height && inside % stride_bytes_ < shape_.row_bytes();
}

std::string GuardedPlane::damage() const {
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    if (is_sample(i) || memory_[i] == canary(i)) continue;
    std::ostringstream out;
    out << "canary hit " << static_cast<std::int64_t>(i) - static_cast<std::int64_t>(first_)
        << " bytes behind the first pixel";
    return out.str();
  }
  return "";
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
  for (const std::size_t index : plane_indices(frame.type)) {
    const Plane<T, Host> plane = frame.plane<T>(index);
    for (std::int64_t y = 0; y < plane.height; ++y) {
      for (std::int64_t x = 0; x < plane.width; ++x) {
        for (int k = 0; k < plane.channels; ++k) {
          const int channel = frame.type.layout == Layout::interleaved ? k : static_cast<int>(index);
          const bool alpha = frame.type.layout == Layout::interleaved ? channel == frame.type.color_channels
                                                                      : index == kAlphaPlane;
          const std::string& what = alpha ? "noise" : content;
          const std::uint64_t its_seed = seed + (alpha ? 1 : 0);
          T& sample = plane.row(y)[x * plane.channels + k];
          if constexpr (sizeof(T) == 1) {
            sample = content_sample(what, x, y, channel, its_seed);
          } else {
            sample = content_sample16(what, x, y, channel, its_seed);
          }
        }
      }
    }
  }
}

template <class T>
Grid grid_of_samples(const Plane<const T, Host>& plane, int channel) {
  Grid grid(static_cast<std::size_t>(plane.height),
            std::vector<std::int64_t>(static_cast<std::size_t>(plane.width)));
  for (std::int64_t y = 0; y < plane.height; ++y) {
    for (std::int64_t x = 0; x < plane.width; ++x) {
      grid[static_cast<std::size_t>(y)][static_cast<std::size_t>(x)] =
          plane.row(y)[x * plane.channels + channel];
    }
  }
  return grid;
}

template <class T>
std::string first_difference_of(const Plane<const T, Host>& expected, const Plane<const T, Host>& got) {
  for (std::int64_t y = 0; y < expected.height; ++y) {
    for (std::int64_t i = 0; i < expected.row_samples(); ++i) {
      if (expected.row(y)[i] == got.row(y)[i]) continue;
      std::ostringstream out;
      out << "x=" << i / expected.channels << " y=" << y << " channel=" << i % expected.channels
          << ": expected " << int{expected.row(y)[i]} << ", got " << int{got.row(y)[i]};
      return out.str();
    }
  }
  return "";
}

}  // namespace

void fill(const Frame<std::byte, Host>& frame, const std::string& content, std::uint64_t seed) {
  frame.type.sample == SampleType::u16 ? fill_samples<Sample16>(frame, content, seed)
                                       : fill_samples<Sample>(frame, content, seed);
}

Grid grid_of(const ConstHostView& plane, int channel) {
  return plane.sample == SampleType::u16 ? grid_of_samples(plane.as<Sample16>(), channel)
                                         : grid_of_samples(plane.as<Sample>(), channel);
}

std::string first_difference(const ConstHostView& expected, const ConstHostView& got) {
  if (expected.shape() != got.shape()) {
    std::ostringstream out;
    const auto bits = [](const ConstHostView& view) { return 8 * sample_bytes(view.sample); };
    out << "shapes differ: " << expected.width << "x" << expected.height << "x" << expected.channels << ", "
        << bits(expected) << " bits, and " << got.width << "x" << got.height << "x" << got.channels << ", "
        << bits(got) << " bits";
    return out.str();
  }
  return expected.sample == SampleType::u16 ? first_difference_of(expected.as<Sample16>(), got.as<Sample16>())
                                            : first_difference_of(expected.as<Sample>(), got.as<Sample>());
}

}  // namespace imgpipe::test
