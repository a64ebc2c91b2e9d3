// The results for programs.
#include <nlohmann/json.hpp>

#include "app/batch/batch_report.h"
#include "app/info/info_report.h"
#include "app/report/image_report.h"
#include "app/report/json_head.h"
#include "app/report/json_values.h"
#include "app/version.h"

namespace imgpipe {
namespace {

using Json = nlohmann::ordered_json;

Json resolution_json(const ImageInspection& image) {
  if (!image.resolution) return nullptr;
  const Resolution& resolution = *image.resolution;
  const auto value = [](std::uint32_t pixels, std::uint32_t of) {
    return static_cast<double>(pixels) / static_cast<double>(of);
  };
  const char* const unit = resolution.unit == Resolution::Unit::inch         ? "inch"
                           : resolution.unit == Resolution::Unit::centimetre ? "centimetre"
                                                                             : "none";
  return {{"x", value(resolution.x, resolution.x_of)},
          {"y", value(resolution.y, resolution.y_of)},
          {"unit", unit}};
}

// Every key of an image.
Json image_json(const InfoImage& entry) {
  const ImageInspection& image = entry.image;
  const ImageHeader& header = image.header;
  Json json{{"input", entry.name}, {"format", format_info(header.format).name}};
  json["variant"] = text_or_null(image.details.variant);
  json["file_bytes"] = image.file_bytes;
  json["read_bytes"] = image.read_bytes;
  json["width_pixels"] = header.shape.width;
  json["height_pixels"] = header.shape.height;
  json["stored_width_pixels"] = image.stored_width;
  json["stored_height_pixels"] = image.stored_height;
  json["channels"] = header.shape.channels;
  json["stored_channels"] = image.details.channels;
  json["extra_channels"] = image.details.extra_channels;
  json["alpha"] = header.shape.has_alpha();
  json["color"] = image.details.color;
  json["bits_per_sample"] = header.bits_per_sample;
  json["sample_bits"] = bits_of(header.shape);
  json["exif_orientation"] = static_cast<int>(header.orientation);
  json["profile"] = text_or_null(image.profile);
  json["color_space"] = text_or_null(image.details.color_space);
  json["resolution"] = resolution_json(image);
  json["images"] = image.images;
  json["reduced_images"] = image.reduced_images;
  json["has_pages"] = image.has_pages;
  json["compression"] = image.details.compression;
  json["progressive"] = header.progressive;
  json["subsampling"] = text_or_null(image.details.subsampling);
  json["layout"] = text_or_null(image.details.layout);
  json["metadata"] = Json::array();
  for (const MetadataBlock& block : image.metadata) {
    json["metadata"].push_back({{"block", block.name},
                                {"kind", text_or_null(block.kind)},
                                {"bytes", block.bytes > 0 ? Json(block.bytes) : Json(nullptr)}});
  }
  json["decoder"] = image.decoder;
  json["device_decodes"] = image.no_device_decoding.empty();
  json["device_why_not"] = text_or_null(image.no_device_decoding);
  json["memory"] = {{"whole_bytes", image.memory.whole_bytes}, {"by_rows_bytes", image.memory.by_rows_bytes}};
  json["warnings"] = image.warnings;
  return json;
}

}  // namespace

std::string info_json(const InfoResults& results) {
  Json json{{"imgpipe", build_info().version}};
  add_run_head(json, kInfoSchema, {.threads = 1, .device = "cpu"});
  json["command"] = "info";
  json["images"] = Json::array();
  for (const InfoImage& entry : results.images) json["images"].push_back(image_json(entry));
  json["failures"] = Json::array();
  for (const InfoFailure& failure : results.failures) {
    json["failures"].push_back(
        {{"input", failure.name}, {"error", kind_of_error(failure.kind)}, {"reason", failure.reason}});
  }
  return json.dump(2) + "\n";
}

}  // namespace imgpipe
