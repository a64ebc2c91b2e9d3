#include "app/options/range_file.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "images/error.h"
#include "images/files/file.h"
#include "images/names.h"
#include "images/text.h"
#include "kernels/contrast/contrast.h"
#include "kernels/stage.h"
#include "pipeline/parameter_text.h"
#include "pipeline/stage_list.h"
#include "pipeline/statistics/image_statistics.h"
#include "pipeline/statistics/series_range.h"

namespace imgpipe {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kMaxRangeBytes = std::int64_t{64} << 20;

[[noreturn]] void refuse(const std::string& why) {
  throw Error(ErrorKind::input, why);
}

std::vector<std::string> parts_of(const std::string& text, char separator) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == separator) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

std::string with_separators(const std::vector<std::string>& parts, char separator) {
  std::string text;
  for (std::size_t i = 0; i < parts.size(); ++i) text += (i == 0 ? "" : std::string(1, separator)) + parts[i];
  return text;
}

// Returns the counts of one channel: 256 or 65,536 integers with a limited sum.
std::vector<std::uint64_t> counts_of(const Json& values) {
  if (!values.is_array() || (values.size() != 256 && values.size() != 65536))
    refuse("expected 256 or 65536 counts per channel");
  std::vector<std::uint64_t> counts;
  counts.reserve(values.size());
  std::uint64_t sum = 0;
  for (const Json& value : values) {
    if (!value.is_number_unsigned()) refuse("a count is not a non-negative integer");
    counts.push_back(value.get<std::uint64_t>());
    if (counts.back() > kMaxSamples - sum)
      refuse("the sum of the counts exceeds " + std::to_string(kMaxSamples));
    sum += counts.back();
  }
  return counts;
}

// Returns the counts of the colour channels of one group of images.
std::vector<std::vector<std::uint64_t>> channels_of(const Json& group) {
  if (!group.is_object() || !group.contains("counts") || !group["counts"].is_object())
    refuse("a histogram has no counts");
  if (group.contains("limits") && !group["limits"].is_null())
    refuse("the counts are those of floats; use levels:LO:HI with the limits of floats");
  std::vector<std::vector<std::uint64_t>> channels;
  for (const auto& [name, values] : group["counts"].items()) {
    if (name != kAlphaName) channels.push_back(counts_of(values));
  }
  return channels;
}

std::vector<std::vector<std::uint64_t>> all_channels(const Json& json) {
  if (!json.is_object() || !json.contains("imgpipe")) refuse("not written by imgpipe");
  if (json.contains("before")) return channels_of(json["before"]);
  if (!json.contains("histograms") || !json["histograms"].is_array()) refuse("contains no histogram");
  std::vector<std::vector<std::uint64_t>> channels;
  for (const Json& group : json["histograms"]) {
    for (auto& counts : channels_of(group)) channels.push_back(std::move(counts));
  }
  return channels;
}

std::string levels_of(const std::string& path, const ContrastParameters& parameters) {
  return naming(printable(path), [&] {
    const std::vector<std::byte> bytes = read_file(path, kMaxRangeBytes);
    const auto* text = reinterpret_cast<const char*>(bytes.data());
    const Json json = Json::parse(text, text + bytes.size(), nullptr, false);
    if (json.is_discarded()) refuse("not JSON");
    const StageRequest levels = levels_of_series(all_channels(json), parameters);
    if (has_no_range(levels)) refuse("no range to stretch; all samples are equal");
    return std::string(levels.stage->name) + levels.said;
  });
}

// Returns why a parameter cannot be combined with a range.
std::string range_conflict(const Parameter& row, const std::string& value) {
  if (row.name != "to") return "range, which applies to all planes";
  return "range, which keeps the bits; add depth:" + value + (value == "8" ? " after it" : " before it");
}

