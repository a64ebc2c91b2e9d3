// Computes prefix sums in 16-byte vectors of whole pixels: adds to every pixel the one before it, then the
// one two, four and eight before; then adds the last pixel of the previous vector to all.
//
//   a  b  c  d      a  a+b  b+c  c+d      a  a+b  a+b+c  a+b+c+d
#include "images/codecs/tiff/tiff_predictor.h"

#include <bit>
#include <cstring>
#include <vector>

#include "images/codecs/big_endian_rows.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "images/codecs/tiff/tiff_predictor.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
constexpr std::int64_t kVectorBytes = 16;

template <class T, bool Swapped>
HWY_INLINE T sample_at(const std::byte* in) {
  T value;
  std::memcpy(&value, in, sizeof value);
  if constexpr (Swapped) value = swapped_bytes(value);
  return value;
}

// Adds to each pixel of PixelBytes bytes all earlier pixels in the vector.
template <int PixelBytes, class T, class V>
HWY_INLINE V prefix_sums(V v) {
  const hn::FixedTag<T, kVectorBytes / sizeof(T)> d;
  const hn::Repartition<std::uint8_t, decltype(d)> bytes;
  constexpr int kVector = static_cast<int>(kVectorBytes);
  const auto add = [&](auto shifted) HWY_ATTR { v = hn::Add(v, hn::BitCast(d, shifted)); };
  add(hn::ShiftLeftBytes<PixelBytes>(bytes, hn::BitCast(bytes, v)));
  if constexpr (2 * PixelBytes < kVector)
    add(hn::ShiftLeftBytes<2 * PixelBytes>(bytes, hn::BitCast(bytes, v)));
  if constexpr (4 * PixelBytes < kVector)
    add(hn::ShiftLeftBytes<4 * PixelBytes>(bytes, hn::BitCast(bytes, v)));
  if constexpr (8 * PixelBytes < kVector)
    add(hn::ShiftLeftBytes<8 * PixelBytes>(bytes, hn::BitCast(bytes, v)));
  return v;
}

template <class T, int Samples, bool Swapped>
void undo_row(const std::byte* in, std::int64_t pixels, std::byte* out) {
  constexpr int kPixelBytes = Samples * static_cast<int>(sizeof(T));
  constexpr std::int64_t kStep = kVectorBytes / kPixelBytes * kPixelBytes;
  const std::int64_t size = pixels * kPixelBytes;
  const hn::FixedTag<T, kVectorBytes / sizeof(T)> d;
  const hn::Repartition<std::uint8_t, decltype(d)> bytes;
  HWY_ALIGN std::uint8_t last_pixel[kVectorBytes];
  HWY_ALIGN std::uint8_t turned[kVectorBytes];
  for (int i = 0; i < kVectorBytes; ++i) {
    last_pixel[i] = static_cast<std::uint8_t>(kStep - kPixelBytes + i % kPixelBytes);
    turned[i] = static_cast<std::uint8_t>(i ^ 1);
  }
  const auto from_last = hn::Load(bytes, last_pixel);
  const auto from_turned = hn::Load(bytes, turned);
  auto before = hn::Zero(d);  // the last pixel of the previous vector, in every position
  std::int64_t at = 0;
  for (; at + kVectorBytes <= size; at += kStep) {
    auto raw = hn::LoadU(bytes, reinterpret_cast<const std::uint8_t*>(in) + at);
    if constexpr (Swapped) raw = hn::TableLookupBytes(raw, from_turned);
    const auto sums = hn::Add(prefix_sums<kPixelBytes, T>(hn::BitCast(d, raw)), before);
    // The bytes after the last whole pixel are overwritten by the next store.
    hn::StoreU(hn::BitCast(bytes, sums), bytes, reinterpret_cast<std::uint8_t*>(out) + at);
    before = hn::BitCast(d, hn::TableLookupBytes(hn::BitCast(bytes, sums), from_last));
  }
  T sums[kVectorBytes / sizeof(T)];
  hn::StoreU(before, d, sums);
  for (; at < size; at += kPixelBytes) {
    for (int s = 0; s < Samples; ++s) {
      const std::int64_t position = at + s * static_cast<std::int64_t>(sizeof(T));
      sums[s] = static_cast<T>(sums[s] + sample_at<T, Swapped>(in + position));
      std::memcpy(out + position, &sums[s], sizeof(T));
    }
  }
}

