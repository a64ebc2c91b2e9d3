#include "app/files/name_list.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <string_view>

#include "images/error.h"
#include "images/files/file.h"
#include "images/text.h"

namespace imgpipe {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Returns true if every line ends with CR LF; otherwise a CR belongs to its name.
bool has_crlf(std::string_view text) {
  std::size_t lines = 0;
  for (std::size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1), ++lines) {
    if (at == 0 || text[at - 1] != '\r') return false;
  }
  return lines > 0;
}

// Whether no component is empty, "." or "..": lexically_normal(), which takes microseconds, changes nothing.
bool is_plain(std::string_view name) {
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = std::min(name.find('/', at), name.size());
    const std::string_view part = name.substr(at, end - at);
    if ((part.empty() && at > 0) || part == "." || part == "..") return false;
    at = end + 1;
  }
  return true;
}

}  // namespace

std::string plain_name(std::string_view name) {
  if (is_plain(name)) return std::string(name);
  return std::filesystem::path(name).lexically_normal().string();
}

std::vector<std::string> read_name_list(const std::string& path) {
  if (same_file(path, "/dev/null")) return {};
  const std::vector<std::byte> bytes = naming("--files-from " + printable(path), [&] {
    return read_file(path, std::numeric_limits<std::int32_t>::max());
  });
  std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  const char end = text.find('\0') == std::string_view::npos ? '\n' : '\0';
  if (end == '\n' && text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
  const std::string_view line_end = end == '\n' && has_crlf(text) ? "\r\n" : std::string_view(&end, 1);
  std::vector<std::string> names;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t stop = std::min(text.find(line_end, at), text.size());
    if (stop > at) names.emplace_back(text.substr(at, stop - at));
    at = stop + line_end.size();
  }
  return names;
}

std::string name_list_text(const std::vector<std::string>& names) {
  const bool lines = std::ranges::none_of(names, [](const std::string& name) {
    return name.find_first_of("\r\n") != std::string::npos || name.starts_with(kByteOrderMark);
  });
  std::string text;
  for (const std::string& name : names) text += name + (lines ? '\n' : '\0');
  return text;
}

}  // namespace imgpipe
