#include "kernels/arithmetic/arithmetic.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/arithmetic/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/shared/pointwise-inl.h"
#include "kernels/shared/quotients-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

// Calls function(in, second, samples, out) for each colour row of a band.
template <class T, class Function>
HWY_INLINE void for_rows_of_both(const StageCall<Host>& call, const Band& band, const Function& function) {
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const Plane<const T, Host> in = call.in.plane<T>(static_cast<std::size_t>(c));
    const Plane<const T, Host> second = second_color_plane<T>(call, c);
    const Plane<T, Host> out = call.out.plane<T>(static_cast<std::size_t>(c));
    for (std::int64_t y = band.first; y < band.end; ++y)
      function(in.row(y - band.in_top), second.row(y), in.row_samples(), out.row(y - band.out_top));
  }
}

// Maps the samples of both images: lanes(in, second, out) for `step` samples at a time.
template <class T, class Lanes>
HWY_INLINE void map_both(const StageCall<Host>& call, const Band& band, std::int64_t step,
                         const Lanes& lanes) {
  for_rows_of_both<T>(call, band, [&](const T* in, const T* second, std::int64_t width, T* out) HWY_ATTR {
    for_row(
        width, step, [&](std::int64_t x) HWY_ATTR { lanes(in + x, second + x, out + x); },
        [&]() HWY_ATTR {
          HWY_ALIGN T few[hn::MaxLanes(D8())] = {};
          HWY_ALIGN T made[hn::MaxLanes(D8())];
          std::memcpy(few, in, static_cast<std::size_t>(width) * sizeof(T));
          lanes(few, second, made);
          std::memcpy(out, made, static_cast<std::size_t>(width) * sizeof(T));
        });
  });
}

// multiply, divide, mask: floor((v d multiplier + addend) / divisor), or with d as the divisor.
template <class T>
void map_quotients(const StageCall<Host>& call, const Band& band, Arithmetic op) {
  const DDouble d;
  const VDouble white = hn::Set(d, kLargest<T>);
  const bool divides = op == Arithmetic::divide;
  const std::int64_t scale = divides                      ? scale_of<Arithmetic::divide>(call.parameters)
                             : op == Arithmetic::multiply ? scale_of<Arithmetic::multiply>(call.parameters)
                                                          : 1;
  const VDouble factor = hn::Set(d, static_cast<double>(scale));
  if (divides) {
    map_both<T>(call, band, lanes_of(d), [=](const T* in, const T* second, T* out) HWY_ATTR {
      const VDouble v = Quotients::load(in), by = Quotients::load(second), twice = hn::Add(by, by);
      const VDouble dividend = hn::Add(hn::Mul(hn::Add(v, v), factor), by);
      const VDouble over_zero = hn::IfThenElseZero(hn::Gt(v, hn::Zero(d)), white);
      const VDouble quotient = hn::Floor(hn::Div(dividend, twice));
      Quotients::store(hn::IfThenElse(hn::Eq(by, hn::Zero(d)), over_zero, quotient), out);
    });
    return;
  }
  const double one = op == Arithmetic::multiply ? static_cast<double>(kDecimalOne) : kLargest<T>;
  const VDouble half = hn::Set(d, one / 2), divisor = hn::Set(d, one);
  map_both<T>(call, band, lanes_of(d), [=](const T* in, const T* second, T* out) HWY_ATTR {
    const VDouble product = hn::Mul(hn::Mul(Quotients::load(in), Quotients::load(second)), factor);
    Quotients::store(hn::Floor(hn::Div(hn::Add(product, half), divisor)), out);
  });
}

