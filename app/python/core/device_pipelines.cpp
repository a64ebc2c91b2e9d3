// imgpipe._core.DevicePipeline: the stages of a pipeline on a CUDA device, where the results stay.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "app/python/core/batch_sources.h"
#include "app/python/core/bindings.h"
#include "app/python/core/decoding.h"
#include "app/python/core/device_arrays.h"
#include "app/python/core/devices.h"
#include "app/python/core/pipelines.h"
#include "app/python/core/without_gil.h"
#include "images/error.h"
#include "images/rounded_up.h"
#include "pipeline/device.h"
#include "pipeline/jobs/lane_batches.h"

namespace imgpipe::python {
namespace {

// A result of a list begins on this boundary.
constexpr std::int64_t kResultBoundary = 256;

std::vector<std::int64_t> shape_of(const ArrayType& type) {
  return {type.axes().begin(), type.axes().end()};
}

// The results of a batch: one array, or one for each image if their types differ.
class BatchResults {
 public:
  BatchResults(DeviceSession& session, std::vector<LaneBatchImage>& images, const DeviceInput* out)
      : session_(session), images_(images), out_(out) {}

  // Called without the GIL once all images are planned.
  void allocate() {
    const ArrayType* first = nullptr;
    bool same = true;
    for (const LaneBatchImage& image : images_) {
      if (!image.plan) continue;
      if (first == nullptr) first = &image.plan->result;
      same = same && image.plan->result == *first;
    }
    if (first == nullptr) return;
    if (out_ != nullptr) {
      use_out(*first, same);
    } else {
      for (LaneBatchImage& image : images_) {
        const std::int64_t each = same         ? first->frame.bytes()
                                  : image.plan ? image.plan->result.frame.bytes()
                                               : 0;
        starts_.push_back(bytes_);
        bytes_ += same ? each : rounded_up(each, kResultBoundary);
      }
      block_ = session_.results->take(static_cast<std::size_t>(bytes_));
      data_ = block_->data();
    }
    if (same) stacked_ = *first;
    for (std::size_t i = 0; i < images_.size(); ++i) {
      if (images_[i].plan) images_[i].result = data_ + starts_[i];
    }
  }

  // Clears the rows of failed images. Called without the GIL.
  void clear_failed() {
    if (out_ != nullptr && !stacked_ && !images_.empty())
      session_.results->clear(out_->data, static_cast<std::size_t>(out_->bytes()));
    if (!stacked_) return;
    for (std::size_t i = 0; i < images_.size(); ++i) {
      if (images_[i].error)
        session_.results->clear(data_ + starts_[i], static_cast<std::size_t>(stacked_->frame.bytes()));
    }
  }

  // Returns one DeviceResult, a list of them with None for failed images, or None if `out` has the results.
  [[nodiscard]] nb::object result() const {
    if (stacked_ && out_ == nullptr) {
      std::vector<std::int64_t> shape = shape_of(*stacked_);
      shape.insert(shape.begin(), static_cast<std::int64_t>(images_.size()));
      return nb::cast(DeviceResult{block_, &session_, data_, std::move(shape), stacked_->sample});
    }
    if (out_ != nullptr) return nb::none();
    nb::list all;
    for (std::size_t i = 0; i < images_.size(); ++i) {
      if (images_[i].error) {
        all.append(nb::none());
        continue;
      }
      const ArrayType& type = images_[i].plan->result;
      all.append(DeviceResult{block_, &session_, data_ + starts_[i], shape_of(type), type.sample});
    }
    return all;
  }

