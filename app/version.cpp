#include "app/version.h"

#include <cxxopts.hpp>
#include <nlohmann/json.hpp>
#include <spdlog/version.h>

#include "app/build_id.h"
#include "images/codecs/codec.h"
#include "images/files/archive_reader.h"
#include "images/simd.h"
#include "pipeline/device.h"

namespace imgpipe {
namespace {

std::string dotted(int major, int minor, int patch) {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

}  // namespace

BuildInfo build_info() {
  BuildInfo info;
  info.version = kVersion;
  info.commit = kCommit;
#ifdef __clang__
  info.compiler = "clang " __clang_version__;
#else
  info.compiler = "gcc " __VERSION__;
#endif
  info.build_type = IMGPIPE_BUILD_TYPE;
  info.cuda = cuda_version();
  info.libraries = codec_versions();
  info.libraries.push_back(archive_version());
  info.libraries.push_back(simd_version());
  info.libraries.push_back("spdlog " + dotted(SPDLOG_VER_MAJOR, SPDLOG_VER_MINOR, SPDLOG_VER_PATCH));
  info.libraries.push_back("cxxopts " +
                           dotted(CXXOPTS__VERSION_MAJOR, CXXOPTS__VERSION_MINOR, CXXOPTS__VERSION_PATCH));
  info.libraries.push_back("nlohmann-json " + dotted(NLOHMANN_JSON_VERSION_MAJOR, NLOHMANN_JSON_VERSION_MINOR,
                                                     NLOHMANN_JSON_VERSION_PATCH));
  return info;
}

std::string version_text() {
  const BuildInfo info = build_info();
  std::string text = "imgpipe " + info.version + "\n";
  text += "compiler: " + info.compiler + ", " + info.build_type + "\n";
  text += "cuda:     " + info.cuda + "\n";
  text += "simd:    ";
  for (const std::string& target : simd_targets()) text += " " + target;
  text += " (on this processor; " + simd_target() + " is used)\n";
  for (const std::string& library : info.libraries) text += "library:  " + library + "\n";
  return text;
}

}  // namespace imgpipe
