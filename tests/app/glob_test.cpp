// File name patterns: the dialect, row by row, invalid patterns, and the time that hostile patterns take.
#include "app/jobs/glob.h"

#include <chrono>
#include <filesystem>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <fnmatch.h>
#include <gtest/gtest.h>

#include "app/jobs/glob_paths.h"
#include "app/jobs/selection.h"
#include "images/error.h"
#include "tests/support/files.h"

namespace imgpipe::test::glob_test {
namespace {

using Names = std::vector<std::string>;

struct Row {
  const char* pattern;
  const char* path;
  bool matches;
};

constexpr Row kFiles[] = {
    // Without a slash: a name in any directory.
    {"a.png", "a.png", true},
    {"a.png", "sub/deep/a.png", true},
    {"a.png", "a.png/b", false},
    {"*.png", "sub/a.png", true},
    {"*", "sub/a.png", true},
    {"sub", "sub/a.png", false},
    {"?.png", "a.png", true},
    {"?.png", "ab.png", false},
    {"?.png", ".png", false},
    // With a slash: the path.
    {"sub/*", "sub/a.png", true},
    {"sub/*", "sub/deep/a.png", false},
    {"sub/*", "x/sub/a.png", false},
    {"./a.png", "a.png", true},
    {"./a.png", "sub/a.png", false},
    {"/a.png", "a.png", true},
    {"/a.png", "sub/a.png", false},
    {"sub//./a.png", "sub/a.png", true},
    {"/tmp/*.png", "/tmp/a.png", true},
    {"../a.png", "../a.png", true},
    {"*/a.png", "a.png", false},
    // ** matches any number of directories.
    {"**/a.png", "a.png", true},
    {"**/a.png", "x/y/a.png", true},
    {"sub/**", "sub/a.png", true},
    {"sub/**", "sub/deep/a.png", true},
    {"sub/**", "sub", false},
    {"sub/**", "x/sub/a.png", false},
    {"sub/**/a.png", "sub/a.png", true},
    {"sub/**/a.png", "sub/x/y/a.png", true},
    {"sub/**/a.png", "sub/x/y/b.png", false},
    {"**/deep/**/*.png", "x/deep/y/z/a.png", true},
    {"**/deep/**/*.png", "deep/a.png", true},
    {"**/deep/**/*.png", "x/a.png", false},
    {"**/**/a.png", "a.png", true},
    {"**", "x/y", true},
    {"a**b", "axxb", true},
    {"a**b", "a/b", false},
    {"*.{jpg,png}", "sub/a.png", true},
    {"*.{jpg,png}", "a.gif", false},
    {"{a,b/c}.png", "b/c.png", true},
    {"{a,b/c}.png", "x/a.png", true},
    {"{a,b/c}.png", "x/b/c.png", false},
    {"x{1,{2,3}y}z", "x3yz", true},
    {"x{1,{2,3}y}z", "x3z", false},
    {"x{,1}.png", "x.png", true},
    {"{a}.png", "{a}.png", true},
    {"{a}.png", "a.png", false},
    {"{a,b", "{a,b", true},
    {"\\{a,b}", "{a,b}", true},
    {"[{,]a,b}", ",a,b}", true},
    {"{{a,b}", "{b", true},
    {"[a-c].png", "b.png", true},
    {"[a-c].png", "d.png", false},
    {"[!a-c].png", "d.png", true},
    {"[^a-c].png", "b.png", false},
    {"[]x].png", "].png", true},
    {"[a-].png", "-.png", true},
    {"[[:digit:]]*", "7.png", true},
    {"[[:digit:]]*", "d.png", false},
    {"[![:digit:]_]*", "_.png", false},
    {"[\\]]", "]", true},
    {"a[1].png", "a[1].png", false},
    {"a[[]1].png", "a[1].png", true},
    {"a[1", "a[1", true},
    {"a[b/c]", "a[b/c]", true},
    {"\\*.png", "*.png", true},
    {"\\*.png", "a.png", false},
    {"a\\", "a\\", true},
    // Extensions match in either case, the rest of a name only as written.
    {"*.jpg", "IMG_1.JPG", true},
    {"*.JPG", "a.jpg", true},
    {"*.[jp]*g", "a.PNG", true},
    {"*.{jpg,png}", "A.PnG", true},
    {"img*.jpg", "IMG_1.jpg", false},
    {"img*", "IMG", false},
    {"Sub.d/*", "sub.D/a", false},
    {"*.[!j]pg", "a.JPG", false},
    // Matches characters, not bytes.
    {"?.png", "\xC3\xA4.png", true},
    {"[\xC3\xA4\xC3\xB6].png", "\xC3\xB6.png", true},
    {"?.png", "\xFF.png", true},
    {"\xFF*", "\xFF\xFE", true},
    {"*\xA4.png", "\xC3\xA4.png", false},
};

TEST(Glob, Files) {
  for (const Row& row : kFiles)
    EXPECT_EQ(Glob(row.pattern).matches(row.path, false), row.matches) << row.pattern << "  " << row.path;
}

constexpr Row kDirectories[] = {
    {"sub/", "sub", true},     {"sub/", "x/sub", true},      {"./sub/", "x/sub", false},
    {"./sub", "sub", true},    {"/sub", "x/sub", false},     {"sub", "x/sub", true},
    {"x/sub/", "x/sub", true}, {"x/sub/", "y/x/sub", false}, {"*/", "any", true},
    {"{a,b}/", "x/b", true},   {"**/", "a/b", true},         {"/", "a", false},
    {"sub/**", "sub/x", true}, {"sub/**", "sub", false},     {".", "a", false},
};

TEST(Glob, Directories) {
  for (const Row& row : kDirectories)
    EXPECT_EQ(Glob(row.pattern).matches(row.path, true), row.matches) << row.pattern << "  " << row.path;
  for (const char* pattern : {"sub/", "./sub/", "{a,sub}/"}) {
    EXPECT_FALSE(Glob(pattern).matches("sub", false)) << pattern;
    EXPECT_TRUE(Glob(pattern).matches_parent_of("sub/x/y.png")) << pattern;
    EXPECT_FALSE(Glob(pattern).matches_parent_of("sub")) << pattern;
    EXPECT_TRUE(Glob(pattern).directories_only());
  }
  EXPECT_FALSE(Glob("{a/,b}").directories_only());
}

TEST(Glob, Braces) {
  EXPECT_EQ(expand_braces("a{b,c{d,e}}f{,g}"), (Names{"abf", "abfg", "acdf", "acdfg", "acef", "acefg"}));
  EXPECT_EQ(expand_braces("plain"), (Names{"plain"}));
  EXPECT_EQ(expand_braces("{}{a}{b,"), (Names{"{}{a}{b,"}));
  std::string thousand = "{0";
  for (int i = 1; i < 1000; ++i) thousand += "," + std::to_string(i);
  EXPECT_EQ(expand_braces(thousand + "}").size(), 1000U);
  EXPECT_THROW((void)expand_braces(thousand + ",x}"), Error);
  EXPECT_THROW((void)expand_braces(std::string(4097, 'a')), Error);
}

// Random patterns of the syntax that both dialects share, against the C library's fnmatch.
TEST(Glob, AgreesWithFnmatchOnRandomPatterns) {
  constexpr const char* kPieces[] = {"a", "b", ".", "*", "?", "[ab]", "[!a]", "[a-b.]", "\\*"};
  constexpr const char* kLetters[] = {"a", "b", ".", "*", "["};
  std::mt19937 random(20261121);
  const auto text_of = [&](std::span<const char* const> pieces, std::size_t most) {
    std::string text;
    for (std::size_t i = 1 + random() % most; i > 0; --i) text += pieces[random() % pieces.size()];
    return text;
  };
  int matched = 0;
  for (int i = 0; i < 100'000; ++i) {
    const std::string pattern = text_of(kPieces, 6);
    const std::string name = text_of(kLetters, 6);
    const bool expected = ::fnmatch(pattern.c_str(), name.c_str(), FNM_PATHNAME) == 0;
    ASSERT_EQ(GlobName(pattern, true).matches(characters_of(name)), expected) << pattern << "  " << name;
    matched += expected ? 1 : 0;
  }
  EXPECT_GT(matched, 5000);
}

std::string repeated(const std::string& text, std::size_t count) {
  std::string all;
  for (std::size_t i = 0; i < count; ++i) all += text;
  return all;
}

TEST(Glob, HostilePatternsAreFast) {
  const auto start = std::chrono::steady_clock::now();
  const std::string name(250, 'a');
  std::string path = name;
  for (int i = 0; i < 15; ++i) path += "/" + name;
  EXPECT_FALSE(Glob(repeated("a*", 2000) + "b").matches(path, false));
  EXPECT_FALSE(Glob(repeated("*a", 2000) + "b").matches(path, false));
  EXPECT_FALSE(Glob(repeated("**/a*/", 600) + "b").matches(path, false));
  EXPECT_FALSE(Glob(repeated("**/*a", 700) + "b").matches(path, false));
  EXPECT_FALSE(Glob(std::string(4000, '[')).matches(path, false));
  EXPECT_FALSE(Glob(std::string(4000, '{')).matches(path, false));
  EXPECT_FALSE(Glob(repeated("[!b", 1300) + "]").matches(path, false));
  EXPECT_THROW(Glob(repeated("{a,b}", 800)), Error);
  EXPECT_FALSE(Glob(repeated("{a,", 1300) + repeated("}", 190)).matches(path, false));
  EXPECT_THROW(Glob(repeated("{a,{a,b}", 400) + repeated("}", 400)), Error);
  EXPECT_FALSE(Glob(repeated("{a,", 900) + "b" + repeated("}", 900)).matches(path, false));
  EXPECT_FALSE(Glob("{" + std::string(998, ',') + "}" + repeated("[", 3000)).matches(path, false));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

// ---- on disk ----------------------------------------------------------------------------------------

class GlobPaths : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* directory : {"in/a/x", "in/b", "in/.h"})
      std::filesystem::create_directories(file(directory));
    for (const char* name :
         {"in/1.png", "in/2.JPG", "in/.3.png", "in/a/4.png", "in/a/x/5.png", "in/b/6.gif", "in/.h/7.png"})
      save_text(file(name), "x");
    std::filesystem::create_directory_symlink("..", file("in/b/up"));
  }
  [[nodiscard]] std::string file(const std::string& name) const { return directory_.file(name); }
  [[nodiscard]] Names found(const std::string& pattern) const {
    const PathsFound like = paths_matching(file(pattern), [](const std::string&) { return false; });
    EXPECT_TRUE(like.problems.empty());
    Names names;
    for (const std::string& path : like.paths) names.push_back(path.substr(file("").size()));
    return names;
  }

