// Declares the fields of a report once: key, value, allowed values, and table column. The same declaration
// produces JSON, table rows (table_of()) and, from empty values, the JSON Schema (app/report/json_schema.h).
#pragma once

#include <array>
#include <concepts>
#include <limits>
#include <optional>
#include <ranges>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "app/report/result_table.h"

namespace imgpipe {

using Json = nlohmann::ordered_json;

// An object whose keys are data, such as names of channels.
template <class Value>
using Named = std::vector<std::pair<std::string, Value>>;

// The type of a field, derived from its C++ type.
struct FieldType {
  enum class Scalar { boolean, integer, number, text };
  enum class Holder { none, list, names, named_lists };

  Scalar scalar = Scalar::text;
  Holder holder = Holder::none;
  bool optional = false;  // may be null
};
template <class Value>
struct TypeOf {
  using Scalar = FieldType::Scalar;
  static_assert(std::is_arithmetic_v<Value> || std::convertible_to<Value, std::string_view>);
  static constexpr FieldType value{std::same_as<Value, bool>     ? Scalar::boolean
                                   : std::integral<Value>        ? Scalar::integer
                                   : std::is_arithmetic_v<Value> ? Scalar::number
                                                                 : Scalar::text};
};
template <class Value>
struct TypeOf<std::optional<Value>> {
  static constexpr FieldType value{TypeOf<Value>::value.scalar, TypeOf<Value>::value.holder, true};
};
template <class Value>
struct TypeOf<std::vector<Value>> {
  static constexpr FieldType value{TypeOf<Value>::value.scalar, FieldType::Holder::list};
};
template <class Value>
struct TypeOf<Named<Value>> {
  static constexpr FieldType value{TypeOf<Value>::value.scalar, FieldType::Holder::names};
};
template <class Value>
struct TypeOf<Named<std::vector<Value>>> {
  static constexpr FieldType value{TypeOf<Value>::value.scalar, FieldType::Holder::named_lists};
};

// The allowed values of a field, or of its items. Numbers are at least 0 by default.
struct Rule {
  double least = 0;
  double most = std::numeric_limits<double>::infinity();
  bool above_least = false;
  std::string_view words{};      // allowed words, separated by |
  std::array<int, 3> numbers{};  // allowed numbers other than 0; all 0: any
  std::string_view pattern{};
};
inline constexpr Rule kAnyNumber{.least = -std::numeric_limits<double>::infinity()};
inline constexpr Rule kFromOne{.least = 1};
inline constexpr Rule kDigest{.pattern = "^[0-9a-f]{64}$"};
[[nodiscard]] constexpr Rule one_of(std::string_view words) {
  return {.words = words};
}
[[nodiscard]] constexpr Rule one_of(int a, int b, int c = 0) {
  return {.numbers = {a, b, c}};
}

// Returns nullopt for an empty text.
[[nodiscard]] inline std::optional<std::string> given(const std::string& text) {
  return text.empty() ? std::nullopt : std::optional(text);
}

struct TableRow {
  std::vector<TableColumn> columns;
  std::vector<TableCell> cells;
};

// Collects the fields of one object, in order. The same function adds fields for values and, given default
// values, for a schema. For a schema, nested functions are also called once, with a default row.
class Fields {
 public:
  // With `defs`, builds a schema and adds its objects there.
  explicit Fields(Json* defs = nullptr) : Fields(defs, nullptr) {}
  // Adds the columns of the fields, also of nested objects, to `row`.
  explicit Fields(TableRow* row) : Fields(nullptr, row) {}

