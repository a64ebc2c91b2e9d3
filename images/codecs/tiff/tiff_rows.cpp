#include "images/codecs/tiff/tiff_rows.h"

#include <bit>
#include <cstring>

#include "images/codecs/big_endian_rows.h"
#include "images/codecs/tiff/tiff_predictor.h"

namespace imgpipe {
namespace {

constexpr const char* kName = "TIFF";

// (a * b) / m, rounded, where m is the largest value.
template <class T>
T product(T a, T b) {
  constexpr std::uint32_t kMost = kLargest<T>;
  return static_cast<T>((std::uint32_t{a} * b + kMost / 2) / kMost);
}

// Returns the colour before premultiplication; 0 where alpha is 0. As in TGA.
template <class T>
T straight(T value, T alpha) {
  constexpr std::uint64_t kMost = kLargest<T>;
  if (alpha == 0) return 0;
  return static_cast<T>(std::min<std::uint64_t>((value * kMost + alpha / 2U) / alpha, kMost));
}

bool keeps_inks(const TiffPage& page, const DecodeOptions& options) {
  return options.inks && page.shown == TiffColor::cmyk && page.alpha == TiffAlpha::none;
}

}  // namespace

Shape tiff_shape(const TiffPage& page, const DecodeOptions& options) {
  const bool color = page.shown != TiffColor::white_is_zero && page.shown != TiffColor::black_is_zero;
  const bool fourth = page.alpha != TiffAlpha::none || keeps_inks(page, options);
  return {page.width, page.height, (color ? 3 : 1) + (fourth ? 1 : 0),
          page.type ? SampleConversion(kName, *page.type, page.big_endian, options).sample()
                    : decoded_sample(page.bits, options.max_bits)};
}

TiffRows::TiffRows(const TiffPage& page, const DecodeOptions& options)
    : page_(page), shape_(tiff_shape(page, options)), inks_(keeps_inks(page, options)) {
  constexpr bool kBigEndian = std::endian::native == std::endian::big;
  // Undoing a predictor makes samples in the host's byte order.
  if (page.type)
    conversion_.emplace(kName, *page.type, page.predicted ? kBigEndian : page.big_endian, options);
  bool in_order = page.shown == TiffColor::black_is_zero || page.shown == TiffColor::rgb ||
                  page.shown == TiffColor::ycbcr;
  for (std::size_t i = 0; i < page.source.size(); ++i) in_order = in_order && page.source[i] == i;
  plain_ = !page.type && in_order && page.samples == shape_.channels && !page.separate &&
           page.alpha != TiffAlpha::premultiplied && page.bits == 8 * bytes_per_sample(shape_.sample);
  gathers_all_ = page.type && in_order && page.samples == shape_.channels && !page.separate;
  swapped_ = (page.bits == 16 || page.bits == 32) && page.big_endian != kBigEndian;
  if (page.shown != TiffColor::palette) return;
  // Some writers fill the map with 8-bit values: then none is above 255.
  const std::size_t colors = std::size_t{1} << page.bits;
  bool is_wide = false;
  for (std::size_t i = 0; i < 3 * colors; ++i) is_wide = is_wide || page.color_map[i] > 255;
  palette_.resize(colors);
  for (std::size_t i = 0; i < 3 * colors; ++i) {
    const std::uint64_t value = page.color_map[i];
    palette_[i % colors][i / colors] = static_cast<std::uint8_t>(is_wide ? value >> 8 : value);
  }
}

// Undoes a chunk row's differences; the result is in the host's byte order. `scratch`: a row of a chunk, for
// the floating-point predictor.
void TiffRows::undo_prediction(const std::byte* row, std::int64_t pixels, std::byte* scratch,
                               std::byte* out) const {
  const int samples = page_.samples_in_chunk();
  if (page_.float_predicted) {
    undo_float_prediction(row, page_.cell_width, samples, page_.bits / 8, scratch, out);
  } else if (page_.bits == 32) {
    undo_differences_32(row, pixels, samples, swapped_, out);
  } else if (page_.bits == 16) {
    undo_differences_16(row, pixels, samples, swapped_, out);
  } else {
    undo_differences(row, pixels, samples, out);
  }
}

// Converts a row of TiffPage::type: gathers the selected samples of each pixel, then converts all.
void TiffRows::convert_typed(std::span<const std::byte* const> rows, std::int64_t pixels, std::byte* line,
                             std::byte* out) const {
  const auto bytes = static_cast<std::size_t>(page_.bits / 8);
  const auto samples = static_cast<std::size_t>(page_.samples_in_chunk());
  const auto channels = static_cast<std::size_t>(shape_.channels);
  std::byte* const unpredicted =
      line + static_cast<std::size_t>(page_.cell_width * row_samples(page_)) * bytes;
  std::byte* const scratch = unpredicted + static_cast<std::size_t>(page_.cell_width) * samples * bytes;
  for (std::size_t plane = 0; plane < rows.size(); ++plane) {
    const std::byte* row = rows[plane];
    if (page_.predicted) {
      undo_prediction(row, pixels, scratch, unpredicted);
      row = unpredicted;
    }
    if (gathers_all_) return conversion_->convert(row, pixels * shape_.channels, out);
    for (std::size_t c = 0; c < channels; ++c) {
      const std::size_t sample = page_.source.at(c);
      if (page_.separate && sample != plane) continue;
      const std::byte* from = row + (page_.separate ? 0 : sample * bytes);
      for (std::size_t x = 0; x < static_cast<std::size_t>(pixels); ++x, from += samples * bytes)
        std::memcpy(line + (x * channels + c) * bytes, from, bytes);
    }
  }
  conversion_->convert(line, pixels * shape_.channels, out);
}

// Unpacks `count` samples into every `step`-th position.
void TiffRows::unpack(const std::byte* row, std::int64_t count, int step, std::uint16_t* out) const {
  const int bits = page_.bits;
  if (bits == 8) {
    for (std::int64_t i = 0; i < count; ++i) out[i * step] = std::to_integer<std::uint16_t>(row[i]);
    return;
  }
  if (bits == 16) {
    const bool swap = swapped_ && !page_.predicted;
    for (std::int64_t i = 0; i < count; ++i) {
      std::uint16_t value = 0;
      std::memcpy(&value, row + 2 * i, 2);
      out[i * step] = swap ? swapped_bytes(value) : value;
    }
    return;
  }
  // The most significant bit comes first, independent of the byte order.
  const std::uint32_t mask = (1U << bits) - 1;
  std::uint32_t held = 0;
  int left = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    while (left < bits) {
      held = (held << 8) | std::to_integer<std::uint32_t>(*row++);
      left += 8;
    }
    left -= bits;
    out[i * step] = static_cast<std::uint16_t>((held >> left) & mask);
  }
}