template <class T>
void map_samples(const StageCall<Host>& call, const Band& band, Arithmetic op) {
  using D = PointwiseTag<T, T>;
  const D d;
  const auto map = [&](const auto& function) HWY_ATTR {
    map_both<T>(call, band, lanes_of(d), [&](const T* in, const T* second, T* out) HWY_ATTR {
      hn::StoreU(function(hn::LoadU(d, in), hn::LoadU(d, second)), d, out);
    });
  };
  switch (op) {
    case Arithmetic::add:
      return map([](auto v, auto by) HWY_ATTR { return hn::SaturatedAdd(v, by); });
    case Arithmetic::subtract:
      return map([](auto v, auto by) HWY_ATTR { return hn::SaturatedSub(v, by); });
    case Arithmetic::min:
      return map([](auto v, auto by) HWY_ATTR { return hn::Min(v, by); });
    case Arithmetic::max:
      return map([](auto v, auto by) HWY_ATTR { return hn::Max(v, by); });
    case Arithmetic::absdiff:
      return map([](auto v, auto by)
                     HWY_ATTR { return hn::Or(hn::SaturatedSub(v, by), hn::SaturatedSub(by, v)); });
    case Arithmetic::multiply:
    case Arithmetic::divide:
    case Arithmetic::mask:
      return map_quotients<T>(call, band, op);
  }
  unreachable();
}

void arithmetic_rows(const StageCall<Host>& call, const Band& band, Arithmetic op) {
  visit_sample(call.in.type.sample, [&]<class T>(T) HWY_ATTR { map_samples<T>(call, band, op); });
}

HWY_INLINE VFloat float_result(Arithmetic op, VFloat v, VFloat by, VFloat scale) {
  switch (op) {
    case Arithmetic::add:
      return hn::Add(v, by);
    case Arithmetic::subtract:
      return hn::Sub(v, by);
    case Arithmetic::multiply:
      return hn::Mul(hn::Mul(v, by), scale);
    case Arithmetic::divide:
      return hn::Div(hn::Mul(v, scale), by);
    case Arithmetic::min:
      return hn::IfThenElse(hn::Or(hn::Lt(by, v), hn::IsNaN(by)), by, v);
    case Arithmetic::max:
      return hn::IfThenElse(hn::Or(hn::Gt(by, v), hn::IsNaN(by)), by, v);
    case Arithmetic::absdiff:
      return hn::Abs(hn::Sub(v, by));
    case Arithmetic::mask:
      return hn::Mul(v, by);
  }
  unreachable();
}

void arithmetic_f32_rows(const StageCall<Host>& call, const Band& band, Arithmetic op, float scale) {
  const DFloat d;
  const VFloat scales = hn::Set(d, scale);
  if (call.parameters.image == nullptr) {
    const VFloat by = hn::Set(d, float_of_decimal(call.parameters[0]));
    map_color_planes<float>(call, band,
                            [&](VFloat v) HWY_ATTR { return canonical(float_result(op, v, by, scales)); });
    return;
  }
  map_both<float>(call, band, lanes_of(d), [&](const float* in, const float* second, float* out) HWY_ATTR {
    hn::StoreU(canonical(float_result(op, hn::LoadU(d, in), hn::LoadU(d, second), scales)), d, out);
  });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace imgpipe {
HWY_EXPORT(arithmetic_rows);
HWY_EXPORT(arithmetic_f32_rows);

template <Arithmetic Op>
void arithmetic_cpu(const StageCall<Host>& call, const Band& band) {
  HWY_DYNAMIC_DISPATCH(arithmetic_rows)(call, band, Op);
}

template <Arithmetic Op>
void arithmetic_f32_cpu(const StageCall<Host>& call, const Band& band) {
  HWY_DYNAMIC_DISPATCH(arithmetic_f32_rows)(call, band, Op, float_arithmetic<Op>(call.parameters).scale);
}

#define IMGPIPE_INSTANTIATE(op)                                                      \
  template void arithmetic_cpu<Arithmetic::op>(const StageCall<Host>&, const Band&); \
  template void arithmetic_f32_cpu<Arithmetic::op>(const StageCall<Host>&, const Band&);
IMGPIPE_EACH_ARITHMETIC(IMGPIPE_INSTANTIATE)

}  // namespace imgpipe
#endif
