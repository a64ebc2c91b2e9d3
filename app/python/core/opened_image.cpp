#include "app/python/core/opened_image.h"

#include <string>

#include "app/python/core/errors.h"
#include "app/python/core/result_arrays.h"
#include "images/error.h"

namespace imgpipe::python {
namespace {

// Raises errors of `action` as exceptions that name the source.
template <class Action>
auto naming_source(const std::string& name, const Action& action) {
  try {
    return action();
  } catch (const Error& error) {
    raise(exception_of_source(error, name));
  }
}

}  // namespace

bool has_pixels(nb::handle source) {
  return nb::hasattr(source, "ndim") && nb::cast<int>(source.attr("ndim")) != 1;
}

OpenedImage::OpenedImage(Pipeline& pipeline, nb::handle source) : pipeline_(pipeline) {
  ArraySource opened;
  if (has_pixels(source)) {
    pixels_.emplace(source);
    opened.pixels = pipeline.view_of(*pixels_);
  } else {
    file_.emplace(Source::from(source));
    opened.open = [this](const DecodeOptions& options) { return file_->open(options); };
  }
  naming_source(file_ ? file_->name : "", [&] {
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
      name, [&] { return pipeline_.run_job(*job_, threads, given, may_warn ? &report : nullptr); });
  warn_of_damage(name, report.warnings);
  return result;
}

}  // namespace imgpipe::python
