#include "app/python/core/loaded_stages.h"

#include <algorithm>
#include <utility>

#include <nanobind/stl/string.h>

#include "app/python/core/arrays.h"
#include "app/python/core/decoding.h"
#include "app/python/core/errors.h"
#include "app/python/core/pipelines.h"
#include "app/python/core/sources.h"
#include "app/python/core/without_gil.h"
#include "images/error.h"
#include "images/text.h"
#include "pipeline/second_images.h"

namespace imgpipe::python {
namespace {

NamedImage image_of(nb::handle pair) {
  auto name = nb::cast<std::string>(pair[0]);
  const std::string argument = "images['" + printable(name) + "']";
  if (nb::isinstance<nb::bytes>(pair[1]))
    return {.name = std::move(name), .path = file_path(path_of(nb::cast<nb::bytes>(pair[1]), argument))};
  ImageArray array(pair[1], argument);
  const ConstHostView pixels = array.view();
  auto image = without_gil([&] { return make_second_image(name, pixels); });
  return {.name = std::move(name), .path = "", .image = std::move(image)};
}

// Adds the files that the steps name themselves.
void add_files(const std::vector<StageRequest>& steps, std::vector<NamedImage>& images) {
  for (const StageRequest& step : steps) {
    if (!step.image || std::ranges::count(images, step.image->name, &NamedImage::name) > 0) continue;
    check_no_null(step.image->name, "stages");
    images.push_back({.name = step.image->name, .path = file_path(step.image->name)});
  }
}

// Loads without the GIL. Returns the readers' warnings.
std::vector<std::string> load(std::vector<StageRequest>& steps, const std::vector<NamedImage>& images,
                              DecodeOptions decode) {
  const auto exception_for = [&](const Error& error) {
    const std::string message = error.what();
    const auto failed = std::ranges::find_if(images, [&](const NamedImage& image) {
      return !image.path.empty() && message.starts_with(printable(image.path) + ": ");
    });
    return exception_of(error, failed == images.end() ? "" : failed->path);
  };
  return without_gil(exception_for, [&] {
    return load_second_images(steps, {.named = images, .decode = std::move(decode)});
  });
}

}  // namespace

LoadedStages::LoadedStages(const std::string& text, const nb::list& images, const std::string& accept,
                           std::int64_t max_pixels)
    : steps(parse_stages(text)) {
  std::vector<NamedImage> named;
  for (const nb::handle pair : images) named.push_back(image_of(pair));
  add_files(steps, named);
  warn_of_damage("", load(steps, named, decode_options(accept, max_pixels)));
}

}  // namespace imgpipe::python
