// Measurements as a table, for people (text, Markdown) and for programs (CSV, JSON).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

namespace imgpipe {

enum class TableFormat { text, csv, json, markdown };

struct TableColumn {
  std::string key;        // for programs, with the unit: "median_us"
  std::string title;      // for people; empty: for programs only
  bool left = false;      // words, not numbers
  std::size_t width = 0;  // at least, a blank before it included; 0: that of the texts, after two blanks
};
inline constexpr const char* kNoTitle = " ";  // of a column that people see

struct TableCell {
  TableCell() = default;  // nothing
  // Words.
  TableCell(std::string words) : text(std::move(words)) {}  // NOLINT(google-explicit-constructor)
  TableCell(const char* words) : text(words) {}             // NOLINT(google-explicit-constructor)
  // A number; people see so many decimals of it times `scale`, and `unit` behind it.
  TableCell(double number, int decimals, double scale = 1, const char* unit = "");

  std::string text;             // as people see it
  std::optional<double> value;  // as programs get it
};

struct ResultTable {
  std::string title;
  std::vector<TableColumn> columns;
  std::vector<std::vector<TableCell>> rows;
  std::vector<std::string> notes;  // for people, below the table
  std::string indent = " ";
};

[[nodiscard]] std::string table_text(const ResultTable& table);
[[nodiscard]] std::string table_markdown(const ResultTable& table);
// Without a header where `previous` has the same columns.
[[nodiscard]] std::string table_csv(const ResultTable& table, const ResultTable* previous = nullptr);
// An array of objects.
[[nodiscard]] nlohmann::ordered_json table_json(const ResultTable& table);

// The tables of the lab, as imgpipe bench --format json prints them.
struct MeasuredTables {
  std::vector<std::string> devices;  // what was measured, for people
  int threads = 0;                   // as --threads has it
  std::vector<ResultTable> tables;
};
[[nodiscard]] std::string tables_json(const MeasuredTables& measured);
[[nodiscard]] std::string tables_schema();

}  // namespace imgpipe
