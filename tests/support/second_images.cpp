#include "tests/support/second_images.h"

#include <map>
#include <mutex>
#include <span>
#include <tuple>

#include "images/image.h"
#include "pipeline/plan.h"
#include "pipeline/second_images.h"

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

}  // namespace

std::shared_ptr<const SecondImage> second_image(const std::string& name, const FrameType& in) {
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
    if (!step.image) continue;
    const Plan before = make_plan(std::span(steps).first(i), input);
    step.image = second_image(step.image->name, frame_type_of(before.output));
    step.parameters.image = step.image.get();
  }
  return steps;
}

}  // namespace imgpipe::test
