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

Sample canary(std::size_t index) {
  return static_cast<Sample>(hash(kCanarySeed + index));
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

GuardedPlane::GuardedPlane(Shape shape, std::int64_t extra, std::int64_t offset)
    : shape_(shape),
      stride_(shape.width * shape.channels + extra),
      first_(kGuard + static_cast<std::size_t>(offset)),
      memory_(first_ + static_cast<std::size_t>(stride_ * shape.height) + kGuard) {
  for (std::size_t i = 0; i < memory_.size(); ++i) memory_[i] = canary(i);
}

HostPlane GuardedPlane::view() {
  return {memory_.data() + first_, shape_.width, shape_.height, stride_, shape_.channels};
}

ConstHostPlane GuardedPlane::view() const {
  return {memory_.data() + first_, shape_.width, shape_.height, stride_, shape_.channels};
}

bool GuardedPlane::is_sample(std::size_t index) const {
  if (index < first_) return false;
  const auto inside = static_cast<std::int64_t>(index - first_);
  return inside < stride_ * shape_.height && inside % stride_ < shape_.width * shape_.channels;
}

std::string GuardedPlane::damage() const {
  for (std::size_t i = 0; i < memory_.size(); ++i) {
    if (is_sample(i) || memory_[i] == canary(i)) continue;
    std::ostringstream out;
    out << "canary hit " << static_cast<std::int64_t>(i) - static_cast<std::int64_t>(first_)
        << " samples behind the first pixel";
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
    planes.emplace_back(Shape{shape.width, shape.height, channels}, extra, offset);
  }
}

Frame<std::byte, Host> GuardedFrame::view() {
  Frame<std::byte, Host> frame{shape, {}};
  const std::vector<std::size_t> indices = plane_indices(shape);
  for (std::size_t i = 0; i < indices.size(); ++i) frame.planes[indices[i]] = planes[i].view();
  return frame;
}

std::string GuardedFrame::damage() const {
  for (const GuardedPlane& plane : planes) {
    if (std::string found = plane.damage(); !found.empty()) return found;
  }
  return "";
}

void fill(const Frame<std::byte, Host>& frame, const std::string& content, std::uint64_t seed) {
  for (const std::size_t index : plane_indices(frame.type)) {
    const HostPlane plane = frame.plane<Sample>(index);
    for (std::int64_t y = 0; y < plane.height; ++y) {
      for (std::int64_t x = 0; x < plane.width; ++x) {
        for (int k = 0; k < plane.channels; ++k) {
          const int channel = frame.type.layout == Layout::interleaved ? k : static_cast<int>(index);
          const bool alpha = frame.type.layout == Layout::interleaved ? channel == frame.type.color_channels
                                                                      : index == kAlphaPlane;
          plane.row(y)[x * plane.channels + k] =
              content_sample(alpha ? "noise" : content, x, y, channel, seed + (alpha ? 1 : 0));
        }
      }
    }
  }
}

Grid grid_of(const ConstHostPlane& plane, int channel) {
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

std::string first_difference(ConstHostPlane expected, ConstHostPlane got) {
  std::ostringstream out;
  if (expected.shape() != got.shape()) {
    out << "shapes differ: " << expected.width << "x" << expected.height << "x" << expected.channels
        << " and " << got.width << "x" << got.height << "x" << got.channels;
    return out.str();
  }
  for (std::int64_t y = 0; y < expected.height; ++y) {
    for (std::int64_t i = 0; i < expected.row_samples(); ++i) {
      if (expected.row(y)[i] == got.row(y)[i]) continue;
      out << "x=" << i / expected.channels << " y=" << y << " channel=" << i % expected.channels
          << ": expected " << int{expected.row(y)[i]} << ", got " << int{got.row(y)[i]};
      return out.str();
    }
  }
  return "";
}

}  // namespace imgpipe::test