  TemporaryDirectory directory_;
};

TEST_F(GlobPaths, MatchTheDialect) {
  EXPECT_EQ(found("in/*.png"), (Names{"in/1.png"}));
  EXPECT_EQ(found("in/*.jpg"), (Names{"in/2.JPG"}));
  EXPECT_EQ(found("in/.*.png"), (Names{"in/.3.png"}));
  EXPECT_EQ(found("in/*/*.{png,gif}"), (Names{"in/a/4.png", "in/b/6.gif"}));
  EXPECT_EQ(found("in/**/*.png"), (Names{"in/1.png", "in/a/4.png", "in/a/x/5.png"})) << "no linked folder";
  EXPECT_EQ(found("in/b/up/*.png"), (Names{"in/b/up/1.png"}));
  EXPECT_EQ(found("in/{a,b}/"), (Names{"in/a", "in/b"}));
  EXPECT_EQ(found("in/*/"), (Names{"in/a", "in/b"}));
  EXPECT_EQ(found("{in,nowhere}/**/**/5.png"), (Names{"in/a/x/5.png"}));
  EXPECT_EQ(found("in/1.png/*"), Names{});
  EXPECT_EQ(found("in/\\*.png"), Names{});
  EXPECT_EQ(found("nowhere*/*"), Names{});
}

