// The version of this build.
#pragma once

#include <string>
#include <vector>

namespace imgpipe {

struct BuildInfo {
  std::string version;   // "0.2.0-dev+0123456789ab" (app/build_id.h)
  std::string commit;    // ".dirty" for a modified tree
  std::string compiler;  // name and version
  std::string build_type;
  std::string cuda;  // runtime version, or "none"
  std::vector<std::string> libraries;
};

[[nodiscard]] BuildInfo build_info();
[[nodiscard]] std::string version_text();

}  // namespace imgpipe
