// The composite picture of Photoshop files, PSD and PSB (Adobe Photoshop File Formats Specification, 2019).
// Our own because stb_image 2.27 truncates 16 bits, takes every fourth channel for transparency, and
// overflows where it takes the white out of half-transparent pixels.
//
// The composite has transparency only where the file says so (see has_transparency()); other channels beyond
// the colours are saved selections and spot colours, and are passed over. Where there is transparency
// Photoshop has blended the colours with white: stored = colour * alpha + white * (1 - alpha). The
// specification is silent on this; stb_image and ImageMagick (CorrectPSDAlphaBlend) undo it too. Other
// programs, ImageMagick among them, write the colours as they are, and nothing in the file tells; but a
// blended colour is never darker than the white that shines through. A file where one is was not blended. See
// unblended().
#include <algorithm>
#include <array>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "images/codecs/codec_parts.h"
#include "images/codecs/psd/psd_codec.h"
#include "images/codecs/sniff.h"
#include "images/error.h"

namespace imgpipe {
namespace {

using namespace std::string_view_literals;

[[noreturn]] void fail(const std::string& reason) {
  throw Error(ErrorKind::input, "psd: " + reason);
}

void require(bool condition, const char* reason) {
  if (!condition) fail(reason);
}

enum class Mode : std::uint32_t { bitmap = 0, grey = 1, indexed = 2, rgb = 3, cmyk = 4, duotone = 8 };

// "File header section", and where the pixels are.
struct Psd {
  bool big = false;  // PSB: sides up to 300,000 and wider length fields
  std::int64_t channels = 0;
  std::int64_t width = 0;
  std::int64_t height = 0;
  std::uint32_t depth = 8;
  Mode mode = Mode::rgb;
  bool transparency = false;
  Bytes palette;               // indexed: 256 reds, then greens, then blues
  int transparent_index = -1;  // indexed: of the palette, or none
  std::size_t data = 0;        // behind the compression field
  bool packed = false;
  std::int64_t row_bytes = 0;  // of a channel, unpacked

