#include "kernels/levels/levels.h"

#include <cmath>
#include <limits>

#include "images/unreachable.h"
#include "kernels/shared/map_floats.h"
#include "kernels/shared/stretch.h"

namespace imgpipe {
namespace {

// Factors that bring sample values and the limits lo and hi to a common scale.
struct Scale {
  int value = 1;  // for samples
  int limit = 1;  // for lo and hi
};

constexpr Scale scale_of(Sample sample, LevelsOf of) {
  if (of == LevelsOf::u16 && !is_wide(sample)) return {257, 1};
  if (of == LevelsOf::u8 && is_wide(sample)) return {1, 257};
  return {};
}

// Returns the value that white has on the scale of lo and hi, for float images.
constexpr float white_of(LevelsOf of) {
  switch (of) {
    case LevelsOf::same:
      return 1;
    case LevelsOf::u8:
      return kLargest<Sample8>;
    case LevelsOf::u16:
      return kLargest<Sample16>;
  }
  unreachable();
}

// Like contrast's stretched(), for values and limits on a common scale.
template <class T>
constexpr T leveled(std::int64_t v, std::int64_t lo, std::int64_t hi) {
  constexpr std::int64_t kMost = kLargest<T>;
  if (v <= lo) return 0;
  if (v >= hi) return static_cast<T>(kMost);
  return static_cast<T>(((v - lo) * 2 * kMost + (hi - lo)) / (2 * (hi - lo)));
}

static_assert(leveled<Sample8>(125, 50, 200) == stretched(125, 50, 200));
static_assert(leveled<Sample8>(51, 50, 200) == 2 && leveled<Sample8>(50, 50, 200) == 0);
static_assert(leveled<Sample8>(2570, 1000, 4000) == 133);          // 1570 / 3000 of 255: 133.45
static_assert(leveled<std::uint16_t>(2500, 1028, 5140) == 23460);  // 1472 / 4112 of 65,535

struct Limits {
  std::int64_t lo, hi;
};
Limits limits_of(const Scale& scale, const Parameters& parameters) {
  return {static_cast<std::int64_t>(parameters.real(0)) * scale.limit,
          static_cast<std::int64_t>(parameters.real(1)) * scale.limit};
}

bool is_whole_sample(double limit) {
  return limit >= 0 && limit <= max_sample(Sample::u16) && limit == std::trunc(limit);
}

template <class T>
void make_table(const Scale& scale, const Parameters& parameters, std::byte* to) {
  const auto [lo, hi] = limits_of(scale, parameters);
  for (int v = 0; v <= kLargest<T>; ++v)
    reinterpret_cast<T*>(to)[v] = leveled<T>(std::int64_t{v} * scale.value, lo, hi);
}

}  // namespace

std::string_view levels_problem(const Parameters& parameters) {
  constexpr double kMost = std::numeric_limits<float>::max();
  if (parameters.real(0) < -kMost || parameters.real(1) > kMost)
    return "lo and hi must be within the range of 32-bit floats";
  return parameters.real(0) < parameters.real(1) ? "" : "lo must be less than hi";
}

std::string_view levels_infer(const FrameType& in, const Parameters& parameters, FrameType&) {
  const bool accepted =
      is_float(in.sample) || (is_whole_sample(parameters.real(0)) && is_whole_sample(parameters.real(1)));
  return accepted
             ? ""
             : "lo and hi of integers must be whole numbers from 0 to 65535; insert depth:float before it";
}

std::string_view levels_skip_reason(const FrameType& in, const Parameters& parameters) {
  if (parameters.real(1) <= parameters.real(0)) return "hi must be greater than lo";
  if (is_float(in.sample)) return "";  // samples beyond the range change
  const Scale scale = scale_of(in.sample, parameters.as<LevelsOf>(2));
  const auto [lo, hi] = limits_of(scale, parameters);
  const bool whole = lo == 0 && hi == std::int64_t{max_sample(in.sample)} * scale.value;
  return whole ? "the range covers all values" : "";
}

std::int64_t levels_table_bytes(const FrameType& in, const Parameters&) {
  return is_float(in.sample) ? 0 : in.bins() * bytes_per_sample(in.sample);
}

void levels_table(const StageCall<Host>& call, const Band&) {
  const Scale scale = scale_of(call.in.type.sample, call.parameters.as<LevelsOf>(2));
  visit_sample(call.in.type.sample,
               [&]<class T>(T) { make_table<T>(scale, call.parameters, call.table.data); });
}

FloatLevels FloatLevels::of(const Parameters& parameters) {
  const float white = white_of(parameters.as<LevelsOf>(2));
  return {static_cast<float>(parameters.real(0)) / white, static_cast<float>(parameters.real(1)) / white};
}

void levels_f32_reference(const StageCall<Host>& call) {
  map_floats(call, FloatLevels::of(call.parameters));
}

}  // namespace imgpipe
