#include "app/report/result_table.h"

#include <algorithm>

#include "app/report/csv.h"
#include "app/report/json_head.h"
#include "app/report/json_schema.h"
#include "app/report/text_columns.h"

namespace imgpipe {
namespace {

std::vector<std::size_t> visible_columns(const ResultTable& table) {
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
  const std::vector<std::size_t> columns = visible_columns(table);
  std::vector<std::size_t> widths;
  for (const std::size_t i : columns) {
    const TableColumn& column = table.columns[i];
    std::size_t width = std::max(column.title.size(), column.width - std::min<std::size_t>(column.width, 1));
    for (const auto& row : table.rows) width = std::max(width, row[i].text.size());
    widths.push_back(width);
  }
  if (table.columns[columns.back()].left) widths.back() = 0;
  const auto line_of = [&](const auto& text_of) {
    std::string line = table.indent;
    for (std::size_t k = 0; k < columns.size(); ++k) {
      const TableColumn& column = table.columns[columns[k]];
      if (k > 0) line += column.width > 0 ? " " : "  ";
      line += padded(text_of(columns[k]), widths[k], column.left);
    }
    if (text_of(columns.back()).empty()) line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
  };
  std::string out = table.title.empty() ? "" : table.title + "\n";
  out += line_of([&](std::size_t i) { return table.columns[i].title; });
  for (const auto& row : table.rows) out += line_of([&](std::size_t i) { return row[i].text; });
  for (const std::string& note : table.notes) out += " " + note + "\n";
  return out;
}

std::string table_markdown(const ResultTable& table) {
  const std::vector<std::size_t> columns = visible_columns(table);
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

void add_tables(Fields& fields, const MeasuredTables& measured) {
  std::string device;
  for (const std::string& one : measured.devices) device += (device.empty() ? "" : "; ") + one;
  add_build(fields);
  add_run_head(fields, kBenchSchema, RunHead(measured.threads), device);
  fields.add("devices", measured.devices);
  fields.list("tables", measured.tables, [](Fields& each, const ResultTable& table) {
    each.add("title", table.title);
    each.any("rows", table_json(table), R"({"type": "array", "items": {
      "type": "object", "additionalProperties": {"type": ["string", "number", "null"]}}})");
    each.add("notes", table.notes);
  });
}

}  // namespace

std::string tables_json(const MeasuredTables& measured) {
  return fields_of([&](Fields& fields) { add_tables(fields, measured); }).text();
}

std::string tables_schema() {
  return schema_text(
      kBenchSchema,
      "Tables of the kernel lab: imgpipe bench --format json; which columns a row has depends on the table",
      [](Fields& fields) { add_tables(fields, {}); });
}

}  // namespace imgpipe
