#include "lab/pipeline/codec_strip.h"

#include <span>

#include "images/codecs/png/deflate.h"
#include "images/codecs/png/png_filter.h"
#include "images/codecs/png/strip_rule.h"

namespace imgpipe {
namespace {

constexpr int kLevel = 1;

void filter(ConstHostPlane rows, std::vector<std::byte>& filtered) {
  const auto row_bytes = static_cast<std::size_t>(rows.row_samples());
  filtered.resize((row_bytes + 1) * static_cast<std::size_t>(rows.height));
  auto* out = reinterpret_cast<std::uint8_t*>(filtered.data());
  for (std::int64_t y = 0; y < rows.height; ++y, out += row_bytes + 1)
    filter_png_row(rows.row(y), y == 0 ? nullptr : rows.row(y - 1), row_bytes,
                   static_cast<std::size_t>(rows.channels), out);
}

}  // namespace

struct StripPacker::State {
  StripDeflater deflater{kLevel};
  std::vector<std::byte> filtered;
};

StripPacker::StripPacker() : state_(std::make_unique<State>()) {}
StripPacker::~StripPacker() = default;

void StripPacker::pack(ConstHostPlane rows, bool last, ExpectedStrip& strip) {
  filter(rows, state_->filtered);
  strip.adler = adler32_of(state_->filtered);
  const std::span<const std::byte> made = state_->deflater.compress(state_->filtered, last);
  strip.bytes.assign(made.begin(), made.end());
}

ExpectedStrip expected_strip(ConstHostPlane rows, bool last) {
  ExpectedStrip strip;
  StripPacker().pack(rows, last, strip);
  std::vector<std::byte> filtered;
  filter(rows, filtered);
  const std::span bytes(reinterpret_cast<const std::uint8_t*>(filtered.data()), filtered.size());
  if (should_try_matches(bytes, StripBlock(count_tokens(bytes)))) strip.filtered = std::move(filtered);
  return strip;
}

}  // namespace imgpipe
