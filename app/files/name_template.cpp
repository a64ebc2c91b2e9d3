#include "app/files/name_template.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "app/files/path_text.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/names.h"
#include "images/text.h"

namespace imgpipe {
namespace {

namespace fs = std::filesystem;

struct FieldRow {
  std::string_view name;
  std::string_view meaning;
  bool is_number = false;
  bool needs_input_name = false;  // derived from the input's name, which stdin lacks
};
constexpr std::array kFields{
    FieldRow{"dir", "directory below INPUT (for a file given as INPUT, the directory of its path)"},
    FieldRow{"stem", "name without its extension", false, true},
    FieldRow{"ext", "extension of the output's format"},
    FieldRow{"input_ext", "the input's extension", false, true},
    FieldRow{"parent", "name of the input's directory", false, true},
    FieldRow{"also", "NAME of the result of --also; main for that of --stages"},
    FieldRow{"n", "number of the input in the sorted list, from 1; {n:05} is 00001", true},
    FieldRow{kPageField, "number of the page, or of the image in a stream, formatted like {n}; with --pages",
             true},
};

const FieldRow* find_field(std::string_view name) {
  const auto* row = std::ranges::find(kFields, name, &FieldRow::name);
  return row == kFields.end() ? nullptr : row;
}

std::string field_list() {
  std::string list;
  for (const FieldRow& row : kFields) list += (list.empty() ? "{" : ", {") + std::string(row.name) + "}";
  return list;
}

void check_field(const NameSegment& field) {
  const FieldRow* const row = find_field(field.text);
  if (row == nullptr) {
    std::array<std::string_view, kFields.size()> names;
    std::ranges::transform(kFields, names.begin(), &FieldRow::name);
    throw Error(ErrorKind::usage, unknown_name("unknown field '{" + printable(field.text) + "}'", field.text,
                                               names, "must be one of " + field_list()));
  }
  if (field.digits > 0 && !row->is_number)
    throw Error(ErrorKind::usage,
                "'" + as_field_of_name(field) + "' does not accept a width; only {n} and {page} do");
}

// The last component of a path, split into an ending that names an image format and the text before it.
struct EndedName {
  std::string stem, ending;
};
EndedName split_ending(const std::string& name) {
  const std::size_t dot = name.find_last_of('.');
  if (dot == std::string::npos || dot == 0 || !format_by_ending(name)) return {name, ""};
  return {name.substr(0, dot), name.substr(dot + 1)};
}

std::string name_in(const std::string& path) {
  return std::string(file_name_of(path));
}

std::string_view first_ending(Format format) {
  return format_info(format).endings.front();
}

// Returns the literal ending in the last segment; nullopt if a field produces it or there is none.
std::optional<std::string> literal_ending(const std::vector<NameSegment>& segments) {
  if (segments.empty() || segments.back().is_field) return std::nullopt;
  const std::string& text = segments.back().text;
  const std::size_t dot = text.find_last_of("./");
  if (dot == std::string::npos || text[dot] == '/') return std::nullopt;
  return text.substr(dot + 1);
}

// Returns true if the name ends in a dot followed by `field`.
bool ends_in_field(const std::vector<NameSegment>& segments, std::string_view field) {
  if (segments.size() < 2) return false;
  const NameSegment& before = segments[segments.size() - 2];
  return segments.back().is_field && segments.back().text == field && !before.is_field &&
         before.text.ends_with('.');
}

// Collapses empty components, such as the one that {dir} leaves at the top.
std::string without_empty_parts(const std::string& name) {
  std::string path;
  for (const char c : name)
    if (c != '/' || (!path.empty() && path.back() != '/')) path += c;
  return path;
}

// Returns why `name` cannot name a file in a directory; empty if it can.
std::string invalid_name_reason(const std::string& name) {
  if (name.empty() || name.ends_with('/') || name_in(name) == ".") return "is not a file name";
  if (("/" + name + "/").find("/../") != std::string::npos) return "is outside OUTPUT";
  return "";
}

}  // namespace

NameTemplate::NameTemplate(const std::string& text) {
  naming("--name '" + printable(text) + "'", [&] {
    segments_ = name_segments(text);
    for (const NameSegment& segment : segments_) {
      if (segment.is_field) check_field(segment);
    }
    keeps_page_ = has(kPageField);
    if (text.starts_with('/')) throw Error(ErrorKind::usage, "absolute path; must be relative to OUTPUT");
    // Substitute a value that is valid for every field.
    std::string sample;
    for (const NameSegment& segment : segments_) sample += segment.is_field ? "x" : segment.text;
    if (const std::string why = invalid_name_reason(sample); !why.empty()) throw Error(ErrorKind::usage, why);
    if (const std::optional<std::string> ending = literal_ending(segments_))
      format_ = format_by_name(*ending);
    if (format_ && !format_info(*format_).can_be_written())
      throw Error(ErrorKind::usage, "cannot write " + std::string(format_info(*format_).name) +
                                        " files; end it with .png or .{ext}");
  });
}

const NameTemplate& NameTemplate::preset(bool in_tree) {
  static const NameTemplate name("{stem}.{ext}");
  static const NameTemplate name_in_tree("{dir}/{stem}.{ext}");
  return in_tree ? name_in_tree : name;
}

bool NameTemplate::has(std::string_view field) const {
  return std::ranges::any_of(
      segments_, [&](const NameSegment& segment) { return segment.is_field && segment.text == field; });
}

std::string NameTemplate::pattern() const {
  std::string pattern, text;
  for (const NameSegment& segment : segments_) {
    pattern += segment.is_field ? "*" : segment.text;
    text += segment.is_field ? "" : segment.text;
  }
  pattern.erase(0, pattern.rfind('/') + 1);
  const std::string_view stem = std::string_view(pattern).substr(0, pattern.rfind('.'));
  const bool is_plain = text.find_first_of("*?[]{}\\'") == std::string::npos;
  return is_plain && stem.find_first_not_of('*') != std::string_view::npos ? pattern : "";
}

void NameTemplate::check_format(const std::optional<Format>& format) const {
  if (format_ && format && !is_ending_of(*format_, *format))
    throw Error(ErrorKind::usage, "--name: the extension is that of " +
                                      std::string(format_info(*format_).name) + ", but --format is " +
                                      std::string(format_info(*format).name) +
                                      "; change one of them or end the name with .{ext}");
  if (!format_ && !format && !ends_in_field(segments_, "ext") && !ends_in_field(segments_, "input_ext"))
    throw Error(ErrorKind::usage,
                "--name: no extension of an image format; end it with .{ext} or add --format png");
}

std::string NameTemplate::value_of(const NameSegment& field, const NamedInput& input, Format format,
                                   std::optional<std::int64_t> page) const {
  if (field.text == kPageField) return page ? padded_number(*page, field.digits) : as_field_of_name(field);
  if (field.text == "also") return input.also;
  if (field.text == "n") return padded_number(input.number, field.digits);
  if (input.path == kStandardStream && find_field(field.text)->needs_input_name)
    throw Error(
        ErrorKind::usage,
        "--name: '" + as_field_of_name(field) +
            "' needs the name of an input, but stdin has none; use {page} to number the images of a stream");
  if (field.text == "dir") return std::string(parent_path_of(input.tree));
  if (field.text == "parent")
    return name_in(fs::absolute(input.path).lexically_normal().parent_path().string());
  const EndedName name = split_ending(name_in(input.tree));
  if (field.text == "stem") return name.stem;
  if (field.text == "input_ext") return name.ending;
  // The input's own ending keeps its spelling if it names the right format.
  return format_by_name(name.ending) == format ? name.ending : std::string(first_ending(format));
}

PlacedOutput NameTemplate::place(const std::string& directory, const NamedInput& input,
                                 const std::optional<Format>& format,
                                 std::optional<std::int64_t> page) const {
  const std::optional<Format> own = format_by_ending(input.tree);
  PlacedOutput placed;
  placed.format = format                              ? *format
                  : format_                           ? *format_
                  : own && format_info(*own).writable ? *own
                                                      : Format::png;
  const bool stays_name = keeps_page_ && !page;
  const auto text = [&](const std::string& part) { return stays_name ? as_text_of_name(part) : part; };
  std::string name;
  for (const NameSegment& segment : segments_) {
    const bool is_kept = segment.is_field && segment.text == kPageField && !page;
    const std::string value = segment.is_field ? value_of(segment, input, placed.format, page) : segment.text;
    name += is_kept ? value : text(value);
  }
  name = without_empty_parts(name);
  const auto of_input = [&] { return printable(input.path) + ": output name '" + printable(name) + "' "; };
  if (const std::string why = invalid_name_reason(name); !why.empty())
    throw Error(ErrorKind::usage, of_input() + why);
  if (const auto ending = format_by_ending(name); ending && !is_ending_of(*ending, placed.format))
    throw Error(ErrorKind::usage, of_input() + "has the extension of " +
                                      std::string(format_info(*ending).name) + ", but the format is " +
                                      std::string(format_info(placed.format).name) +
                                      "; end --name with .{ext}");
  placed.path = name.starts_with('/') ? name : joined_path(text(directory), name);
  return placed;
}

std::string also_path(const std::string& output, const std::string& name) {
  const fs::path path(output);
  return (path.parent_path() / path.stem()).string() + "." + name + path.extension().string();
}

std::string name_fields_help() {
  std::string help;
  for (const FieldRow& row : kFields)
    help += (help.empty() ? "{" : "; {") + std::string(row.name) + "}: " + std::string(row.meaning);
  return help;
}

bool is_ending_of(Format ending, Format format) {
  return ending == format || (ending == Format::pnm && (format == Format::pgm || format == Format::ppm));
}

}  // namespace imgpipe
