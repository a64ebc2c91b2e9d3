// The command line, read and checked. The only user of cxxopts; --help is made from the same table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "images/codec.h"
#include "images/synth.h"
#include "kernels/stage.h"

namespace imgpipe {

struct TalkOptions {
  bool quiet = false;
  bool verbose = false;
  bool no_color = false;
};

struct ProcessOptions {
  std::string input;
  std::string output;
  std::vector<const Stage*> stages;
  std::string stage_list;  // as given
  StageOptions stage;
  std::string device;
  int threads = 0;  // 0: as many as there are
  bool compare = false;
  bool fuse = false;
  int repeat = 0;
  std::string report_file;
  std::string histogram_file;
  std::string keep_stages_folder;
  DecodeOptions decode;
  std::optional<Format> format;
  EncodeOptions encode;
  TalkOptions talk;
};

struct SynthOptions {
  std::string output;
  Pattern pattern;
  Shape shape;
  std::uint64_t seed = 1;
  std::optional<Format> format;
  EncodeOptions encode;
  TalkOptions talk;
};

struct DevicesOptions {
  bool json = false;
};

// Text that answers the command line by itself: --help, --version.
struct PrintText {
  std::string text;
};

using Command = std::variant<ProcessOptions, SynthOptions, DevicesOptions, PrintText>;

// Reads the arguments behind the program's name. Throws Error(usage) that says what to change.
[[nodiscard]] Command parse_command(const std::vector<std::string>& arguments);

// "0.5" or "0.5,2": the low and high share, each 0 <= p < 100 with at most 6 decimals.
[[nodiscard]] std::pair<MicroPercent, MicroPercent> parse_clip(const std::string& text);
// "640x480": both at least 1, at most 2^31-1.
[[nodiscard]] Shape parse_size(const std::string& text);

}  // namespace imgpipe
