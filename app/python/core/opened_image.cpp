#include "app/python/core/opened_image.h"

#include <memory>
#include <utility>

#include "app/python/core/devices.h"
#include "app/python/core/idle_threads.h"
#include "app/python/core/result_arrays.h"
#include "app/python/core/shard_samples.h"
#include "app/python/core/without_gil.h"
#include "images/image.h"

namespace imgpipe::python {

bool has_pixels(nb::handle source) {
  // A missing attribute costs an exception.
  if (nb::isinstance<ShardImage>(source) || PyBytes_Check(source.ptr()) || PyUnicode_Check(source.ptr()))
    return false;
  return nb::hasattr(source, "ndim") && nb::cast<int>(source.attr("ndim")) != 1;
}

OpenedImage::OpenedImage(Pipeline& pipeline, nb::handle source, Kind kind) : pipeline_(pipeline) {
  const auto raised = [this](const Error& error) { return exception_for(error); };
  ArraySource opened;
  if (kind == Kind::pixels) {
    ImageArray& array = pixels_.emplace(source);
    // First, because the view may copy an array that the stages do not accept.
    if (!array.is_readable_in_place())
      without_gil(raised, [&] { (void)pipeline.plans_.plan_for(array.shape()); });
    opened.pixels = array.view();
  } else {
    file_.emplace(Source::from(source));
    opened.open = [this](const DecodeOptions& options) { return file_->open(options); };
  }
  without_gil(raised, [&] { job_.emplace(opened, pipeline.plans_, pipeline.decode_); });
}

nb::object OpenedImage::run(int threads, nb::handle out, RunReport* report) {
  ArrayJob job = std::move(this->job());
  job_.reset();
  const ArrayType type = job.result();
  std::optional<OutArray> given;
  std::optional<BatchTarget> target;
  if (!out.is_none()) {
    given.emplace(out, false).check(type);
    target = given->target(pipeline_.plans_.channels_first());
  }
  RunReport chosen;  // has the device that "auto" chose, and the reader's warnings
  const bool may_warn = file_ && pipeline_.decode_.accept != Acceptance::strict;
  if (report == nullptr && (may_warn || pipeline_.device_ == "auto")) report = &chosen;
  std::shared_ptr<Image> memory;
  without_gil(
      [this](const Error& error) { return exception_for(error); },
      [&] {
        if (!target) memory = std::make_shared<Image>(type.frame, result_memory());
        const ThreadsLease lease(device_of_call(pipeline_.device_), threads);
        job.run(lease->runner(), target ? target->first : memory->untyped_view(), report);
        if (pipeline_.device_.starts_with("cuda") || (report != nullptr && report->implementation == "cuda"))
          note_device_use();
      });
  nb::object result = given ? given->object() : nb::none();
  if (!target) {
    std::byte* const data = memory->untyped_view().data;
    const nb::object array = new_array(data, type, std::move(memory));
    if (given) {
      given->copy(array);
    } else {
      result = array;
    }
  }
  if (file_ && report != nullptr) warn_of_damage(file_->name, report->warnings);
  return result;
}

ArrayJob& OpenedImage::job() {
  if (!job_) throw nb::value_error("run: an opened image runs once");
  return *job_;
}

nb::object OpenedImage::exception_for(const Error& error) const {
  return exception_of_source(error, file_ ? &*file_ : nullptr);
}

}  // namespace imgpipe::python
