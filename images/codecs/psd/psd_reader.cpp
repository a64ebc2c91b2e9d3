// Reads the composite image of Photoshop files, PSD and PSB (Adobe Photoshop File Formats Specification,
// 2019). stb_image 2.27 truncates 16 bits, mistakes any fourth channel for transparency, and overflows when
// removing white from half-transparent pixels.
//
// The composite has transparency only if the file declares it (see has_transparency()); other extra channels
// are saved selections and spot colours, and are skipped. Photoshop blends transparent colours with white:
// stored = colour * alpha + white * (1 - alpha). The specification does not mention this; stb_image and
// ImageMagick (CorrectPSDAlphaBlend) undo it too. Some programs, including ImageMagick, write unblended
// colours without marking the file. A blended colour is never darker than its share of white, so a file with
// a darker one is treated as unblended. See unblended().
#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "images/codecs/codec_parts.h"
#include "images/codecs/icc.h"
#include "images/codecs/psd/psd_codec.h"
#include "images/codecs/psd/psd_header.h"
#include "images/codecs/sniff.h"
#include "images/error.h"

namespace imgpipe {
namespace {

// PackBits (TIFF 6.0, section 9): n < 128 copies the next n + 1 bytes, n > 128 repeats the next byte 257 - n
// times, 128 does nothing. Returns the bytes unpacked; `sound` if they fill the row exactly.
std::size_t unpack(Bytes packed, std::span<std::byte> row, bool& sound) {
  std::size_t given = 0;
  sound = true;
  for (std::size_t at = 0; at < packed.size();) {
    const auto n = std::to_integer<std::size_t>(packed[at++]);
    if (n == 128) continue;
    if (given == row.size()) sound = false;
    if (!sound) break;
    const std::size_t run = n < 128 ? n + 1 : 257 - n;
    const std::size_t stored = n < 128 ? run : 1;
    const std::size_t have = std::min({run, row.size() - given, n < 128 ? packed.size() - at : run});
    sound = sound && have == run;
    if (at == packed.size()) break;
    for (std::size_t i = 0; i < have; ++i) row[given + i] = packed[at + (n < 128 ? i : 0)];
    given += have;
    at += std::min(stored, packed.size() - at);
  }
  sound = sound && given == row.size();
  return given;
}

// Removes the white from a blended colour, for samples of type T with the maximum M. `m` is the largest
// stored value, so white * (1 - alpha) is m - alpha and the colour is (value - (m - alpha)) * M / alpha,
// rounded half up, at least 0. If alpha is 0 or m, the colour is (value * M + m / 2) / m.
template <class T>
T unblended(std::uint32_t value, std::uint32_t alpha, std::uint32_t m) {
  using Wide = std::conditional_t<kIsWide<T>, std::uint64_t, std::uint32_t>;
  constexpr Wide kMost = kLargest<T>;
  if (alpha == 0) alpha = std::max(m, 1U);
  if (value + alpha <= m) return 0;
  return static_cast<T>((2 * kMost * (value + alpha - m) + alpha) / (2 * Wide{alpha}));
}

class PsdReader final : public Reader {
 public:
  PsdReader(Bytes file, const DecodeOptions& options)
      : file_(file), lenient_(options.lenient()), psd_(read_psd(file)) {
    constexpr const char* kNoComposite = "the composite image is a placeholder";
    if (!psd_.has_composite && !lenient_)
      throw Error(ErrorKind::input, std::string("psd: ") + kNoComposite + "; use --lenient to read it");
    if (!psd_.has_composite) warnings_.emplace_back(kNoComposite);
    constexpr std::int64_t kBestRatio = 64;  // PackBits: two bytes yield up to 128
    const bool color =
        psd_.mode == PsdMode::rgb || psd_.mode == PsdMode::cmyk || psd_.mode == PsdMode::indexed;
    const bool alpha = psd_.transparency || (psd_.mode == PsdMode::indexed && psd_.transparent_index >= 0);
    header_.format = Format::psd;
    header_.bits_per_sample = static_cast<int>(psd_.depth);
    header_.shape = {psd_.width, psd_.height, (color ? 3 : 1) + (alpha ? 1 : 0),
                     decoded_sample(header_.bits_per_sample, options.max_bits)};
    header_.inks = options.inks && psd_.mode == PsdMode::cmyk && !alpha;
    if (header_.inks) header_.shape.channels = 4;
    if (!psd_.profile.empty()) header_.profile = profile_name(psd_.profile);
    check_header(header_.shape, options);
    check_plausible(psd_.row_bytes * psd_.height * psd_.colors(), file.size(), kBestRatio);
    planes_.resize(static_cast<std::size_t>(psd_.colors() + (psd_.transparency ? 1 : 0)));
    find_planes();
  }

