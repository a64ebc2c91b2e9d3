// Which pages of an input are wanted: --pages.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "images/error.h"

namespace imgpipe {

// Pages count from 1.
struct PageSelection {
  std::int64_t first = 1;
  std::optional<std::int64_t> last;  // none: to the end
  bool alone = false;                // one page, by its number: the output is one image
  bool named = false;  // each has a file whose name has {page} in it (pipeline/jobs/name_pieces.h)

  friend bool operator==(const PageSelection&, const PageSelection&) = default;
};

// "all", "N", "A-B" or "A-". Throws Error(usage).
[[nodiscard]] PageSelection parse_pages(const std::string& text);

struct PageRange {
  std::int64_t first = 1, last = 1;
  [[nodiscard]] std::int64_t count() const { return last - first + 1; }
};
// Of an input that has too few pages: Error(input).
[[nodiscard]] Error pages_missing(const PageSelection& selection, std::int64_t pages);
// Of an input with so many pages. Throws Error(input) for a page that is not there.
[[nodiscard]] PageRange chosen_pages(const PageSelection& selection, std::int64_t pages);

// The file of one page, where each gets its own: where {page} stands in a name that has it, else before the
// ending, with as many digits as `pages` has, at least four: out_0001.png. 0: how many there are is not
// known.
[[nodiscard]] std::string page_path(const PageSelection& selection, const std::string& output,
                                    std::int64_t number, std::int64_t pages);

}  // namespace imgpipe
