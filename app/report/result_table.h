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
  std::string key;        // for programs, including the unit: "median_us"
  std::string title;      // for people; empty: for programs only
  bool left = false;      // left-aligned words, not numbers
  std::size_t width = 0;  // minimum, including a leading space; 0: as wide as the texts, after two spaces
};
inline constexpr const char* kNoTitle = " ";  // title of a visible column without one

struct TableCell {
  TableCell() = default;                                    // an empty cell
  TableCell(std::string words) : text(std::move(words)) {}  // NOLINT(google-explicit-constructor)
  TableCell(const char* words) : text(words) {}             // NOLINT(google-explicit-constructor)
  // Shows the number times `scale` with this many decimals, followed by `unit`.
  TableCell(double number, int decimals, double scale = 1, const char* unit = "");

  std::string text;             // for people
  std::optional<double> value;  // for programs
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
// Omits the header if `previous` has the same columns.
[[nodiscard]] std::string table_csv(const ResultTable& table, const ResultTable* previous = nullptr);
// Returns an array of objects.
[[nodiscard]] nlohmann::ordered_json table_json(const ResultTable& table);

// The lab's tables for imgpipe bench --format json.
struct MeasuredTables {
  std::vector<std::string> devices;  // the measured devices, for people
  int threads = 0;                   // --threads
  std::vector<ResultTable> tables;
};
[[nodiscard]] std::string tables_json(const MeasuredTables& measured);
[[nodiscard]] std::string tables_schema();

}  // namespace imgpipe
