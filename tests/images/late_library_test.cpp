// Tests of libraries that are loaded when needed.
#include "images/late_library.h"

#include <string>

#include <gtest/gtest.h>

#include "images/error.h"
#include "tests/support/files.h"

namespace imgpipe::test::late_library_test {
namespace {

TEST(LateLibrary, LackOfMemoryIsInTheReasonNotInThePath) {
  for (const char* lacking : {"libwebp.so.7: failed to map segment from shared object", "out of memory",
                              "/memory/libx.so: cannot allocate memory in static TLS block",
                              "libx.so: cannot open shared object file: Cannot allocate memory"})
    EXPECT_TRUE(is_for_lack_of_memory(lacking)) << lacking;
  for (const char* other : {"/memory/libx.so: file too short", "/memory/libx.so: undefined symbol: f",
                            "libx.so: cannot open shared object file: No such file or directory"})
    EXPECT_FALSE(is_for_lack_of_memory(other)) << other;
}

TEST(LateLibrary, MissingAndDamagedLibrariesAreErrorsOfTheInput) {
  const TemporaryDirectory directory;
  const std::string file = directory.file("memory.so");
  for (const char* reason : {"No such file or directory", "file too short"}) {
    LateLibrary library(file.c_str());
    try {
      (void)library.find("f");
      ADD_FAILURE() << reason;
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::input);
      EXPECT_NE(std::string(error.what()).find(reason), std::string::npos) << error.what();
    }
    save_text(file, "text");
  }
}

TEST(LateLibrary, VersionsOfMissingLibrariesAreText) {
  EXPECT_EQ(library_version("one", [] { return "1.2"; }), "one 1.2");
  LateLibrary missing("libimgpipe-missing.so");
  const auto load = [&] { return missing.find("f") == nullptr ? "" : "1"; };
  EXPECT_EQ(library_version("one", load), "one, not installed");
  const auto fail = []() -> const char* { throw Error(ErrorKind::memory, "no memory"); };
  EXPECT_THROW((void)library_version("one", fail), Error);
}

}  // namespace
}  // namespace imgpipe::test::late_library_test
