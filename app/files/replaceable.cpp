#include "app/files/replaceable.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "app/files/name_list.h"
#include "images/codecs/mark.h"
#include "images/error.h"
#include "images/files/file.h"
#include "images/files/file_identity.h"
#include "images/files/input_file.h"
#include "images/text.h"

namespace imgpipe {
namespace {

using Head = std::span<const std::byte>;

std::string_view text_of(Head head) {
  return {reinterpret_cast<const char*>(head.data()), head.size()};
}

std::string_view without_space(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

// Removes `token` and the white space before it from the front of `text`; false if it is not there.
bool take(std::string_view& text, std::string_view token) {
  const std::string_view rest = without_space(text);
  if (!rest.starts_with(token)) return false;
  text = rest.substr(token.size());
  return true;
}

// Returns 0, which no file has, if the file cannot be read.
std::uint64_t content_hash_of(const std::string& path) {
  const std::optional<InputFile> file = open_on_disk(path, 0);
  return file ? content_hash(*file) : 0;
}

}  // namespace

bool is_own_text(std::string_view head) {
  std::string_view rest = head;
  if (take(rest, "{") && take(rest, "\"imgpipe\"") && take(rest, ":")) return true;
  rest = head;
  if (take(rest, "[") && take(rest, R"({"name":"process_name")")) return head.find("imgpipe") != head.npos;
  const bool table = head.starts_with("name,kind,time_ms,") || head.starts_with("bin,before_") ||
                     head.starts_with("imgpipe,schema,") || head.starts_with("input,status,group,") ||
                     head.starts_with("input,page,status,group,") || head.starts_with(kPresetMark);
  const bool drawn = head.starts_with("<svg ") || head.starts_with("<!DOCTYPE html>");
  return table || (drawn && head.find(kSvgMark) != head.npos);
}

std::string refusal_reason(const std::string& path, Replace replace,
                           const std::function<bool(Head head)>& own) {
  if (replace == Replace::all || path.empty() || path == kStandardStream) return "";
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error) || descriptor_of(path)) return "";
  if (replace == Replace::none) return "already exists (--no-clobber)";
  if (file_size_bytes(path) == 0 || own(read_head(path, kMarkBytes))) return "";
  return "already exists and was not written by imgpipe; use --overwrite to replace it";
}

Replacement replacement_of(const std::string& path, Replace replace, Mark mark, const std::string& input) {
  Replacement replacement;
  replacement.cannot_replace_reason = refusal_reason(path, replace, [&](Head head) {
    const Mark found = find_mark(head);
    if (found.kind != Mark::Kind::result) return found.kind != Mark::Kind::none && found.kind == mark.kind;
    replacement.replaced = found;
    return true;
  });
  const std::optional<Provenance>& other = replacement.replaced.made_of;
  if (!replacement.cannot_replace_reason.empty() || !other) return replacement;
  if (mark.made_of) {
    if (mark.made_of->name == other->name) return replacement;
    if (mark.made_of->content == 0) mark.made_of->content = content_hash_of(input);
    if (mark.made_of->content == other->content) return replacement;
  }
  replacement.cannot_replace_reason =
      "already exists and is a result of another input; use --overwrite to replace it";
  return replacement;
}

bool have_same_options(const Mark& a, const Mark& b) {
  return !a.made_of || !b.made_of || a.made_of->options == b.made_of->options;
}

Mark mark_in(const std::string& path) {
  return find_mark(read_head(path, kMarkBytes));
}

std::string image_refusal_reason(const std::string& path, Replace replace, const Mark& mark,
                                 const std::string& input) {
  return replacement_of(path, replace, mark, input).cannot_replace_reason;
}

void check_still_replaceable(const std::string& path, Replace replace, const Mark& mark) {
  if (const std::string why = image_refusal_reason(path, replace, mark); !why.empty())
    throw Error(ErrorKind::usage, why);
}

std::string text_refusal_reason(const std::string& path, Replace replace) {
  return refusal_reason(path, replace, [](Head head) { return is_own_text(text_of(head)); });
}

std::string list_refusal_reason(const std::string& path, Replace replace,
                                const std::function<bool(const std::string&)>& is_name) {
  return refusal_reason(path, replace, [&](Head) {
    const std::vector<std::string> names = read_name_list(path);
    return std::ranges::all_of(names, [&](const std::string& name) {
      const std::optional<Format> format = format_by_ending(name);
      return (format && format_info(*format).readable) || is_name(name);
    });
  });
}

void check_replaceable(const std::string& path, const std::string& reason) {
  if (!reason.empty()) throw Error(ErrorKind::usage, printable(path) + ": " + reason);
}

std::string archive_refusal_reason(const std::string& path, Replace replace) {
  std::string reason = refusal_reason(path, replace, [](std::span<const std::byte>) { return false; });
  if (reason.empty() || replace == Replace::none) return reason;
  return "already exists; use --overwrite to replace it or --skip-existing to keep it";
}

}  // namespace imgpipe