  // Grey for duotone: its inks are not documented, and the specification has it read as grey.
  [[nodiscard]] std::int64_t colors() const { return mode == Mode::rgb ? 3 : mode == Mode::cmyk ? 4 : 1; }
};

Mode read_mode(std::uint32_t mode) {
  switch (mode) {
    case 0:
    case 1:
    case 2:
    case 3:
    case 4:
    case 8:
      return static_cast<Mode>(mode);
    case 7:
      fail("multichannel mode is not supported");
    case 9:
      fail("Lab colour is not supported");
    default:
      fail("unknown colour mode");
  }
}

Psd read_header(Bytes file) {
  require(file.size() >= 26, "the header is truncated");
  const std::uint32_t version = big_endian(file, 4, 2);
  require(version == 1 || version == 2, "unknown version");
  Psd psd;
  psd.big = version == 2;
  psd.channels = big_endian(file, 12, 2);
  psd.height = big_endian(file, 14, 4);
  psd.width = big_endian(file, 18, 4);
  psd.depth = big_endian(file, 22, 2);
  psd.mode = read_mode(big_endian(file, 24, 2));
  const std::int64_t most = psd.big ? 300'000 : 30'000;
  require(psd.width <= most && psd.height <= most, "larger than its version can be");
  require(psd.channels >= psd.colors() && psd.channels <= 56, "the number of channels does not fit the mode");
  if (psd.mode == Mode::bitmap) {
    require(psd.depth == 1, "a bitmap of more than one bit");
  } else {
    require(psd.depth != 32, "32 bits a sample are not supported");
    require(psd.depth == 8 || (psd.depth == 16 && psd.mode != Mode::indexed),
            "this number of bits is not supported");
  }
  psd.row_bytes = (psd.width * psd.depth + 7) / 8;
  return psd;
}

// A section or block of the file, its length in front; `at` moves behind it.
Bytes take_section(Bytes file, std::size_t& at, std::size_t length_bytes) {
  require(at + length_bytes <= file.size(), "the file is truncated");
  const std::uint64_t length = length_bytes == 8 ? big_endian_64(file, at) : big_endian(file, at, 4);
  at += length_bytes;
  require(length <= file.size() - at, "the file is truncated");
  const Bytes section = file.subspan(at, length);
  at += length;
  return section;
}

// "Image resources section". Damage in it costs no pixel: what cannot be read is passed over.
void read_resources(Bytes section, Psd& psd) {
  constexpr std::uint32_t kTransparentIndex = 1047;
  constexpr std::uint32_t kVersionInfo = 1057;
  std::size_t at = 0;
  while (at + 12 <= section.size() && stands_at(section, at, "8BIM"sv)) {
    const std::uint32_t id = big_endian(section, at + 4, 2);
    at += 6 + (big_endian(section, at + 6, 1) + 2) / 2 * 2;  // the name is padded to an even length
    const std::size_t length = big_endian(section, at, 4);
    at += 4;
    if (length > section.size() || at > section.size() - length) return;
    if (id == kTransparentIndex && length >= 2) {
      psd.transparent_index = static_cast<int>(big_endian(section, at, 2));
    }
    // "hasRealMergedData": without it the composite is white, for want of a better.
    if (id == kVersionInfo && length >= 5) {
      require(big_endian(section, at + 4, 1) != 0, "the file holds layers but no composite picture");
    }
    at += (length + 1) / 2 * 2;
  }
}

// "Layer and mask information section": a negative number of layers says that the first channel beyond the
// colours is the composite's transparency. Files of 16 bits keep their layers in a block Lr16 at the end, or
// say the same by a block Mt16 (Mtrn).
bool has_transparency(Bytes section, bool big) {
  const std::size_t field = big ? 8 : 4;
  const auto negative_at = [&](std::size_t at) { return (big_endian(section, at, 2) & 0x8000) != 0; };
  // Lengths are those of damaged files too: each step goes on from within the section or ends the walk.
  if (section.size() < field) return false;
  if (big_endian(section, field - 4, 4) != 0) return negative_at(field);
  std::size_t at = field + 4 + big_endian(section, field, 4);  // behind the global layer mask
  while (at + 12 <= section.size()) {
    if (!stands_at(section, at, "8BIM"sv) && !stands_at(section, at, "8B64"sv)) return false;
    const auto is = [&, key = at + 4](std::string_view name) { return stands_at(section, key, name); };
    if (is("Mtrn"sv) || is("Mt16"sv)) return true;
    if (is("Lr16"sv)) return negative_at(at + 8 + field);
    const bool wide = big && (is("LMsk"sv) || is("Layr"sv) || is("Alph"sv) || is("FMsk"sv) || is("lnk2"sv) ||
                              is("FEid"sv) || is("FXid"sv) || is("PxSD"sv));
    // Photoshop pads the data of these blocks to four bytes.
    at += (wide ? 16 : 12) + (big_endian(section, at + (wide ? 12 : 8), 4) + std::size_t{3}) / 4 * 4;
  }
  return false;
}

Psd read_psd(Bytes file) {
  Psd psd = read_header(file);
  std::size_t at = 26;
  psd.palette = take_section(file, at, 4);
  require(psd.mode != Mode::indexed || psd.palette.size() == 768, "the palette does not hold 256 colours");
  read_resources(take_section(file, at, 4), psd);
  const Bytes layers = take_section(file, at, psd.big ? 8 : 4);
  psd.transparency =
      psd.channels > psd.colors() && psd.mode != Mode::indexed && has_transparency(layers, psd.big);
  require(at + 2 <= file.size(), "the file is truncated");
  const std::uint32_t compression = big_endian(file, at, 2);
  require(compression <= 1, compression <= 3 ? "ZIP compression is not supported" : "unknown compression");
  psd.packed = compression == 1;
  psd.data = at + 2;
  return psd;
}

// PackBits (TIFF 6.0, section 9): n < 128 is followed by n + 1 bytes to copy, n > 128 by one that stands 257
// - n times, 128 by nothing. Returns how many bytes of the row there are; `sound` when the row is full, no
// run goes beyond it and nothing but 128 follows.
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

// The colour that was blended with white, as samples of type T with the maximum M: with m the largest value,
// white * (1 - alpha) is m - alpha, so the colour is (value - (m - alpha)) * M / alpha, rounded half up, and
// not below 0. Of a colour without any alpha nothing is known: it stays. Where alpha is m this is (value * M
// + m / 2) / m.
template <class T>
T unblended(std::uint32_t value, std::uint32_t alpha, std::uint32_t m) {
  using Wide = std::conditional_t<sizeof(T) == 1, std::uint32_t, std::uint64_t>;
  constexpr Wide kMost = max_sample(sample_type_of<T>);
  if (alpha == 0) alpha = std::max(m, 1U);
  if (value + alpha <= m) return 0;
  return static_cast<T>((2 * kMost * (value + alpha - m) + alpha) / (2 * Wide{alpha}));
}

class PsdReader final : public Reader {
 public:
  PsdReader(Bytes file, const DecodeOptions& options)
      : file_(file), lenient_(options.lenient), psd_(read_psd(file)) {
    constexpr std::int64_t kBestRatio = 64;  // PackBits: two bytes give up to 128
    const bool color = psd_.mode == Mode::rgb || psd_.mode == Mode::cmyk || psd_.mode == Mode::indexed;
    const bool alpha = psd_.transparency || (psd_.mode == Mode::indexed && psd_.transparent_index >= 0);
    header_.format = Format::psd;
    header_.bits_per_sample = static_cast<int>(psd_.depth);
    header_.shape = {psd_.width, psd_.height, (color ? 3 : 1) + (alpha ? 1 : 0),
                     psd_.depth > 8 && options.most_bits > 8 ? SampleType::u16 : SampleType::u8};
    check_header(header_.shape, options);
    check_plausible(psd_.row_bytes * psd_.height * psd_.colors(), file.size(), kBestRatio);
    planes_.resize(static_cast<std::size_t>(psd_.colors() + (psd_.transparency ? 1 : 0)));
    find_planes();
  }

