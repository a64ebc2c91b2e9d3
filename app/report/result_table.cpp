#include "app/report/result_table.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "app/report/exact_number.h"
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

nlohmann::ordered_json table_json(const ResultTable& table) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const auto& row : table.rows) {
    nlohmann::ordered_json object;
    for (std::size_t i = 0; i < table.columns.size(); ++i) {
      const TableCell& cell = row[i];
      object[table.columns[i].key] = cell.value          ? nlohmann::ordered_json(*cell.value)
                                     : cell.text.empty() ? nlohmann::ordered_json(nullptr)
                                                         : nlohmann::ordered_json(cell.text);
    }
    rows.push_back(std::move(object));
  }
  return rows;
}

}  // namespace imgpipe
