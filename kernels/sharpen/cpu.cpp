// sharpen in SIMD: blurs a chunk of a row (kernels/shared/gauss_rows-inl.h), then sharpens it.
#include "kernels/sharpen/sharpen.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/sharpen/cpu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "kernels/shared/gauss_rows-inl.h"

HWY_BEFORE_NAMESPACE();
namespace imgpipe {
namespace HWY_NAMESPACE {
namespace {

// Replaces `blurred` by the result of sharpened().
template <class T>
HWY_NOINLINE void sharpen_row(const T* in, std::int64_t count, const SharpenParameters& mask, T* blurred) {
  const hn::ScalableTag<std::uint32_t> d;
  const hn::Rebind<T, decltype(d)> samples;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  const auto white = hn::Set(d, static_cast<std::uint32_t>(kLargest<T>));
  const auto threshold = hn::Set(d, mask.threshold);
  std::int64_t x = 0;
  for (; x + lanes <= count; x += lanes) {
    const auto v = hn::PromoteTo(d, hn::LoadU(samples, in + x));
    const auto b = hn::PromoteTo(d, hn::LoadU(samples, blurred + x));
    const auto up = hn::Sub(hn::Max(v, b), b);    // 0 if v < blurred
    const auto down = hn::Sub(hn::Max(v, b), v);  // 0 if v > blurred
    const auto size = hn::Or(up, down);
    const auto half = hn::Set(d, 1U << (kAmountBits - 1));
    auto step = hn::ShiftRight<kAmountBits>(hn::Add(hn::Mul(size, hn::Set(d, mask.amount)), half));
    step = hn::IfThenZeroElse(hn::Eq(hn::Max(size, threshold), threshold), step);
    const auto brighter = hn::Min(hn::Add(v, step), white);
    const auto darker = hn::Sub(v, hn::Min(step, v));
    const auto result = hn::IfThenElse(hn::Eq(down, hn::Zero(d)), brighter, darker);
    hn::StoreU(hn::TruncateTo(samples, result), samples, blurred + x);
  }
  for (; x < count; ++x)
    blurred[x] = static_cast<T>(sharpened<T>(in[x], blurred[x], mask.amount, mask.threshold));
}

template <class T>
void sharpen_planes(const StageCall<Host>& call, const Band& band) {
  const SharpenParameters mask(call.parameters);
  const GaussPairs pairs(call.table.as<std::uint32_t>(), gauss_radius(mask.sigma));
  const auto sharpen = [&mask](const T* in, T* blurred, std::int64_t count) {
    sharpen_row(in, count, mask, blurred);
  };
  for_color_planes<T>(call, [&](const auto& in, const auto& out) {
    GaussRows<T>(in, out, call.in.type, Border::reflect, pairs, band).run(sharpen);
  });
}

void sharpen_rows(const StageCall<Host>& call, const Band& band) {
  visit_sample(call.in.type.sample, [&]<class T>(T) HWY_ATTR { sharpen_planes<T>(call, band); });
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace imgpipe
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
IMGPIPE_DISPATCH(sharpen)
#endif
