#include "app/devices/calibration_file.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <span>

#include <fcntl.h>
#include <nlohmann/json.hpp>

#include "app/files/file_lock.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/files/file_descriptor.h"
#include "images/files/output_file.h"

namespace imgpipe {
namespace {

using Json = nlohmann::ordered_json;  // for writing
// For reading: ordered_json copies its values when an object grows, and copying deep JSON recurses.
using Parsed = nlohmann::json;

constexpr std::int64_t kMaxFileBytes = 1 << 20;
constexpr std::size_t kMaxEntries = 256;
constexpr std::size_t kMaxNameBytes = 256;
constexpr double kMaxNs = 3.6e12;
constexpr double kMaxNsPerPixel = 1e6;
constexpr std::int64_t kMaxPixels = std::int64_t{1} << 40;

Json json_of(const LinearCost& cost) {
  return {{"ns_per_image", cost.ns_per_image}, {"ns_per_pixel", cost.ns_per_pixel}};
}

Json json_of(const CalibrationKey& key) {
  return {{"imgpipe", key.version},
          {"processor", key.processor},
          {"instructions", key.instructions},
          {"threads", key.threads},
          {"device", key.device}};
}

Json json_of(const CalibrationEntry& entry) {
  const CostModel& model = entry.model;
  return {{"key", json_of(entry.key)},
          {"host", json_of(model.host)},
          {"with_lane", json_of(model.with_lane)},
          {"lane", json_of(model.lane)},
          {"lane_start_ns", model.lane_start_ns},
          {"lane_pixels", model.lane_pixels ? Json(*model.lane_pixels) : Json(nullptr)}};
}

// ---- from JSON: by reference only, because copying deep JSON recurses --------------------------------

std::string name_of(const Parsed& json) {
  const auto& name = json.get_ref<const std::string&>();
  if (name.size() > kMaxNameBytes)
    throw Error(ErrorKind::input, "a name exceeds " + std::to_string(kMaxNameBytes) + " bytes");
  return name;
}

double number_of(const Parsed& json) {
  if (!json.is_number()) throw Error(ErrorKind::input, "a cost is not a number");
  return json.get<double>();
}

LinearCost cost_of(const Parsed& json) {
  return {number_of(json.at("ns_per_image")), number_of(json.at("ns_per_pixel"))};
}

// Returns an integer from `least` to `most`, however the number is written.
std::int64_t whole_of(const Parsed& json, std::int64_t least, std::int64_t most) {
  const double value = number_of(json);
  const bool within = value >= static_cast<double>(least) && value <= static_cast<double>(most);
  if (!within || value != std::floor(value)) throw Error(ErrorKind::input, "a number is out of range");
  return static_cast<std::int64_t>(value);
}

CalibrationEntry entry_of(const Parsed& json) {
  const Parsed& key = json.at("key");
  CalibrationEntry entry;
  entry.key = {name_of(key.at("imgpipe")), name_of(key.at("processor")), name_of(key.at("instructions")),
               static_cast<int>(whole_of(key.at("threads"), 1, std::int64_t{1} << 20)),
               name_of(key.at("device"))};
  entry.model = {cost_of(json.at("host")), cost_of(json.at("with_lane")), cost_of(json.at("lane")),
                 number_of(json.at("lane_start_ns")), std::nullopt};
  const Parsed& pixels = json.at("lane_pixels");
  if (!pixels.is_null()) entry.model.lane_pixels = whole_of(pixels, 1, kMaxPixels);
  if (!is_plausible(entry.model)) throw Error(ErrorKind::input, "a cost is out of range");
  return entry;
}

void add_entry(const Parsed& json, CalibrationEntries& found) {
  try {
    found.entries.push_back(entry_of(json));
  } catch (const Error& error) {
    found.note = error.what();
  } catch (const Parsed::exception&) {
    found.note = "an entry is incomplete or from another version";
  }
}

}  // namespace

bool is_plausible(const CostModel& model) {
  const auto within = [](double value, double most) { return value >= 0 && value <= most; };  // false for NaN
  return std::ranges::all_of(std::array{model.host, model.with_lane, model.lane},
                             [&](const LinearCost& cost) {
                               return within(cost.ns_per_image, kMaxNs) &&
                                      within(cost.ns_per_pixel, kMaxNsPerPixel);
                             }) &&
         model.host.ns_per_pixel > 0 && within(model.lane_start_ns, kMaxNs) &&
         (!model.lane_pixels || (*model.lane_pixels >= 1 && *model.lane_pixels <= kMaxPixels));
}

CalibrationEntries parse_calibration(std::string_view text) {
  CalibrationEntries found;
  Parsed json;
  try {
    json = Parsed::parse(text);
  } catch (const Parsed::exception&) {
    found.note = "not JSON";
    return found;
  }
  if (json.is_object() && json.contains("key")) {
    add_entry(json, found);  // imgpipe 0.1.0
  } else if (!json.is_object() || !json.contains("entries") || !json["entries"].is_array()) {
    found.note = "no entries";
  } else {
    const Parsed& entries = json["entries"];
    for (std::size_t i = 0; i < std::min(entries.size(), kMaxEntries); ++i) add_entry(entries[i], found);
    if (entries.size() > kMaxEntries) found.note = "more than " + std::to_string(kMaxEntries) + " entries";
  }
  return found;
}

std::string calibration_text(const std::vector<CalibrationEntry>& entries) {
  Json json{{"entries", Json::array()}};
  for (const CalibrationEntry& entry : entries) json["entries"].push_back(json_of(entry));
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

CalibrationEntries read_calibration(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) return {};
  try {
    const std::vector<std::byte> bytes = read_regular_file(path, kMaxFileBytes);
    return parse_calibration({reinterpret_cast<const char*>(bytes.data()), bytes.size()});
  } catch (const Error& why) {
    return {{}, why.what()};
  }
}

void store_calibration(const std::string& path, const CalibrationEntry& entry) {
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(path).parent_path(), error);
  // If the lock is unavailable, the later of two concurrent writers wins.
  constexpr std::chrono::seconds kPatience{2};
  const std::string lock_path = path + ".lock";
  const FileDescriptor lock_file(
      ::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0666));
  const FileLock lock(lock_file.get(), kPatience);
  std::vector<CalibrationEntry> entries = read_calibration(path).entries;
  std::erase_if(entries, [&](const CalibrationEntry& other) { return other.key == entry.key; });
  if (entries.size() >= kMaxEntries) entries.erase(entries.begin());
  entries.push_back(entry);
  const std::string text = calibration_text(entries);
  write_file(path, std::as_bytes(std::span(text)));
}

}  // namespace imgpipe
