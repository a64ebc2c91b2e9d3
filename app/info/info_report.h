// What imgpipe info has found: tables for people, JSON for programs.
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
  std::vector<InfoImage> images;  // in the order in which they were found
  std::vector<ReportFailure> failures;
};

// Key and value, a line each, of one image; a line for each of several.
[[nodiscard]] std::string info_table(const InfoResults& results);
[[nodiscard]] std::string info_json(const InfoResults& results);
[[nodiscard]] std::string info_schema();

// "RGB and alpha, 16 bits a sample": as the file stores it.
[[nodiscard]] std::string color_text(const ImageInspection& image);
// "96x96 pixels per inch"; "": not said.
[[nodiscard]] std::string resolution_text(const ImageInspection& image);

}  // namespace imgpipe
