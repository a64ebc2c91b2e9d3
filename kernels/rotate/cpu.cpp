// rotate in SIMD. By 180 degrees: reverses rows, starting with the last. By 90 and 270: transposes tiles in
// registers, 16 bytes of samples on each side.
//
//   input, a tile's rows     k: ....abcd....      loaded in the order in which their pixels are adjacent
//                          k+1: ....efgh....      in the output: from below when turning by 90 degrees
//
//   registers   abcd efgh ijkl mnop  ->  aeim bfjn cgko dhlp  ->  rows of the output
//
// Output rows are computed in groups, one chunk of columns after the other, so that the cache lines of the
// chunk's input rows stay in the cache. Each chunk is computed one row of tiles after the other, because
// writing to many rows at once is slow.
#include <algorithm>
#include <cstring>

#include "kernels/rotate/rotate.h"
#include "kernels/shared/moved_planes.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rotate/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/shared/reversed_row-inl.h"

#ifndef IMGPIPE_ROTATE_PLANE
#define IMGPIPE_ROTATE_PLANE
namespace imgpipe {
namespace {

constexpr std::int64_t kGroupRows = 64;                      // of the output, processed together
constexpr std::int64_t kChunkBytes = std::int64_t{1} << 17;  // of the input
constexpr std::int64_t kOutAhead = 256;                      // bytes of an output row
constexpr std::int64_t kRowsAhead = 32;                      // of the input

// A plane of a call that turns by 90 or 270 degrees; row numbers refer to the whole image.
struct TurnedPlane {
  ConstHostView in;
  HostView out;
  const Band& band;
  bool clockwise;
  std::int64_t in_width, in_height;

  // Output pixel (x, y) is pixel (column(y), row(x)).
  [[nodiscard]] std::int64_t column(std::int64_t y) const { return clockwise ? y : in_width - 1 - y; }
  [[nodiscard]] std::int64_t row(std::int64_t x) const { return clockwise ? in_height - 1 - x : x; }
  [[nodiscard]] const std::byte* from(std::int64_t y) const { return in.row(y - band.in_top); }
  [[nodiscard]] std::byte* to(std::int64_t y) const { return out.row(y - band.out_top); }
};

template <int Bytes>
inline void turn_by_pixels(const TurnedPlane& plane) {
  for (std::int64_t y = plane.band.first; y < plane.band.end; ++y) {
    const std::int64_t column = plane.column(y);
    for (std::int64_t x = 0; x < plane.out.width; ++x)
      std::memcpy(plane.to(y) + x * Bytes, plane.from(plane.row(x)) + column * Bytes, Bytes);
  }
}

}  // namespace
}  // namespace imgpipe
#endif

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

template <class T>
using Tag16 = hn::FixedTag<T, 16 / sizeof(T)>;

// Swaps rows[i][j] and rows[j][i]; each round interleaves the rows of both halves.
template <class T, int Size = 16 / sizeof(T)>
HWY_INLINE void transpose(hn::Vec<Tag16<T>> (&rows)[Size]) {
  const Tag16<T> d;
  for (int done = 1; done < Size; done *= 2) {
    hn::Vec<Tag16<T>> next[Size];
    for (int i = 0; i < Size / 2; ++i) {
      next[2 * i] = hn::InterleaveLower(d, rows[i], rows[i + Size / 2]);
      next[2 * i + 1] = hn::InterleaveUpper(d, rows[i], rows[i + Size / 2]);
    }
    for (int i = 0; i < Size; ++i) rows[i] = next[i];
  }
}

// Computes the tile of the output whose upper left pixel is (x, y); pixels are one T each, at any alignment.
template <class T>
HWY_INLINE void turn_tile(const TurnedPlane& plane, std::int64_t x, std::int64_t y) {
  constexpr int kSize = 16 / sizeof(T);
  const Tag16<T> d;
  const Tag16<std::uint8_t> bytes;
  const std::int64_t left = std::min(plane.column(y), plane.column(y + kSize - 1));
  hn::Vec<Tag16<T>> rows[kSize];
  for (int k = 0; k < kSize; ++k) {
    const std::byte* const from = plane.from(plane.row(x + k)) + left * static_cast<int>(sizeof(T));
    rows[k] = hn::BitCast(d, hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(from)));
  }
  transpose<T>(rows);
  for (int j = 0; j < kSize; ++j) {
    std::byte* const to =
        plane.to(plane.clockwise ? y + j : y + kSize - 1 - j) + x * static_cast<int>(sizeof(T));
    hwy::Prefetch(to + kOutAhead);
    hn::StoreU(hn::BitCast(bytes, rows[j]), bytes, reinterpret_cast<std::uint8_t*>(to));
  }
}