  // A row of every channel, and one as it is stored.
  [[nodiscard]] std::int64_t working_bytes(bool) const override {
    return static_cast<std::int64_t>(planes_.size() * sizeof(std::uint16_t)) * psd_.width + psd_.row_bytes;
  }

 protected:
  void read_next_rows(HostView rows) override {
    if (next_row_ == 0) make_rows();
    for (std::int64_t y = 0; y < rows.height; ++y, ++next_row_) {
      for (ChannelPlane& plane : planes_) read_row(plane);
      if (rows.sample == SampleType::u16) {
        give_row(rows.as<std::uint16_t>().row(y), rows.channels);
      } else {
        give_row(rows.as<Sample>().row(y), rows.channels);
      }
    }
  }

  void finish() override {
    for (ChannelPlane& plane : planes_) plane.values = std::vector<std::uint16_t>();
    unpacked_ = std::vector<std::byte>();
    if (missing_ > 0)
      warnings_.push_back("damaged psd: " + std::to_string(missing_) + " samples are missing");
  }

 private:
  // One channel: they follow one another in the file, each with all of its rows.
  struct ChannelPlane {
    std::size_t at = 0;                 // of its next row in the file
    std::size_t counts = 0;             // packed: of the length of its next row
    std::vector<std::uint16_t> values;  // of the current row
    std::size_t valid = 0;              // how many of them there are
  };

  void find_planes() {
    const auto height = static_cast<std::size_t>(psd_.height);
    const std::size_t count_bytes = psd_.big ? 4 : 2;
    const std::size_t all_rows = height * static_cast<std::size_t>(psd_.channels);
    std::size_t at = psd_.data + (psd_.packed ? all_rows * count_bytes : 0);
    require(lenient_ || at <= file_.size(), "the file is truncated");
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
    require(lenient_ || at <= file_.size(), "the file is truncated");
  }

  void make_rows() {
    for (ChannelPlane& plane : planes_) plane.values.resize(static_cast<std::size_t>(psd_.width));
    unpacked_.resize(static_cast<std::size_t>(psd_.row_bytes));
    if (psd_.transparency) find_blending();
  }

  // Reads all samples ahead, up to the first colour that proves that the file was not blended.
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
    const std::uint32_t rounding = 2 * (most / 255);  // the blender's own
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
      require(lenient_ || sound, "a packed row does not hold its pixels");
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

  // From the file's colours to grey or RGB; `valid`: all of them are there.
  template <class T>
  void to_output(const std::array<T, 4>& pixel, T* out, bool valid) const {
    constexpr std::uint32_t kMost = max_sample(sample_type_of<T>);
    constexpr T kMissing = missing_sample(sample_type_of<T>);
    const auto palette = [&](std::size_t c) {
      return static_cast<T>(big_endian(psd_.palette, 256 * c + pixel[0], 1));  // of 8 bits
    };
    for (std::size_t c = 0; c < 3; ++c) {
      if (psd_.mode == Mode::rgb) out[c] = pixel[c];
      if (psd_.mode == Mode::indexed) out[c] = valid ? palette(c) : kMissing;
      // Stored as Adobe's JPEGs are, 0 for full ink.
      if (psd_.mode == Mode::cmyk)
        out[c] = valid ? static_cast<T>((std::uint32_t{pixel[c]} * pixel[3] + kMost / 2) / kMost) : kMissing;
    }
    if (psd_.mode == Mode::grey || psd_.mode == Mode::duotone) out[0] = pixel[0];
    if (psd_.mode == Mode::bitmap) out[0] = valid ? static_cast<T>(~pixel[0]) : kMissing;  // 1 is black
    if (psd_.mode == Mode::indexed && psd_.transparent_index >= 0) {
      out[3] = valid && pixel[0] == psd_.transparent_index ? T{0} : static_cast<T>(kMost);
    }
  }

  Bytes file_;
  bool lenient_;
  Psd psd_;
  std::vector<ChannelPlane> planes_;  // the colours, then transparency
  std::vector<std::byte> unpacked_;
  bool blended_ = true;  // with white, as far as can be told
  std::int64_t next_row_ = 0;
  std::size_t missing_ = 0;
};

}  // namespace

std::unique_ptr<Reader> open_psd(Bytes bytes, const DecodeOptions& options) {
  return std::make_unique<PsdReader>(bytes, options);
}

}  // namespace imgpipe
