#include <algorithm>

#include "kernels/resize/float_axis.h"
#include "kernels/resize/resize.h"
#include "kernels/shared/float_environment.h"

namespace imgpipe {
namespace {

// ---- one axis ---------------------------------------------------------------------------------------

ResizeAxis rows_of(const FrameType& in, const Parameters& parameters) {
  return {in.height, resize_output(in, parameters).height};
}

// Returns the input pixels that output pixels first..end-1 need, and a few more; 0 <= first < end <=
// axis.out. Multiplies instead of accumulating the steps, which would take time proportional to the height
// for each band. The results differ by less than `margin`, which is 1 for every real image.
RowRange nearest_needs(const ResizeAxis& axis, const RowRange& out) {
  const double step = nearest_step(axis);
  const double max_off = static_cast<double>(out.end) * static_cast<double>(axis.in) * 0x1p-52;
  const std::int64_t margin = 1 + static_cast<std::int64_t>(max_off);
  const auto source = [&](std::int64_t y) {
    return static_cast<std::int64_t>((static_cast<double>(y) + 0.5) * step);
  };
  return {std::max<std::int64_t>(0, source(out.first) - margin),
          std::min<std::int64_t>(axis.in, source(out.end - 1) + 1 + margin)};
}

RowRange linear_needs(const ResizeAxis& axis, const RowRange& out, Sample sample) {
  const LinearSource last = linear_source(axis, out.end - 1, sample);
  return {linear_source(axis, out.first, sample).source, last.source + (last.share > 0 ? 2 : 1)};
}

RowRange area_needs(const ResizeAxis& axis, const RowRange& out) {
  const AreaUnits units = area_units(axis);
  const std::int64_t end = out.end * units.out_pixel;
  return {out.first * units.out_pixel / units.in_pixel, (end + units.in_pixel - 1) / units.in_pixel};
}

void prepare_axis(const ResizeAxis& axis, ResizeMethod method, Sample sample, std::int32_t* source,
                  std::int32_t* share) {
  std::fill_n(source, axis_entries(axis.out), 0);
  std::fill_n(share, axis_entries(axis.out), 0);
  const double step = nearest_step(axis);
  double centre = step / 2;
  const AreaUnits units = area_units(axis);
  for (std::int64_t x = 0; x < axis.out; ++x, centre += step) {
    LinearSource from;
    if (method == ResizeMethod::nearest) from.source = nearest_source(axis, centre);
    if (method == ResizeMethod::linear) from = linear_source(axis, x, sample);
    if (method == ResizeMethod::area) {
      from.source = x * units.out_pixel / units.in_pixel;
      from.share = static_cast<int>(x * units.out_pixel % units.in_pixel);
    }
    source[x] = static_cast<std::int32_t>(from.source);
    share[x] = from.share;
  }
  if (method == ResizeMethod::area) source[axis.out] = static_cast<std::int32_t>(axis.in);
}

// ---- one pixel --------------------------------------------------------------------------------------

template <class T>
T linear_pixel(const Plane<const T, Host>& in, const LinearSource& across, const LinearSource& down) {
  const std::int64_t right = across.source + (across.share > 0 ? 1 : 0);
  const std::int64_t below = down.source + (down.share > 0 ? 1 : 0);
  using Sum = LinearSum<T>;
  const auto row_value = [&](std::int64_t y) {
    return static_cast<Sum>(kLinearOne<T> - across.share) * in.row(y)[across.source] +
           static_cast<Sum>(across.share) * in.row(y)[right];
  };
  return linear_rounded<T>(static_cast<Sum>(kLinearOne<T> - down.share) * row_value(down.source) +
                           static_cast<Sum>(down.share) * row_value(below));
}

template <class T>
T area_pixel(const Plane<const T, Host>& in, std::int64_t x, std::int64_t y, const AreaUnits& across,
             const AreaUnits& down) {
  std::uint64_t sum = 0;
  for (std::int64_t j = y * down.out_pixel / down.in_pixel; j * down.in_pixel < (y + 1) * down.out_pixel;
       ++j) {
    for (std::int64_t i = x * across.out_pixel / across.in_pixel;
         i * across.in_pixel < (x + 1) * across.out_pixel; ++i) {
      sum += static_cast<std::uint64_t>(in.row(j)[i] * area_covered(across, x, i) * area_covered(down, y, j));
    }
  }
  return rounded_mean<T>(sum, area_mean(across, down, sample_type_of<T>));
}

template <class T>
void resize_plane(const Plane<const T, Host>& in, const Plane<T, Host>& out, ResizeMethod method,
                  const ResizeTables& tables) {
  const AreaUnits across = area_units({in.width, out.width});
  const AreaUnits down = area_units({in.height, out.height});
  for (std::int64_t y = 0; y < out.height; ++y) {
    const LinearSource from_y{tables.down.source[y], tables.down.share[y]};
    for (std::int64_t x = 0; x < out.width; ++x) {
      const LinearSource from_x{tables.across.source[x], tables.across.share[x]};
      switch (method) {
        case ResizeMethod::linear:
          out.row(y)[x] = linear_pixel(in, from_x, from_y);
          break;
        case ResizeMethod::area:
          out.row(y)[x] = area_pixel(in, x, y, across, down);
          break;
        case ResizeMethod::nearest:
          out.row(y)[x] = in.row(from_y.source)[from_x.source];
          break;
        case ResizeMethod::box:
        case ResizeMethod::bilinear:
        case ResizeMethod::hamming:
        case ResizeMethod::bicubic:
        case ResizeMethod::lanczos:
          unreachable();
      }
    }
  }
}

template <class T>
void resize(const StageCall<Host>& call) {
  const ResizeParameters parameters(call.parameters);
  const FrameType& type = call.out.type;
  const ResizeTables tables = resize_tables(call.table.as<std::int32_t>(), type.width, type.height);
  for (int c = 0; c < type.channels(); ++c) {
    const std::size_t plane = plane_of_channel(type, c);
    resize_plane<T>(call.in.plane<T>(plane), call.out.plane<T>(plane), parameters.method, tables);
  }
}

// ---- floats -----------------------------------------------------------------------------------------

float linear_float(const Plane<const float, Host>& in, const LinearSource& across, const LinearSource& down) {
  const float share_x = float_of_bits(static_cast<std::uint32_t>(across.share));
  const float share_y = float_of_bits(static_cast<std::uint32_t>(down.share));
  const auto row_value = [&](std::int64_t y) {
    const float* at = in.row(y) + across.source;
    return float_blended(at[0], share_x > 0 ? at[1] : 0.0F, share_x);
  };
  return canonical(
      float_blended(row_value(down.source), share_y > 0 ? row_value(down.source + 1) : 0.0F, share_y));
}

// Returns the mean of value(i) over the input pixels i that output pixel x covers on an axis.
template <class Value>
float mean_over(const AreaUnits& units, std::int64_t x, const Value& value) {
  const auto whole = static_cast<float>(units.in_pixel);
  std::int64_t i = x * units.out_pixel / units.in_pixel;
  const auto weighed = [&] { return static_cast<float>(area_covered(units, x, i)) / whole * value(i); };
  float sum = weighed();
  for (++i; i * units.in_pixel < (x + 1) * units.out_pixel; ++i) sum += weighed();
  return sum / (static_cast<float>(units.out_pixel) / whole);
}

float area_float(const Plane<const float, Host>& in, std::int64_t x, std::int64_t y, const AreaUnits& across,
                 const AreaUnits& down) {
  return canonical(mean_over(across, x, [&](std::int64_t i) {
    return mean_over(down, y, [&](std::int64_t j) { return in.row(j)[i]; });
  }));
}

void resize_floats(const Plane<const float, Host>& in, const Plane<float, Host>& out, ResizeMethod method,
                   const ResizeTables& tables) {
  const AreaUnits across = area_units({in.width, out.width});
  const AreaUnits down = area_units({in.height, out.height});
  for (std::int64_t y = 0; y < out.height; ++y) {
    const LinearSource from_y{tables.down.source[y], tables.down.share[y]};
    for (std::int64_t x = 0; x < out.width; ++x) {
      const LinearSource from_x{tables.across.source[x], tables.across.share[x]};
      switch (method) {
        case ResizeMethod::linear:
          out.row(y)[x] = linear_float(in, from_x, from_y);
          break;
        case ResizeMethod::area:
          out.row(y)[x] = area_float(in, x, y, across, down);
          break;
        case ResizeMethod::nearest:
          out.row(y)[x] = in.row(from_y.source)[from_x.source];
          break;
        case ResizeMethod::box:
        case ResizeMethod::bilinear:
        case ResizeMethod::hamming:
        case ResizeMethod::bicubic:
        case ResizeMethod::lanczos:
          unreachable();
      }
    }
  }
}

}  // namespace

RowRange resize_needs(const FrameType& in, const Parameters& parameters, RowRange out) {
  const ResizeAxis axis = rows_of(in, parameters);
  if (out.count() <= 0) {
    const std::int64_t at =
        out.first < axis.out ? resize_needs(in, parameters, {out.first, out.first + 1}).first : axis.in;
    return {at, at};
  }
  const FloatEnvironment environment;
  const ResizeMethod method = ResizeParameters(parameters).method;
  if (is_filter(method)) {
    const Resampling resampling = resampling_of(in, parameters);
    return filter_needs(resampling.down, resampling.filter, out);
  }
  if (method == ResizeMethod::linear) return linear_needs(axis, out, in.sample);
  return method == ResizeMethod::area ? area_needs(axis, out) : nearest_needs(axis, out);
}

std::int64_t resize_table_bytes(const FrameType& in, const Parameters& parameters) {
  const FloatEnvironment environment;
  if (is_filter(ResizeParameters(parameters).method))
    return filter_table_bytes(resampling_of(in, parameters), in.sample);
  const FrameType out = resize_output(in, parameters);
  return 2 * (axis_entries(out.width) + axis_entries(out.height)) *
         static_cast<std::int64_t>(sizeof(std::int32_t));
}

void resize_table(const StageCall<Host>& call, const Band&) {
  const FloatEnvironment environment;
  const FrameType& in = call.in.type;
  const FrameType out = resize_output(in, call.parameters);
  const ResizeMethod method = ResizeParameters(call.parameters).method;
  if (is_filter(method)) {
    make_filter_table(resampling_of(in, call.parameters), in.sample, call.table.data);
    return;
  }
  auto* across = call.table.as<std::int32_t>();
  std::int32_t* down = across + 2 * axis_entries(out.width);
  prepare_axis({in.width, out.width}, method, in.sample, across, across + axis_entries(out.width));
  prepare_axis({in.height, out.height}, method, in.sample, down, down + axis_entries(out.height));
}

void resize_reference(const StageCall<Host>& call) {
  if (is_filter(ResizeParameters(call.parameters).method)) {
    resize_filter_reference(call);
    return;
  }
  visit_sample(call.in.type.sample, [&]<class T>(T) { resize<T>(call); });
}

void resize_f32_reference(const StageCall<Host>& call) {
  const ResizeParameters parameters(call.parameters);
  const FrameType& type = call.out.type;
  const ResizeTables tables = resize_tables(call.table.as<std::int32_t>(), type.width, type.height);
  for (int c = 0; c < type.channels(); ++c) {
    const std::size_t plane = plane_of_channel(type, c);
    resize_floats(call.in.plane<float>(plane), call.out.plane<float>(plane), parameters.method, tables);
  }
}

}  // namespace imgpipe
