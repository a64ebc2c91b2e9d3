#include <algorithm>
#include <vector>

#include "kernels/projection/projection.h"
#include "kernels/shared/float_environment.h"

namespace imgpipe {
namespace {

template <class T>
using State = std::conditional_t<kIsFloat<T>, std::uint32_t, T>;
template <class T>
using Total = std::conditional_t<kIsFloat<T>, double, std::uint64_t>;

template <class T>
State<T> state_of(T v, bool nan_is_last) {
  if constexpr (kIsFloat<T>) return key_of(v, nan_is_last);
  return static_cast<State<T>>(v);
}

template <class T>
void add_items(Projection projection, const ProjectedItems& in, std::byte* state) {
  for (const std::byte* bytes : in.items) {
    const T* item = reinterpret_cast<const T*>(bytes);
    for (std::int64_t i = 0; i < in.samples; ++i) {
      if (is_total(projection)) {
        reinterpret_cast<Total<T>*>(state)[i] += static_cast<Total<T>>(item[i]);
        continue;
      }
      State<T>& extreme = reinterpret_cast<State<T>*>(state)[i];
      const State<T> one = state_of(item[i], projection == Projection::max);
      extreme = projection == Projection::max ? std::max(extreme, one) : std::min(extreme, one);
    }
  }
}

template <class T>
T median_of(std::vector<T>& samples) {
  if constexpr (kIsFloat<T>) {
    if (std::ranges::any_of(samples, [](float v) { return std::isnan(v); })) return float_of_bits(kNanBits);
  }
  std::ranges::sort(samples, {}, [](T v) { return state_of(v, true); });  // -0 before 0
  const std::size_t upper = samples.size() / 2;
  return middle_of(samples[samples.size() % 2 == 0 ? upper - 1 : upper], samples[upper]);
}

template <class T>
T result_of(Projection projection, const std::byte* state, std::int64_t i, std::uint64_t items) {
  if (!is_total(projection)) {
    const State<T> extreme = reinterpret_cast<const State<T>*>(state)[i];
    if constexpr (kIsFloat<T>) return float_of_key(extreme);
    return static_cast<T>(extreme);
  }
  const Total<T> total = reinterpret_cast<const Total<T>*>(state)[i];
  const bool is_mean = projection == Projection::mean;
  if constexpr (kIsFloat<T>)
    return canonical(static_cast<float>(is_mean ? total / static_cast<double>(items) : total));
  else
    return is_mean ? mean_of<T>(total, items) : limited_sum<T>(total);
}

}  // namespace

void add_items_reference(Projection projection, const ProjectedItems& in, std::byte* state) {
  const FloatEnvironment environment;
  visit_any_sample(in.sample, [&]<class T>(T) { add_items<T>(projection, in, state); });
}

void median_of_items_reference(const ProjectedItems& in, std::byte* out) {
  const FloatEnvironment environment;
  visit_any_sample(in.sample, [&]<class T>(T) {
    std::vector<T> samples;
    for (std::int64_t i = 0; i < in.samples; ++i) {
      samples.clear();
      for (const std::byte* item : in.items) samples.push_back(reinterpret_cast<const T*>(item)[i]);
      reinterpret_cast<T*>(out)[i] = median_of(samples);
    }
  });
}

void finish_projection(Projection projection, Sample sample, std::uint64_t items, const std::byte* state,
                       std::int64_t samples, Sample to, std::byte* out) {
  const FloatEnvironment environment;
  visit_any_sample(sample, [&]<class T>(T) {
    for (std::int64_t i = 0; i < samples; ++i) {
      if constexpr (!kIsFloat<T>) {
        if (to != sample) {
          reinterpret_cast<float*>(out)[i] = float_sum<T>(reinterpret_cast<const std::uint64_t*>(state)[i]);
          continue;
        }
      }
      reinterpret_cast<T*>(out)[i] = result_of<T>(projection, state, i, items);
    }
  });
}

}  // namespace imgpipe