template <class T>
T TiffRows::scaled(std::uint32_t value) const {
  constexpr std::uint32_t kMost = kLargest<T>;
  if (page_.bits == 8 * static_cast<int>(sizeof(T))) return static_cast<T>(value);
  if (page_.bits == 16) return static_cast<T>((value * 255 + 32895) >> 16);  // to 8 bits, rounded
  const std::uint32_t most = (1U << page_.bits) - 1;
  return static_cast<T>((value * kMost + most / 2) / most);
}

template <class T>
void TiffRows::convert_to(const std::uint16_t* line, std::int64_t pixels, T* out) const {
  constexpr auto kMost = static_cast<T>(kLargest<T>);
  const int channels = shape_.channels;
  const int colors = TiffPage::colors_of(page_.shown);
  const std::array<std::uint8_t, 5> source = page_.source;
  for (std::int64_t x = 0; x < pixels; ++x, line += page_.samples, out += channels) {
    switch (page_.shown) {
      case TiffColor::palette:
        for (int c = 0; c < 3; ++c) out[c] = palette_[line[0]][static_cast<std::size_t>(c)];
        break;
      case TiffColor::white_is_zero:
        out[0] = static_cast<T>(kMost - scaled<T>(line[source[0]]));
        break;
      case TiffColor::cmyk:
        if (inks_) {
          for (int c = 0; c < 4; ++c) out[c] = scaled<T>(line[c]);
          break;
        }
        for (int c = 0; c < 3; ++c) {
          out[c] =
              product(static_cast<T>(kMost - scaled<T>(line[c])), static_cast<T>(kMost - scaled<T>(line[3])));
        }
        break;
      default:
        for (int c = 0; c < colors; ++c) out[c] = scaled<T>(line[source[static_cast<std::size_t>(c)]]);
    }
    if (page_.alpha == TiffAlpha::none) continue;
    const T alpha = scaled<T>(line[source[static_cast<std::size_t>(colors)]]);
    out[channels - 1] = alpha;
    if (page_.alpha != TiffAlpha::premultiplied) continue;
    for (int c = 0; c < channels - 1; ++c) out[c] = straight(out[c], alpha);
  }
}

void TiffRows::convert(std::span<const std::byte* const> rows, std::int64_t pixels, std::uint16_t* line,
                       std::byte* out) const {
  if (conversion_) return convert_typed(rows, pixels, reinterpret_cast<std::byte*>(line), out);
  if (plain_) {
    const std::int64_t samples = pixels * shape_.channels;
    if (page_.predicted) {
      undo_prediction(rows[0], pixels, nullptr, out);
    } else if (swapped_) {
      copy_swapped(rows[0], static_cast<std::size_t>(samples), out);
    } else {
      std::memcpy(out, rows[0], static_cast<std::size_t>(samples * bytes_per_sample(shape_.sample)));
    }
    return;
  }
  const auto planes = static_cast<int>(rows.size());
  const int samples = page_.samples_in_chunk();
  auto* const sums = reinterpret_cast<std::byte*>(line + page_.cell_width * page_.samples);
  for (int plane = 0; plane < planes; ++plane) {
    const std::byte* row = rows[static_cast<std::size_t>(plane)];
    if (page_.predicted) {
      undo_prediction(row, pixels, nullptr, sums);
      row = sums;
    }
    unpack(row, pixels * samples, planes, line + plane);
  }
  visit_sample(shape_.sample, [&]<class T>(T) { convert_to(line, pixels, reinterpret_cast<T*>(out)); });
}

}  // namespace imgpipe