 private:
  void use_out(const ArrayType& type, bool same) {
    std::vector<std::int64_t> wanted = shape_of(type);
    wanted.insert(wanted.begin(), static_cast<std::int64_t>(images_.size()));
    if (!same) throw Error(ErrorKind::usage, "out: the results have different shapes");
    if (out_->shape != wanted || out_->sample != type.sample) {
      std::string text;
      for (const std::int64_t side : wanted) text += (text.empty() ? "" : ", ") + std::to_string(side);
      throw Error(ErrorKind::usage, "out: expected the shape and type of the results, (" + text + ") of " +
                                        std::string(sample_name(type.sample)));
    }
    data_ = out_->data;
    for (std::size_t i = 0; i < images_.size(); ++i)
      starts_.push_back(static_cast<std::int64_t>(i) * type.frame.bytes());
  }

  DeviceSession& session_;
  std::vector<LaneBatchImage>& images_;
  const DeviceInput* out_;
  std::shared_ptr<ResultBlock> block_;
  std::byte* data_ = nullptr;
  std::int64_t bytes_ = 0;
  std::vector<std::int64_t> starts_;
  std::optional<ArrayType> stacked_;
};

bool is_on_device(nb::handle source) {
  return nb::isinstance<DeviceInput>(source);
}

// Returns produce(stream), after the work that it ordered on the stream is done.
nb::object from_producer(const std::string& device, const nb::callable& produce) {
  ResultMemory& results = *without_gil([&] { return &device_session(device); })->results;
  const std::shared_ptr<const StreamHandle> stream = without_gil([&] { return results.make_stream(); });
  nb::object made = produce(*stream);
  without_gil([&] { results.wait_for(*stream); });
  return made;
}

class DevicePipeline {
 public:
  DevicePipeline(const LoadedStages& stages, std::string device, int threads,
                 const std::optional<std::string>& layout, const std::string& accept, std::int64_t max_pixels,
                 bool orient)
      : device_(std::move(device)),
        threads_(threads),
        decode_(decode_options(accept, max_pixels)),
        plans_({.stages = stages.steps,
                .layout = layout_of(layout),
                .max_pixels = decode_.max_pixels,
                .fuse = true}) {
    decode_.orient = orient;
  }

  // Returns the results and the exceptions by source, or None if all succeeded. Sources on the device are
  // DeviceInputs, whose producers' work is complete, as is `out`.
  [[nodiscard]] nb::tuple batch(nb::list sources, const std::optional<Pipeline::Boxes>& boxes,
                                const std::optional<Pipeline::Flips>& flips, const DeviceInput* out,
                                bool with_index) {
    DeviceSession* const session = without_gil([this] {
      DeviceSession& used = device_session(device_);
      used.results->settle();
      return &used;
    });
    const BatchSources items(sources, boxes, flips, &is_on_device);
    std::vector<LaneBatchImage> images(items.items().size());
    for (std::size_t i = 0; i < images.size(); ++i) {
      images[i].source = items.items()[i];
      if (is_on_device(sources[i]))
        images[i].device_pixels = nb::cast<const DeviceInput&>(sources[i]).image(session->index);
    }
    if (out != nullptr) out->check_contiguous("out");
    BatchResults results(*session, images, out);
    without_gil([&] {
      session->lanes->run(images, {.decode = decode_,
                                   .plans = &plans_,
                                   .allocate = [&] { results.allocate(); },
                                   .threads = threads_});
      results.clear_failed();
    });
    bool failed = false;
    nb::list errors;
    for (std::size_t i = 0; i < images.size(); ++i) {
      const std::optional<Error>& error = images[i].error;
      failed = failed || error;
      errors.append(error ? items.exception(i, *error, with_index) : nb::none());
      warn_of_damage(items.name(i), images[i].warnings);
    }
    return nb::make_tuple(results.result(), failed ? nb::object(errors) : nb::none());
  }

