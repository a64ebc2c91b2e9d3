#include "images/codecs/stored_samples.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include "images/codecs/codec_parts.h"
#include "images/error.h"

namespace imgpipe {
namespace {

template <class Function>
decltype(auto) visit_stored(StoredType type, const Function& function) {
  switch (type) {
    case StoredType::u8:
      return function(std::uint8_t{});
    case StoredType::u16:
      return function(std::uint16_t{});
    case StoredType::u32:
      return function(std::uint32_t{});
    case StoredType::i8:
      return function(std::int8_t{});
    case StoredType::i16:
      return function(std::int16_t{});
    case StoredType::i32:
      return function(std::int32_t{});
    case StoredType::f16:
      return function(Float16{});
    case StoredType::f32:
      return function(float{});
  }
  unreachable();
}

template <class T>
T load(const std::byte* in, bool swapped) {
  std::array<std::byte, sizeof(T)> bytes;
  std::memcpy(bytes.data(), in, sizeof(T));
  if (swapped) std::ranges::reverse(bytes);
  return std::bit_cast<T>(bytes);
}

// Exact; a NaN keeps its sign and the bits of its payload.
float widened(Float16 half) {
  const std::uint32_t sign = std::uint32_t{half.bits & 0x8000U} << 16, exponent = half.bits >> 10 & 31U;
  std::uint32_t fraction = half.bits & 0x3FFU;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7F800000U | fraction << 13);
  if (exponent > 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  if (fraction == 0) return std::bit_cast<float>(sign);
  const auto shift = static_cast<std::uint32_t>(std::countl_zero(fraction)) - 21;  // to bit 10
  fraction = fraction << shift & 0x3FFU;
  return std::bit_cast<float>(sign | (113 - shift) << 23 | fraction << 13);
}

// Returns (value - least) / (greatest - least) of the white of `To`, rounded half up.
template <class To, class From>
To in_range(From value) {
  constexpr auto kLeast = std::int64_t{std::numeric_limits<From>::min()};
  constexpr auto kSpan = static_cast<std::uint64_t>(std::int64_t{std::numeric_limits<From>::max()} - kLeast);
  const auto above = static_cast<std::uint64_t>(std::int64_t{value} - kLeast);
  return static_cast<To>((above * std::uint64_t{kLargest<To>} + kSpan / 2) / kSpan);
}

template <class From>
float as_float(From value, IntegerRule rule) {
  constexpr double kGreatest = std::numeric_limits<From>::max();
  return rule == IntegerRule::unit ? static_cast<float>(value / kGreatest) : static_cast<float>(value);
}

template <class From, class To>
void convert_all(const std::byte* in, std::int64_t count, bool swapped, IntegerRule rule, std::byte* out) {
  for (std::int64_t i = 0; i < count; ++i, in += sizeof(From), out += sizeof(To)) {
    const From value = load<From>(in, swapped);
    To made{};
    if constexpr (std::is_same_v<From, To>) {
      made = value;
    } else if constexpr (std::is_same_v<From, Float16>) {
      made = widened(value);
    } else if constexpr (kIsFloat<To>) {
      made = as_float(value, rule);
    } else {
      made = in_range<To>(value);
    }
    std::memcpy(out, &made, sizeof(To));
  }
}

bool needs_rule(StoredType type) {
  return !missing_rule_reason(format_of(type), 8 * stored_bytes(type)).empty();
}

Sample sample_of(StoredType type, const DecodeOptions& options) {
  const bool is_float = format_of(type) == SampleFormat::floating_point ||
                        (needs_rule(type) && options.integers != IntegerRule::range);
  return is_float ? Sample::f32 : decoded_sample(8 * stored_bytes(type), options.max_bits);
}

std::string type_text(SampleFormat format, int bits) {
  return std::to_string(bits) + "-bit " + (format == SampleFormat::signed_integer ? "signed" : "unsigned") +
         " integers";
}

}  // namespace

int stored_bytes(StoredType type) {
  return visit_stored(type, []<class T>(T) { return static_cast<int>(sizeof(T)); });
}

SampleFormat format_of(StoredType type) {
  return visit_stored(type, []<class T>(T) {
    if constexpr (!std::is_integral_v<T>)
      return SampleFormat::floating_point;
    else
      return std::is_signed_v<T> ? SampleFormat::signed_integer : SampleFormat::unsigned_integer;
  });
}

std::string missing_rule_reason(SampleFormat format, int bits) {
  const bool is_known =
      format == SampleFormat::floating_point || (format == SampleFormat::unsigned_integer && bits <= 16);
  return is_known ? "" : type_text(format, bits) + " need a rule; choose --integers value, unit or range";
}

std::string conversion_text(const ImageHeader& header, const DecodeOptions& options) {
  const int bits = header.bits_per_sample;
  if (!options.integers || missing_rule_reason(header.sample_format, bits).empty()) return "";
  const std::string from = type_text(header.sample_format, bits);
  switch (*options.integers) {
    case IntegerRule::value:
      return from + " became floats of the same value (--integers value)";
    case IntegerRule::unit:
      return from + " became floats, the greatest value 1 (--integers unit)";
    case IntegerRule::range:
      return from + " became unsigned, the least value black (--integers range)";
  }
  unreachable();
}

SampleConversion::SampleConversion(const char* name, StoredType type, bool big_endian,
                                   const DecodeOptions& options)
    : type_(type),
      swapped_(big_endian != (std::endian::native == std::endian::big) && imgpipe::stored_bytes(type) > 1),
      rule_(options.integers.value_or(IntegerRule::value)),
      sample_(sample_of(type, options)),
      is_copy_(!swapped_ && !needs_rule(type) && type != StoredType::f16 &&
               imgpipe::stored_bytes(type) == bytes_per_sample(sample_)) {
  if (needs_rule(type) && !options.integers)
    throw Error(ErrorKind::input, std::string(name) + ": " +
                                      missing_rule_reason(format_of(type), 8 * imgpipe::stored_bytes(type)));
  constexpr int kFloatBits = 32;
  if (is_float(sample_) && options.max_bits < kFloatBits)
    throw Error(ErrorKind::input, std::string(name) + ": floating-point samples are not supported here");
}

void SampleConversion::convert(const std::byte* in, std::int64_t count, std::byte* out) const {
  if (is_copy_) {
    std::memcpy(out, in, static_cast<std::size_t>(count * stored_bytes()));
    return;
  }
  visit_stored(type_, [&]<class From>(From) {
    visit_any_sample(sample_, [&]<class To>(To) {
      if constexpr (std::is_integral_v<From> || kIsFloat<To>)
        convert_all<From, To>(in, count, swapped_, rule_, out);
    });
  });
}

}  // namespace imgpipe
