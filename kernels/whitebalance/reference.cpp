#include "kernels/whitebalance/whitebalance.h"

namespace imgpipe {
namespace {

std::uint64_t sum_of(const Histogram<Host>& histogram, int c) {
  std::uint64_t sum = 0;
  for (std::int64_t v = 0; v < histogram.width; ++v)
    sum += static_cast<std::uint64_t>(v) * histogram.row(c)[v];
  return sum;
}

std::int64_t factor_of(const StageCall<Host>& call, int c) {
  if (has_balance_factors(call.parameters)) return call.parameters[static_cast<std::size_t>(c)];
  std::uint64_t total = 0;
  for (int i = 0; i < 3; ++i) total += sum_of(call.histogram, i);
  return gray_world_factor(total, sum_of(call.histogram, c));
}

template <class T>
void balance_plane(const StageCall<Host>& call, int c) {
  const std::int64_t factor = factor_of(call, c);
  const auto in = call.in.plane<T>(static_cast<std::size_t>(c));
  const auto out = call.out.plane<T>(static_cast<std::size_t>(c));
  for (std::int64_t y = 0; y < in.height; ++y) {
    for (std::int64_t x = 0; x < in.width; ++x) out.row(y)[x] = balanced<T>(in.row(y)[x], factor);
  }
}

template <class T>
void make_table(const StageCall<Host>& call, int c) {
  const std::int64_t factor = factor_of(call, c);
  T* const table = call.table.as<T>() + c * call.in.type.bins();
  for (std::int64_t v = 0; v < call.in.type.bins(); ++v) table[v] = balanced<T>(v, factor);
}

}  // namespace

bool is_gray_world(const Parameters& parameters) {
  return parameters[0] == kGrayWorld;
}

bool has_balance_factors(const Parameters& parameters) {
  return !is_gray_world(parameters);
}

std::string_view whitebalance_problem(const Parameters& parameters) {
  const bool first = is_gray_world(parameters);
  for (std::size_t c = 1; c < 3; ++c) {
    if ((parameters[c] == kGrayWorld) != first)
      return "needs the factors red, green and blue, or none of them for gray-world";
  }
  return "";
}

std::string_view whitebalance_skip_reason(const FrameType& in, const Parameters& parameters) {
  if (in.color_channels == 1) return "the image is grey";
  const bool neutral =
      parameters[0] == kDecimalOne && parameters[1] == kDecimalOne && parameters[2] == kDecimalOne;
  return neutral ? "factors of 1 change nothing" : "";
}

std::int64_t whitebalance_table_bytes(const FrameType& in, const Parameters&) {
  return in.color_channels * in.bins() * bytes_per_sample(in.sample);
}

void whitebalance_tables(const StageCall<Host>& call, const Band&) {
  visit_sample(call.in.type.sample, [&]<class T>(T) {
    for (int c = 0; c < call.in.type.color_channels; ++c) make_table<T>(call, c);
  });
}

void whitebalance_reference(const StageCall<Host>& call) {
  visit_sample(call.in.type.sample, [&]<class T>(T) {
    for (int c = 0; c < call.in.type.color_channels; ++c) balance_plane<T>(call, c);
  });
}

}  // namespace imgpipe
