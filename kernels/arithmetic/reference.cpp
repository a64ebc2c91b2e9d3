#include "kernels/arithmetic/arithmetic.h"
#include "kernels/shared/map_floats.h"

namespace imgpipe {
namespace {

// Calls function(v, d) for each colour sample and that of the second image.
template <class T, class Function>
void with_second_image(const StageCall<Host>& call, const Function& function) {
  for (int c = 0; c < call.in.type.color_channels; ++c) {
    const Plane<const T, Host> in = call.in.plane<T>(static_cast<std::size_t>(c));
    const Plane<const T, Host> second = second_color_plane<T>(call, c);
    const Plane<T, Host> out = call.out.plane<T>(static_cast<std::size_t>(c));
    for (std::int64_t y = 0; y < in.height; ++y) {
      for (std::int64_t x = 0; x < in.width; ++x) out.row(y)[x] = function(in.row(y)[x], second.row(y)[x]);
    }
  }
}

// The result of v and a number in millionths, rounded half up.
template <Arithmetic Op>
std::int64_t with_number(std::int64_t v, std::int64_t number) {
  const std::int64_t whole = v * kDecimalOne;
  const auto rounded = [](std::int64_t millionths) {
    return millionths < 0 ? 0 : (millionths + kDecimalOne / 2) / kDecimalOne;
  };
  switch (Op) {
    case Arithmetic::add:
      return rounded(whole + number);
    case Arithmetic::subtract:
      return rounded(whole - number);
    case Arithmetic::multiply:
      return rounded(v * number);
    case Arithmetic::divide:
      return (2 * whole + number) / (2 * number);
    case Arithmetic::min:
      return rounded(std::min(whole, number));
    case Arithmetic::max:
      return rounded(std::max(whole, number));
    case Arithmetic::absdiff:
      return rounded(whole < number ? number - whole : whole - number);
    case Arithmetic::mask:
      break;
  }
  unreachable();
}

template <Arithmetic Op, class T>
void make_table(std::int64_t number, T* to) {
  for (std::int64_t v = 0; v <= kLargest<T>; ++v)
    to[v] = static_cast<T>(std::min<std::int64_t>(with_number<Op>(v, number), kLargest<T>));
}

}  // namespace

template <Arithmetic Op>
std::string_view arithmetic_skip_reason(const FrameType&, const Parameters& parameters) {
  constexpr bool kScales = Op == Arithmetic::multiply || Op == Arithmetic::divide;
  constexpr bool kShifts = Op == Arithmetic::add || Op == Arithmetic::subtract;
  if (kScales && parameters[0] == kDecimalOne) return "a factor of 1 changes nothing";
  if (kShifts && parameters[0] == 0) return "0 changes nothing";
  return "";
}

std::string_view multiply_problem(const Parameters& parameters) {
  return parameters[0] != kOfImage && parameters[1] != kDecimalOne ? "scale: needs an image" : "";
}

std::string_view divide_problem(const Parameters& parameters) {
  if (parameters[0] == 0) return "cannot divide by 0";
  return parameters[0] != kOfImage && parameters[1] != kMeanScale ? "scale: needs an image" : "";
}

std::int64_t arithmetic_table_bytes(const FrameType& in, const Parameters& parameters) {
  if (parameters.image != nullptr) return second_image_bytes(in, parameters);
  return is_float(in.sample) ? 0 : in.bins() * bytes_per_sample(in.sample);
}

template <Arithmetic Op>
void arithmetic_table(const StageCall<Host>& call, const Band& band) {
  if (call.parameters.image != nullptr) return copy_second_image(call, band);
  if constexpr (Op != Arithmetic::mask) {
    if (is_float(call.in.type.sample)) return;
    visit_sample(call.in.type.sample,
                 [&]<class T>(T) { make_table<Op>(call.parameters[0], call.table.as<T>()); });
  }
}

template <Arithmetic Op>
void arithmetic_reference(const StageCall<Host>& call) {
  visit_sample(call.in.type.sample, [&]<class T>(T) {
    with_second_image<T>(call, IntegerArithmetic<Op, T>{scale_of<Op>(call.parameters)});
  });
}

template <Arithmetic Op>
void arithmetic_f32_reference(const StageCall<Host>& call) {
  const FloatArithmetic<Op> function = float_arithmetic<Op>(call.parameters);
  if (call.parameters.image != nullptr) return with_second_image<float>(call, function);
  const float number = float_of_decimal(call.parameters[0]);
  map_floats(call, [&](float v) { return function(v, number); });
}

#define IMGPIPE_INSTANTIATE(op)                                                                          \
  template std::string_view arithmetic_skip_reason<Arithmetic::op>(const FrameType&, const Parameters&); \
  template void arithmetic_table<Arithmetic::op>(const StageCall<Host>&, const Band&);                   \
  template void arithmetic_reference<Arithmetic::op>(const StageCall<Host>&);                            \
  template void arithmetic_f32_reference<Arithmetic::op>(const StageCall<Host>&);
IMGPIPE_EACH_ARITHMETIC(IMGPIPE_INSTANTIATE)

}  // namespace imgpipe
