#include "app/report/json_head.h"

#include <array>
#include <ctime>

#include <nlohmann/json.hpp>
#include <unistd.h>

#include "app/version.h"
#include "images/simd.h"
#include "images/text.h"
#include "pipeline/device.h"

namespace imgpipe {

std::string schema_id(std::string_view name) {
  return "imgpipe/" + std::string(name) + "/1";
}

std::string date_now() {
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  ::gmtime_r(&now, &utc);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return text.data();
}

std::string host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? printable(name.data()) : "";
}

nlohmann::ordered_json plain_head(std::string_view name) {
  const std::string version = build_info().version;
  return {{"imgpipe", version}, {"schema", schema_id(name)}, {"version", version}};
}

void add_run_head(nlohmann::ordered_json& json, std::string_view name, const RunHead& run) {
  json["schema"] = schema_id(name);
  json["version"] = build_info().version;
  json["date"] = date_now();
  json["host"] = host_name();
  if (run.device) json["device"] = *run.device;
  json["threads"] = run.threads > 0 ? run.threads : host_info().threads;
  json["simd"] = simd_target();
}

}  // namespace imgpipe
