#include "app/report/result_table.h"

#include <algorithm>

#include "app/report/csv.h"
#include "app/report/exact_number.h"
#include "app/report/json_head.h"
#include "app/report/json_schema.h"
#include "app/report/text_columns.h"

namespace imgpipe {
namespace {

// Columns that people see.
std::vector<std::size_t> shown(const ResultTable& table) {
  std::vector<std::size_t> columns;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    if (!table.columns[i].title.empty()) columns.push_back(i);
  }
  return columns;
}

bool same_columns(const ResultTable& a, const ResultTable& b) {
  return std::ranges::equal(a.columns, b.columns, {}, &TableColumn::key, &TableColumn::key);
}

}  // namespace

TableCell::TableCell(double number, int decimals, double scale, const char* unit)
    : text(imgpipe::number(number * scale, decimals) + unit), value(number) {}

std::string table_text(const ResultTable& table) {
  const std::vector<std::size_t> columns = shown(table);
  std::vector<std::size_t> widths;
  for (const std::size_t i : columns) {
    std::size_t width = table.columns[i].title.size();
    for (const auto& row : table.rows) width = std::max(width, row[i].text.size());
    widths.push_back(width);
  }
  const auto line_of = [&](const auto& text_of) {
    std::string line;
    for (std::size_t k = 0; k < columns.size(); ++k)
      line += (k == 0 ? " " : "  ") + padded(text_of(columns[k]), widths[k], table.columns[columns[k]].left);
    return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
  };
  std::string out = table.title + "\n";
  out += line_of([&](std::size_t i) { return table.columns[i].title; });
  for (const auto& row : table.rows) out += line_of([&](std::size_t i) { return row[i].text; });
  for (const std::string& note : table.notes) out += " " + note + "\n";
  return out;
}

std::string table_markdown(const ResultTable& table) {
  const std::vector<std::size_t> columns = shown(table);
  std::string out = "**" + table.title + "**\n\n|";
  for (const std::size_t i : columns) out += " " + table.columns[i].title + " |";
  out += "\n|";
  for (const std::size_t i : columns) out += table.columns[i].left ? "---|" : "--:|";
  out += "\n";
  for (const auto& row : table.rows) {
    out += "|";
    for (const std::size_t i : columns) out += " " + row[i].text + " |";
    out += "\n";
  }
  if (!table.notes.empty()) out += "\n";
  for (const std::string& note : table.notes) out += note + "\n";
  return out;
}

std::string table_csv(const ResultTable& table, const ResultTable* previous) {
  std::string out;
  const auto add_line = [&](const auto& field_of) {
    for (std::size_t i = 0; i < table.columns.size(); ++i)
      out += (i == 0 ? "" : ",") + csv_field(field_of(i));
    out += "\n";
  };
  if (previous == nullptr || !same_columns(table, *previous))
    add_line([&](std::size_t i) { return table.columns[i].key; });
  for (const auto& row : table.rows)
    add_line([&](std::size_t i) { return row[i].value ? exact_number(*row[i].value) : row[i].text; });
  return out;
}

Json table_json(const ResultTable& table) {
  Json rows = Json::array();
  for (const auto& row : table.rows) {
    Json object;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const TableCell& cell = row[i];
      object[table.columns[i].key] = cell.value          ? Json(*cell.value)
                                     : cell.text.empty() ? Json(nullptr)
                                                         : Json(cell.text);
    }
    rows.push_back(std::move(object));
  }
  return rows;
}

namespace {

void table_fields(Fields& fields, const ResultTable& table) {
  fields.add("title", table.title);
  fields.any("rows", table_json(table), R"({"type": "array", "items": {
    "type": "object", "additionalProperties": {"type": ["string", "number", "null"]}}})");
  fields.add("notes", table.notes);
}
constexpr Object<ResultTable> kTable{"table", table_fields};

void tables_fields(Fields& fields, const MeasuredTables& measured) {
  std::string device;
  for (const std::string& one : measured.devices) device += (device.empty() ? "" : "; ") + one;
  add_build(fields);
  add_run_head(fields, kBenchSchema, RunHead(measured.threads), device);
  fields.add("devices", measured.devices);
  fields.list("tables", measured.tables, kTable);
}
constexpr Object<MeasuredTables> kTables{kBenchSchema, tables_fields};

}  // namespace

std::string tables_json(const MeasuredTables& measured) {
  return Fields(kTables, measured).text();
}

std::string tables_schema() {
  return schema_text(
      kTables,
      "Tables of the kernel lab: imgpipe bench --format json; which columns a row has depends on the "
      "table");
}

}  // namespace imgpipe
