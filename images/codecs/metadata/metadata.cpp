#include "images/codecs/metadata/metadata.h"

#include <optional>

#include "images/error.h"

namespace imgpipe {
namespace {

// Returns round(value / of * up / down) if it is within 1..most.
std::optional<std::uint32_t> scaled(std::uint32_t value, std::uint32_t of, std::uint64_t up,
                                    std::uint64_t down, std::uint32_t most) {
  const std::uint64_t divisor = of * down;
  const std::uint64_t whole = (value * up + divisor / 2) / divisor;
  if (whole < 1 || whole > most) return std::nullopt;
  return static_cast<std::uint32_t>(whole);
}

}  // namespace

bool Resolution::empty() const {
  return unit == Unit::none && std::uint64_t{x} * y_of == std::uint64_t{y} * x_of;
}

std::optional<Resolution::Whole> Resolution::per_inch(std::uint32_t most) const {
  if (unit == Unit::none) return std::nullopt;
  const std::uint64_t up = unit == Unit::inch ? 1 : 254, down = unit == Unit::inch ? 1 : 100;
  const auto across = scaled(x, x_of, up, down, most), along = scaled(y, y_of, up, down, most);
  return across && along ? std::optional(Whole{*across, *along}) : std::nullopt;
}

std::optional<Resolution::Whole> Resolution::per_metre(std::uint32_t most) const {
  if (unit == Unit::none) return std::nullopt;
  const std::uint64_t up = unit == Unit::inch ? 10'000 : 100, down = unit == Unit::inch ? 254 : 1;
  const auto across = scaled(x, x_of, up, down, most), along = scaled(y, y_of, up, down, most);
  return across && along ? std::optional(Whole{*across, *along}) : std::nullopt;
}

std::int64_t Metadata::bytes() const {
  std::size_t bytes = icc.size() + exif.size() + xmp.size();
  for (const TiffMetadataField& field : fields) bytes += field.data.size();
  bytes += iptc.size();
  constexpr std::size_t kHead = 32;  // per chunk or segment
  for (const MetadataText& text : texts)
    bytes += kHead + text.keyword.size() + text.text.size() + text.language.size() +
             text.translated_keyword.size();
  return static_cast<std::int64_t>(bytes);
}

void fail_damaged(const std::string& reason) {
  throw Error(ErrorKind::input, "damaged: " + reason);
}

}  // namespace imgpipe
