// The results of imgpipe info: tables for people, JSON for programs.
#pragma once

#include <string>
#include <vector>

#include "app/report/report_parts.h"
#include "images/formats/image_inspection.h"

namespace imgpipe {

struct InfoImage {
  std::string name;  // printable
  ImageInspection image;
};

struct InfoResults {
  std::vector<InfoImage> images;  // in the order found
  std::vector<ReportFailure> failures;
};

// One line per key for a single image; one line per image for several.
[[nodiscard]] std::string info_table(const InfoResults& results);
[[nodiscard]] std::string info_json(const InfoResults& results);
[[nodiscard]] std::string info_schema();

// "RGB and alpha, 16 bits per sample": as stored in the file.
[[nodiscard]] std::string color_text(const ImageInspection& image);
// "96x96 pixels per inch"; "" if the file has none.
[[nodiscard]] std::string resolution_text(const ImageInspection& image);

}  // namespace imgpipe
