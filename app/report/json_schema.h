// JSON Schemas (draft 2020-12) of reports, generated from the declarations that print them.
#pragma once

#include <string>
#include <string_view>

#include "app/report/fields.h"

namespace imgpipe {

// Formats a schema as in docs/schemas: an object, or its fields, on one line if they fit.
[[nodiscard]] std::string schema_text(const Json& schema);

// Returns the schema of report NAME. add(Fields&) adds its fields; `more` is a JSON object of further schema
// keywords.
template <class Add>
[[nodiscard]] std::string schema_text(std::string_view name, std::string_view title, const Add& add,
                                      std::string_view more = "{}") {
  Json defs = Json::object();
  Fields fields(&defs);
  add(fields);
  Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
              {"$id", "urn:imgpipe:" + std::string(name) + ":1"},
              {"title", title}};
  schema.update(fields.schema());
  schema.update(Json::parse(more));
  if (!defs.empty()) schema["$defs"] = std::move(defs);
  return schema_text(schema);
}

}  // namespace imgpipe
