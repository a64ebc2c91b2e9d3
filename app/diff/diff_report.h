// The result of imgpipe diff: text for people, JSON for programs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "images/plane.h"
#include "pipeline/pixel_difference.h"

namespace imgpipe {

struct DiffPage {
  std::int64_t number = 1;
  Shape a{0, 0, 1}, b{0, 0, 1};
  PixelDifference pixels{};  // of images of the same shape

  [[nodiscard]] bool is_equal() const { return a == b && pixels.is_equal(); }
};

struct DiffResult {
  std::string a, b;                             // printable names
  std::int64_t pages = 0;                       // compared
  bool a_has_more = false, b_has_more = false;  // pages
  std::vector<DiffPage> different{};            // pages

  [[nodiscard]] bool is_equal() const { return different.empty() && !a_has_more && !b_has_more; }
};

[[nodiscard]] std::string diff_text(const DiffResult& result);
[[nodiscard]] std::string diff_json(const DiffResult& result);
[[nodiscard]] std::string diff_schema();

}  // namespace imgpipe
