#include "tests/support/second_images.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <mutex>
#include <span>
#include <tuple>

#include "images/image.h"
#include "kernels/icc/icc.h"
#include "kernels/stage.h"
#include "pipeline/color_profiles.h"
#include "pipeline/plan.h"
#include "pipeline/second_images.h"
#include "tests/support/profiles.h"

namespace imgpipe::test {
namespace {

// Zeros are frequent, because divide treats them separately.
template <class T>
void fill(const Plane<T, Host>& plane) {
  for (std::int64_t y = 0; y < plane.height; ++y) {
    for (std::int64_t i = 0; i < plane.row_samples(); ++i) {
      const std::int64_t x = i / plane.channels, c = i % plane.channels;
      const std::int64_t value = 11 * x + 57 * y + 29 * x * y + 101 * c;
      if constexpr (kIsFloat<T>) {
        plane.row(y)[i] = static_cast<float>(value % 257 - 64) / 128;
      } else {
        plane.row(y)[i] = static_cast<T>(value % 5 == 0 ? 0 : value * (kIsWide<T> ? 40503 : 1));
      }
    }
  }
}

Image pattern(const Shape& shape) {
  Image image(shape);
  if (is_float(shape.sample)) {
    fill(image.untyped_view().as<float>());
  } else {
    visit_sample(shape.sample, [&]<class T>(T) { fill(image.untyped_view().as<T>()); });
  }
  return image;
}

std::shared_ptr<const SecondImage> grid_table(std::int32_t points) {
  IccHead head;
  head.rule = IccRule::grid;
  head.inputs = 3;
  head.points = points;
  auto made = std::make_shared<SecondImage>(SecondImage{.name = "grid"});
  made->planes.resize(sizeof head);
  std::memcpy(made->planes.data(), &head, sizeof head);
  for (std::int32_t i = 0; i < 3 * points * points * points; ++i) {
    const auto node = static_cast<std::uint16_t>(i * i * 7919 + i * 40503);
    made->planes.push_back(static_cast<std::byte>(node & 0xFF));
    made->planes.push_back(static_cast<std::byte>(node >> 8));
  }
  return made;
}

std::shared_ptr<const SecondImage> profile_table_of(std::string_view name, int color_channels) {
  static const auto grey = profile_table(make_profile("GRAY", {{"kTRC", curve({563})}}), 0);
  static const auto matrix = profile_table(adobe_profile(), 0);
  static const auto grid = grid_table(4), cube = grid_table(2);
  return color_channels == 1 ? grey : name == "matrix" ? matrix : name == "grid" ? grid : cube;
}

}  // namespace

bool is_profile_table(std::string_view name) {
  return std::ranges::find(kProfileTables, name) != kProfileTables.end();
}

std::shared_ptr<const SecondImage> named_profile_table(const Stage& stage, const Parameters& parameters) {
  if (stage.name != "icc") return nullptr;
  const std::string_view name = kProfileTables[static_cast<std::size_t>(parameters[1])];
  return std::make_shared<const SecondImage>(SecondImage{.name = std::string(name)});
}

std::shared_ptr<const SecondImage> second_image(const std::string& name, const FrameType& in) {
  if (is_profile_table(name)) return profile_table_of(name, in.color_channels);
  using Key = std::tuple<std::string, std::int64_t, std::int64_t, int, Sample>;
  static std::mutex mutex;
  static std::map<Key, std::shared_ptr<const SecondImage>> made;
  Shape shape{in.width, in.height, in.color_channels, in.sample};
  if (name == "grey") shape.channels = 1;
  if (name == "map") shape = {256, 1, 3, Sample::u8};
  if (name == "tall") shape = {1, 256, 1, Sample::u8};
  if (name == "logo") shape = {7, 5, in.color_channels + 1, in.sample};
  const std::lock_guard lock(mutex);
  std::shared_ptr<const SecondImage>& image =
      made[{name, shape.width, shape.height, shape.channels, shape.sample}];
  if (!image) image = make_second_image(name, pattern(shape).untyped_view());
  return image;
}

Parameters with_second_image(Parameters parameters, const FrameType& in) {
  if (parameters.image != nullptr) parameters.image = second_image(parameters.image->name, in).get();
  return parameters;
}

std::vector<StageRequest> steps_for(std::string_view list, const Shape& input) {
  return steps_for(parse_stages(list), input);
}

std::vector<StageRequest> steps_for(std::vector<StageRequest> steps, const Shape& input) {
  for (std::size_t i = 0; i < steps.size(); ++i) {
    StageRequest& step = steps[i];
    if (!step.image) step.image = named_profile_table(*step.stage, step.parameters);
    if (!step.image) continue;
    const Plan before = make_plan(std::span(steps).first(i), input);
    step.image = second_image(step.image->name, frame_type_of(before.output));
    step.parameters.image = step.image.get();
  }
  return steps;
}

}  // namespace imgpipe::test
