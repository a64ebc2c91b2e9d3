// What the command line says, read and checked; --help is made from the same table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/files/replaceable.h"
#include "app/options/logging_options.h"
#include "images/codecs/codec.h"
#include "images/synth.h"

namespace imgpipe {

struct SynthOptions {
  std::string output;
  Pattern pattern;
  Shape shape;                  // its samples are --depth; channels: see below
  std::optional<int> channels;  // not given: 1 where the format holds no colour, else 3
  std::uint64_t seed = 1;
  std::optional<Format> format;
  EncodeOptions encode;
  Replace replace = Replace::own;
  LoggingOptions logging;
};

struct DevicesOptions {
  bool json = false;
  bool calibrate = false;
  LoggingOptions logging;
};

// Text that answers the command line by itself: --help, --version.
struct PrintText {
  std::string text;
};

// "1.5G": an amount of memory for that option (app/options/sizes.h), in bytes. Throws Error(usage).
[[nodiscard]] std::int64_t parse_memory(const std::string& text, const std::string& option = "memory",
                                        std::int64_t least_megabytes = 64);
// "640x480": both at least 1, at most 2^31-1.
[[nodiscard]] Shape parse_size(const std::string& text);

}  // namespace imgpipe
