#include "app/python/core/pipelines.h"

#include <cstddef>
#include <memory>
#include <utility>

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>

#include "app/python/core/arrays.h"
#include "app/python/core/bindings.h"
#include "app/python/core/decoding.h"
#include "app/python/core/devices.h"
#include "app/python/core/errors.h"
#include "app/python/core/idle_threads.h"
#include "app/python/core/opened_image.h"
#include "app/python/core/reports.h"
#include "app/python/core/result_arrays.h"
#include "app/python/core/without_gil.h"
#include "images/error.h"
#include "pipeline/device.h"

namespace imgpipe::python {
namespace {

int thread_count(const std::string& device, int threads) {
  const Runner checked({.device = device, .threads = threads});
  return threads > 0 ? threads : host_threads();
}

}  // namespace

std::optional<TensorLayout> layout_of(const std::optional<std::string>& name) {
  if (!name) return std::nullopt;
  return *name == "NCHW" ? TensorLayout::nchw : TensorLayout::nhwc;
}

Pipeline::Pipeline(const LoadedStages& stages, std::string device, int threads,
                   const std::optional<std::string>& layout, const std::string& accept,
                   std::int64_t max_pixels)
    : device_(std::move(device)),
      threads_(thread_count(device_, threads)),
      decode_(decode_options(accept, max_pixels)),
      plans_({.stages = stages.steps, .layout = layout_of(layout), .max_pixels = decode_.max_pixels}) {
  const auto sample = plans_.tensor_sample();
  if (sample && !device_.starts_with("cuda")) (void)dtype_of(*sample);
}

nb::object Pipeline::run_array(nb::handle array, nb::handle out) {
  return OpenedImage(*this, array, OpenedImage::Kind::pixels).run(threads_, out);
}

nb::tuple Pipeline::run_with_report(nb::handle array) {
  RunReport report;
  nb::object result = OpenedImage(*this, array, OpenedImage::Kind::pixels).run(threads_, nb::none(), &report);
  return nb::make_tuple(std::move(result), report_dict(report));
}

nb::object Pipeline::read(nb::handle source, nb::handle out) {
  return open(source)->run(threads_, out);
}

std::unique_ptr<OpenedImage> Pipeline::open(nb::handle source) {
  return std::make_unique<OpenedImage>(
      *this, source, has_pixels(source) ? OpenedImage::Kind::pixels : OpenedImage::Kind::file);
}

void warn_of_damage(const std::string& name, const std::vector<std::string>& warnings) {
  if (warnings.empty()) return;
  const nb::object category = nb::module_::import_("imgpipe._errors").attr("DamageWarning");
  for (const std::string& warning : warnings) {
    const std::string text = name.empty() ? warning : name + ": " + warning;
    if (PyErr_WarnEx(category.ptr(), text.c_str(), 2) != 0) throw nb::python_error();
  }
}

nb::object exception_of_source(const Error& error, const Source* source, std::optional<std::size_t> index) {
  const ErrorKind kind =
      source == nullptr && error.kind() == ErrorKind::input ? ErrorKind::usage : error.kind();
  const std::string name = source == nullptr ? "" : source->name;
  const std::string begin = kind == ErrorKind::input || name.empty() ? "" : name + ": ";
  return exception_of(Error(kind, begin + error.what()), name,
                      index ? " (sources[" + std::to_string(*index) + "])" : "");
}

void bind_pipelines(nb::module_& module) {
  prepare_for_forks();
  (void)result_memory();  // created by a single thread
  module.def(
      "trim_host",
      [] {
        without_gil([] {
          end_idle_threads();
          trim_result_memory();
        });
      },
      nb::sig("def trim_host() -> None"));
  nb::class_<OpenedImage>(module, "OpenedImage")
      .def("needed_bytes", &OpenedImage::needed_bytes, nb::arg("threads"))
      .def(
          "run", [](OpenedImage& image, int threads, nb::handle out) { return image.run(threads, out); },
          nb::arg("threads"), nb::arg("out") = nb::none(),
          nb::sig("def run(self, threads: int, out: object = None) -> typing.Any"));
  nb::class_<LoadedStages>(module, "Stages")
      .def(nb::init<const std::string&, const nb::list&, const std::string&, std::int64_t>(), nb::arg("text"),
           nb::arg("images"), nb::arg("accept"), nb::arg("max_pixels"),
           nb::sig("def __init__(self, text: str, images: list[tuple[str, typing.Any]], accept: str, "
                   "max_pixels: int) -> None"));
  nb::class_<Pipeline>(module, "Pipeline")
      .def(nb::init<const LoadedStages&, std::string, int, const std::optional<std::string>&,
                    const std::string&, std::int64_t>(),
           nb::arg("stages"), nb::arg("device"), nb::arg("threads"), nb::arg("layout").none(),
           nb::arg("accept"), nb::arg("max_pixels"))
      .def_prop_ro("threads", &Pipeline::threads)
      .def("run_array", &Pipeline::run_array, nb::arg("array").none(), nb::arg("out").none(),
           nb::sig("def run_array(self, array: object, out: object) -> typing.Any"))
      .def("run_with_report", &Pipeline::run_with_report, nb::arg("array").none(),
           nb::sig("def run_with_report(self, array: object) -> tuple[typing.Any, typing.Any]"))
      .def("read", &Pipeline::read, nb::arg("source").none(), nb::arg("out").none(),
           nb::sig("def read(self, source: object, out: object) -> typing.Any"))
      .def("open", &Pipeline::open, nb::arg("source").none(), nb::keep_alive<0, 1>())
      .def("convert", &Pipeline::convert, nb::arg("source").none(), nb::arg("path"), nb::arg("overwrite"),
           nb::arg("quality").none(), nb::arg("keep_metadata"),
           nb::sig("def convert(self, source: object, path: bytes, overwrite: bool, quality: int | None, "
                   "keep_metadata: bool) -> list[tuple[bool, str]]"))
      .def("batch", &Pipeline::batch, nb::arg("sources"), nb::arg("boxes").none(), nb::arg("flips").none(),
           nb::arg("out").none(), nb::arg("stop_at_error"),
           nb::sig("def batch(self, sources: list[typing.Any], boxes: object, flips: object, out: object, "
                   "stop_at_error: bool) -> tuple[typing.Any, list[Exception | None] | None]"));
}

}  // namespace imgpipe::python
