#include "app/report/fields.h"

#include <algorithm>
#include <cmath>

namespace imgpipe {
namespace {

constexpr std::size_t kUsualFields = 48;

// Returns the allowed numbers, or the words of "done|failed".
Json choices(const Rule& rule) {
  Json words = Json::array();
  for (const int number : rule.numbers) {
    if (number != 0) words.push_back(number);
  }
  if (!words.empty()) return words;
  for (std::string_view rest = rule.words;;) {
    const std::size_t end = rest.find('|');
    words.push_back(rest.substr(0, end));
    if (end == rest.npos) return words;
    rest.remove_prefix(end + 1);
  }
}

Json scalar_schema(const FieldType& type, const Rule& rule) {
  if (!rule.words.empty() || rule.numbers.front() != 0) {
    Json words = choices(rule);
    if (type.optional) words.push_back(nullptr);
    return {{"enum", std::move(words)}};
  }
  constexpr std::array<const char*, 4> kNames{"boolean", "integer", "number", "string"};
  const char* const name = kNames[static_cast<std::size_t>(type.scalar)];
  Json schema{{"type", type.optional ? Json({name, "null"}) : Json(name)}};
  const auto bound = [&](const char* keyword, double value) {
    if (std::isfinite(value)) schema[keyword] = static_cast<int>(value);
  };
  if (type.scalar == FieldType::Scalar::integer || type.scalar == FieldType::Scalar::number) {
    bound(rule.above_least ? "exclusiveMinimum" : "minimum", rule.least);
    bound("maximum", rule.most);
  }
  if (!rule.pattern.empty()) schema["pattern"] = rule.pattern;
  return schema;
}

}  // namespace

Fields::Fields(Json* defs, TableRow* row) : defs_(defs), row_(row) {
  json_.get_ref<Json::object_t&>().reserve(kUsualFields);  // avoids copies while growing
}

Fields& Fields::put(std::string_view key, Json value) {
  auto& fields = json_.get_ref<Json::object_t&>();
  static_cast<Json::object_t::Container&>(fields).emplace_back(key, std::move(value));  // keys are unique
  if (defs_ != nullptr) required_.push_back(key);
  return *this;
}

Json Fields::schema() const {
  return {
      {"type", "object"}, {"required", required_}, {"additionalProperties", others_}, {"properties", json_}};
}

Json Fields::referred_to(std::string_view key) const {
  Json described = schema();
  const auto same = std::ranges::find(*defs_, described);
  const std::string name = same != defs_->end() ? same.key() : std::string(key);
  if (same == defs_->end()) {
    if (name.empty() || defs_->contains(name)) return described;
    (*defs_)[name] = std::move(described);
  }
  return {{"$ref", "#/$defs/" + name}};
}

Json Fields::schema_of(const FieldType& type, const Rule& rule) {
  const auto list = [](Json items) { return Json{{"type", "array"}, {"items", std::move(items)}}; };
  const auto names = [](Json each) {
    return Json{{"type", "object"}, {"additionalProperties", std::move(each)}};
  };
  Json scalar = scalar_schema(type, rule);
  switch (type.holder) {
    case FieldType::Holder::list:
      return list(std::move(scalar));
    case FieldType::Holder::names:
      return names(std::move(scalar));
    case FieldType::Holder::named_lists:
      return names(list(std::move(scalar)));
    case FieldType::Holder::none:
      break;
  }
  return scalar;
}

Fields& Fields::others(const Named<std::string>& texts, std::string_view about) {
  if (defs_ != nullptr) others_ = {{"type", "string"}, {"description", about}};
  if (defs_ == nullptr)
    for (const auto& [name, text] : texts) put(name, text);
  return *this;
}

Fields& Fields::about(std::string_view text) {
  if (defs_ != nullptr) json_.back()["description"] = text;
  return *this;
}

Fields& Fields::also(std::string_view keywords) {
  if (defs_ != nullptr) json_.back().update(Json::parse(keywords));
  return *this;
}

Fields& Fields::column(std::string_view title, int decimals, double scale, const char* unit) {
  if (row_ == nullptr) return *this;
  const Json& value = json_.back();
  if (value.is_string()) return words(title, value.get<std::string>());
  row_->columns.push_back({json_.get_ref<const Json::object_t&>().back().first, std::string(title)});
  row_->cells.push_back(value.is_null() ? TableCell()
                                        : TableCell(value.get<double>(), decimals, scale, unit));
  return *this;
}

Fields& Fields::column(std::string_view title, const std::string& text) {
  if (row_ == nullptr) return *this;
  column(title);
  TableCell& cell = row_->cells.back();
  cell.text = text;
  if (text.empty()) cell.value.reset();
  return *this;
}

Fields& Fields::words(std::string_view title, const std::string& text) {
  if (row_ == nullptr) return *this;
  row_->columns.push_back({json_.get_ref<const Json::object_t&>().back().first, std::string(title), true});
  row_->cells.emplace_back(text);
  return *this;
}

}  // namespace imgpipe