// Rejects unknown names; "range" is not in the stage's table. `parts` follow the stage's name.
void check_names(std::span<const std::string> parts) {
  std::vector<std::string_view> names;
  for (const Parameter& row : find_stage(kRangedStage)->parameters) names.push_back(row.name);
  names.push_back(kRangeKey.substr(0, kRangeKey.size() - 1));
  for (const std::string& part : parts) {
    const std::size_t equals = part.find('=');
    const std::string name = part.substr(0, equals);
    if (equals == std::string::npos || std::ranges::find(names, canonical_spelling(name)) != names.end())
      continue;
    throw Error(ErrorKind::usage,
                "--stages: contrast: " + unknown_name("unknown parameter '" + printable(name) + "'", name,
                                                      names, "must be one of " + joined(names)));
  }
}

// Rejects every parameter of contrast other than its clip.
void check_parameters(const StageRequest& request) {
  const Parameters own = presets(request.stage->parameters);
  for (std::size_t i = 0; i < request.stage->parameters.size(); ++i) {
    const Parameter& row = request.stage->parameters[i];
    if (row.kind == Parameter::Kind::decimal || request.parameters[i] == own[i]) continue;
    const std::string value = value_text(row, request.parameters[i]);
    throw Error(ErrorKind::usage, "--stages: contrast: " + std::string(row.name) + "=" + value +
                                      " cannot be combined with " + range_conflict(row, value));
  }
}

}  // namespace

RangedList with_ranges(const std::string& list, const StagePresets& presets) {
  RangedList ranged;
  const std::vector<std::string_view> given = steps_in(list);
  std::vector<std::string> steps(given.begin(), given.end());
  for (std::string& step : steps) {
    std::vector<std::string> parts = parts_of(step, ':');
    if (parts.front() != kRangedStage) continue;
    check_names(std::span(parts).subspan(1));
    std::optional<std::string> path;
    std::erase_if(parts, [&](const std::string& part) {
      if (!part.starts_with(kRangeKey)) return false;
      if (path) throw Error(ErrorKind::usage, "--stages: contrast: range: given twice");
      path = part.substr(kRangeKey.size());
      return true;
    });
    if (!path) continue;
    if (path->empty()) throw Error(ErrorKind::usage, "--stages: contrast: range: empty name");
    const StageRequest request = parse_stages(with_separators(parts, ':'), presets).front();
    check_parameters(request);
    if (*path == kRangeOfSeries) {
      step = with_separators(parts, ':');
      ranged.of_series.push_back(static_cast<std::size_t>(&step - steps.data()));
    } else {
      step = levels_of(*path, ContrastParameters(request.parameters));
    }
  }
  ranged.list = with_separators(steps, ',');
  return ranged;
}

std::string rename_step_files(const std::string& list,
                              const std::function<std::string(const std::string& file)>& named) {
  const std::vector<std::string_view> given = steps_in(list);
  std::vector<std::string> steps(given.begin(), given.end());
  for (std::string& step : steps) {
    std::vector<std::string> parts = parts_of(step, ':');
    const Stage* const stage = find_stage(canonical_spelling(parts.front()));
    if (stage != nullptr && parts.size() > 1 && !stage->parameters.empty()) {
      const Parameter& first = stage->parameters.front();
      const std::string key = std::string(first.name) + "=";
      const bool has_key = parts[1].starts_with(key);
      const std::string image = has_key ? parts[1].substr(key.size()) : parts[1];
      const bool is_path = image.find_first_of("./") != std::string::npos;
      if (is_path && names_image(first, image)) parts[1] = (has_key ? key : "") + named(image);
    }
    for (std::string& part : parts) {
      if (parts.front() != kRangedStage) break;
      const std::string file = part.starts_with(kRangeKey) ? part.substr(kRangeKey.size()) : "";
      if (!file.empty() && file != kRangeOfSeries) part = std::string(kRangeKey) + named(file);
    }
    step = with_separators(parts, ':');
  }
  return with_separators(steps, ',');
}

}  // namespace imgpipe
