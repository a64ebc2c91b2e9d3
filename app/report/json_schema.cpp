#include "app/report/json_schema.h"

#include <vector>

namespace imgpipe {
namespace {

constexpr std::size_t kColumns = 118;

struct Member {
  std::string head;  // the key
  const Json& value;
  bool is_map = false;  // each member on its own line
};

std::vector<Member> members(const Json& value) {
  std::vector<Member> all;
  if (value.is_array())
    for (const Json& item : value) all.push_back({"", item});
  if (value.is_object())
    for (const auto& [key, item] : value.items())
      all.push_back({Json(key).dump() + ": ", item, key == "properties" || key == "$defs"});
  return all;
}

std::string on_a_line(const Json& value) {
  if (!value.is_structured()) return value.dump();
  std::string text;
  for (const Member& member : members(value))
    text += (text.empty() ? "" : ", ") + member.head + on_a_line(member.value);
  return value.is_object() ? "{" + text + "}" : "[" + text + "]";
}

// `column` is where the value starts.
std::string pretty(const Json& value, std::size_t indent, std::size_t column, bool is_map) {
  std::string line = on_a_line(value);
  if (column + line.size() < kColumns || !value.is_structured()) return line;
  indent += 2;
  std::vector<std::string> lines;
  bool begins = true;
  for (const Member& member : members(value)) {
    if (!lines.empty()) lines.back() += ",";
    const std::string alone = member.head + on_a_line(member.value);
    const bool fits = indent + alone.size() < kColumns;
    if (!begins && fits && !is_map && lines.back().size() + 1 + alone.size() < kColumns) {
      lines.back() += " " + alone;
    } else {
      lines.push_back(std::string(indent, ' ') + member.head +
                      pretty(member.value, indent, indent + member.head.size(), member.is_map));
    }
    begins = !fits;
  }
  std::string text = value.is_object() ? "{\n" : "[\n";
  for (const std::string& one : lines) text += one + "\n";
  return text + std::string(indent - 2, ' ') + (value.is_object() ? "}" : "]");
}

}  // namespace

std::string schema_text(const Json& schema) {
  return pretty(schema, 0, 0, false) + "\n";
}

}  // namespace imgpipe
