#include "images/synth.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <numeric>
#include <vector>

#include "images/error.h"
#include "images/names.h"
#include "images/split_mix.h"
#include "images/text.h"

namespace imgpipe {
namespace {

constexpr std::array kPatterns{
    PatternInfo{"noise", "", "uniform random samples", 0, 0, 0},
    PatternInfo{"colors", "N", "N values, equally likely (1..256)", 1, 256, 65536},
    PatternInfo{"threshold", "T", "noise, values below T set to 0 (0..256)", 0, 256, 65536},
    PatternInfo{"constant", "V", "every sample V (0..255)", 0, 255, 65535},
    PatternInfo{"ramp", "", "rises from left to right", 0, 0, 0},
    PatternInfo{"checker", "", "8x8 squares of 0 and 255", 0, 0, 0},
    PatternInfo{"photo", "", "fractal, photo-like, all channels different", 0, 0, 0},
    PatternInfo{"collision-free", "", "no value repeats within 32 consecutive pixels", 0, 0, 0},
};

// Value noise: random 16-bit heights on a lattice of `cell` pixels, interpolated smoothly, one row at a time.
// The fade 3t^2 - 2t^3 is a 16-bit fixed-point value.
class NoiseRow {
 public:
  NoiseRow(std::int64_t width, std::int64_t cell, std::uint64_t seed)
      : cell_(cell),
        seed_(seed),
        nodes_(static_cast<std::size_t>(width / cell + 2)),
        fades_(static_cast<std::size_t>(cell)) {
    for (std::int64_t i = 0; i < cell; ++i) {
      const std::int64_t t = (i << 16) / cell;
      fades_[static_cast<std::size_t>(i)] = (((t * t) >> 16) * ((3 << 16) - 2 * t)) >> 16;
    }
  }

  // Adds weight * noise (0..65535) of row y to `sum`.
  void add(std::int64_t y, std::int64_t weight, std::vector<std::int64_t>& sum) {
    const std::int64_t fade_y = fades_[static_cast<std::size_t>(y % cell_)];
    for (std::size_t n = 0; n < nodes_.size(); ++n) {
      const std::int64_t top = height(y / cell_, static_cast<std::int64_t>(n));
      const std::int64_t bottom = height(y / cell_ + 1, static_cast<std::int64_t>(n));
      nodes_[n] = top + (((bottom - top) * fade_y) >> 16);
    }
    for (std::size_t x = 0, node = 0, inside = 0; x < sum.size(); ++x) {
      const std::int64_t left = nodes_[node];
      sum[x] += weight * (left + (((nodes_[node + 1] - left) * fades_[inside]) >> 16));
      if (++inside == fades_.size()) {
        inside = 0;
        ++node;
      }
    }
  }

 private:
  [[nodiscard]] std::int64_t height(std::int64_t row, std::int64_t column) const {
    const auto position = (static_cast<std::uint64_t>(row) << 32) ^ static_cast<std::uint64_t>(column);
    return static_cast<std::int64_t>(mix(mix(position) ^ seed_) & 0xFFFF);
  }

  std::int64_t cell_;
  std::uint64_t seed_;
  std::vector<std::int64_t> nodes_;
  std::vector<std::int64_t> fades_;
};

// A sum of octaves, each half as coarse and half as strong as the previous one.
class Fractal {
 public:
  Fractal(std::int64_t width, std::int64_t cell, int octaves, std::uint64_t seed)
      : sum_(static_cast<std::size_t>(width)) {
    for (int i = 0; i < octaves && cell >= 2; ++i, cell /= 2) {
      rows_.emplace_back(width, cell, mix(seed + static_cast<std::uint64_t>(i)));
    }
  }

  // Returns the row's heights, 0..65535.
  const std::vector<std::int64_t>& row(std::int64_t y) {
    std::ranges::fill(sum_, 0);
    std::int64_t total = 0;
    for (std::size_t i = 0; i < rows_.size(); ++i) {
      const std::int64_t weight = std::int64_t{1} << (rows_.size() - 1 - i);
      rows_[i].add(y, weight, sum_);
      total += weight;
    }
    for (std::int64_t& value : sum_) value /= total;
    return sum_;
  }

