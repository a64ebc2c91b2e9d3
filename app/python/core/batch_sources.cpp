#include "app/python/core/batch_sources.h"

#include <memory>
#include <string>
#include <utility>

#include "app/python/core/opened_image.h"
#include "images/codecs/codec.h"

namespace imgpipe::python {
namespace {

std::string argument(std::size_t source) {
  return "sources[" + std::to_string(source) + "]";
}

ArraySource unreadable() {
  return {.open = [](const DecodeOptions&) -> std::unique_ptr<Reader> {
    throw Error(ErrorKind::input, "cannot be read");
  }};
}

}  // namespace

BatchSources::BatchSources(nb::list objects, const std::optional<Pipeline::Boxes>& boxes,
                           const std::optional<Pipeline::Flips>& flips, bool (*is_elsewhere)(nb::handle)) {
  for (std::size_t i = 0; i < objects.size(); ++i) {
    const nb::object object = objects[i];
    const bool elsewhere = is_elsewhere != nullptr && is_elsewhere(object);
    ArraySource& item = items_.emplace_back(elsewhere            ? ArraySource()
                                            : has_pixels(object) ? pixels(object)
                                                                 : file(object));
    if (boxes) item.box = Box{(*boxes)(i, 0), (*boxes)(i, 1), (*boxes)(i, 2), (*boxes)(i, 3)};
    if (flips) item.flip = (*flips)(i);
  }
}

const std::string& BatchSources::name(std::size_t i) const {
  static const std::string none;
  const auto found = files_.find(i);
  return found == files_.end() ? none : found->second.name;
}

nb::object BatchSources::exception(std::size_t i, const Error& error, bool with_index) const {
  if (const auto found = raised_.find(i); found != raised_.end()) return found->second;
  const auto file = files_.find(i);
  return exception_of_source(error, file == files_.end() ? nullptr : &file->second,
                             with_index ? std::optional(i) : std::nullopt);
}

ArraySource BatchSources::pixels(nb::handle object) {
  const std::size_t i = items_.size();
  try {
    return {.pixels = arrays_.emplace_back(object, argument(i)).view()};
  } catch (const nb::builtin_exception& error) {
    PyObject* const type =
        error.type() == nb::exception_type::type_error ? PyExc_TypeError : PyExc_ValueError;
    raised_[i] = nb::handle(type)(error.what());
  }
  return unreadable();
}

ArraySource BatchSources::file(nb::handle object) {
  const std::size_t i = items_.size();
  try {
    const Source& source = files_.emplace(i, Source::from(object, argument(i))).first->second;
    return {.open = [&source](const DecodeOptions& options) { return source.open(options); },
            .close = [&source] { source.close(); },
            .is_on_disk = [&source] { return source.is_on_disk(); }};
  } catch (nb::python_error& error) {
    if (!error.matches(PyExc_Exception) || error.matches(PyExc_TypeError)) throw;
    raised_[i] = nb::borrow(error.value());
  }
  return unreadable();
}

}  // namespace imgpipe::python
