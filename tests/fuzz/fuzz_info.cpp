// Inspects any bytes like imgpipe info, by each Acceptance, oriented and as stored. info describes exactly
// the files that a reader accepts. Its text is printable and the same for a file read in parts; its JSON is
// valid.
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "app/info/info_report.h"
#include "images/error.h"
#include "images/files/input_file.h"
#include "images/formats/image_inspection.h"
#include "images/text.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/memory_file.h"

namespace {

using imgpipe::DecodeOptions;
using imgpipe::Error;
using imgpipe::ImageInspection;
using imgpipe::InputFile;
using Bytes = std::span<const std::byte>;

// Ends the process, so that the fuzzer keeps the input.
void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "%s\n", what);
  __builtin_trap();
}

// Whether every line of the text ends with a line feed and is printable.
bool is_shown(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t feed = text.find('\n', at);
    if (feed == text.npos) return false;
    const std::string line = text.substr(at, feed - at);
    if (imgpipe::printable(line) != line) return false;
    at = feed + 1;
  }
  return true;
}

// Returns the facts about the file from `open`; nullopt: the file is rejected.
std::optional<ImageInspection> inspected(auto open, const DecodeOptions& options) {
  try {
    return imgpipe::inspect_image(open(), options);
  } catch (const Error& error) {
    require(error.kind() == imgpipe::ErrorKind::input, "neither an image nor said to be none");
    require(imgpipe::printable(error.what()) == error.what(), "a reason that cannot be shown");
    return std::nullopt;
  }
}

// Whether a run accepts the file, if necessary with --bands color.
bool is_accepted_by_reader(Bytes bytes, DecodeOptions options) {
  for (const bool colors_only : {false, true}) {
    options.colors_only = colors_only;
    if (colors_only) options.integers = imgpipe::IntegerRule::value;
    try {
      (void)imgpipe::open_reader(bytes, options);
      return true;
    } catch (const Error&) {
      continue;
    }
  }
  return false;
}

// Returns the text output except memory, which differs for rows read directly from disk.
std::string text_output_of(ImageInspection image) {
  require(image.images >= 1 && image.reduced_images <= image.images,
          "no image in it, or too many are smaller");
  require(image.details.channels >= 1 && !image.details.color.empty(), "no channel, or none that has a name");
  require(!image.details.compression.empty() && !image.decoder.empty(), "facts that are not said");
  image.memory = {};
  const imgpipe::InfoImage entry{"file", std::move(image)};
  const std::string one = imgpipe::info_table({{entry}, {}}), two = imgpipe::info_table({{entry, entry}, {}});
  require(is_shown(one) && is_shown(two), "a table that cannot be shown");
  return one + two;
}

void check_json(const ImageInspection& image) {
  const std::string text = imgpipe::info_json({{{"file", image}}, {}});
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  require(!json.is_discarded() && json["images"].size() == 1, "no JSON");
  require(json["images"][0]["width_pixels"] == image.header.shape.width, "another width in the JSON");
}

}  // namespace

IMGPIPE_FUZZ_TARGET(fuzz_info) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  const std::string path = imgpipe::test::path_of(bytes);
  for (const auto accept :
       {imgpipe::Acceptance::strict, imgpipe::Acceptance::lenient, imgpipe::Acceptance::pillow}) {
    const DecodeOptions options{
        .max_pixels = std::int64_t{1} << 34, .accept = accept, .orient = size % 2 == 0, .max_bits = 32};
    const auto whole = inspected([&] { return InputFile({bytes.begin(), bytes.end()}); }, options);
    require(whole.has_value() == is_accepted_by_reader(bytes, options),
            "a reader takes it and info does not, or the other way");
    const auto in_parts = inspected([&] { return std::move(*imgpipe::open_on_disk(path, 64)); }, options);
    require(whole.has_value() == in_parts.has_value(), "another verdict in parts");
    if (!whole) continue;
    require(text_output_of(*whole) == text_output_of(*in_parts), "other facts in parts");
    if (options.lenient()) check_json(*whole);
  }
  return 0;
}
