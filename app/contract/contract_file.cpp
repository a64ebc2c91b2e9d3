#include "app/contract/contract_file.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>

#include "app/report/fields.h"
#include "app/report/json_head.h"
#include "app/report/json_schema.h"
#include "images/error.h"
#include "images/text.h"

namespace imgpipe {
namespace {

using Groups = Named<std::vector<std::string>>;

std::size_t count_results(const std::vector<DigestRow>& rows) {
  std::size_t results = 0;
  for (const DigestRow& one : rows) results += one.row.images.size();
  return results;
}

void add_contract(Fields& fields, std::size_t results, const Groups& groups) {
  add_version(fields);
  add_kind(fields, kContractSchema);
  fields.add("contract", kContractNumber, kFromOne);
  fields.add("results", results, kFromOne).about("the images of all rows");
  fields.add("groups", groups, {.pattern = "^[0-9a-f]{64} (u8|u16|f32) [0-9,-]+ .+$"})
      .about("rows by rule: the digest of the results, the type and numbers of the images, the steps");
}

[[noreturn]] void refuse(const std::string& problem) {
  throw Error(ErrorKind::input, problem);
}

DigestRow digest_row_of(const std::string& group, const std::string& line) {
  constexpr std::size_t kDigits = 64;
  if (line.size() <= kDigits || line[kDigits] != ' ' || line.find_first_not_of("0123456789abcdef") != kDigits)
    refuse("expected a SHA-256 and a row, got '" + printable(line) + "'");
  return naming("'" + printable(line.substr(kDigits + 1)) + "'", [&] {
    return DigestRow{row_of(group, std::string_view(line).substr(kDigits + 1)), line.substr(0, kDigits)};
  });
}

}  // namespace

std::string contract_json(const std::vector<DigestRow>& rows) {
  Groups groups;
  for (const DigestRow& one : rows) {
    if (groups.empty() || groups.back().first != one.row.group) groups.push_back({one.row.group, {}});
    groups.back().second.push_back(one.digest + " " + text_of(one.row));
  }
  Fields fields;
  add_contract(fields, count_results(rows), groups);
  return fields.json().dump(1) + "\n";
}

std::vector<DigestRow> parse_contract(const std::string& text) {
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("schema", Json()) != schema_id(kContractSchema))
    refuse("not a contract; expected JSON with the schema " + schema_id(kContractSchema));
  const Json number = json.value("contract", Json());
  if (number != kContractNumber)
    refuse("contract " + printable(number.dump()) + "; this version knows " +
           std::to_string(kContractNumber));
  const Json groups = json.value("groups", Json::object());
  std::vector<DigestRow> rows;
  for (const auto& [group, lines] : groups.items()) {
    if (!lines.is_array()) refuse("groups: '" + printable(group) + "' is not a list");
    for (const Json& line : lines) {
      if (!line.is_string()) refuse("groups: '" + printable(group) + "' holds " + printable(line.dump()));
      rows.push_back(digest_row_of(group, line.get<std::string>()));
    }
  }
  if (rows.empty() || json.value("results", Json()) != count_results(rows))
    refuse("incomplete: its rows have " + results_text(rows) + " results");
  return rows;
}

std::string results_text(const std::vector<DigestRow>& rows) {
  std::string text = std::to_string(count_results(rows));
  for (std::size_t at = text.size(); at > 3; at -= 3) text.insert(at - 3, ",");
  return text;
}

std::string contract_schema() {
  return schema_text(kContractSchema, "imgpipe: digests of results",
                     [](Fields& fields) { add_contract(fields, 1, {}); });
}

}  // namespace imgpipe
