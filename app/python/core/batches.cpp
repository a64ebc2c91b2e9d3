// Batches of a pipeline on the host.
#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include "app/python/core/arrays.h"
#include "app/python/core/idle_threads.h"
#include "app/python/core/opened_image.h"
#include "app/python/core/pipelines.h"
#include "app/python/core/result_arrays.h"
#include "app/python/core/sources.h"
#include "images/error.h"
#include "pipeline/jobs/array_batch.h"

namespace imgpipe::python {
namespace {

// The sources of a batch, with the Python objects that they read from.
class BatchSources {
 public:
  BatchSources(nb::list objects, const std::optional<Pipeline::Boxes>& boxes,
               const std::optional<Pipeline::Flips>& flips) {
    for (std::size_t i = 0; i < objects.size(); ++i) {
      ArraySource& item = items_.emplace_back(has_pixels(objects[i]) ? pixels(objects[i]) : file(objects[i]));
      if (boxes) item.box = Box{(*boxes)(i, 0), (*boxes)(i, 1), (*boxes)(i, 2), (*boxes)(i, 3)};
      if (flips) item.flip = (*flips)(i);
    }
  }

  [[nodiscard]] const std::vector<ArraySource>& items() const { return items_; }
  [[nodiscard]] const std::string& name(std::size_t i) const {
    static const std::string none;
    const auto file = files_.find(i);
    return file == files_.end() ? none : file->second.name;
  }
  // The exception of a file object that could not be read; invalid if there is none.
  [[nodiscard]] nb::object raised(std::size_t i) const {
    const auto found = raised_.find(i);
    return found == raised_.end() ? nb::object() : found->second;
  }

 private:
  ArraySource pixels(nb::handle object) { return {.pixels = arrays_.emplace_back(object).view()}; }

  ArraySource file(nb::handle object) {
    const std::size_t i = items_.size();
    try {
      const Source& source =
          files_.emplace(i, Source::from(object, "sources[" + std::to_string(i) + "]")).first->second;
      return {.open = [&source](const DecodeOptions& options) { return source.open(options); }};
    } catch (nb::python_error& error) {
      if (!error.matches(PyExc_Exception) || error.matches(PyExc_TypeError)) throw;
      raised_[i] = nb::borrow(error.value());
    }
    return {.open = [](const DecodeOptions&) -> std::unique_ptr<Reader> {
      throw Error(ErrorKind::input, "cannot be read");
    }};
  }

  std::deque<ImageArray> arrays_;
  std::map<std::size_t, Source> files_;
  std::map<std::size_t, nb::object> raised_;
  std::vector<ArraySource> items_;
};

// Returns the exceptions by source, or None if all succeeded.
nb::object exceptions_of(const BatchedArrays& batch, const BatchSources& sources, bool with_index) {
  if (std::ranges::none_of(batch.items, [](const BatchedArray& item) { return item.error.has_value(); }))
    return nb::none();
  nb::list errors;
  for (std::size_t i = 0; i < batch.items.size(); ++i) {
    const auto& error = batch.items[i].error;
    nb::object exception = sources.raised(i);
    if (!error)
      exception = nb::none();
    else if (!exception.is_valid())
      exception = exception_of_source(*error, sources.name(i), with_index ? std::optional(i) : std::nullopt);
    errors.append(exception);
  }
  return errors;
}

nb::list separate_arrays(std::shared_ptr<BatchedArrays> batch) {
  nb::list arrays;
  for (BatchedArray& item : batch->items) {
    if (item.pixels.empty()) {
      arrays.append(nb::none());
    } else if (item.memory.empty()) {
      arrays.append(new_array(item.pixels.data, item.type, batch));
    } else {
      auto memory = std::make_shared<Image>(std::move(item.memory));
      arrays.append(new_array(item.pixels.data, item.type, std::move(memory)));
    }
  }
  return arrays;
}

}  // namespace

nb::tuple Pipeline::batch(nb::list sources, const std::optional<Boxes>& boxes,
                          const std::optional<Flips>& flips, nb::handle out, bool stop_at_error) {
  const BatchSources items(std::move(sources), boxes, flips);
  std::optional<OutArray> given, regular;
  BatchOptions options{.stop_at_error = stop_at_error};
  if (!out.is_none()) {
    given.emplace(out, true);
    if (given->items() != items.items().size())
      throw nb::value_error(("out: expected a row per source, " + std::to_string(items.items().size()) +
                             ", got " + std::to_string(given->items()))
                                .c_str());
    options.target = given->target(plans_.channels_first());
    if (!options.target)
      options.target = regular.emplace(given->like(), true).target(plans_.channels_first());
  }
  auto batch = std::make_shared<BatchedArrays>();
  {
    const nb::gil_scoped_release others_run;
    // `auto` would choose a device for each image.
    const ThreadsLease lease(device_ == "auto" ? "cpu" : device_, threads_);
    *batch = run_array_batch(items.items(), plans_, decode_, *lease, options);
  }
  for (std::size_t i = 0; i < batch->items.size(); ++i)
    warn_of_damage(items.name(i), batch->items[i].warnings);
  nb::object errors = exceptions_of(*batch, items, stop_at_error);
  if (given) {
    if (regular) given->copy(regular->object());
    return nb::make_tuple(given->object(), errors);
  }
  if (!batch->type) return nb::make_tuple(separate_arrays(std::move(batch)), errors);
  std::byte* const data = batch->rows.untyped_view().data;
  const ArrayType type = *batch->type;
  return nb::make_tuple(new_array(data, type, std::move(batch), items.items().size()), errors);
}

}  // namespace imgpipe::python