  // One row of every channel, plus a stored row.
  [[nodiscard]] std::int64_t working_bytes(bool) const override {
    return static_cast<std::int64_t>(planes_.size() * sizeof(std::uint16_t)) * psd_.width + psd_.row_bytes;
  }

 protected:
  void read_next_rows(HostView rows) override {
    if (next_row_ == 0) make_rows();
    for (std::int64_t y = 0; y < rows.height; ++y, ++next_row_) {
      for (ChannelPlane& plane : planes_) read_row(plane);
      visit_sample(rows.sample, [&]<class T>(T) { give_row(rows.as<T>().row(y), rows.channels); });
    }
  }

  void finish() override {
    for (ChannelPlane& plane : planes_) plane.values = std::vector<std::uint16_t>();
    unpacked_ = std::vector<std::byte>();
    if (missing_ > 0)
      warnings_.push_back("damaged psd: " + std::to_string(missing_) + " samples are missing");
  }

 private:
  // One channel; the file stores all rows of a channel together.
  struct ChannelPlane {
    std::size_t at = 0;                 // offset of its next row in the file
    std::size_t counts = 0;             // if packed: offset of the length of its next row
    std::vector<std::uint16_t> values;  // of the current row
    std::size_t valid = 0;              // the number of values read
  };

  void find_planes() {
    const auto height = static_cast<std::size_t>(psd_.height);
    const std::size_t count_bytes = psd_.big ? 4 : 2;
    const std::size_t all_rows = height * static_cast<std::size_t>(psd_.channels);
    std::size_t at = psd_.data + (psd_.packed ? all_rows * count_bytes : 0);
    psd_require(lenient_ || at <= file_.size(), "the file is truncated");
    for (std::size_t i = 0, row = 0; i < static_cast<std::size_t>(psd_.channels); ++i) {
      if (i < planes_.size()) {
        planes_[i].at = at;
        planes_[i].counts = psd_.data + row * count_bytes;
      }
      if (!psd_.packed) at += height * static_cast<std::size_t>(psd_.row_bytes);
      for (const std::size_t end = row + height; row < end; ++row) {
        if (psd_.packed) at += big_endian(file_, psd_.data + row * count_bytes, count_bytes);
      }
    }
    psd_require(lenient_ || at <= file_.size(), "the file is truncated");
    warn_of_following_bytes(file_, at, warnings_);
  }

  void make_rows() {
    for (ChannelPlane& plane : planes_) plane.values.resize(static_cast<std::size_t>(psd_.width));
    unpacked_.resize(static_cast<std::size_t>(psd_.row_bytes));
    if (psd_.transparency) find_blending();
  }

  // Scans all samples until a colour proves that the file is not blended.
  void find_blending() {
    std::vector<std::pair<std::size_t, std::size_t>> first_rows;
    for (const ChannelPlane& plane : planes_) first_rows.emplace_back(plane.at, plane.counts);
    for (std::int64_t y = 0; y < psd_.height && blended_; ++y) {
      for (ChannelPlane& plane : planes_) read_row(plane);
      blended_ = row_may_be_blended();
    }
    for (std::size_t i = 0; i < planes_.size(); ++i)
      std::tie(planes_[i].at, planes_[i].counts) = first_rows[i];
    missing_ = 0;
  }

  [[nodiscard]] bool row_may_be_blended() const {
    const std::uint32_t most = largest_value();
    const std::uint32_t rounding = 2 * (most / 255);  // rounding error of the blending program
    const ChannelPlane& alpha = planes_.back();
    for (const ChannelPlane& plane : std::span(planes_).first(planes_.size() - 1)) {
      for (std::size_t x = 0; x < std::min(plane.valid, alpha.valid); ++x) {
        const std::uint32_t a = alpha.values[x];
        if (a > 0 && plane.values[x] + a + rounding < most) return false;
      }
    }
    return true;
  }

  [[nodiscard]] std::uint32_t largest_value() const { return (1U << psd_.depth) - 1; }

  [[nodiscard]] Bytes part(std::size_t at, std::size_t count) const {
    if (at >= file_.size()) return {};
    return file_.subspan(at, std::min(count, file_.size() - at));
  }

