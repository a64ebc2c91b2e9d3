#include "images/codecs/tiff/tiff_fields.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "images/codecs/sniff.h"

namespace imgpipe {
namespace {

template <class T>
void append(std::vector<std::byte>& out, T value) {
  const std::span<const std::byte> bytes = std::as_bytes(std::span(&value, 1));
  out.insert(out.end(), bytes.begin(), bytes.end());
}

// Appends an offset or count.
void append_wide(std::vector<std::byte>& out, std::uint64_t value, bool big) {
  if (big) {
    append(out, value);
  } else {
    append(out, static_cast<std::uint32_t>(value));
  }
}

}  // namespace

void TiffFields::add_u16(TiffTag tag, const std::vector<std::uint16_t>& values) {
  Field field{tag, TiffType::u16, values.size(), {}};
  for (const std::uint16_t value : values) append(field.data, value);
  fields_.push_back(std::move(field));
}

void TiffFields::add_u32(TiffTag tag, std::uint32_t value) {
  Field field{tag, TiffType::u32, 1, {}};
  append(field.data, value);
  fields_.push_back(std::move(field));
}

void TiffFields::add_rational(TiffTag tag, std::uint32_t numerator, std::uint32_t denominator) {
  Field field{tag, TiffType::rational, 1, {}};
  append(field.data, numerator);
  append(field.data, denominator);
  fields_.push_back(std::move(field));
}

void TiffFields::add_text(TiffTag tag, std::string_view text) {
  Field field{tag, TiffType::ascii, text.size() + 1, {}};
  append_text(field.data, text);
  field.data.push_back(std::byte{0});
  fields_.push_back(std::move(field));
}

void TiffFields::add_raw(TiffTag tag, std::uint16_t type, std::uint64_t count, std::vector<std::byte> data) {
  if (std::ranges::find(fields_, tag, &Field::tag) == fields_.end())
    fields_.push_back({tag, static_cast<TiffType>(type), count, std::move(data)});
}

void TiffFields::sort() {
  std::ranges::sort(fields_, {}, &Field::tag);
}

void TiffFields::add_offsets(TiffTag tag, std::size_t count) {
  fields_.push_back(
      {tag, big_ ? TiffType::u64 : TiffType::u32, count, std::vector<std::byte>(count * offset_bytes())});
}

void TiffFields::set_offsets(TiffTag tag, const std::vector<std::uint64_t>& values) {
  Field& field = *std::ranges::find(fields_, tag, &Field::tag);
  field.data.clear();
  for (const std::uint64_t value : values) append_wide(field.data, value, big_);
}

std::size_t TiffFields::directory_end() const {
  const std::size_t header = place_ > 0 ? 0 : big_ ? 16 : 8;
  return header + (big_ ? 8 + fields_.size() * 20 + 8 : 2 + fields_.size() * 12 + 4);
}

std::size_t TiffFields::outside_bytes(const Field& field) const {
  return field.data.size() <= offset_bytes() ? 0 : (field.data.size() + 1) / 2 * 2;
}

std::size_t TiffFields::size_bytes() const {
  std::size_t bytes = directory_end();
  for (const Field& field : fields_) bytes += outside_bytes(field);
  return bytes + tail_.size();
}

std::vector<std::byte> TiffFields::build() const {
  std::vector<std::byte> out;
  out.reserve(size_bytes());
  if (place_ == 0) {
    append_text(out, std::endian::native == std::endian::big ? "MM" : "II");
    append(out, static_cast<std::uint16_t>(big_ ? 43 : 42));
    if (big_) append(out, std::uint32_t{8});  // bytes per offset, and 0
    append_wide(out, big_ ? 16 : 8, big_);
  }
  if (big_) {
    append(out, static_cast<std::uint64_t>(fields_.size()));
  } else {
    append(out, static_cast<std::uint16_t>(fields_.size()));
  }
  std::uint64_t outside_short = place_ + directory_end(), outside_long = outside_short;
  for (const Field& field : fields_) outside_long += is_long(field) ? 0 : outside_bytes(field);
  for (const Field& field : fields_) {
    append(out, static_cast<std::uint16_t>(field.tag));
    append(out, static_cast<std::uint16_t>(field.type));
    append_wide(out, field.count, big_);
    if (outside_bytes(field) > 0) {
      std::uint64_t& outside = is_long(field) ? outside_long : outside_short;
      append_wide(out, outside, big_);
      outside += outside_bytes(field);
      continue;
    }
    out.insert(out.end(), field.data.begin(), field.data.end());
    out.resize(out.size() + offset_bytes() - field.data.size());
  }
  append_wide(out, next_, big_);
  for (const bool longs : {false, true}) {
    for (const Field& field : fields_) {
      if (outside_bytes(field) == 0 || is_long(field) != longs) continue;
      out.insert(out.end(), field.data.begin(), field.data.end());
      out.resize(out.size() + outside_bytes(field) - field.data.size());
    }
  }
  out.insert(out.end(), tail_.begin(), tail_.end());
  return out;
}

}  // namespace imgpipe