// Undoes the differences for any number of samples per pixel.
template <class T, bool Swapped>
void undo_wide_row(const std::byte* in, std::int64_t pixels, int samples, std::byte* out) {
  std::vector<T> sums(static_cast<std::size_t>(samples));
  for (std::int64_t x = 0; x < pixels; ++x) {
    for (T& sum : sums) {
      sum = static_cast<T>(sum + sample_at<T, Swapped>(in));
      std::memcpy(out, &sum, sizeof(T));
      in += sizeof(T);
      out += sizeof(T);
    }
  }
}

template <class T, bool Swapped>
void undo(const std::byte* in, std::int64_t pixels, int samples, std::byte* out) {
  switch (samples) {
    case 1:
      return undo_row<T, 1, Swapped>(in, pixels, out);
    case 2:
      return undo_row<T, 2, Swapped>(in, pixels, out);
    case 3:
      return undo_row<T, 3, Swapped>(in, pixels, out);
    case 4:
      return undo_row<T, 4, Swapped>(in, pixels, out);
    default:
      return undo_wide_row<T, Swapped>(in, pixels, samples, out);
  }
}

void undo_8(const std::byte* in, std::int64_t pixels, int samples, std::byte* out) {
  undo<std::uint8_t, false>(in, pixels, samples, out);
}
void undo_16(const std::byte* in, std::int64_t pixels, int samples, bool swapped, std::byte* out) {
  if (swapped) return undo<std::uint16_t, true>(in, pixels, samples, out);
  undo<std::uint16_t, false>(in, pixels, samples, out);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpipe {

namespace {

// Moves byte `b` of each sample, the most significant first, to position `b` x row_samples, or back.
template <bool Split>
void move_bytes(const std::byte* in, std::int64_t samples, std::int64_t row_samples, int bytes,
                std::byte* out) {
  for (int b = 0; b < bytes; ++b) {
    const int position = std::endian::native == std::endian::little ? bytes - 1 - b : b;
    for (std::int64_t i = 0; i < samples; ++i) {
      const std::int64_t in_sample = i * bytes + position, in_plane = b * row_samples + i;
      out[Split ? in_plane : in_sample] = in[Split ? in_sample : in_plane];
    }
  }
}

}  // namespace

HWY_EXPORT(undo_8);
HWY_EXPORT(undo_16);

void undo_differences(const std::byte* in, std::int64_t pixels, int samples, std::byte* out) {
  HWY_DYNAMIC_DISPATCH(undo_8)(in, pixels, samples, out);
}

void undo_differences_16(const std::byte* in, std::int64_t pixels, int samples, bool swapped,
                         std::byte* out) {
  HWY_DYNAMIC_DISPATCH(undo_16)(in, pixels, samples, swapped, out);
}

void undo_differences_32(const std::byte* in, std::int64_t pixels, int samples, bool swapped,
                         std::byte* out) {
  std::vector<std::uint32_t> sums(static_cast<std::size_t>(samples));
  for (std::int64_t x = 0; x < pixels; ++x) {
    for (std::uint32_t& sum : sums) {
      std::uint32_t value = 0;
      std::memcpy(&value, in, sizeof value);
      sum += swapped ? __builtin_bswap32(value) : value;
      std::memcpy(out, &sum, sizeof sum);
      in += sizeof sum;
      out += sizeof sum;
    }
  }
}

void undo_float_prediction(const std::byte* in, std::int64_t pixels, int samples, int bytes,
                           std::byte* scratch, std::byte* out) {
  undo_differences(in, pixels * bytes, samples, scratch);
  move_bytes<false>(scratch, pixels * samples, pixels * samples, bytes, out);
}

void predict_floats(const std::byte* in, std::int64_t pixels, std::int64_t width, int samples,
                    std::byte* out) {
  constexpr int kBytes = sizeof(float);
  move_bytes<true>(in, pixels * samples, width * samples, kBytes, out);
  for (std::int64_t i = width * samples * kBytes - 1; i >= samples; --i)
    out[i] = static_cast<std::byte>(std::to_integer<unsigned>(out[i]) -
                                    std::to_integer<unsigned>(out[i - samples]));
}

}  // namespace imgpipe
#endif
