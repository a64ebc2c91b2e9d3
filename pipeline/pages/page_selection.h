// Which pages of an input are wanted: --pages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace imgpipe {

// Pages count from 1.
struct PageSelection {
  std::int64_t first = 1;
  std::optional<std::int64_t> last;  // none: to the end
  bool alone = false;                // one page, by its number: the output is one image

  friend bool operator==(const PageSelection&, const PageSelection&) = default;
};

// "all", "N", "A-B" or "A-". Throws Error(usage).
[[nodiscard]] PageSelection parse_pages(const std::string& text);

struct PageRange {
  std::int64_t first = 1, last = 1;
  [[nodiscard]] std::int64_t count() const { return last - first + 1; }
};
// Of an input with so many pages. Throws Error(input) for a page that is not there.
[[nodiscard]] PageRange chosen_pages(const PageSelection& selection, std::int64_t pages);

// The file of one page, where each gets its own: the number before the ending, with as many digits as `pages`
// has, at least four: out_0001.png.
[[nodiscard]] std::string page_path(const std::string& output, std::int64_t number, std::int64_t pages);

}  // namespace imgpipe
