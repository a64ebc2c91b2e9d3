// The size of the output, and the part of the input that it shows. The arithmetic of other libraries is that
// of Python: quotients are doubles, int() truncates, round() rounds half to even.
#include <algorithm>
#include <cmath>
#include <optional>

#include "kernels/resize/resize.h"
#include "kernels/shared/float_environment.h"

namespace imgpipe {
namespace {

struct Size {
  std::int64_t width, height;
};
struct Edges {
  std::int64_t shortest, longest;
};

std::int64_t round_half_even(double value) {
  return static_cast<std::int64_t>(std::nearbyint(value));
}

double quotient(std::int64_t a, std::int64_t b) {
  return static_cast<double>(a) / static_cast<double>(b);
}

// ---- proportions of the image -------------------------------------------------------------------------

// Returns side * to / from, rounded half up. All arguments are below 2^31, so 64 bits do not overflow.
std::int64_t in_proportion(std::int64_t side, std::int64_t to, std::int64_t from) {
  return (2 * side * to + from) / (2 * from);
}

// Returns a share of a side, given in millionths of a percent, rounded half up.
std::int64_t percent_of(std::int64_t side, std::int64_t percent) {
  constexpr std::int64_t kWhole = 100 * kDecimalOne;
  return side * (percent / kWhole) + (side * (percent % kWhole) + kWhole / 2) / kWhole;
}

Size inside(const Size& in, const Size& box) {
  // Whether the width is given, and the height follows from it.
  const bool both = box.width > 0 && box.height > 0;
  const bool by_width = both ? box.width * in.height <= box.height * in.width : box.width > 0;
  if (by_width) return {box.width, in_proportion(in.height, box.width, in.width)};
  return {in_proportion(in.width, box.height, in.height), box.height};
}

// ImageOps.contain; with `around`, ImageOps.cover.
Size contain(const Size& in, const Size& box, bool around = false) {
  const double in_ratio = quotient(in.width, in.height);
  const double box_ratio = quotient(box.width, box.height);
  if (in_ratio == box_ratio) return box;
  if ((in_ratio > box_ratio) != around)
    return {box.width, round_half_even(quotient(in.height, in.width) * static_cast<double>(box.width))};
  return {round_half_even(in_ratio * static_cast<double>(box.height)), box.height};
}

// ---- shortest and longest -----------------------------------------------------------------------------

// Quotients of integers are exact here: doubles would give the same, since the products are below 2^53.
Edges torchvision_edges(const Edges& in, const Edges& given) {
  if (given.shortest == 0) return {given.longest * in.shortest / in.longest, given.longest};
  const std::int64_t longest = given.shortest * in.longest / in.shortest;
  if (given.longest == 0 || longest <= given.longest) return {given.shortest, longest};
  return {given.longest * given.shortest / longest, given.longest};
}

Edges transformers_edges(const Edges& in, const Edges& given) {
  if (given.longest == 0) return torchvision_edges(in, given);
  if (given.shortest == 0) {
    const double scale = quotient(given.longest, in.longest);
    const auto scaled = [&](std::int64_t side) {
      // As in transformers. NOLINTNEXTLINE(bugprone-incorrect-roundings)
      return static_cast<std::int64_t>(static_cast<double>(side) * scale + 0.5);
    };
    return {scaled(in.shortest), scaled(in.longest)};
  }
  const auto shortest = static_cast<double>(in.shortest);
  const auto longest = static_cast<double>(in.longest);
  if (longest / shortest * static_cast<double>(given.shortest) <= static_cast<double>(given.longest))
    return given.shortest == in.shortest ? in : torchvision_edges(in, {given.shortest, 0});
  const double limited = static_cast<double>(given.longest) * shortest / longest;
  const std::int64_t rounded = round_half_even(limited);
  return rounded == in.shortest ? in
                                : Edges{rounded, static_cast<std::int64_t>(limited * longest / shortest)};
}

Edges pillow_edges(const Edges& in, const Edges& given) {
  const auto fitted = [&](std::int64_t side, bool around) {
    const Size size = contain({in.longest, in.shortest}, {side, side}, around);
    return Edges{size.height, size.width};
  };
  if (given.shortest > 0) {
    const Edges edges = fitted(given.shortest, true);
    if (given.longest == 0 || edges.longest <= given.longest) return edges;
  }
  return fitted(given.longest, false);
}

Edges edges_by(ResizeSizes sizes, const Edges& in, const Edges& given) {
  switch (sizes) {
    case ResizeSizes::transformers:
      return transformers_edges(in, given);
    case ResizeSizes::torchvision:
      return torchvision_edges(in, given);
    case ResizeSizes::pillow:
      return pillow_edges(in, given);
  }
  unreachable();
}

// ---- the output -----------------------------------------------------------------------------------------

Size size_of(const Size& in, const ResizeParameters& given) {
  if (given.percent > 0) return {percent_of(in.width, given.percent), percent_of(in.height, given.percent)};
  if (given.shortest > 0 || given.longest > 0) {
    const bool is_wide = in.width > in.height;
    const Edges sides = is_wide ? Edges{in.height, in.width} : Edges{in.width, in.height};
    const Edges edges = edges_by(given.sizes, sides, {given.shortest, given.longest});
    return is_wide ? Size{edges.longest, edges.shortest} : Size{edges.shortest, edges.longest};
  }
  const Size box{given.width, given.height};
  if (given.width == 0 || given.height == 0) return inside(in, box);
  switch (given.fit) {
    case ResizeFit::exact:
    case ResizeFit::cover:
      return box;
    case ResizeFit::inside:
      return inside(in, box);
    case ResizeFit::contain:
      return contain(in, box);
  }
  unreachable();
}

// The part of the input that becomes the output. Pillow stores the edges as floats.
struct Box {
  float left, top, right, bottom;
};

// Returns the whole input or, for `cover`, its largest centred part with the output's proportions
// (ImageOps.fit).
Box box_of(const Size& in, const ResizeParameters& given) {
  const auto width = static_cast<double>(in.width);
  const auto height = static_cast<double>(in.height);
  double box_width = width;
  double box_height = height;
  if (given.fit == ResizeFit::cover) {
    const double in_ratio = width / height;
    const double out_ratio = quotient(given.width, given.height);
    if (in_ratio > out_ratio) box_width = out_ratio * height;
    if (in_ratio < out_ratio) box_height = width / out_ratio;
  }
  const double left = (width - box_width) * 0.5;
  const double top = (height - box_height) * 0.5;
  return {static_cast<float>(left), static_cast<float>(top), static_cast<float>(left + box_width),
          static_cast<float>(top + box_height)};
}

}  // namespace

std::string_view resize_problem(const Parameters& parameters) {
  const ResizeParameters given(parameters);
  const bool sides = given.width > 0 || given.height > 0;
  const bool edges = given.shortest > 0 || given.longest > 0;
  const bool percent = given.percent > 0;
  const bool on_canvas = given.fit == ResizeFit::cover || given.fit == ResizeFit::contain;
  if (!sides && !edges && !percent)
    return "expected a size: WxH, width=N, height=N, shortest=N, longest=N or N%";
  if (sides && edges) return "width and height cannot be combined with shortest and longest; remove one pair";
  if (percent && (sides || edges)) return "N% cannot be combined with another size; remove one";
  if (on_canvas && (given.width == 0 || given.height == 0))
    return "fit=cover and fit=contain need a width and a height, such as 640x480";
  if (given.fit != ResizeFit::exact && !sides) return "fit needs a width and a height, such as 640x480";
  if (given.sizes != ResizeSizes::transformers && !edges) return "sizes needs shortest=N or longest=N";
  if (given.sizes == ResizeSizes::torchvision && given.longest > 0 && given.longest <= given.shortest)
    return "sizes=torchvision needs a longest above shortest";
  if (given.background != ResizeParameters::kNoBackground && given.fit != ResizeFit::contain)
    return "background needs fit=contain";
  if (is_filter(given.method)) return "";
  if (given.fit == ResizeFit::cover)
    return "fit=cover needs a filter: method=box, bilinear, hamming, bicubic or lanczos";
  if (given.rule != FilterRule::pillow13)
    return "rule needs a filter: method=box, bilinear, hamming, bicubic or lanczos";
  return "";
}

std::string_view resize_skip_reason(const FrameType& in, const Parameters& parameters) {
  const FrameType out = resize_output(in, parameters);
  if (out.width != in.width || out.height != in.height) return "";
  return ResizeParameters(parameters).fit == ResizeFit::contain ? "the image already fits the canvas"
                                                                : "the image already has that size";
}

FrameType resize_output(const FrameType& in, const Parameters& parameters) {
  const FloatEnvironment environment;
  const Size size = size_of({in.width, in.height}, ResizeParameters(parameters));
  FrameType out = in;
  out.width = std::clamp<std::int64_t>(size.width, 1, kMaxSide);
  out.height = std::clamp<std::int64_t>(size.height, 1, kMaxSide);
  return out;
}

Resampling resampling_of(const FrameType& in, const Parameters& parameters) {
  const FloatEnvironment environment;
  const ResizeParameters given(parameters);
  const std::optional<Filter> filter = filter_of(given.method);
  if (!filter) unreachable();
  const FrameType out = resize_output(in, parameters);
  const Box box = box_of({in.width, in.height}, given);
  return {{in.width, out.width, box.left, box.right},
          {in.height, out.height, box.top, box.bottom},
          *filter,
          given.rule};
}

bool resize_rgb_on_cpu(const FrameType& in, const Parameters& parameters) {
  const ResizeMethod method = ResizeParameters(parameters).method;
  if (method == ResizeMethod::nearest) return true;
  const FrameType out = resize_output(in, parameters);
  const bool halves = in.width == 2 * out.width && in.height == 2 * out.height;
  return (method == ResizeMethod::linear || (method == ResizeMethod::area && halves)) &&
         as_one_plane(in).width <= kMaxSide;
}

std::string_view resize_infer(const FrameType& in, const Parameters& parameters, FrameType& out) {
  out = resize_output(in, parameters);
  // No kernel reads floats and writes u16, so the planner refuses floats and names the depths.
  if (is_float(in.sample) && is_filter(ResizeParameters(parameters).method)) out.sample = Sample::u16;
  return {};
}

}  // namespace imgpipe