  void read_row(ChannelPlane& plane) {
    Bytes row;
    if (psd_.packed) {
      const std::size_t count_bytes = psd_.big ? 4 : 2;
      const std::size_t count = big_endian(file_, plane.counts, count_bytes);
      bool sound = false;
      row = std::span(unpacked_).first(unpack(part(plane.at, count), unpacked_, sound));
      psd_require(lenient_ || sound, "a packed row has the wrong number of pixels");
      plane.counts += count_bytes;
      plane.at += count;
    } else {
      row = part(plane.at, unpacked_.size());
      plane.at += unpacked_.size();
    }
    const auto* in = reinterpret_cast<const unsigned char*>(row.data());
    plane.valid = std::min(plane.values.size(), row.size() * 8 / psd_.depth);
    missing_ += plane.values.size() - plane.valid;
    for (std::size_t x = 0; x < plane.valid; ++x) {
      const std::uint32_t value = psd_.depth == 8    ? in[x]
                                  : psd_.depth == 16 ? (std::uint32_t{in[2 * x]} << 8) | in[2 * x + 1]
                                                     : (in[x >> 3] >> (7 - (x & 7))) & 1U;
      plane.values[x] = static_cast<std::uint16_t>(value);
    }
  }

  template <class T>
  void give_row(T* out, int channels) const {
    constexpr T kMissing = missing_sample(sample_type_of<T>);
    const std::uint32_t most = largest_value();
    const auto colors = static_cast<std::size_t>(psd_.colors());
    for (std::size_t x = 0; x < planes_[0].values.size(); ++x, out += channels) {
      std::array<T, 4> pixel{};
      const bool has_alpha = psd_.transparency && x < planes_[colors].valid;
      const std::uint32_t alpha = has_alpha ? planes_[colors].values[x] : most;
      for (std::size_t c = 0; c < colors; ++c) {
        pixel[c] = x < planes_[c].valid ? unblended<T>(planes_[c].values[x], blended_ ? alpha : most, most)
                                        : kMissing;
      }
      const auto valid = [x](const ChannelPlane& plane) { return x < plane.valid; };
      to_output(pixel, out, std::ranges::all_of(planes_.begin(), planes_.begin() + psd_.colors(), valid));
      if (psd_.transparency) out[channels - 1] = unblended<T>(alpha, most, most);
    }
  }

  // Converts the file's colours to grey or RGB. `valid`: all colours were read.
  template <class T>
  void to_output(const std::array<T, 4>& pixel, T* out, bool valid) const {
    constexpr std::uint32_t kMost = kLargest<T>;
    constexpr T kMissing = missing_sample(sample_type_of<T>);
    const auto palette = [&](std::size_t c) {
      return static_cast<T>(big_endian(psd_.palette, 256 * c + pixel[0], 1));  // palettes are 8-bit
    };
    if (header_.inks) {
      for (std::size_t c = 0; c < 4; ++c) out[c] = valid ? static_cast<T>(kMost - pixel[c]) : kMissing;
      return;
    }
    for (std::size_t c = 0; c < 3; ++c) {
      if (psd_.mode == PsdMode::rgb) out[c] = pixel[c];
      if (psd_.mode == PsdMode::indexed) out[c] = valid ? palette(c) : kMissing;
      // Stored as in Adobe's JPEGs: 0 is full ink.
      if (psd_.mode == PsdMode::cmyk)
        out[c] = valid ? static_cast<T>((std::uint32_t{pixel[c]} * pixel[3] + kMost / 2) / kMost) : kMissing;
    }
    if (psd_.mode == PsdMode::grey || psd_.mode == PsdMode::duotone) out[0] = pixel[0];
    if (psd_.mode == PsdMode::bitmap) out[0] = valid ? static_cast<T>(~pixel[0]) : kMissing;  // 1 is black
    if (psd_.mode == PsdMode::indexed && psd_.transparent_index >= 0) {
      out[3] = valid && pixel[0] == psd_.transparent_index ? T{0} : static_cast<T>(kMost);
    }
  }

  Bytes file_;
  bool lenient_;
  Psd psd_;
  std::vector<ChannelPlane> planes_;  // the colours, then transparency
  std::vector<std::byte> unpacked_;
  bool blended_ = true;  // with white, unless proven otherwise
  std::int64_t next_row_ = 0;
  std::size_t missing_ = 0;
};

}  // namespace

std::unique_ptr<Reader> open_psd(Bytes bytes, const DecodeOptions& options) {
  return std::make_unique<PsdReader>(bytes, options);
}

}  // namespace imgpipe
