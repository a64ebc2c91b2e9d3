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

std::vector<int> from_hex(const std::string& text) {
  std::vector<int> out;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    out.push_back(std::stoi(text.substr(i, 2), nullptr, 16));
  return out;
}

GoldenResult result_of(const Json& json) {
  GoldenResult result{json["stages"], json["width"], json["height"], {}};
  for (const Json& plane : json["planes"]) result.planes.push_back(from_hex(plane));
  return result;
}

GoldenImage image_of(const Json& json) {
  GoldenImage image{json["name"],
                    json["width"],
                    json["height"],
                    json["channels"],
                    from_hex(json["pixels"]),
                    json["hist"],
                    {}};
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
