// Shared by the tests of users' kernels (imgpipe bench --with).
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "images/error.h"
#include "lab/bench/kernel_build.h"
#include "lab/bench/kernel_template.h"
#include "pipeline/device.h"
#include "tests/support/files.h"
#include "tests/support/process.h"
#include "tests/support/test_paths.h"

namespace imgpipe::test {

using Json = nlohmann::ordered_json;
using Words = std::vector<std::string>;

inline std::string why_no_nvcc() {
  if (!built_with_cuda()) return "this build has no CUDA";
  try {
    (void)find_nvcc();
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}
inline RunResult bench(Words arguments, const std::map<std::string, std::string>& environment = {}) {
  arguments.insert(arguments.begin(), "bench");
  RunOptions options;
  options.timeout_s = 500;
  options.environment = environment;
  return run_imgpipe(arguments, options);
}

// Returns the rows, by variant, of a run's JSON.
inline std::map<std::string, Json> rows_of(const RunResult& run) {
  std::map<std::string, Json> rows;
  if (run.out.empty()) return rows;
  const Json json = Json::parse(run.out);
  for (const Json& table : json["tables"]) {
    for (const Json& row : table["rows"]) rows[row["variant"]] = row;
  }
  return rows;
}

inline bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

inline std::string with_header(const std::string& code) {
  return "#include \"imgpipe_kernel.h\"\n" + code + "\n";
}

constexpr const char* kNothing = "IMGPIPE_HIST(mine, \"nothing\") {}";

// Returns the file that docs/own-kernel.md develops: the template of hist with the guide's steps.
inline std::string file_of_the_guide() {
  const std::string guide = load_text(std::string(kSourceDirectory) + "/docs/own-kernel.md");
  std::string text = kernel_template("hist");
  const std::string begin = "```cuda\n";
  for (std::size_t at = guide.find(begin); at != std::string::npos; at = guide.find(begin, at)) {
    at += begin.size();
    text += "\n" + guide.substr(at, guide.find("```", at) - at);
  }
  return text;
}

// Has a directory for sources, and one for the compiler that must be empty afterwards.
class UserKernel : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(::mkdir(temporary().c_str(), 0700), 0); }
  void TearDown() override { EXPECT_TRUE(std::filesystem::is_empty(temporary())) << "something was left"; }

  [[nodiscard]] std::string temporary() const { return directory_.file("tmp"); }
  std::string save_source(const std::string& name, const std::string& text) const {
    save_text(directory_.path() / name, text);
    return directory_.file(name);
  }
  std::string save_program(const std::string& name, const std::string& text) const {
    const std::string file = save_source(name, text);
    EXPECT_EQ(::chmod(file.c_str(), 0700), 0);
    return file;
  }
  // Compiles and lists, without running.
  RunResult list(Words arguments, std::map<std::string, std::string> environment = {}) const {
    arguments.insert(arguments.begin(), {"--list", "--format", "json"});
    return run(std::move(arguments), std::move(environment));
  }
  RunResult run(Words arguments, std::map<std::string, std::string> environment = {}) const {
    environment["TMPDIR"] = temporary();
    return bench(std::move(arguments), environment);
  }
  void expect_refused(const RunResult& result, int exit_code, const std::string& why) const {
    EXPECT_EQ(result.exit_code, exit_code) << result.err;
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(has(result.err, "imgpipe: ")) << result.err;
    EXPECT_TRUE(has(result.err, why)) << result.err;
  }

  TemporaryDirectory directory_;
};

}  // namespace imgpipe::test

// Reports the test as skipped if kernels cannot be compiled.
#define IMGPIPE_NEED_NVCC()                                                                 \
  if (const std::string skip_reason = ::imgpipe::test::why_no_nvcc(); !skip_reason.empty()) \
  GTEST_SKIP() << skip_reason
