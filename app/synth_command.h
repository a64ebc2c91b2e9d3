// imgpipe synth: test images of known statistics.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "app/files/replaceable.h"
#include "app/options/command_row.h"
#include "images/codecs/codec.h"
#include "images/synth.h"

namespace imgpipe {

struct SynthOptions {
  std::string output;
  Pattern pattern;
  Shape shape;                  // samples from --depth; channels see below
  std::optional<int> channels;  // not given: 1 if the format is grey only, otherwise 3
  std::uint64_t seed = 1;
  std::optional<Format> format;
  EncodeOptions encode;
  Replace replace = Replace::own;
  LoggingOptions logging;
};

[[nodiscard]] SynthOptions read_synth(const Parser& parser);
[[nodiscard]] CommandRow synth_command();

}  // namespace imgpipe
