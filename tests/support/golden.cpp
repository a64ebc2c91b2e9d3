#include "tests/support/golden.h"

#include <nlohmann/json.hpp>

#include "tests/support/files.h"
#include "tests/support/places.h"

namespace imgpipe::test {
namespace {

using Json = nlohmann::json;

const Json& golden() {
  static const Json json = Json::parse(load_text(std::string(kSourceFolder) + "/tests/golden/golden.json"));
  return json;
}

SampleType sample_of(const Json& json) {
  return json["bits"] == 16 ? SampleType::u16 : SampleType::u8;
}

// Two digits a sample, four of 16 bits.
std::vector<int> from_hex(const std::string& text, SampleType sample) {
  const auto digits = static_cast<std::size_t>(2 * sample_bytes(sample));
  std::vector<int> out;
  for (std::size_t i = 0; i + digits <= text.size(); i += digits)
    out.push_back(std::stoi(text.substr(i, digits), nullptr, 16));
  return out;
}

// Of 16 bits the values that occur, each with its count.
std::vector<std::uint64_t> counts_of_plane(const Json& json, SampleType sample) {
  if (sample == SampleType::u8) return json;
  std::vector<std::uint64_t> counts(65536);
  for (const Json& seen : json) counts.at(seen[0]) = seen[1];
  return counts;
}

GoldenResult result_of(const Json& json) {
  GoldenResult result{json["stages"], json["width"], json["height"], sample_of(json), {}};
  for (const Json& plane : json["planes"]) result.planes.push_back(from_hex(plane, result.sample));
  return result;
}

GoldenImage image_of(const Json& json) {
  GoldenImage image{json["name"],
                    json["width"],
                    json["height"],
                    json["channels"],
                    sample_of(json),
                    from_hex(json["pixels"], sample_of(json)),
                    {},
                    {}};
  for (const Json& counts : json["hist"]) image.counts.push_back(counts_of_plane(counts, image.sample));
  for (const Json& result : json["results"]) image.results.push_back(result_of(result));
  return image;
}

}  // namespace

const std::vector<GoldenImage>& golden_images() {
  static const std::vector<GoldenImage> images = [] {
    std::vector<GoldenImage> all;
    for (const Json& image : golden()["cases"]) all.push_back(image_of(image));
    return all;
  }();
  return images;
}

std::vector<std::string> golden_cases(std::string_view stage) {
  return golden()["stages"].value(std::string(stage), std::vector<std::string>());
}

}  // namespace imgpipe::test
