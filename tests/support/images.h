// Images for tests: awkward shapes, revealing contents, memory that detects writes out of bounds.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "images/image.h"
#include "kernels/frame.h"

namespace imgpipe::test {

struct Size {
  std::int64_t width, height;
};

// 1x1, 1xN, Nx1, the window sizes, sizes around powers of two, primes, one very long row and column.
[[nodiscard]] const std::vector<Size>& awkward_sizes();
// Fewer sizes, for products of many options.
[[nodiscard]] const std::vector<Size>& few_sizes();

// The names of contents: zeros, full, constant, two_valued, ramp, checker, outlier, noise, narrow.
[[nodiscard]] const std::vector<std::string>& contents();
// Returns the sample of channel c at (x, y) of a content; noise depends on the seed.
[[nodiscard]] Sample8 content_sample(const std::string& content, std::int64_t x, std::int64_t y, int c,
                                     std::uint64_t seed);
// The same for 16 bits; values are not multiples of 257.
[[nodiscard]] Sample16 content_sample16(const std::string& content, std::int64_t x, std::int64_t y, int c,
                                        std::uint64_t seed);

// A plane in its own memory, with space before it, after it and between its rows. Everything that is not a
// sample holds a canary, which damage() checks.
class GuardedPlane {
 public:
  // `extra` samples of padding follow each row; the first row starts `offset` samples after alignment.
  GuardedPlane(Shape shape, std::int64_t extra, std::int64_t offset);

  [[nodiscard]] HostView untyped_view();
  [[nodiscard]] ConstHostView untyped_view() const;
  // For 8-bit samples.
  [[nodiscard]] HostPlane view() { return untyped_view().as<Sample8>(); }
  [[nodiscard]] ConstHostPlane view() const { return untyped_view().as<Sample8>(); }
  // Returns where the first canary was overwritten, or "".
  [[nodiscard]] std::string damage() const;

 private:
  [[nodiscard]] std::string damage_between(std::size_t begin, std::size_t end) const;

  Shape shape_;
  std::int64_t stride_bytes_;
  std::size_t first_;
  std::vector<std::byte> memory_;
};

// A frame with a guard around each plane.
struct GuardedFrame {
  FrameType shape;
  std::vector<GuardedPlane> planes;  // in the order of plane_indices(shape)

  GuardedFrame(FrameType frame_shape, std::int64_t extra, std::int64_t offset);
  [[nodiscard]] Frame<std::byte, Host> view();
  [[nodiscard]] std::string damage() const;
};
[[nodiscard]] std::vector<std::size_t> plane_indices(const FrameType& shape);

// Fills a frame: colour with the content, alpha with noise, so that changes of alpha are detected.
void fill(const Frame<std::byte, Host>& frame, const std::string& content, std::uint64_t seed);

// An image of noise, including alpha.
[[nodiscard]] Image noise_image(const Shape& shape, std::uint64_t seed);

// Returns "x=.. y=.. channel=..: expected .., got ..", or "" if the planes are equal.
[[nodiscard]] std::string first_difference(const ConstHostView& expected, const ConstHostView& got);

}  // namespace imgpipe::test
