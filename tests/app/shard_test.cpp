// --shard I/N: its syntax, and which files a part gets.
#include "app/shard/shard.h"

#include <map>
#include <string>
#include <tuple>

#include <gtest/gtest.h>

#include "images/error.h"

namespace imgpipe::test::shard_test {
namespace {

Shard shard_of(const std::string& text) {
  return parse_shard(text, [](const char* /*name*/) { return std::string(); });
}

TEST(Shard, ByNumber) {
  for (const auto& [text, index, count] : {std::tuple("1/1", 1, 1), std::tuple("3/8", 3, 8)}) {
    EXPECT_EQ(shard_of(text).index, index);
    EXPECT_EQ(shard_of(text).count, count);
    EXPECT_TRUE(shard_of(text).by.empty());
  }
  for (const char* text : {"", "/", "1", "1/", "/4", "0/4", "5/4", "-1/4", "1/0", "1/-2", "a/b", "1/4x",
                           " 1/4", "1/99999999", "1/2/3", "auto/", "auto/0", "auto/x", "autos"})
    EXPECT_THROW((void)shard_of(text), Error) << text;
}

TEST(Shard, EveryNameIsAlwaysInTheSamePart) {
  std::map<int, int> sizes;
  for (int i = 0; i < 7000; ++i) {
    const std::string name = "folder/image" + std::to_string(i) + ".jpg";
    int parts = 0;
    for (int part = 1; part <= 7; ++part) {
      if (!belongs_to_shard(name, {part, 7, {}})) continue;
      ++parts;
      ++sizes[part];
    }
    ASSERT_EQ(parts, 1) << name;
  }
  for (const auto& [part, size] : sizes) EXPECT_NEAR(size, 1000, 150) << part;
  // Processes of different versions must agree on the hash: FNV-1a of "a" is af63dc4c8601ec8c.
  EXPECT_TRUE(belongs_to_shard("", {1, 1, {}}));
  int in_part = 0;
  for (int part = 1; part <= 1000; ++part) in_part += belongs_to_shard("a", {part, 1000, {}}) ? part : 0;
  EXPECT_EQ(in_part, 1 + 736);
}

}  // namespace
}  // namespace imgpipe::test::shard_test
