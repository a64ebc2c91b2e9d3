#include "images/files/file_identity.h"

#include <filesystem>
#include <optional>
#include <string>

#include <gtest/gtest.h>

#include "tests/support/files.h"

namespace imgpipe::test::file_identity_test {
namespace {

TEST(FileIdentity, IsTheSameForAllNamesOfAFile) {
  const TemporaryDirectory directory;
  const auto file = [&](const std::string& name) { return directory.file(name); };
  save_text(file("s.png"), "an image");
  std::filesystem::create_directory(file("d"));
  std::filesystem::create_directory_symlink("d", file("link"));
  std::filesystem::create_symlink("missing/target", file("dangling"));
  std::filesystem::create_symlink("loop", file("loop"));
  const auto same = [&](const std::string& a, const std::string& b) {
    return file_identity(file(a)) == file_identity(file(b));
  };
  EXPECT_TRUE(same("s.png", "./d/../s.png"));
  EXPECT_TRUE(same("d/new", "link/new"));
  EXPECT_TRUE(same("d/new", "link/x/../new"));
  EXPECT_TRUE(same("dangling", "missing/target"));
  EXPECT_FALSE(same("d/new", "new"));
  EXPECT_FALSE(same("d/new", "d/New"));
  EXPECT_FALSE(same("s.png", "d"));
  EXPECT_EQ(file_identity(file("loop")), std::nullopt);
  EXPECT_EQ(descriptor_of(file("loop")), std::nullopt);
  EXPECT_EQ(followed(file("loop")), std::nullopt);
  EXPECT_EQ(file_identity("/dev/null"), std::nullopt);
  EXPECT_EQ(descriptor_of("/dev/stdout"), 1);
  EXPECT_EQ(descriptor_of("/dev/fd/0002"), 2);
  for (const char* path :
       {"/dev/null", "/dev/fd", "/dev/fd/x", "/dev/fd/-1", "/dev/fd/99999999999", "1", "-"})
    EXPECT_EQ(descriptor_of(path), std::nullopt) << path;
}

}  // namespace
}  // namespace imgpipe::test::file_identity_test
