#include "app/report/csv.h"

namespace imgpipe {

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string csv_head(const Json& object) {
  std::string head;
  for (const auto& [key, value] : object.items()) head += (head.empty() ? "" : ",") + key;
  return head + "\n";
}

std::string csv_value(const Json& value) {
  if (value.is_string()) return csv_field(value.get<std::string>());
  if (value.is_number()) return value.dump();
  std::string joined;
  if (value.is_array())
    for (const Json& one : value)
      joined += (joined.empty() ? "" : "; ") + (one.is_string() ? one.get<std::string>() : one.dump());
  return csv_field(joined);
}

std::string csv_row(const Json& object) {
  std::string row;
  for (const Json& value : object) row += csv_value(value) + ",";
  row.back() = '\n';
  return row;
}

std::vector<std::string> csv_fields(std::string_view row) {
  std::vector<std::string> fields(1);
  bool quoted = false;
  for (std::size_t i = 0; i < row.size(); ++i) {
    const char c = row[i];
    if (c == '"' && quoted && i + 1 < row.size() && row[i + 1] == '"') {
      fields.back() += row[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (c == ',' && !quoted) {
      fields.emplace_back();
    } else {
      fields.back() += c;
    }
  }
  return fields;
}

}  // namespace imgpipe
