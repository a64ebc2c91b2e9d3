// Images to test with: awkward shapes, telling contents, memory that notices being written where it must not.
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

// 1x1, 1xN, Nx1, the window's own sizes, around powers of two, primes, one very long row and column.
[[nodiscard]] const std::vector<Size>& awkward_sizes();
// Fewer, for products of many options.
[[nodiscard]] const std::vector<Size>& few_sizes();

// Names of contents: zeros, full, constant, two_valued, ramp, checker, outlier, noise, narrow.
[[nodiscard]] const std::vector<std::string>& contents();
// The sample of channel c at (x, y) of a content; noise depends on the seed.
[[nodiscard]] Sample8 content_sample(const std::string& content, std::int64_t x, std::int64_t y, int c,
                                     std::uint64_t seed);
// The same of 16 bits: no multiples of 257.
[[nodiscard]] Sample16 content_sample16(const std::string& content, std::int64_t x, std::int64_t y, int c,
                                        std::uint64_t seed);

// A plane in memory of its own with room before, behind and between its rows. Everything that is not a sample
// of the plane holds a canary that check() looks at.
class GuardedPlane {
 public:
  // `extra` samples of padding behind each row; the first row starts `offset` samples behind alignment.
  GuardedPlane(Shape shape, std::int64_t extra, std::int64_t offset);

  [[nodiscard]] HostView untyped_view();
  [[nodiscard]] ConstHostView untyped_view() const;
  // Of samples of 8 bits.
  [[nodiscard]] HostPlane view() { return untyped_view().as<Sample8>(); }
  [[nodiscard]] ConstHostPlane view() const { return untyped_view().as<Sample8>(); }
  // "" when every canary is as it was, else where the first one was hit.
  [[nodiscard]] std::string damage() const;

 private:
  [[nodiscard]] std::string damage_between(std::size_t begin, std::size_t end) const;

  Shape shape_;
  std::int64_t stride_bytes_;
  std::size_t first_;
  std::vector<std::byte> memory_;
};

// The planes of a frame, each guarded.
struct GuardedFrame {
  FrameType shape;
  std::vector<GuardedPlane> planes;  // in the order of plane_indices(shape)

  GuardedFrame(FrameType frame_shape, std::int64_t extra, std::int64_t offset);
  [[nodiscard]] Frame<std::byte, Host> view();
  [[nodiscard]] std::string damage() const;
};
[[nodiscard]] std::vector<std::size_t> plane_indices(const FrameType& shape);

// Fills a frame: colour by content, alpha by noise, so that alpha that is touched shows.
void fill(const Frame<std::byte, Host>& frame, const std::string& content, std::uint64_t seed);

// An image of noise, alpha too.
[[nodiscard]] Image noise_image(const Shape& shape, std::uint64_t seed);

// "" when the planes are equal, else "x=.. y=.. channel=..: expected .., got ..".
[[nodiscard]] std::string first_difference(const ConstHostView& expected, const ConstHostView& got);

}  // namespace imgpipe::test
