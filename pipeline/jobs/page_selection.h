// The selection of pages of an input: --pages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "images/error.h"

namespace imgpipe {

// Pages are numbered from 1.
struct PageSelection {
  std::int64_t first = 1;
  std::optional<std::int64_t> last;  // none: to the end
  bool alone = false;                // one page, selected by number: the output is one image
  bool named = false;  // each page has a file, named with {page} (pipeline/jobs/name_segments.h)

  friend bool operator==(const PageSelection&, const PageSelection&) = default;
};

// Parses "all", "N", "A-B" or "A-". Throws Error(usage).
[[nodiscard]] PageSelection parse_pages(const std::string& text);

struct PageRange {
  std::int64_t first = 1, last = 1;
  [[nodiscard]] std::int64_t count() const { return last - first + 1; }
};
// Returns the Error(input) for an input with too few pages.
[[nodiscard]] Error missing_pages_error(const PageSelection& selection, std::int64_t pages);
// Returns the selected pages of an input with `pages` pages. Throws Error(input) for a missing page.
[[nodiscard]] PageRange selected_pages(const PageSelection& selection, std::int64_t pages);

// Returns the file of one page if each has its own: the number replaces {page} in the name, or else precedes
// the extension, with as many digits as `pages` has, at least four: out_0001.png. `pages` = 0: unknown.
[[nodiscard]] std::string page_path(const PageSelection& selection, const std::string& output,
                                    std::int64_t number, std::int64_t pages);

}  // namespace imgpipe
