// What the command line says, read and checked; --help is made from the same table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "app/files/name_template.h"
#include "app/files/replaceable.h"
#include "app/log.h"
#include "images/codecs/codec.h"
#include "images/files/output_sync.h"
#include "images/synth.h"
#include "pipeline/jobs/page_selection.h"
#include "pipeline/stage_list.h"

namespace imgpipe {

struct TalkOptions {
  bool quiet = false;
  bool verbose = false;
  bool no_color = false;
  LogFormat log_format = LogFormat::text;
};

// What a launcher said: the value of a variable, of those from `first` to `last` (app/batch/launcher.h).
struct LauncherIndex {
  std::string variable;
  std::int64_t value = 0;
  std::int64_t first = 0, last = 0;
};

// What parts are to be about as large by: names' hashes, numbers of files, bytes (app/batch/shard_balance.h).
enum class Balance { hash, count, bytes };

// One part of a job that is spread over several processes: part `index` of `count`, from 1.
struct Shard {
  int index = 1;
  int count = 1;
  std::vector<LauncherIndex> by{};  // who says so, the outermost first; empty: the user
  Balance balance = Balance::hash;
};

// What only a batch knows.
struct BatchOptions {
  std::vector<std::string> more_inputs;  // between INPUT and OUTPUT
  std::string files_from;                // a list of inputs; "-": stdin
  bool recursive = false;
  std::vector<std::string> include, exclude;  // patterns (app/batch/glob.h)
  int jobs = 0;                               // 0: as many as threads
  std::int64_t memory_bytes = 0;              // 0: half of what is available
  bool skip_existing = false;
  bool fail_fast = false;
  bool dry_run = false;
  std::string failed_file;
  std::optional<Shard> shard;
  std::vector<std::string> given;  // the options above that were given, "--jobs" and so on
};

// --write-preset.
struct PresetToWrite {
  std::string file;  // "-": stdout
  std::string text;
  std::vector<std::string> left_out{};  // options that were given and that no preset holds
  Replace replace = Replace::own;
  TalkOptions talk{};
};

struct ProcessOptions {
  std::string input;  // empty with --files-from alone
  std::string output;
  std::optional<NameTemplate> name;  // --name: of files in OUTPUT, which is a folder
  bool output_is_listed = false;     // OUTPUT is the last of the files named, not of an option or in a folder
  std::string new_folder;            // of one image: is made for OUTPUT; empty: there is nothing to make
  std::vector<StageRequest> stages;
  std::string stage_list;                 // as given
  std::vector<std::size_t> series_steps;  // of `stages`, whose range is that of all pages
  std::optional<PageSelection> pages;
  std::vector<OptionValue> stage_options;  // the options that preset parameters: given, or their own presets
  std::string device;
  int threads = 0;                       // 0: as many as there are
  std::int64_t device_memory_bytes = 0;  // 0: what is free
  bool compare = false;
  bool fuse = false;
  int repeat = 0;
  std::vector<std::string> report_files;
  std::string trace_file;
  std::string histogram_file;
  std::string keep_stages_folder;
  DecodeOptions decode;
  std::optional<Format> format;
  EncodeOptions encode;
  bool keep_metadata = true;
  Replace replace = Replace::own;
  std::shared_ptr<OutputSync> sync = std::make_shared<OutputSync>();  // --sync: of all files of the run
  bool update = false;
  bool output_is_stamped = false;  // of one image: --update made it, so that it is replaced whatever it holds
  std::optional<PresetToWrite> preset;
  BatchOptions batch;
  TalkOptions talk;
};

struct SynthOptions {
  std::string output;
  Pattern pattern;
  Shape shape;                  // its samples are --depth; channels: see below
  std::optional<int> channels;  // not given: 1 where the format holds no colour, else 3
  std::uint64_t seed = 1;
  std::optional<Format> format;
  EncodeOptions encode;
  Replace replace = Replace::own;
  TalkOptions talk;
};

struct DevicesOptions {
  bool json = false;
  bool calibrate = false;
  TalkOptions talk;
};

// Text that answers the command line by itself: --help, --version.
struct PrintText {
  std::string text;
};

// "1.5G": an amount of memory for that option (app/options/sizes.h), in bytes. Throws Error(usage).
[[nodiscard]] std::int64_t parse_memory(const std::string& text, const std::string& option = "memory",
                                        std::int64_t least_megabytes = 64);
// As --codec takes it.
[[nodiscard]] std::string_view codec_name(CodecChoice codec);
// "640x480": both at least 1, at most 2^31-1.
[[nodiscard]] Shape parse_size(const std::string& text);

}  // namespace imgpipe
