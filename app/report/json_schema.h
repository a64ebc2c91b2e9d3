// JSON Schemas (draft 2020-12) of the reports, from the declarations that print them.
#pragma once

#include <string>
#include <string_view>

#include "app/report/fields.h"

namespace imgpipe {

// As docs/schemas/NAME.schema.json holds it: an object, or the fields of one, on a line where they fit.
[[nodiscard]] std::string schema_text(const Json& schema);

// The schema of a report whose name is that of the object. `facts` have none of what is optional; `more`
// keywords, as JSON, say what holds between fields.
template <class Row>
[[nodiscard]] std::string schema_text(const Object<Row>& report, std::string_view title,
                                      const Row& facts = Row(), std::string_view more = "{}") {
  Json defs = Json::object();
  Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
              {"$id", "urn:imgpipe:" + std::string(report.name) + ":1"},
              {"title", title}};
  schema.update(Fields::schema(report, facts, defs));
  schema.update(Json::parse(more));
  if (!defs.empty()) schema["$defs"] = std::move(defs);
  return schema_text(schema);
}

}  // namespace imgpipe
