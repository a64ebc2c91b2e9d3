#include "app/python/core/reports.h"

#include <string>

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace imgpipe::python {

namespace nb = nanobind;

namespace {

nb::dict shape_dict(const Shape& shape) {
  nb::dict dict;
  dict["width"] = shape.width;
  dict["height"] = shape.height;
  dict["channels"] = shape.channels;
  dict["bits_per_sample"] = 8 * bytes_per_sample(shape.sample);
  return dict;
}

}  // namespace

nb::dict report_dict(const RunReport& report) {
  nb::dict dict, device;
  device["implementation"] = report.implementation;
  device["name"] = report.processor;
  device["why"] = report.why;
  dict["device"] = device;
  dict["input"] = shape_dict(report.input);
  dict["output"] = shape_dict(report.output);
  dict["steps"] = report.steps;
  nb::list ranges, rows;
  for (const ContrastRange& range : report.ranges) {
    nb::dict row;
    row["step"] = range.label;
    row["plane"] = range.plane;
    row["lo"] = range.lo;
    row["hi"] = range.hi;
    ranges.append(row);
  }
  dict["contrast"] = ranges;
  for (const TimeRow& times : report.rows) {
    nb::dict row;
    row["name"] = times.name;
    row["kind"] = std::string(kind_name(times.kind));
    row["time_ms"] = times.time_ms;
    row["bytes"] = times.bytes;
    rows.append(row);
  }
  dict["rows"] = rows;
  dict["notes"] = report.notes;
  return dict;
}

}  // namespace imgpipe::python
