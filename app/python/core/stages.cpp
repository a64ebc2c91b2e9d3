// The table of stages, and the texts of steps.
#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "app/python/core/bindings.h"
#include "images/error.h"
#include "images/unreachable.h"
#include "kernels/second_image.h"
#include "kernels/stage.h"
#include "pipeline/parameter_text.h"
#include "pipeline/stage_list.h"
#include "pipeline/values_text.h"

namespace imgpipe::python {
namespace {

std::string_view kind_text(Parameter::Kind kind) {
  switch (kind) {
    case Parameter::Kind::integer:
      return "int";
    case Parameter::Kind::decimal:
    case Parameter::Kind::real:
      return "float";
    case Parameter::Kind::choice:
      return "choice";
    case Parameter::Kind::color:
      return "color";
    case Parameter::Kind::image:
      return "image";
    case Parameter::Kind::operand:
      return "operand";
  }
  unreachable();
}

// Calls `row_of` with each parameter of each selectable stage, and returns the rows by the stages' names.
template <class RowOf>
nb::dict rows_by_stage(const RowOf& row_of) {
  nb::dict all;
  for (const Stage& stage : stage_table()) {
    if (!stage.selectable) continue;
    nb::list rows;
    for (std::size_t i = 0; i < stage.parameters.size(); ++i) rows.append(row_of(stage, i));
    all[nb::cast(std::string(stage.name))] = rows;
  }
  return all;
}

nb::dict description(const Stage& stage, std::size_t i) {
  const Parameter& parameter = stage.parameters[i];
  const bool has_preset = !parameter.required && !parameter.like_previous;
  nb::dict row;
  row["name"] = std::string(parameter.name);
  row["help"] = std::string(parameter.help);
  row["allowed"] = allowed_values(parameter);
  row["required"] = parameter.required;
  row["preset"] = has_preset ? nb::cast(value_text(parameter, parameter.preset)) : nb::object(nb::none());
  return row;
}

nb::dict stages() {
  nb::dict all = rows_by_stage(description);
  for (const Stage& stage : stage_table()) {
    if (!stage.selectable) continue;
    const nb::object name = nb::cast(std::string(stage.name));
    nb::dict row;
    row["summary"] = std::string(stage.summary);
    row["parameters"] = nb::object(all[name]);
    all[name] = row;
  }
  return all;
}

nb::dict type_of_parameter(const Stage& stage, std::size_t i) {
  nb::list words;
  for (const std::string_view word : stage.parameters[i].words) words.append(std::string(word));
  nb::dict row;
  row["kind"] = std::string(kind_text(stage.parameters[i].kind));
  row["words"] = words;
  row["values"] = stage.parameters[i].like_previous ? 0 : list_values(stage, i);
  return row;
}

using Values = std::vector<std::pair<std::string, std::vector<std::string>>>;

// Returns the text of a step. Each named parameter has one value, or a list of values for it and the
// parameters that follow. Throws Error(usage).
std::string step_text(const std::string& name, const Values& values) {
  const Stage* const stage = find_stage(name);
  if (stage == nullptr || !stage->selectable) throw Error(ErrorKind::usage, "unknown stage " + name);
  std::array<std::string, kMaxParameters> texts;
  for (const auto& [parameter, list] : values) {
    std::size_t i = 0;
    while (i < stage->parameters.size() && stage->parameters[i].name != parameter) ++i;
    if (i == stage->parameters.size())
      throw Error(ErrorKind::usage, name + ": unknown parameter " + parameter);
    if (list.empty() || list.size() > list_values(*stage, i))
      throw Error(ErrorKind::usage, name + ": " + parameter + ": expected 1 to " +
                                        std::to_string(list_values(*stage, i)) + " values, got " +
                                        std::to_string(list.size()));
    for (const std::string& text : list) texts[i++] = text;
  }
  Parameters parameters;
  SecondImage image;
  for (std::size_t i = 0; i < stage->parameters.size(); ++i) {
    const Parameter& row = stage->parameters[i];
    if (names_image(row, texts[i])) {
      image.name = texts[i];
      parameters.values[i] = kOfImage;
      parameters.image = &image;
    } else if (!texts[i].empty()) {
      parameters.values[i] = parse_value(name + ": " + std::string(row.name), row, texts[i]);
    } else {
      parameters.values[i] = row.like_previous ? parameters.values[i - 1] : row.preset;
    }
  }
  if (stage->problem != nullptr) {
    const std::string problem(stage->problem(parameters));
    if (!problem.empty())
      throw Error(ErrorKind::usage, problem.starts_with(name) ? problem : name + ": " + problem);
  }
  return name + request_of(*stage, parameters).said;
}

}  // namespace

void bind_stages(nb::module_& module) {
  module.def("stages", &stages, nb::sig("def stages() -> dict[str, typing.Any]"));
  module.def(
      "types_of_parameters", [] { return rows_by_stage(type_of_parameter); },
      nb::sig("def types_of_parameters() -> dict[str, list[dict[str, typing.Any]]]"));
  module.def(
      "reads_images",
      [](const std::string& stages) {
        return std::ranges::any_of(parse_stages(stages),
                                   [](const StageRequest& step) { return step.image != nullptr; });
      },
      nb::arg("stages"));
  module.def("step_text", &step_text, nb::arg("stage"), nb::arg("values"));
}

}  // namespace imgpipe::python