TEST_F(GlobPaths, WildcardsSkipHiddenEntries) {
  const auto skipped_inputs = [&](const std::string& directory) { return directory == file("in/a"); };
  EXPECT_EQ(paths_matching(file("in/**/*.png"), skipped_inputs).paths, Names{file("in/1.png")});
  EXPECT_EQ(paths_matching(file("in/*/"), skipped_inputs).paths, Names{file("in/b")});
  EXPECT_EQ(paths_matching(file("in/a/*.png"), skipped_inputs).paths, Names{file("in/a/4.png")});
}

TEST_F(GlobPaths, ManyDoubleStarsAreFast) {
  std::string deep = "in";
  for (int i = 0; i < 40; ++i) deep += "/d";
  std::filesystem::create_directories(file(deep));
  EXPECT_EQ(found("in/" + repeated("**/", 60) + "nothing"), Names{});
}

TEST(IsPattern, DetectsWildcards) {
  for (const char* text : {"*", "a?b", "a[b]", "in/{a,b}.png"}) EXPECT_TRUE(is_pattern(text)) << text;
  for (const char* text : {"a", "a[b", "in/{a}.png", "{a,b", "a]b["}) EXPECT_FALSE(is_pattern(text)) << text;
  EXPECT_FALSE(is_pattern(std::string(5000, 'a'))) << "a name that is too long is said to be that";
}