// The same for pixels of three T each.
template <class T>
HWY_INLINE void turn_tile_of_three(const TurnedPlane& plane, std::int64_t x, std::int64_t y) {
  constexpr int kSize = 16 / sizeof(T);
  const Tag16<T> d;
  const std::int64_t left = std::min(plane.column(y), plane.column(y + kSize - 1));
  hn::Vec<Tag16<T>> r[kSize];
  hn::Vec<Tag16<T>> g[kSize];
  hn::Vec<Tag16<T>> b[kSize];
  for (int k = 0; k < kSize; ++k) {
    const auto* const from = reinterpret_cast<const T*>(plane.from(plane.row(x + k)));
    hn::LoadInterleaved3(d, from + 3 * left, r[k], g[k], b[k]);
  }
  transpose<T>(r);
  transpose<T>(g);
  transpose<T>(b);
  for (int j = 0; j < kSize; ++j) {
    std::byte* const to =
        plane.to(plane.clockwise ? y + j : y + kSize - 1 - j) + 3 * x * static_cast<int>(sizeof(T));
    hwy::Prefetch(to + kOutAhead);
    hn::StoreInterleaved3(r[j], g[j], b[j], d, reinterpret_cast<T*>(to));
  }
}

// Prefetches bytes left..left+count-1 of the input rows of columns first..end-1 of the output.
HWY_INLINE void prefetch_rows(const TurnedPlane& plane, std::int64_t first, std::int64_t end,
                              std::int64_t left, std::int64_t count) {
  for (std::int64_t x = first; x < end; ++x) {
    const std::byte* const from = plane.from(plane.row(x)) + left;
    for (std::int64_t at = 0; at < count; at += kLineBytes) hwy::Prefetch(from + at);
    hwy::Prefetch(from + count - 1);
  }
}

// Calls tile(x, y) for tiles of Size x Size pixels. The last tiles of a row and of the band overlap others.
template <int Size, int Bytes, class Tile>
HWY_INLINE void turn_by_tiles(const TurnedPlane& plane, const Tile& tile) {
  constexpr std::int64_t kColumns = kChunkBytes / (kGroupRows * Bytes) / Size * Size;
  const Band& band = plane.band;
  const std::int64_t width = plane.out.width;
  if (band.end - band.first < Size || width < Size) {
    turn_by_pixels<Bytes>(plane);
    return;
  }
  for (std::int64_t top = band.first; top < band.end; top += kGroupRows) {
    const std::int64_t end = std::min(band.end, top + kGroupRows);
    const std::int64_t left = std::min(plane.column(top), plane.column(end - 1)) * Bytes;
    const auto row_of_tiles = [&](std::int64_t first, std::int64_t last, std::int64_t row) HWY_ATTR {
      for (std::int64_t x = first; x < last; x += Size) {
        const std::int64_t ahead = x + kRowsAhead;
        if (row == 0) prefetch_rows(plane, ahead, std::min(width, ahead + Size), left, (end - top) * Bytes);
        tile(std::min(x, width - Size), std::min(top + row * Size, band.end - Size));
      }
    };
    for_chunks(width, kColumns, {0, (end - top + Size - 1) / Size}, row_of_tiles);
  }
}

template <class T>
void turn_plane(const TurnedPlane& plane) {
  turn_by_tiles<16 / sizeof(T), sizeof(T)>(
      plane, [&](std::int64_t x, std::int64_t y) HWY_ATTR { turn_tile<T>(plane, x, y); });
}

template <class T>
void turn_plane_of_three(const TurnedPlane& plane) {
  turn_by_tiles<16 / sizeof(T), 3 * sizeof(T)>(
      plane, [&](std::int64_t x, std::int64_t y) HWY_ATTR { turn_tile_of_three<T>(plane, x, y); });
}

// Turns a plane whose pixels have 16 bytes.
void turn_plane_of_vectors(const TurnedPlane& plane) {
  turn_by_tiles<1, 16>(plane, [&](std::int64_t x, std::int64_t y) {
    std::memcpy(plane.to(y) + x * 16, plane.from(plane.row(x)) + plane.column(y) * 16, 16);
  });
}

void turn(const TurnedPlane& plane) {
  const int bytes = pixel_bytes(plane.in);
  if (bytes == 1) turn_plane<std::uint8_t>(plane);
  if (bytes == 2) turn_plane<std::uint16_t>(plane);
  if (bytes == 3) turn_plane_of_three<std::uint8_t>(plane);
  if (bytes == 4) turn_plane<std::uint32_t>(plane);
  if (bytes == 6) turn_plane_of_three<std::uint16_t>(plane);
  if (bytes == 8) turn_plane<std::uint64_t>(plane);
  if (bytes == 12) turn_plane_of_three<std::uint32_t>(plane);
  if (bytes == 16) turn_plane_of_vectors(plane);
}

void rotate_rows(const StageCall<Host>& call, const Band& band) {
  const RotateAngle angle = RotateParameters(call.parameters).angle;
  const FrameType& type = call.in.type;
  for (int i = 0; i < moved_planes(type); ++i) {
    const std::size_t plane = plane_of_channel(type, i);
    const ConstHostView& in = call.in.planes[plane];
    const HostView& out = call.out.planes[plane];
    if (angle != RotateAngle::by_180) {
      turn({in, out, band, angle == RotateAngle::by_90, type.width, type.height});
      continue;
    }
    for (std::int64_t y = band.first; y < band.end; ++y)
      reverse_row(in.row(type.height - 1 - y - band.in_top), in.width, pixel_bytes(in), band.bypasses_caches,
                  out.row(y - band.out_top));
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
IMGPIPE_DISPATCH(rotate)
#endif