  template <class Value>
  Fields& add(std::string_view key, const Value& value, const Rule& rule = {}) {
    return put(key, defs_ != nullptr ? schema_of(TypeOf<std::decay_t<Value>>::value, rule) : json_of(value));
  }
  // Adds an object whose fields add(Fields&) adds.
  template <class Add>
  Fields& object(std::string_view key, const Add& add) {
    return put(key, value_of(key, add));
  }
  template <class Add>
  Fields& object_if(bool exists, std::string_view key, const Add& add) {
    if (defs_ != nullptr) return put(key, {{"anyOf", {value_of(key, add), {{"type", "null"}}}}});
    return put(key, exists ? value_of(key, add) : Json(nullptr));
  }
  // Adds an object of one of two types.
  template <class AddA, class AddB>
  Fields& either(bool is_a, std::string_view key, const AddA& add_a, const AddB& add_b) {
    if (defs_ != nullptr) return put(key, {{"oneOf", {value_of("", add_a), value_of("", add_b)}}});
    return put(key, is_a ? value_of(key, add_a) : value_of(key, add_b));
  }
  // Adds an array with an object for each row: add(Fields&, row).
  template <class Rows, class Add>
  Fields& list(std::string_view key, const Rows& rows, const Add& add) {
    if (defs_ != nullptr)
      return put(key, {{"type", "array"}, {"items", default_of<std::ranges::range_value_t<Rows>>(key, add)}});
    Json items = Json::array();
    for (const auto& row : rows) items.push_back(value_of(key, [&](Fields& fields) { add(fields, row); }));
    return put(key, std::move(items));
  }
  // Adds an object with a nested object for each named row.
  template <class Row, class Add>
  Fields& names(std::string_view key, const Named<Row>& rows, const Add& add) {
    if (defs_ != nullptr)
      return put(key, {{"type", "object"}, {"additionalProperties", default_of<Row>(key, add)}});
    Fields named;
    for (const auto& [name, row] : rows)
      named.object(name, [&, &each = row](Fields& fields) { add(fields, each); });
    return put(key, named.json());
  }
  template <class Row, class Add>
  Fields& names_if(bool exists, std::string_view key, const Named<Row>& rows, const Add& add) {
    if (defs_ == nullptr && !exists) return put(key, nullptr);
    return names(key, rows, add).also(R"({"type": ["object", "null"]})");
  }
  Fields& fixed(std::string_view key, Json value) {
    return put(key, defs_ != nullptr ? Json{{"const", std::move(value)}} : std::move(value));
  }
  // Adds any JSON, described by `schema`.
  Fields& any(std::string_view key, Json value, std::string_view schema) {
    return put(key, defs_ != nullptr ? Json::parse(schema) : std::move(value));
  }
  // Adds string fields whose keys are data, next to the object's own fields.
  Fields& others(const Named<std::string>& texts, std::string_view about);
  // Add a description, or further schema keywords as JSON, to the last field.
  Fields& about(std::string_view text);
  Fields& also(std::string_view keywords);
  // Gives the last field a column: its number times `scale` followed by `unit`, or its words.
  Fields& column(std::string_view title, int decimals = 0, double scale = 1, const char* unit = "");
  // The same with `text` instead of the number; empty for an empty text.
  Fields& column(std::string_view title, const std::string& text);
  // The same with `text` as words.
  Fields& words(std::string_view title, const std::string& text);

  [[nodiscard]] const Json& json() const& { return json_; }
  [[nodiscard]] Json json() && { return std::move(json_); }
  [[nodiscard]] std::string text() const { return json_.dump(2) + "\n"; }
  [[nodiscard]] Json schema() const;

 private:
  Fields(Json* defs, TableRow* row);
  Fields& put(std::string_view key, Json value);
  static Json schema_of(const FieldType& type, const Rule& rule);
  // Moves the schema to the definitions, unless its name is taken by another object.
  [[nodiscard]] Json referred_to(std::string_view key) const;

  // Returns the object, or its schema.
  template <class Add>
  Json value_of(std::string_view key, const Add& add) {
    Fields fields(defs_, row_);
    add(fields);
    return defs_ != nullptr ? fields.referred_to(key) : std::move(fields.json_);
  }
  template <class Row, class Add>
  Json default_of(std::string_view key, const Add& add) {
    return value_of(key, [&](Fields& fields) { add(fields, Row()); });
  }
  template <class Value>
  static Json json_of(const Value& value) {
    return value;
  }
  template <class Value>
  static Json json_of(const std::optional<Value>& value) {
    return value ? json_of(*value) : Json(nullptr);
  }
  template <class Value>
  static Json json_of(const Named<Value>& values) {
    Fields named;
    for (const auto& [name, value] : values) named.put(name, value);
    return std::move(named.json_);
  }

  Json json_ = Json::object();  // in a schema: the properties
  Json* defs_;                  // not null: a schema is built
  TableRow* row_;               // not null: columns are collected
  Json required_ = Json::array();
  Json others_ = false;
};

template <class Add>
[[nodiscard]] Fields fields_of(const Add& add) {
  Fields fields;
  add(fields);
  return fields;
}

// Returns a table with a row for each of `rows`, with the columns that add(Fields&, row) adds.
template <class Rows, class Add>
[[nodiscard]] ResultTable table_of(const Rows& rows, const Add& add) {
  ResultTable table;
  const auto columns_of = [&](const auto& row) {
    TableRow columns;
    Fields fields(&columns);
    add(fields, row);
    return columns;
  };
  table.columns = columns_of(std::ranges::range_value_t<Rows>()).columns;
  for (const auto& row : rows) table.rows.push_back(columns_of(row).cells);
  return table;
}

}  // namespace imgpipe
