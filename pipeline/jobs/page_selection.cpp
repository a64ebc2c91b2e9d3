#include "pipeline/jobs/page_selection.h"

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "images/error.h"
#include "images/text.h"
#include "pipeline/jobs/name_segments.h"

namespace imgpipe {
namespace {

std::int64_t page_number(const std::string& whole, std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 1)
    throw Error(ErrorKind::usage,
                "--pages: expected all, N, A-B or A- (pages count from 1), got '" + printable(whole) + "'");
  return number;
}

}  // namespace

PageSelection parse_pages(const std::string& text) {
  if (text == "all") return {};
  const std::size_t dash = text.find('-');
  if (dash == text.npos) {
    const std::int64_t page = page_number(text, text);
    return {page, page, true};
  }
  PageSelection selection{page_number(text, std::string_view(text).substr(0, dash)), std::nullopt, false};
  if (dash + 1 == text.size()) return selection;
  selection.last = page_number(text, std::string_view(text).substr(dash + 1));
  if (*selection.last < selection.first)
    throw Error(ErrorKind::usage,
                "--pages: the last page must not precede the first, got '" + printable(text) + "'");
  return selection;
}

Error missing_pages_error(const PageSelection& selection, std::int64_t pages) {
  const std::int64_t missing =
      selection.first > pages ? selection.first : selection.last.value_or(selection.first);
  return {ErrorKind::input, "has " + (pages == 1 ? "only one page" : std::to_string(pages) + " pages") +
                                ", but --pages requests page " + std::to_string(missing)};
}

PageRange selected_pages(const PageSelection& selection, std::int64_t pages) {
  const PageRange range{selection.first, selection.last.value_or(std::max(selection.first, pages))};
  if (range.last > pages) throw missing_pages_error(selection, pages);
  return range;
}

std::string page_path(const PageSelection& selection, const std::string& output, std::int64_t number,
                      std::int64_t pages) {
  if (selection.named) return name_of_page(output, number);
  constexpr std::size_t kMinDigits = 4;
  const std::size_t digits = std::max(kMinDigits, std::to_string(pages).size());
  std::filesystem::path path(output);
  const std::string ending = path.extension().string();
  path.replace_filename(path.stem().string() + "_" + padded_number(number, static_cast<int>(digits)) +
                        ending);
  return path.string();
}

}  // namespace imgpipe
