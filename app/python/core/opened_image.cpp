#include "app/python/core/opened_image.h"

#include <optional>
#include <string>

#include "app/python/core/errors.h"
#include "app/python/core/result_arrays.h"
#include "app/python/core/shard_samples.h"
#include "images/error.h"

namespace imgpipe::python {
namespace {

// Raises errors of `action` as exceptions that name the source.
template <class Action>
auto naming_source(const std::optional<Source>& source, const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    raise(exception_of_source(error, source ? &*source : nullptr));
  }
}

}  // namespace

bool has_pixels(nb::handle source) {
  // A missing attribute costs an exception.
  if (nb::isinstance<ShardImage>(source) || PyBytes_Check(source.ptr()) || PyUnicode_Check(source.ptr()))
    return false;
  return nb::hasattr(source, "ndim") && nb::cast<int>(source.attr("ndim")) != 1;
}

OpenedImage::OpenedImage(Pipeline& pipeline, nb::handle source) : pipeline_(pipeline) {
  if (has_pixels(source)) {
    pixels_.emplace(source);
  } else {
    file_.emplace(Source::from(source));
  }
  naming_source(file_, [&] {
    ArraySource opened;
    if (pixels_) {
      opened.pixels = pipeline.view_of(*pixels_);
    } else {
      opened.open = [this](const DecodeOptions& options) { return file_->open(options); };
    }
    const nb::gil_scoped_release others_run;
    job_.emplace(opened, pipeline.plans_, pipeline.decode_);
  });
}

nb::object OpenedImage::run(int threads, nb::handle out) {
  std::optional<OutArray> given;
  if (!out.is_none()) given.emplace(out, false);
  const std::string name = file_ ? file_->name : "";
  // Only a report has the reader's warnings.
  RunReport report;
  const bool may_warn = file_ && pipeline_.decode_.accept != Acceptance::strict;
  nb::object result = naming_source(
      file_, [&] { return pipeline_.run_job(*job_, threads, given, may_warn ? &report : nullptr); });
  warn_of_damage(name, report.warnings);
  return result;
}

}  // namespace imgpipe::python
