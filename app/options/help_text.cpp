#include "app/options/help_text.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

namespace imgpipe {
namespace {

// Names have their own column with the texts to the right. On a narrow terminal, and after a name longer than
// the column, the text starts on the next line.
constexpr std::size_t kMaxNameColumn = 38;
constexpr std::size_t kNarrow = 60;
constexpr std::size_t kNarrowIndent = 8;

// Appends words to `out`, whose last line has `at` columns; further lines get `indent` spaces.
void add_words(std::string& out, std::string_view text, std::size_t at, std::size_t indent,
               std::size_t width) {
  bool first = true;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (word.empty()) continue;
    if (!first && at + 1 + word.size() > width) {
      out += "\n" + std::string(indent, ' ');
      at = indent;
      first = true;
    }
    out += (first ? "" : " ") + std::string(word);
    at += (first ? 0 : 1) + word.size();
    first = false;
  }
  out += "\n";
}

}  // namespace

std::string help_lines(const std::vector<HelpLine>& lines, int columns) {
  const auto width = static_cast<std::size_t>(columns);
  std::size_t longest = 0;
  for (const HelpLine& line : lines) longest = std::max(longest, line.name.size());
  const std::size_t column = width < kNarrow ? kNarrowIndent : std::min(longest + 2, kMaxNameColumn);
  std::string out;
  for (const auto& [name, text] : lines) {
    const std::size_t name_indent = std::min(name.find_first_not_of(' '), name.size());
    out += name.substr(0, name_indent);
    if (text.empty() || name.size() + 2 > column) {
      add_words(out, name.substr(name_indent), name_indent, name_indent + 2, width);
      if (text.empty()) continue;
      out += std::string(column, ' ');
    } else {
      out += name.substr(name_indent) + std::string(column - name.size(), ' ');
    }
    add_words(out, text, column, column, width);
  }
  return out;
}

std::vector<HelpLine> indented(std::vector<HelpLine> lines, const std::string& end) {
  for (HelpLine& line : lines) line.name = "  " + line.name + end;
  return lines;
}

std::string wrapped(const std::string& text, int width) {
  std::string out;
  add_words(out, text, 0, 0, static_cast<std::size_t>(width));
  return out;
}

std::vector<std::string> groups_of(const std::vector<OptionRow>& rows) {
  std::vector<std::string> groups;
  for (const OptionRow& row : rows) {
    if (std::ranges::find(groups, row.group) == groups.end()) groups.emplace_back(row.group);
  }
  return groups;
}

HelpLine flags_line(const OptionRow& row) {
  HelpLine line;
  for (const std::string& flag : spelled_flags(row)) {
    const bool name = flag.starts_with("--");
    line.name += (line.name.empty() ? name ? "      " : "  " : ", ") + flag;
  }
  if (row.value != nullptr) line.name += std::string(" ") + row.value;
  return line;
}

std::string option_text(const OptionRow& row) {
  return row.help + (row.preset == nullptr ? "" : std::string(" (default: ") + row.preset + ")");
}

int help_width() {
  constexpr int kUsual = 80;
  int width = 0;
  if (const char* columns = std::getenv("COLUMNS")) {
    const std::string_view text(columns);
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), width);
    if (error != std::errc{} || end != text.data() + text.size()) width = 0;
  }
  struct winsize size {};
  if (width <= 0 && ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) width = size.ws_col;
  return std::clamp(width > 0 ? width : kUsual, kMinHelpWidth, kMaxHelpWidth);
}

std::string help_text(const std::string& description, const std::vector<HelpLine>& usage,
                      const std::vector<OptionRow>& options, int width, const HelpTable& table) {
  std::string out = wrapped(description, width);
  out += "\nUsage:\n" + help_lines(indented(usage), width);
  if (!table.title.empty())
    out += "\n" + wrapped(table.title + ":", width) + help_lines(indented(table.rows), width);
  for (const std::string& group : groups_of(options)) {
    std::vector<HelpLine> lines;
    for (const OptionRow& row : options) {
      if (row.group != group) continue;
      lines.push_back(flags_line(row));
      lines.back().text = option_text(row);
    }
    out += "\n" + group + ":\n" + help_lines(lines, width);
  }
  return out;
}

}  // namespace imgpipe
