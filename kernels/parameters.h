// Parameters of a step: each is a row of its stage. The command line, --help, reports and tests are made of
// these rows.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "kernels/parameter_values.h"

namespace imgpipe {

struct Parameter {
  enum class Kind : std::uint8_t { integer, decimal, choice };

  std::string_view name;  // as in smooth:NAME=VALUE
  std::string_view help;  // for people: what it is, its unit
  Kind kind = Kind::choice;
  std::int64_t preset = 0;           // the value where none is given; a choice's is its position
  std::int64_t least = 0, most = 0;  // of a number
  // A choice's words; its value is the word's position. A number may have words as well, which stand for the
  // values -1, -2 and so on, outside least..most.
  std::span<const std::string_view> words = {};
  std::string_view option = {};  // "luma": --luma presets it for every step; empty: there is none
  bool required = false;         // there is no preset
  bool like_previous = false;    // where it is not given it is what the parameter before it is
};

// Every row's preset.
[[nodiscard]] constexpr Parameters presets(std::span<const Parameter> rows) {
  Parameters parameters;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    parameters.values[i] = i > 0 && rows[i].like_previous ? parameters.values[i - 1] : rows[i].preset;
  }
  return parameters;
}

}  // namespace imgpipe
