#include <cmath>

#include "kernels/gamma/gamma.h"
#include "kernels/gamma/half.h"
#include "kernels/gamma/power.h"
#include "kernels/shared/map_floats.h"

namespace imgpipe {
namespace {

// The results are the same on every machine, although those of pow() are not. The true result is never a
// half: for 1 / G = p / q, that would mean v^p 510^q = (2 k + 1)^q 255^p, an even left and an odd right side.
// Over all values and all gammas of six decimals from 0.01 to 100, its distance from a half is at least
// 6.4e-12 (v = 228 at 57.02216; only the two gammas next to each solution need checking). These doubles are
// off by less than 3.2e-12: 255 * 2^-53 times the sum of 100 (the exponent, for the error of v / 255), 6.3
// (the logarithm of the least result that rounds to 1, for the error of the exponent) and 4 (pow, and the
// product).
//
// With 16 bits, values come within 1e-13 of a half, and a double is off by less than 2e-8: results within
// kOpen of a half are decided with more digits.
template <class T>
T brightened(int v, std::int64_t gamma) {
  constexpr double kWhite = kLargest<T>;
  constexpr double kOpen = 1e-6;
  const double exponent = static_cast<double>(kDecimalOne) / static_cast<double>(gamma);
  const double result = kWhite * std::pow(v / kWhite, exponent);
  const int below = static_cast<int>(result);
  if (kIsWide<T> && std::abs(result - below - 0.5) < kOpen)
    return static_cast<T>(reaches_half(v, kLargest<T>, gamma, below) ? below + 1 : below);
  return static_cast<T>(std::floor(result + 0.5));
}

template <class T>
void make_table(std::int64_t gamma, std::byte* to) {
  for (int v = 0; v <= kLargest<T>; ++v) reinterpret_cast<T*>(to)[v] = brightened<T>(v, gamma);
}

template <class T>
void look_up(const StageCall<Host>& call) {
  const auto* table = call.table.as<T>();
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const Plane<const T, Host> in = call.in.plane<T>(static_cast<std::size_t>(c));
    const Plane<T, Host> out = call.out.plane<T>(static_cast<std::size_t>(c));
    for (std::int64_t y = 0; y < in.height; ++y) {
      for (std::int64_t x = 0; x < in.width; ++x) out.row(y)[x] = table[in.row(y)[x]];
    }
  }
}

}  // namespace

std::string_view gamma_skip_reason(const FrameType&, const Parameters& parameters) {
  return parameters[0] == kDecimalOne ? "a gamma of 1 changes nothing" : "";
}

std::int64_t gamma_table_bytes(const FrameType& in, const Parameters&) {
  return is_float(in.sample) ? 0 : in.bins() * bytes_per_sample(in.sample);
}

void gamma_table(const StageCall<Host>& call, const Band&) {
  visit_sample(call.in.type.sample, [&]<class T>(T) { make_table<T>(call.parameters[0], call.table.data); });
}

void gamma_reference(const StageCall<Host>& call) {
  visit_sample(call.in.type.sample, [&]<class T>(T) { look_up<T>(call); });
}

void gamma_f32_reference(const StageCall<Host>& call) {
  map_floats(call, FloatGamma{GammaExponent::of(call.parameters[0])});
}

}  // namespace imgpipe
