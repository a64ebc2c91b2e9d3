#include "app/jobs/selection.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "app/files/path_text.h"
#include "app/update/stamp_file.h"
#include "images/codecs/codec.h"
#include "images/text.h"

namespace imgpipe {
namespace {

constexpr std::string_view kOthers = "others";

// Endings of common image formats that imgpipe does not read.
constexpr std::pair<std::string_view, std::string_view> kUnread[] = {
    {"heic", "heif"},      {"heif", "heif"},      {"hif", "heif"},       {"avif", "avif"},
    {"jxl", "jxl"},        {"jp2", "jp2"},        {"j2k", "jp2"},        {"jpf", "jp2"},
    {"jpx", "jp2"},        {"pam", "pam"},        {"pfm", "pfm"},        {"apng", "apng"},
    {"qoi", "qoi"},        {"ico", "ico"},        {"pcx", "pcx"},        {"dds", "dds"},
    {"exr", "exr"},        {"hdr", "hdr"},        {"svg", "svg"},        {"xcf", "xcf"},
    {"cr2", "camera raw"}, {"cr3", "camera raw"}, {"nef", "camera raw"}, {"arw", "camera raw"},
    {"dng", "camera raw"}, {"orf", "camera raw"}, {"rw2", "camera raw"}, {"raf", "camera raw"},
    {"pef", "camera raw"}, {"srw", "camera raw"}};

std::string ending_of(std::string_view name) {
  const std::size_t dot = name.find_last_of("./");
  if (dot == std::string_view::npos || name[dot] == '/') return "";
  std::string ending(name.substr(dot + 1));
  std::ranges::transform(ending, ending.begin(),
                         [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return ending;
}

bool is_readable(const std::string& name) {
  const std::optional<Format> format = format_by_ending(name);
  return format && format_info(*format).readable;
}

using KindRow = std::pair<std::string, SkippedInputs::Kind>;

std::vector<KindRow> sorted_by_count(const SkippedInputs& skipped_inputs) {
  std::vector<KindRow> rows(skipped_inputs.kinds.begin(), skipped_inputs.kinds.end());
  std::ranges::stable_sort(rows, [](const KindRow& a, const KindRow& b) {
    if ((a.first == kOthers) != (b.first == kOthers)) return b.first == kOthers;
    return a.second.files > b.second.files;
  });
  return rows;
}

std::string listed(const SkippedInputs& skipped_inputs, bool with_examples) {
  std::string text;
  const auto add = [&](std::size_t count, const std::string& what) {
    text += (text.empty() ? "" : ", ") + std::to_string(count) + " " + what;
  };
  for (const auto& [name, kind] : sorted_by_count(skipped_inputs)) {
    const std::string what = name == kOthers && kind.files == 1 ? "other" : name;
    add(kind.files, what + (with_examples ? " (such as " + printable(kind.example) + ")" : ""));
  }
  if (skipped_inputs.not_selected > 0) add(skipped_inputs.not_selected, "excluded by --include or --exclude");
  return text;
}

}  // namespace

std::string_view unreadable_format(std::string_view name) {
  const std::string ending = ending_of(name);
  const auto* const row = std::ranges::find(kUnread, ending, [](const auto& entry) { return entry.first; });
  return row == std::end(kUnread) ? kOthers : row->second;
}

std::size_t SkippedInputs::files() const {
  std::size_t count = not_selected;
  for (const auto& [name, kind] : kinds) count += kind.files;
  return count;
}

std::string SkippedInputs::text() const {
  return listed(*this, false);
}

std::string SkippedInputs::text_with_examples() const {
  return listed(*this, true);
}

Selection::Selection(const std::vector<std::string>& include, const std::vector<std::string>& exclude) {
  for (const std::string& pattern : include) include_.push_back({Glob(pattern)});
  for (const std::string& pattern : exclude) exclude_.push_back({Glob(pattern)});
}

bool Selection::takes(const std::string& path, bool by_ending) {
  if (file_name_of(path) == kStampFile) return false;
  const bool readable = !by_ending || is_readable(path);
  const bool out = excluded(path, false);
  if (include_.empty() ? readable : included(path, readable)) {
    if (!out) return true;
    ++passed_over_.not_selected;
  } else if (out || !include_.empty()) {
    ++passed_over_.not_selected;
  } else {
    SkippedInputs::Kind& kind = passed_over_.kinds[std::string(unreadable_format(path))];
    if (kind.files++ == 0) kind.example = path;
  }
  return false;
}

void Selection::count_hidden(const std::string& path) {
  if (!is_readable(path)) return;
  SkippedInputs::Kind& kind = passed_over_.kinds["hidden"];
  if (kind.files++ == 0) kind.example = path;
}

bool Selection::selects_directory(const std::string& path) {
  return !excluded(path, true);
}

// A directory pattern includes the images in matching directories. For unmatched(), a pattern without a match
// so far is tested even if another pattern has already matched the file.
bool Selection::included(const std::string& path, bool readable) {
  bool wanted = false;
  for (Pattern& pattern : include_) {
    if (wanted && pattern.matched) continue;
    const bool hit = pattern.glob.matches(path, false) ||
                     (readable && pattern.glob.directories_only() && pattern.glob.matches_parent_of(path));
    pattern.matched = pattern.matched || hit;
    wanted = wanted || hit;
  }
  return wanted;
}

bool Selection::excluded(const std::string& path, bool is_directory) {
  bool out = false;
  for (Pattern& pattern : exclude_) {
    if (out && pattern.matched) continue;
    const bool hit = pattern.glob.matches(path, is_directory) || pattern.glob.matches_parent_of(path);
    pattern.matched = pattern.matched || hit;
    out = out || hit;
  }
  return out;
}

std::vector<std::string> Selection::unmatched(bool with_exclude) const {
  std::vector<std::string> texts;
  for (const auto& [option, patterns] :
       {std::pair{"--include", &include_}, std::pair{"--exclude", &exclude_}}) {
    for (const Pattern& pattern : *patterns) {
      if (!pattern.matched && (with_exclude || patterns == &include_))
        texts.push_back(std::string(option) + " '" + printable(pattern.glob.text()) + "'");
    }
  }
  return texts;
}

}  // namespace imgpipe
