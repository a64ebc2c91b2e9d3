#include "app/update/stamp.h"

#include <sys/stat.h>

#include "app/report/json_head.h"
#include "app/report/json_schema.h"
#include "images/text.h"

namespace imgpipe {
namespace {

void add_stamp(Fields& fields, const Stamp& stamp) {
  fields.add("imgpipe", stamp.version).about("the version that made it");
  fields.fixed("schema", schema_id(kUpdateLineSchema));
  fields.add("output", stamp.output).about("path below the directory of this file");
  fields.add("output_bytes", stamp.output_state.bytes);
  fields.add("output_modified_ns", stamp.output_state.modified_ns, kAnyNumber)
      .about("when it was written, nanoseconds since 1970");
  fields.add("input", stamp.input).about("path relative to the directory of this file");
  fields.add("input_bytes", stamp.input_state.bytes);
  fields.add("input_modified_ns", stamp.input_state.modified_ns, kAnyNumber)
      .about("nanoseconds since 1970, before it was read");
  fields.add("options_digest", stamp.options_digest, kDigest).about("of the options that it was made with");
}

template <class Value>
bool take(const Json& json, const char* key, Value& value) {
  const auto found = json.find(key);
  if (found == json.end()) return false;
  if constexpr (std::is_same_v<Value, std::string>) {
    if (!found->is_string()) return false;
  } else {
    if (!found->is_number_integer()) return false;
  }
  value = found->get<Value>();
  return true;
}

}  // namespace

std::optional<FileState> file_state(const std::string& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  // Out-of-range times wrap around, which still detects changes.
  constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
  const std::uint64_t ns = static_cast<std::uint64_t>(info.st_mtim.tv_sec) * kNsPerSecond +
                           static_cast<std::uint64_t>(info.st_mtim.tv_nsec);
  return FileState{info.st_size, static_cast<std::int64_t>(ns)};
}

std::string stamp_name(std::string_view path) {
  std::string escaped;
  for (const char c : path) escaped += c == '\\' ? std::string("\\x5C") : std::string(1, c);
  return printable(escaped);
}

std::string stamp_line(const Stamp& stamp) {
  return fields_of([&](Fields& fields) { add_stamp(fields, stamp); }).json().dump() + "\n";
}

std::string update_line_schema() {
  return schema_text(kUpdateLineSchema, "A line of .imgpipe-update.ndjson: an output that --update has made",
                     [](Fields& fields) { add_stamp(fields, {}); });
}

std::optional<Stamp> stamp_of_line(std::string_view line) {
  const Json json = Json::parse(line, nullptr, false);
  Stamp stamp;
  std::string schema;
  if (!json.is_object() || !take(json, "schema", schema) || schema != schema_id(kUpdateLineSchema) ||
      !take(json, "imgpipe", stamp.version) || !take(json, "output", stamp.output) ||
      !take(json, "output_bytes", stamp.output_state.bytes) ||
      !take(json, "output_modified_ns", stamp.output_state.modified_ns) ||
      !take(json, "input", stamp.input) || !take(json, "input_bytes", stamp.input_state.bytes) ||
      !take(json, "input_modified_ns", stamp.input_state.modified_ns) ||
      !take(json, "options_digest", stamp.options_digest))
    return std::nullopt;
  return stamp;
}

}  // namespace imgpipe
