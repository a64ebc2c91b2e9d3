#include "app/contract/contract_images.h"

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>
#include <utility>

#include "images/split_mix.h"

namespace imgpipe {
namespace {

struct Size {
  std::int64_t width, height;
};
constexpr std::array<Size, 5> kSizes{{{1, 1}, {1, 7}, {17, 5}, {64, 3}, {67, 41}}};
static_assert(kContractImages == 4 * kSizes.size());

// Quiet and signalling NaN, infinities, -0, denormals, the greatest float.
constexpr std::array<std::uint32_t, 8> kSpecialFloats{0x7FC00001, 0x7F800000, 0xFF800000, 0x80000000,
                                                      0x00000001, 0x80400000, 0x7F7FFFFF, 0xFFA00000};
constexpr int kWithSpecialFloats = 2;  // the size whose images have them

// Returns the top bits of `random` as a sample. Floats are multiples of 2^-23 from -0.5 to 1.5.
template <class T>
T sample_of(std::uint64_t random) {
  if constexpr (kIsFloat<T>) {
    return static_cast<float>(static_cast<std::int32_t>(random >> 40) - (1 << 22)) / (1 << 23);
  } else {
    return static_cast<T>(random >> (64 - 8 * sizeof(T)));
  }
}

// Squares of 8x8 pixels, alternating between noise and one colour.
template <class T>
void fill(const Plane<T, Host>& plane, int number) {
  const bool special = number / 4 == kWithSpecialFloats;
  std::uint64_t n = 0;
  for (std::int64_t y = 0; y < plane.height; ++y) {
    for (std::int64_t i = 0; i < plane.row_samples(); ++i, ++n) {
      const std::int64_t column = i / plane.channels / 8, row = y / 8;
      std::uint64_t position = n;
      if ((column + row) % 2 == 1)
        position = (std::uint64_t{1} << 31) +
                   static_cast<std::uint64_t>((row * 4096 + column) * 4 + i % plane.channels);
      T sample = sample_of<T>(mix((static_cast<std::uint64_t>(number) << 32) + position));
      if constexpr (kIsFloat<T>) {
        if (special && n % 7 == 3)
          sample = std::bit_cast<float>(kSpecialFloats[n / 7 % kSpecialFloats.size()]);
      }
      plane.row(y)[i] = sample;
    }
  }
}

// ---- ICC profiles (ICC.1:2010, 7 and 10) ------------------------------------------------------------------

using ProfileBytes = std::vector<std::byte>;
using Tag = std::pair<std::string_view, ProfileBytes>;

void put(ProfileBytes& out, std::uint32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) out.push_back(static_cast<std::byte>(value >> shift));
}
void put(ProfileBytes& out, std::string_view text) {
  for (const char c : text) out.push_back(static_cast<std::byte>(c));
}

ProfileBytes profile_of(std::string_view space, const std::vector<Tag>& tags) {
  constexpr std::size_t kHeaderBytes = 128;
  ProfileBytes out, data;
  for (const Tag& tag : tags) data.insert(data.end(), tag.second.begin(), tag.second.end());
  const std::size_t first = kHeaderBytes + 4 + 12 * tags.size();
  put(out, static_cast<std::uint32_t>(first + data.size()));
  put(out, 0);
  put(out, 0x02400000);
  put(out, "mntr");
  put(out, space);
  put(out, "XYZ ");
  out.resize(36);
  put(out, "acsp");
  out.resize(kHeaderBytes);
  put(out, static_cast<std::uint32_t>(tags.size()));
  std::size_t at = first;
  for (const auto& [name, bytes] : tags) {
    put(out, name);
    put(out, static_cast<std::uint32_t>(at));
    put(out, static_cast<std::uint32_t>(bytes.size()));
    at += bytes.size();
  }
  out.insert(out.end(), data.begin(), data.end());
  return out;
}

ProfileBytes tag_of(std::string_view type, std::initializer_list<std::uint32_t> words) {
  ProfileBytes out;
  put(out, type);
  put(out, 0);
  for (const std::uint32_t word : words) put(out, word);
  return out;
}

}  // namespace

Shape contract_shape(int image, Sample sample) {
  const Size& size = kSizes[static_cast<std::size_t>(image / 4)];
  return {size.width, size.height, image % 4 + 1, sample};
}

Image contract_image(int number, const Shape& shape) {
  Image image(shape);
  if (is_float(shape.sample)) {
    fill(image.untyped_view().as<float>(), number);
  } else {
    visit_sample(shape.sample, [&]<class T>(T) { fill(image.untyped_view().as<T>(), number); });
  }
  return image;
}

std::vector<NamedImage> contract_second_images(const Shape& shape) {
  Shape grey = shape, same = shape;
  grey.channels = 1;
  same.channels = shape.color_channels();
  const std::array<std::pair<const char*, Shape>, 4> shapes{
      {{"grey", grey},
       {"same", same},
       {"logo", {7, 5, shape.color_channels() + 1, shape.sample}},
       {"map", {256, 1, 3, Sample::u8}}}};
  std::vector<NamedImage> images;
  int number = kContractImages;
  for (const auto& [name, of_image] : shapes) {
    const Image image = contract_image(number++, of_image);
    images.push_back({.name = name, .path = {}, .image = make_second_image(name, image.untyped_view())});
  }
  return images;
}

std::shared_ptr<const std::vector<std::byte>> contract_profile(const Shape& shape) {
  // A gamma of 563/256, followed by two zero bytes.
  static const ProfileBytes curve = tag_of("curv", {1, 563 << 16});
  static const auto color =
      std::make_shared<const ProfileBytes>(profile_of("RGB ", {{"rXYZ", tag_of("XYZ ", {39960, 20389, 1276})},
                                                               {"gXYZ", tag_of("XYZ ", {13453, 41004, 3989})},
                                                               {"bXYZ", tag_of("XYZ ", {9777, 4143, 48796})},
                                                               {"rTRC", curve},
                                                               {"gTRC", curve},
                                                               {"bTRC", curve}}));
  static const auto grey = std::make_shared<const ProfileBytes>(profile_of("GRAY", {{"kTRC", curve}}));
  return shape.color_channels() == 1 ? grey : color;
}

std::string contract_shape_text(const Shape& shape) {
  return std::to_string(shape.width) + "x" + std::to_string(shape.height) + "x" +
         std::to_string(shape.channels);
}

}  // namespace imgpipe