// ---- selection --------------------------------------------------------------------------------------

TEST(Selection, CountsSkippedFilesByKind) {
  Selection selection({}, {"thumb/", "x.png"});
  EXPECT_TRUE(selection.takes("a.JPG", true));
  EXPECT_TRUE(selection.takes("list/of/anything", false));
  for (const char* name : {"a.jp2", "b.J2K", "sub/c.qoi", "notes.txt", "noending", "dir.jp2/x", "x.png"})
    EXPECT_FALSE(selection.takes(name, true)) << name;
  EXPECT_FALSE(selection.takes("y/thumb/a.png", true));
  EXPECT_FALSE(selection.selects_directory("y/thumb"));
  EXPECT_TRUE(selection.selects_directory("thumbs"));
  EXPECT_EQ(selection.skipped_inputs().text(),
            "2 jp2, 1 qoi, 3 others, 2 excluded by --include or --exclude");
  EXPECT_EQ(selection.skipped_inputs().files(), 8U);
  EXPECT_NE(selection.skipped_inputs().text_with_examples().find("2 jp2 (such as a.jp2)"), std::string::npos);
  EXPECT_TRUE(selection.unmatched(true).empty());
}

TEST(Selection, IncludesByNameOrByDirectory) {
  Selection selection({"*.dat", "raw/", "*.nothing"}, {"*.nope"});
  EXPECT_TRUE(selection.takes("a.dat", true));
  EXPECT_TRUE(selection.takes("x/raw/y/a.png", true));
  EXPECT_FALSE(selection.takes("x/raw/y/a.txt", true)) << "a folder gives its images";
  EXPECT_FALSE(selection.takes("a.png", true));
  EXPECT_EQ(selection.unmatched(true), (Names{"--include '*.nothing'", "--exclude '*.nope'"}));
  EXPECT_EQ(selection.skipped_inputs().not_selected, 2U);
}

}  // namespace
}  // namespace imgpipe::test::glob_test
