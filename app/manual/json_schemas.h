// The JSON Schemas of what imgpipe writes: imgpipe docs schema NAME.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace imgpipe {

struct SchemaRow {
  std::string_view name;  // docs/schemas/NAME.schema.json
  std::string (*text)();
};
[[nodiscard]] std::span<const SchemaRow> json_schemas();

}  // namespace imgpipe