 private:
  const std::string device_;
  const int threads_;
  DecodeOptions decode_;
  ArrayPlans plans_;
};

}  // namespace

void bind_devices(nb::module_& module) {
  module.def("device_memory_limit", &device_memory_limit);
  module.def("set_device_memory_limit", &set_device_memory_limit, nb::arg("bytes"),
             nb::call_guard<nb::gil_scoped_release>());
  module.def("trim_devices", &trim_devices, nb::call_guard<nb::gil_scoped_release>());
  module.def(
      "device_index", [](const std::string& device) { return device_session(device).index; },
      nb::arg("device"), nb::call_guard<nb::gil_scoped_release>());
  module.def(
      "from_producer", &from_producer, nb::arg("device"), nb::arg("produce"),
      nb::sig("def from_producer(device: str, produce: typing.Callable[[int], typing.Any]) -> typing.Any"));
  module.def(
      "is_on_device",
      [](const std::string& device, std::uintptr_t data) {
        return device_session(device).results->holds(reinterpret_cast<const void*>(data));
      },
      nb::arg("device"), nb::arg("data"), nb::call_guard<nb::gil_scoped_release>());
  module.def(
      "wait_for_stream",
      [](const std::string& device, StreamHandle stream) {
        device_session(device).results->wait_for(stream);
      },
      nb::arg("device"), nb::arg("stream"), nb::call_guard<nb::gil_scoped_release>());
  nb::class_<DeviceInput>(module, "DeviceInput")
      .def(nb::init<nb::ndarray<nb::ro>, const std::string&>(), nb::arg("array"), nb::arg("argument"),
           nb::sig("def __init__(self, array: object, argument: str) -> None"))
      .def_static("writable", &DeviceInput::writable, nb::arg("array"), nb::arg("argument"),
                  nb::sig("def writable(array: object, argument: str) -> DeviceInput"))
      .def(nb::init<nb::object, std::uintptr_t, std::vector<std::int64_t>, std::vector<std::int64_t>,
                    const std::string&, int, const std::string&>(),
           nb::arg("owner"), nb::arg("data"), nb::arg("shape"), nb::arg("strides"), nb::arg("type"),
           nb::arg("device"), nb::arg("argument"));
  nb::class_<DeviceResult>(module, "DeviceResult")
      .def_prop_ro(
          "shape", [](const DeviceResult& result) { return nb::tuple(nb::cast(result.shape)); },
          nb::sig("def shape(self) -> tuple[int, ...]"))
      .def_prop_ro("dtype", &DeviceResult::dtype)
      .def_prop_ro("data",
                   [](const DeviceResult& result) { return reinterpret_cast<std::uintptr_t>(result.data); })
      .def_prop_ro("device_index", [](const DeviceResult& result) { return result.session->index; })
      .def_prop_ro("interface_type", &DeviceResult::interface_type,
                   nb::sig("def interface_type(self) -> str | None"))
      .def("at", &DeviceResult::at, nb::arg("i"))
      .def("slice", &DeviceResult::slice, nb::arg("first"), nb::arg("count"))
      .def("expanded", &DeviceResult::expanded)
      .def("array", &DeviceResult::array, nb::sig("def array(self) -> typing.Any"))
      .def("download", &DeviceResult::download, nb::arg("to"),
           nb::sig("def download(self, to: object) -> None"))
      .def("compact", &DeviceResult::compact, nb::arg("indices"));
  nb::class_<DevicePipeline>(module, "DevicePipeline")
      .def(nb::init<const LoadedStages&, std::string, int, const std::optional<std::string>&,
                    const std::string&, std::int64_t, bool>(),
           nb::arg("stages"), nb::arg("device"), nb::arg("threads"), nb::arg("layout").none(),
           nb::arg("accept"), nb::arg("max_pixels"), nb::arg("orient"))
      .def("batch", &DevicePipeline::batch, nb::arg("sources"), nb::arg("boxes").none(),
           nb::arg("flips").none(), nb::arg("out").none(), nb::arg("with_index"),
           nb::sig(
               "def batch(self, sources: list[typing.Any], boxes: typing.Any, flips: typing.Any, out: "
               "DeviceInput | None, with_index: bool) -> tuple[typing.Any, list[Exception | None] | None]"));
}

}  // namespace imgpipe::python
