// The fields of a report, declared once: key, value, and which values a schema accepts. The same declaration
// gives the JSON of facts and, of facts with nothing in them, its JSON Schema (app/report/json_schema.h).
#pragma once

#include <array>
#include <concepts>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include <nlohmann/json.hpp>

namespace imgpipe {

using Json = nlohmann::ordered_json;

// An object whose keys are names of things.
template <class Value>
using Named = std::vector<std::pair<std::string, Value>>;

// The type of a field, by that of its value in C++.
struct FieldType {
  enum class Scalar { boolean, integer, number, text };
  enum class Holder { none, list, names, named_lists };

  Scalar scalar = Scalar::text;
  Holder holder = Holder::none;
  bool optional = false;  // null: there is none
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

// Which values of its type a field has, or its items have. Numbers are at least 0 where it says nothing.
struct Rule {
  double least = 0;
  double most = std::numeric_limits<double>::infinity();
  bool above_least = false;
  std::string_view words{};      // with | between them: the only ones
  std::array<int, 2> numbers{};  // the only ones, unless both are 0
  std::string_view pattern{};
};
inline constexpr Rule kAnyNumber{.least = -std::numeric_limits<double>::infinity()};
inline constexpr Rule kFromOne{.least = 1};
inline constexpr Rule kDigest{.pattern = "^[0-9a-f]{64}$"};
[[nodiscard]] constexpr Rule one_of(std::string_view words) {
  return {.words = words};
}
[[nodiscard]] constexpr Rule one_of(int a, int b) {
  return {.numbers = {a, b}};
}

// None for an empty text.
[[nodiscard]] inline std::optional<std::string> given(std::string text) {
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

class Fields;

// A kind of object: its name among a schema's $defs, and its fields. A schema is made of a default Row.
template <class Row>
struct Object {
  std::string_view name;
  void (*fields)(Fields&, const Row&);
};

// Takes the fields of one object, in order.
class Fields {
 public:
  Fields();
  template <class Row>
  Fields(const Object<Row>& object, const Row& row) : Fields() {
    object.fields(*this, row);
  }

  template <class Value>
  Fields& add(std::string_view key, const Value& value, const Rule& rule = {}) {
    return defs_ != nullptr ? describe(key, schema_of(TypeOf<std::decay_t<Value>>::value, rule))
                            : put(key, json_of(value));
  }
  // Absent, not null, where there is none.
  template <class Value>
  Fields& add_if(std::string_view key, const std::optional<Value>& value, const Rule& rule = {}) {
    if (defs_ == nullptr) return value ? put(key, json_of(*value)) : *this;
    describe(key, schema_of(TypeOf<Value>::value, rule));
    required_.erase(required_.size() - 1);
    return *this;
  }
  template <class Row>
  Fields& add(std::string_view key, const std::type_identity_t<Row>& row, const Object<Row>& object) {
    return defs_ != nullptr ? describe(key, kinds(object)) : put(key, json_of(row, object));
  }
  template <class Row>
  Fields& add(std::string_view key, const std::type_identity_t<std::optional<Row>>& row,
              const Object<Row>& object) {
    if (defs_ != nullptr) return describe(key, {{"anyOf", {kinds(object), {{"type", "null"}}}}});
    return put(key, row ? json_of(*row, object) : Json(nullptr));
  }
  // An object of one of two kinds.
  template <class A, class B>
  Fields& add(std::string_view key, const std::variant<std::type_identity_t<A>, std::type_identity_t<B>>& row,
              const Object<A>& a, const Object<B>& b) {
    return defs_ != nullptr ? describe(key, kinds(a, b)) : put(key, json_of(row, a, b));
  }
  // Rows of one kind, or variants of two.
  template <class Rows, class... Row>
  Fields& list(std::string_view key, const Rows& rows, const Object<Row>&... objects) {
    if (defs_ != nullptr) return describe(key, {{"type", "array"}, {"items", kinds(objects...)}});
    Json items = Json::array();
    for (const auto& row : rows) items.push_back(json_of(row, objects...));
    return put(key, std::move(items));
  }
  template <class Row>
  Fields& names(std::string_view key, const std::type_identity_t<std::optional<Named<Row>>>& rows,
                const Object<Row>& object) {
    if (defs_ != nullptr) return describe(key, {{"type", "object"}, {"additionalProperties", kinds(object)}});
    if (!rows) return put(key, nullptr);
    Fields named;
    for (const auto& [name, row] : *rows) named.put(name, json_of(row, object));
    return put(key, std::move(named).json());
  }
  // Always the same.
  Fields& fixed(std::string_view key, Json value) {
    return defs_ != nullptr ? describe(key, {{"const", std::move(value)}}) : put(key, std::move(value));
  }
  // Any JSON; the schema, as JSON, says which.
  Fields& any(std::string_view key, Json value, std::string_view schema) {
    return defs_ != nullptr ? describe(key, Json::parse(schema)) : put(key, std::move(value));
  }
  // Texts whose keys are names of things, among the object's own fields.
  Fields& others(const Named<std::string>& texts, std::string_view about);
  // Of the field added last: what a reader is to know of it, and more keywords of its schema, as JSON.
  Fields& about(std::string_view text);
  Fields& also(std::string_view keywords);

  [[nodiscard]] Json json() && { return std::move(json_); }
  [[nodiscard]] std::string text() const { return json_.dump(2) + "\n"; }

  // The schema of an object; those of the objects in it go to `defs`.
  template <class Row>
  [[nodiscard]] static Json schema(const Object<Row>& object, const Row& row, Json& defs) {
    Fields fields;
    fields.defs_ = &defs;
    object.fields(fields, row);
    return {{"type", "object"},
            {"required", std::move(fields.required_)},
            {"additionalProperties", std::move(fields.others_)},
            {"properties", std::move(fields.json_)}};
  }

 private:
  Fields& put(std::string_view key, Json value);
  Fields& describe(std::string_view key, Json schema);
  static Json schema_of(const FieldType& type, const Rule& rule);

  template <class... Row>
  Json kinds(const Object<Row>&... objects) {
    Json references = Json::array();
    (references.push_back(reference(objects)), ...);
    return sizeof...(Row) == 1 ? std::move(references.front()) : Json{{"oneOf", std::move(references)}};
  }
  template <class Row>
  Json reference(const Object<Row>& object) {
    const std::string name(object.name);
    if (!defs_->contains(name)) {
      (*defs_)[name] = nullptr;  // before the objects in it
      Json described = schema(object, Row(), *defs_);
      (*defs_)[name] = std::move(described);
    }
    return {{"$ref", "#/$defs/" + name}};
  }
  template <class Row>
  static Json json_of(const std::type_identity_t<Row>& row, const Object<Row>& object) {
    return Fields(object, row).json();
  }
  template <class A, class B>
  static Json json_of(const std::variant<A, B>& row, const Object<A>& a, const Object<B>& b) {
    return row.index() == 0 ? Fields(a, std::get<0>(row)).json() : Fields(b, std::get<1>(row)).json();
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
    return std::move(named).json();
  }

  Json json_ = Json::object();  // of a schema: its properties
  Json* defs_ = nullptr;        // not null: a schema is made
  Json required_ = Json::array();
  Json others_ = false;
};

}  // namespace imgpipe
