// JSON Schemas (draft 2020-12) of the reports, from the declarations that print them.
#pragma once

#include <string>
#include <string_view>

#include "app/report/fields.h"

namespace imgpipe {

// As docs/schemas/NAME.schema.json holds it: an object, or the fields of one, on a line where they fit.
[[nodiscard]] std::string schema_text(const Json& schema);

// The schema of the report NAME, whose fields add(Fields&) adds. `more` keywords, as JSON, say what holds
// between fields.
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
