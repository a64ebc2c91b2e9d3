// The parsed and checked options of the main command.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "app/files/name_template.h"
#include "app/options/batch_options.h"
#include "app/options/coding_options.h"
#include "app/options/logging_options.h"
#include "app/shard/shard.h"
#include "images/files/output_sync.h"
#include "kernels/projection/projection.h"
#include "pipeline/jobs/combine_job.h"
#include "pipeline/jobs/item_list.h"
#include "pipeline/jobs/page_selection.h"
#include "pipeline/second_images.h"
#include "pipeline/stage_list.h"

namespace imgpipe {

class Parser;

inline constexpr Choices<bool, 2> kMetadata{{{"keep", true}, {"strip", false}}};
inline constexpr Choices<bool, 2> kSync{{{"yes", true}, {"no", false}}};

// --also NAME=STAGES: a further result of the decoded image.
struct AlsoStages {
  std::string name;
  std::string list;  // as given
  std::vector<StageRequest> steps;
};

// The name of the result of --stages in names with {also}, if it has no other.
inline constexpr std::string_view kMainResult = "main";

// --split CHANNELS: the channels of the result, each a grey image.
struct SplitChannel {
  std::string_view name;  // of the result
  std::string_view step;  // that makes it
};
inline constexpr std::array<SplitChannel, 2> kGrayAlpha{{{"gray", "channel:1"}, {"alpha", "channel:a"}}};
inline constexpr std::array<SplitChannel, 4> kRgba{
    {{"red", "channel:r"}, {"green", "channel:g"}, {"blue", "channel:b"}, {"alpha", "channel:a"}}};
inline constexpr Choices<std::span<const SplitChannel>, 3> kSplits{
    {{"rgb", std::span(kRgba).first<3>()}, {"rgba", kRgba}, {"ga", kGrayAlpha}}};

// --stages, and the options that set parameters of stages.
struct StageOptions {
  std::vector<StageRequest> steps;
  std::string list;                            // as given
  std::vector<std::size_t> series_steps;       // indices into `steps` whose range covers all pages
  std::vector<OptionValue> parameter_options;  // as given, or their defaults
  std::string name;                            // of their result, part of the name of its file; empty: none
  std::vector<AlsoStages> also;
  std::vector<NamedImage> images;           // --image and --image-stages
  std::vector<std::string> image_warnings;  // about damage in images that steps read
};

inline constexpr Choices<Projection, 5> kProjections{{{"max", Projection::max},
                                                      {"min", Projection::min},
                                                      {"mean", Projection::mean},
                                                      {"sum", Projection::sum},
                                                      {"median", Projection::median}}};

// --stack or --montage: many images become one. StageOptions then has the stages of --then.
struct StackOptions {
  Projection projection = Projection::max;
  std::optional<Montage> montage{};   // instead
  PageSelection pages;                // of every input
  std::vector<StageRequest> steps{};  // of every image, before the projection
  std::string list{};                 // as given
  std::vector<ItemInput> inputs{};    // once they are found
  std::string input_states{};         // digest of the inputs' states, only for --update of several inputs
};

struct OutputOptions {
  std::string path;
  std::vector<std::string> also;     // single image: the paths of the results of --also
  std::optional<NameTemplate> name;  // --name, for files in the directory OUTPUT
  bool is_tensor = false;            // --tensor: `path` is one file with the tensors of all inputs
  bool is_archive = false;           // the inputs are archives, and so are the outputs
  bool is_positional = false;        // the last positional argument; not from --output or in a directory
  std::string new_directory;         // single image: directory to create for OUTPUT; empty: none
  std::optional<Format> format;
  EncodeOptions encode;
  bool keep_metadata = true;
  Replace replace = Replace::own;
  std::shared_ptr<OutputSync> sync = std::make_shared<OutputSync>();  // --sync, for all files of the run
  bool update = false;
  bool is_stamped = false;  // single image made with --update: may be replaced whatever it holds
  bool skip_existing = false;
};

// Paths are empty if not requested; "-" is stdout.
struct ReportOptions {
  bool compare = false;
  int repeat = 0;
  std::vector<std::string> files;  // --report
  bool hash = false;
  std::string trace_file;
  std::string histogram_file;
  std::string stages_directory;  // --keep-stages
  std::string failed_file;
};

// --write-preset.
struct PresetToWrite {
  std::string file;  // "-": stdout
  std::string text;
  std::vector<std::string> left_out{};  // given options that presets cannot hold
  Replace replace = Replace::own;
  LoggingOptions logging{};
};

struct ProcessOptions {
  InputOptions input;
  std::optional<PageSelection> pages;
  DecodeOptions decode;
  StageOptions stages;
  std::optional<StackOptions> stack;
  OutputOptions output;
  ReportOptions reports;
  ExecutionOptions execution;
  bool fuse = false;
  std::int64_t device_memory_bytes = 0;  // 0: all free memory
  std::optional<Shard> shard;
  bool dry_run = false;
  std::vector<std::string> batch_options;  // batch options on the command line: "--jobs" and so on
  std::optional<PresetToWrite> preset;
  LoggingOptions logging;
};

// Returns the value of --stack, or of --montage.
[[nodiscard]] std::string stack_text(const StackOptions& stack);

// Throws Error with a message that says what to change.
[[nodiscard]] ProcessOptions read_process_options(const Parser& parser);

// An option that sets a parameter of a stage (Parameter::option).
struct ParameterOption {
  std::string name;    // "clip"
  std::string value;   // for --help
  std::string preset;  // default, as given on the command line: "0,0"
  std::string help;
  std::vector<std::string> values;  // allowed values of a choice
};
// Returns the stages and their parameters, for --help.
[[nodiscard]] HelpTable stage_help();
// Returns all parameter options in the order of the stage table.
[[nodiscard]] const std::vector<ParameterOption>& parameter_options();

[[nodiscard]] std::vector<OptionRow> process_rows();

}  // namespace imgpipe
