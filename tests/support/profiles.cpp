#include "tests/support/profiles.h"

#include <cmath>
#include <cstdint>

namespace imgpipe::test {
namespace {

using Bytes = std::vector<std::byte>;

void put_big_endian(Bytes& out, std::uint32_t value, int bytes = 4) {
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8)
    out.push_back(static_cast<std::byte>(value >> shift));
}

void put_ascii(Bytes& out, std::string_view text) {
  for (const char c : text) out.push_back(static_cast<std::byte>(c));
}

void put_fixed(Bytes& out, double value) {
  put_big_endian(out, static_cast<std::uint32_t>(static_cast<std::int32_t>(std::lround(value * 65536))));
}

// A tag's type and its four zero bytes.
Bytes typed(std::string_view type) {
  Bytes out;
  put_ascii(out, type);
  put_big_endian(out, 0);
  return out;
}

}  // namespace

Bytes make_profile(std::string_view space, const std::vector<ProfileTag>& tags) {
  Bytes out;
  const std::size_t table_end = 128 + 4 + 12 * tags.size();
  std::size_t size = table_end;
  for (const ProfileTag& tag : tags) size += tag.second.size();
  put_big_endian(out, static_cast<std::uint32_t>(size));
  put_big_endian(out, 0);
  put_big_endian(out, 0x02400000);
  put_ascii(out, "mntr");
  put_ascii(out, space);
  put_ascii(out, "XYZ ");
  out.resize(36);
  put_ascii(out, "acsp");
  out.resize(128);
  put_big_endian(out, static_cast<std::uint32_t>(tags.size()));
  std::size_t at = table_end;
  for (const auto& [name, data] : tags) {
    put_ascii(out, name);
    put_big_endian(out, static_cast<std::uint32_t>(at));
    put_big_endian(out, static_cast<std::uint32_t>(data.size()));
    at += data.size();
  }
  for (const ProfileTag& tag : tags) out.insert(out.end(), tag.second.begin(), tag.second.end());
  return out;
}

Bytes text_description(std::string_view text) {
  Bytes out = typed("desc");
  put_big_endian(out, static_cast<std::uint32_t>(text.size() + 1));
  put_ascii(out, text);
  out.resize(out.size() + 1 + 4 + 4 + 2 + 1 + 67);  // the zero; no Unicode, no Macintosh name
  return out;
}

Bytes localized_names(const std::vector<std::pair<std::string, std::u16string>>& names) {
  Bytes out = typed("mluc");
  put_big_endian(out, static_cast<std::uint32_t>(names.size()));
  put_big_endian(out, 12);
  std::size_t at = 16 + 12 * names.size();
  for (const auto& [language, name] : names) {
    put_ascii(out, language);
    put_ascii(out, "US");
    put_big_endian(out, static_cast<std::uint32_t>(2 * name.size()));
    put_big_endian(out, static_cast<std::uint32_t>(at));
    at += 2 * name.size();
  }
  for (const auto& [language, name] : names) {
    for (const char16_t c : name) put_big_endian(out, c, 2);
  }
  return out;
}

Bytes xyz(const std::array<double, 3>& value) {
  Bytes out = typed("XYZ ");
  for (const double v : value) put_fixed(out, v);
  return out;
}

Bytes curve(const std::vector<unsigned>& entries) {
  Bytes out = typed("curv");
  put_big_endian(out, static_cast<std::uint32_t>(entries.size()));
  for (const unsigned entry : entries) put_big_endian(out, entry, 2);
  return out;
}

Bytes parametric_curve(unsigned function, const std::vector<double>& parameters) {
  Bytes out = typed("para");
  put_big_endian(out, function, 2);
  put_big_endian(out, 0, 2);
  for (const double parameter : parameters) put_fixed(out, parameter);
  return out;
}

Bytes matrix_profile(const Primaries& primaries, const Bytes& curve_data, const Bytes& description) {
  return make_profile("RGB ", {{"desc", description},
                               {"rXYZ", xyz(primaries[0])},
                               {"gXYZ", xyz(primaries[1])},
                               {"bXYZ", xyz(primaries[2])},
                               {"rTRC", curve_data},
                               {"gTRC", curve_data},
                               {"bTRC", curve_data}});
}

Bytes srgb_curve() {
  return parametric_curve(3, {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045});
}

Bytes srgb_table(std::size_t entries) {
  std::vector<unsigned> table;
  for (std::size_t i = 0; i < entries; ++i) {
    const double x = static_cast<double>(i) / static_cast<double>(entries - 1);
    const double y = x <= 0.04045 ? x / 12.92 : std::pow((x + 0.055) / 1.055, 2.4);
    table.push_back(static_cast<unsigned>(std::lround(y * 65535)));
  }
  return curve(table);
}

Bytes adobe_profile() {
  return matrix_profile(kAdobePrimaries, curve({563}), text_description("Adobe RGB (1998)"));
}

}  // namespace imgpipe::test
