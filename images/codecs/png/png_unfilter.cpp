// The decoder's side of PNG's filters. The compiler vectorises Up. In the others a pixel depends on the one
// before it, so only the bytes of one pixel are independent.
#include <cstdlib>
#include <cstring>

#include "images/codecs/png/png_filter.h"

namespace imgpipe {
namespace {

int paeth_predictor(int a, int b, int c) {
  const int to_a = b - c;
  const int to_b = a - c;
  const int distance_a = std::abs(to_a);
  const int distance_b = std::abs(to_b);
  const int distance_c = std::abs(to_a + to_b);
  const int nearest_ab = distance_b < distance_a ? b : a;
  const int min_ab = distance_b < distance_a ? distance_b : distance_a;
  return distance_c < min_ab ? c : nearest_ab;
}

struct Sub {
  static int predict(int a, int, int) { return a; }
};
struct Average {
  static int predict(int a, int b, int) { return (a + b) >> 1; }
};
struct Paeth {
  static int predict(int a, int b, int c) { return paeth_predictor(a, b, c); }
};

template <class Filter, std::size_t PixelBytes>
void unfilter(const std::uint8_t* filtered, const std::uint8_t* above, std::size_t size, std::uint8_t* out) {
  int a[PixelBytes] = {};
  int c[PixelBytes] = {};
  for (std::size_t i = 0; i + PixelBytes <= size; i += PixelBytes) {
    for (std::size_t k = 0; k < PixelBytes; ++k) {
      const int b = above[i + k];
      a[k] = (filtered[i + k] + Filter::predict(a[k], b, c[k])) & 0xFF;
      c[k] = b;
      out[i + k] = static_cast<std::uint8_t>(a[k]);
    }
  }
}

template <class Filter>
void unfilter_any(const std::uint8_t* filtered, const std::uint8_t* above, std::size_t size,
                  std::size_t pixel_bytes, std::uint8_t* out) {
  switch (pixel_bytes) {
    case 1:
      return unfilter<Filter, 1>(filtered, above, size, out);
    case 2:
      return unfilter<Filter, 2>(filtered, above, size, out);
    case 3:
      return unfilter<Filter, 3>(filtered, above, size, out);
    case 4:
      return unfilter<Filter, 4>(filtered, above, size, out);
    case 6:
      return unfilter<Filter, 6>(filtered, above, size, out);
    default:
      return unfilter<Filter, 8>(filtered, above, size, out);
  }
}

}  // namespace

bool unfilter_png_row(unsigned type, const std::uint8_t* filtered, const std::uint8_t* above,
                      std::size_t size, std::size_t pixel_bytes, std::uint8_t* out) {
  switch (type) {
    case 0:
      std::memcpy(out, filtered, size);
      return true;
    case 1:
      unfilter_any<Sub>(filtered, above, size, pixel_bytes, out);
      return true;
    case 2:
      for (std::size_t i = 0; i < size; ++i) out[i] = static_cast<std::uint8_t>(filtered[i] + above[i]);
      return true;
    case 3:
      unfilter_any<Average>(filtered, above, size, pixel_bytes, out);
      return true;
    case 4:
      unfilter_any<Paeth>(filtered, above, size, pixel_bytes, out);
      return true;
    default:
      return false;
  }
}

}  // namespace imgpipe
