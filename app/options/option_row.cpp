#include "app/options/option_row.h"

#include <algorithm>
#include <utility>

#include "images/files/file.h"

namespace imgpipe {
namespace {

// Options that presets cannot hold. New options may be in presets unless listed here.
constexpr std::string_view kNotInPresets[] = {
    "preset",      "write-preset", "output", "tensor",  "files-from", "report",  "json", "trace", "histogram",
    "keep-stages", "failed-out",   "shard",  "balance", "dry-run",    "version", "help", "merge"};
constexpr std::string_view kRepeated[] = {"also",    "preset", "report",      "include",
                                          "exclude", "image",  "image-stages"};

}  // namespace

bool allowed_in_presets(const OptionRow& row) {
  return std::ranges::find(kNotInPresets, option_name(row)) == std::end(kNotInPresets);
}

bool is_repeated(const OptionRow& row) {
  return std::ranges::find(kRepeated, option_name(row)) != std::end(kRepeated);
}

std::span<const ExclusiveOptions> excluding_options() {
  static constexpr ExclusiveOptions kPairs[] = {{"quiet", "verbose"},
                                                {"overwrite", "no-clobber"},
                                                {"accept", "lenient"},
                                                {"update", "no-clobber"},
                                                {"update", "skip-existing"}};
  return kPairs;
}

std::vector<OptionRow> rows_named(std::vector<OptionRow> rows,
                                  std::initializer_list<std::string_view> names) {
  std::erase_if(rows, [&](const OptionRow& row) {
    return std::ranges::find(names, std::string_view(option_name(row))) == names.end();
  });
  return rows;
}

OptionRow json_row(const char* group, std::string help) {
  return {group,
          "json",
          "[FILE]",
          nullptr,
          std::move(help) + "; without FILE, or with -, to stdout, and the table to stderr",
          {},
          kStandardStream,
          ".json"};
}

void add_rows(std::vector<OptionRow>& rows, std::vector<OptionRow> more, const char* group) {
  for (OptionRow& row : more) {
    if (group != nullptr) row.group = group;
    rows.push_back(std::move(row));
  }
}

std::vector<std::string> spelled_flags(const OptionRow& row) {
  std::vector<std::string> flags;
  std::string_view rest = row.flags;
  while (!rest.empty()) {
    const std::string_view flag = rest.substr(0, rest.find(','));
    flags.push_back((flag.size() == 1 ? "-" : "--") + std::string(flag));
    rest.remove_prefix(std::min(rest.size(), flag.size() + 1));
  }
  return flags;
}

std::string option_name(const OptionRow& row) {
  const std::string_view names = std::string_view(row.flags).substr(option_letter(row) == 0 ? 0 : 2);
  return std::string(names.substr(0, names.find(',')));
}

bool has_name(const OptionRow& row, std::string_view name) {
  std::string_view names = std::string_view(row.flags).substr(option_letter(row) == 0 ? 0 : 2);
  while (!names.empty()) {
    const std::string_view one = names.substr(0, names.find(','));
    if (one == name) return true;
    names.remove_prefix(std::min(names.size(), one.size() + 1));
  }
  return false;
}

bool is_named(const OptionRow& row, std::string_view name) {
  const std::string_view names = std::string_view(row.flags).substr(option_letter(row) == 0 ? 0 : 2);
  return names.starts_with(name) && (names.size() == name.size() || names[name.size()] == ',');
}

char option_letter(const OptionRow& row) {
  return row.flags[0] != '\0' && row.flags[1] == ',' ? row.flags[0] : '\0';
}

}  // namespace imgpipe
