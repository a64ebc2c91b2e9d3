#include "app/batch/page_outputs.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "app/places.h"
#include "images/error.h"
#include "images/files/page_list.h"
#include "images/text.h"
#include "pipeline/error_of.h"
#include "pipeline/pages/page_selection.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

// The name whose page a path has the name of: out.png of out_0012.png. nullopt where it is none.
std::optional<std::string> name_without_page(const fs::path& path) {
  constexpr std::size_t kLeastDigits = 4;  // as page_path() has them
  const std::string stem = path.stem().string();
  const std::size_t bar = stem.find_last_not_of("0123456789");
  if (bar == stem.npos || stem[bar] != '_' || stem.size() - bar - 1 < kLeastDigits) return std::nullopt;
  return (path.parent_path() / (stem.substr(0, bar) + path.extension().string())).string();
}

}  // namespace

std::vector<std::string> page_files(const ProcessOptions& options, const BatchFile& file) {
  std::vector<std::string> files;
  const std::optional<Error> error = error_of([&] {
    const PageList list(file.input, options.decode, InputKind::regular_only);
    const PageRange range = chosen_pages(*options.pages, list.size());
    for (std::int64_t number = range.first; number <= range.last; ++number)
      files.push_back(page_path(file.output, number, list.size()));
  });
  return error ? std::vector<std::string>() : files;
}

bool has_all_pages(const ProcessOptions& options, const BatchFile& file) {
  const std::vector<std::string> files = page_files(options, file);
  std::error_code unknown;
  return !files.empty() &&
         std::ranges::all_of(files, [&](const std::string& page) { return fs::exists(page, unknown); });
}

void check_page_outputs(const ProcessOptions& options, const std::vector<BatchFile>& files) {
  Places places;
  std::map<FileIdentity, const BatchFile*> writers;
  for (const BatchFile& file : files) {
    if (!has_page_files(options, file.format) || file.output_exists) continue;
    if (const auto place = places.of(file.output)) writers.emplace(*place, &file);
  }
  if (writers.empty()) return;
  for (const BatchFile& file : files) {
    const std::optional<std::string> name = name_without_page(file.input);
    const auto place = name ? places.of(*name) : std::nullopt;
    const auto writer = place ? writers.find(*place) : writers.end();
    if (writer == writers.end()) continue;
    throw Error(ErrorKind::usage,
                printable(file.input) + ": is an input, and a page of " + printable(writer->second->input) +
                    " could be written there; name another folder, or --exclude one of them");
  }
}

}  // namespace imgpipe