 private:
  std::vector<NoiseRow> rows_;
  std::vector<std::int64_t> sum_;
};

struct Ridge {
  std::vector<std::int64_t> skyline;  // per column: the first row of the ridge
  std::array<std::int64_t, 3> color;
};

std::vector<Ridge> make_ridges(const Shape& out, std::uint64_t seed) {
  constexpr int kRidges = 5;
  std::vector<Ridge> ridges;
  for (int i = 0; i < kRidges; ++i) {
    const std::int64_t cell = std::clamp<std::int64_t>(out.width / (2 + i), 4, 4096);
    Fractal line(out.width, cell, 8, mix(seed + 100 + static_cast<std::uint64_t>(i)));
    Ridge ridge{line.row(0), {185 - 36 * i, 190 - 31 * i, 205 - 40 * i}};
    const std::int64_t top = out.height * (2 + i * 3) / 20;
    for (std::int64_t& height : ridge.skyline) height = top + (height * out.height / 5 >> 16);
    ridges.push_back(std::move(ridge));
  }
  return ridges;
}

// Film grain of channel c, triangular: -3..4 with 8 bits, -1023..1024 with 16.
template <class T>
std::int64_t grain_of(std::uint64_t random, int c) {
  if constexpr (kIsWide<T>) {
    const std::uint64_t own = mix(random + static_cast<std::uint64_t>(c));
    return static_cast<std::int64_t>((own & 2047) + (own >> 11 & 2047)) / 2 - 1023;
  }
  const auto two = static_cast<std::int64_t>(((random >> (8 * c)) & 7) + ((random >> (8 * c + 3)) & 7));
  return two / 2 - 3;
}

// Hills in haze under a sky: smooth areas, sharp skylines, slopes lit from the left, film grain. The
// constants are for 8 bits; `unit` scales them for 16.
template <class T>
void fill_photo(const Plane<T, Host>& out, std::uint64_t seed) {
  constexpr std::int64_t unit = kLargest<T> / 255;
  const std::int64_t cell = std::clamp<std::int64_t>(std::max(out.width, out.height) / 6, 4, 1024);
  const std::vector<Ridge> ridges = make_ridges(out.shape(), seed);
  Fractal ground(out.width, cell, 10, mix(seed));
  for (std::int64_t y = 0; y < out.height; ++y) {
    const std::vector<std::int64_t>& heights = ground.row(y);
    const std::int64_t fall = 40 * unit * y / out.height;  // the sky fades toward the horizon
    T* row = out.row(y);
    for (std::int64_t x = 0; x < out.width; ++x) {
      const auto at = static_cast<std::size_t>(x);
      std::array<std::int64_t, 3> color{150 * unit + fall * 2, 185 * unit + fall, 228 * unit};
      std::int64_t shade = (heights[at] - 32768) * unit >> 12;  // clouds
      for (const Ridge& ridge : ridges) {
        if (y < ridge.skyline[at]) break;
        for (std::size_t c = 0; c < 3; ++c) color[c] = ridge.color[c] * unit;
        const std::int64_t slope = heights[at] - heights[x >= 3 ? at - 3 : 0];
        shade = ((heights[at] - 32768) * unit >> 10) +
                std::clamp<std::int64_t>(slope * unit / 48, -24 * unit, 24 * unit);
      }
      const std::uint64_t grain = mix(seed ^ mix(static_cast<std::uint64_t>(y * out.width + x)));
      for (int c = 0; c < out.channels; ++c) {
        const std::int64_t value = color[static_cast<std::size_t>(c)] + shade + grain_of<T>(grain, c);
        row[x * out.channels + c] = static_cast<T>(std::clamp<std::int64_t>(value, 8 * unit, 244 * unit));
      }
    }
  }
}

// Sets every sample to sample(x, y, channel).
template <class T, class Function>
void fill_each(const Plane<T, Host>& out, const Function& sample) {
  for (std::int64_t y = 0; y < out.height; ++y) {
    T* row = out.row(y);
    for (std::int64_t x = 0; x < out.width; ++x) {
      for (int c = 0; c < out.channels; ++c) row[x * out.channels + c] = static_cast<T>(sample(x, y, c));
    }
  }
}

template <class T>
void add_alpha(const Plane<const T, Host>& in, const Plane<T, Host>& out) {
  const std::int64_t last = std::max<std::int64_t>(1, in.height - 1);
  fill_each(out, [&](auto x, auto y, int c) -> std::int64_t {
    return c < in.channels ? in.row(y)[x * in.channels + c] : y * kLargest<T> / last;
  });
}

// Returns all values in random order (Fisher-Yates shuffle). If this sequence is repeated, any 256
// consecutive samples differ.
template <class T>
std::vector<T> shuffled_values(std::uint64_t seed) {
  std::vector<T> values(std::size_t{kLargest<T>} + 1);
  std::iota(values.begin(), values.end(), T{0});
  for (std::size_t i = values.size() - 1; i > 0; --i) {
    std::swap(values[i], values[mix(seed + i) % (i + 1)]);
  }
  return values;
}

template <class T>
void fill_colors(const Pattern& pattern, std::uint64_t seed, const Plane<T, Host>& out) {
  constexpr std::int64_t most = kLargest<T>;
  constexpr int bits = 8 * sizeof(T);
  const std::string_view name = pattern.info->name;
  const int parameter = pattern.parameter;
  const auto random = [&](std::int64_t x, std::int64_t y, int c) {
    return mix(mix(seed) ^ static_cast<std::uint64_t>((y * out.width + x) * out.channels + c));
  };
  const auto noise = [&](auto x, auto y, int c) { return static_cast<int>(random(x, y, c) >> (64 - bits)); };
  if (name == "noise") {
    fill_each(out, noise);
  } else if (name == "colors") {
    const auto count = static_cast<std::uint64_t>(parameter);
    fill_each(out, [&](auto x, auto y, int c) {
      const std::uint64_t pick = ((random(x, y, c) >> 32) * count) >> 32;
      return count == 1 ? 0 : pick * most / (count - 1);
    });
  } else if (name == "threshold") {
    fill_each(out, [&](auto x, auto y, int c) {
      const int value = noise(x, y, c);
      return value < parameter ? 0 : value;
    });
  } else if (name == "constant") {
    fill_each(out, [&](auto, auto, int) { return parameter; });
  } else if (name == "ramp") {
    const std::int64_t last = std::max<std::int64_t>(1, out.width - 1);
    fill_each(out, [&](auto x, auto, int c) { return (x * most / last + c * (most / 3)) % (most + 1); });
  } else if (name == "checker") {
    fill_each(out, [](auto x, auto y, int) { return (x / 8 + y / 8) % 2 == 0 ? 0 : most; });
  } else if (name == "collision-free") {
    const std::vector<T> values = shuffled_values<T>(seed);
    fill_each(out, [&](auto x, auto y, int c) {
      return values[static_cast<std::size_t>((y * out.width + x + c * (most / 3)) % (most + 1))];
    });
  } else {
    fill_photo(out, seed);
  }
}

}  // namespace

std::span<const PatternInfo> pattern_table() {
  return kPatterns;
}

namespace {

[[noreturn]] void refuse_pattern(std::string_view name) {
  std::string forms;
  std::vector<std::string_view> names;
  for (const PatternInfo& known : kPatterns) {
    names.push_back(known.name);
    forms += (forms.empty() ? "" : ", ") + std::string(known.name) +
             (known.argument.empty() ? "" : ":" + std::string(known.argument));
  }
  throw Error(ErrorKind::usage, unknown_name("unknown pattern '" + printable(name) + "'", name, names,
                                             "must be one of " + forms));
}

int max_of(const PatternInfo& info, Sample sample) {
  switch (sample) {
    case Sample::u8:
      return info.most;
    case Sample::u16:
      return info.max_16;
    case Sample::f32:
    case Sample::f16:
    case Sample::bf16:
      break;
  }
  throw Error(ErrorKind::usage, "patterns have 8 or 16 bits per sample");
}

}  // namespace

Pattern parse_pattern(std::string_view text, Sample sample) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const auto info = std::ranges::find(kPatterns, canonical_spelling(name), &PatternInfo::name);
  if (info == kPatterns.end()) refuse_pattern(name);
  Pattern pattern{&*info, 0};
  if (info->argument.empty() != (colon == std::string_view::npos)) {
    throw Error(ErrorKind::usage,
                "pattern " + std::string(name) +
                    (info->argument.empty() ? ": takes no parameter"
                                            : ": needs a parameter: " + std::string(info->summary)));
  }
  if (colon != std::string_view::npos) {
    const std::string_view digits = text.substr(colon + 1);
    const auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), pattern.parameter);
    const int most = max_of(*info, sample);
    if (error != std::errc{} || end != digits.data() + digits.size() || pattern.parameter < info->least ||
        pattern.parameter > most) {
      throw Error(ErrorKind::usage,
                  "pattern " + std::string(name) + ": " + std::string(info->summary) +
                      (is_wide(sample) ? "; up to " + std::to_string(most) + " with 16 bits per sample"
                                       : std::string()));
    }
  }
  return pattern;
}

Image synthesize(const Pattern& pattern, Shape shape, std::uint64_t seed) {
  if (shape.channels < 1 || shape.channels > 4)
    throw Error(ErrorKind::usage, "patterns have 1 to 4 channels");
  if (pattern.parameter > max_of(*pattern.info, shape.sample))
    throw Error(ErrorKind::usage, "pattern " + std::string(pattern.info->name) +
                                      " with 8 bits per sample: " + std::string(pattern.info->summary));
  Image image(shape);
  const HostView out = image.untyped_view();
  if (shape.has_alpha()) {
    shape.channels = shape.color_channels();
    const Image colors = synthesize(pattern, shape, seed);
    visit_sample(shape.sample, [&]<class T>(T) { add_alpha(colors.untyped_view().as<T>(), out.as<T>()); });
  } else {
    visit_sample(shape.sample, [&]<class T>(T) { fill_colors(pattern, seed, out.as<T>()); });
  }
  return image;
}

}  // namespace imgpipe
