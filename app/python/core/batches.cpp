// Batches of a pipeline on the host.
#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>

#include "app/python/core/batch_sources.h"
#include "app/python/core/idle_threads.h"
#include "app/python/core/pipelines.h"
#include "app/python/core/result_arrays.h"
#include "app/python/core/without_gil.h"
#include "images/error.h"
#include "pipeline/jobs/array_batch.h"

namespace imgpipe::python {
namespace {

// Returns the exceptions by source, or None if all succeeded.
nb::object exceptions_of(const BatchedArrays& batch, const BatchSources& sources, bool with_index) {
  if (std::ranges::none_of(batch.items, [](const BatchedArray& item) { return item.error.has_value(); }))
    return nb::none();
  nb::list errors;
  for (std::size_t i = 0; i < batch.items.size(); ++i) {
    const auto& error = batch.items[i].error;
    errors.append(error ? sources.exception(i, *error, with_index) : nb::none());
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
  BatchOptions options{.stop_at_error = stop_at_error, .memory = result_memory()};
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
  without_gil([&] {
    // `auto` would choose a device for each image.
    const ThreadsLease lease(device_ == "auto" ? "cpu" : device_, threads_);
    *batch = run_array_batch(items.items(), plans_, decode_, *lease, options);
  });
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
