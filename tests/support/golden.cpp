#include "tests/support/golden.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "tests/support/files.h"
#include "tests/support/test_paths.h"

namespace imgpipe::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// The golden files by name: "images", "chains", and one file per stage.
const std::map<std::string, Json>& golden_files() {
  static const std::map<std::string, Json> files = [] {
    std::map<std::string, Json> all;
    for (const fs::directory_entry& entry :
         fs::directory_iterator(fs::path(kSourceDirectory) / "tests" / "golden")) {
      if (entry.path().extension() == ".json")
        all[entry.path().stem().string()] = Json::parse(load_text(entry.path()));
    }
    return all;
  }();
  return files;
}

Sample sample_of(const Json& bits) {
  if (bits == "f32") return Sample::f32;
  if (bits == "f16") return Sample::f16;
  if (bits == "bf16") return Sample::bf16;
  return bits == 16 ? Sample::u16 : Sample::u8;
}

// Parses two digits per byte of a sample.
std::vector<int> from_hex(const std::string& text, Sample sample) {
  const auto digits = static_cast<std::size_t>(2 * bytes_per_sample(sample));
  std::vector<int> out;
  for (std::size_t i = 0; i + digits <= text.size(); i += digits)
    out.push_back(static_cast<int>(std::stoul(text.substr(i, digits), nullptr, 16)));
  return out;
}

// Parses the values that occur, each with its count.
std::vector<std::uint64_t> counts_of_plane(const Json& json, Sample sample) {
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(max_sample(sample)) + 1);
  for (const Json& seen : json) counts.at(seen[0]) = seen[1];
  return counts;
}

// image, steps, width, height, bits, planes
GoldenResult result_of(const Json& json) {
  GoldenResult result{json[1], json[2], json[3], sample_of(json[4]), {}};
  for (const Json& plane : json[5]) result.planes.push_back(from_hex(plane, result.sample));
  return result;
}

// width, height, channels, bits, steps, then width, height and bits of the result, digests
GoldenDigests digests_of(const Json& json) {
  return {{json[0], json[1], json[2], sample_of(json[3])},
          json[4],
          json[5],
          json[6],
          sample_of(json[7]),
          json[8]};
}

GoldenImage image_of(const Json& json) {
  const Sample sample = sample_of(json["bits"]);
  GoldenImage image{json["name"], json["width"], json["height"], json["channels"], sample, {}, {}, {}};
  image.samples = from_hex(json["pixels"], sample);
  for (const Json& counts : json["hist"]) image.counts.push_back(counts_of_plane(counts, sample));
  return image;
}

std::vector<GoldenImage> load_images() {
  std::vector<GoldenImage> images;
  for (const Json& image : golden_files().at("images").at("images")) images.push_back(image_of(image));
  for (const auto& [name, file] : golden_files()) {
    if (name == "images") continue;
    for (const Json& result : file.at("results")) {
      const auto image = std::ranges::find(images, result[0].get<std::string>(), &GoldenImage::name);
      if (image == images.end()) throw std::runtime_error(name + ".json: a result of an unknown image");
      image->results.push_back(result_of(result));
    }
  }
  return images;
}

}  // namespace

const std::vector<GoldenImage>& golden_images() {
  static const std::vector<GoldenImage> images = load_images();
  return images;
}

std::vector<GoldenDigests> golden_digests() {
  std::vector<GoldenDigests> all;
  for (const auto& [name, file] : golden_files()) {
    if (!file.contains("digests")) continue;
    for (const Json& digests : file.at("digests")) all.push_back(digests_of(digests));
  }
  return all;
}

std::vector<std::string> golden_cases(std::string_view stage) {
  const auto file = golden_files().find(std::string(stage));
  if (file == golden_files().end()) return {};
  return file->second.at("cases");
}

}  // namespace imgpipe::test
