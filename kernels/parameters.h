// Descriptions of a step's parameters, the source of the command line, --help, reports and tests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/parameter_values.h"

namespace imgpipe {

struct Parameter {
  // color: 0xRRGGBBAA. real: the bits of a double, the nearest to the text. image: kOfImage, and
  // Parameters::image names it. operand: a decimal, or an image. A stage has one image at most.
  enum class Kind : std::uint8_t { integer, decimal, choice, color, real, image, operand };

  std::string_view name;  // as in smooth:NAME=VALUE
  std::string_view help;  // description and unit
  Kind kind = Kind::choice;
  std::int64_t preset = 0;  // default value; a choice's is its position
  // The range of a number. A real has none, but most > 0 if images of integers accept whole numbers up to it.
  std::int64_t least = 0, most = 0;
  // The words of a choice; its value is the word's position. For a number, the words stand for -1, -2 and so
  // on.
  std::span<const std::string_view> words = {};
  std::string_view option = {};  // "luma": --luma presets it for every step; empty: none
  bool required = false;         // no preset
  bool like_previous = false;    // defaults to the value of the parameter before it
};

[[nodiscard]] constexpr Parameters presets(std::span<const Parameter> rows) {
  Parameters parameters;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    parameters.values[i] = i > 0 && rows[i].like_previous ? parameters.values[i - 1] : rows[i].preset;
  }
  return parameters;
}

}  // namespace imgpipe
