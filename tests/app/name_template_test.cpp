// --name: the names of outputs, and templates that yield no name.
#include "app/files/name_template.h"

#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"

namespace imgpipe::test::name_template_test {
namespace {

std::string placed(const std::string& name, const NamedInput& input, std::optional<Format> format = {},
                   std::optional<std::int64_t> page = {}) {
  return NameTemplate(name).place("out", input, format, page).path;
}

std::string why(const auto& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "";
}
std::string rejection_of(const std::string& name) {
  return why([&] { (void)NameTemplate(name); });
}

const NamedInput kInput{"in/sub/deep/a.b.JPG", "sub/deep/a.b.JPG", 7};

TEST(NameTemplate, FieldsAreFilledIn) {
  EXPECT_EQ(placed("{dir}/{stem}_gray.{ext}", kInput), "out/sub/deep/a.b_gray.JPG");
  EXPECT_EQ(placed("{dir}/{stem}_gray.{ext}", kInput, Format::png), "out/sub/deep/a.b_gray.png");
  EXPECT_EQ(placed("{stem}_{input_ext}.png", kInput), "out/a.b_JPG.png");
  EXPECT_EQ(placed("{parent}-{n}-{n:04}.tif", kInput), "out/deep-7-0007.tif");
  EXPECT_EQ(placed("{ext}/{stem}.{ext}", kInput, Format::tiff), "out/tif/a.b.tif");
  EXPECT_EQ(placed("{{{stem}}}.png", kInput), "out/{a.b}.png");
  EXPECT_EQ(placed("{stem}", kInput, Format::png), "out/a.b");
  EXPECT_EQ(placed("p{page}_{page:03}.png", kInput, {}, 12), "out/p12_012.png");
}

TEST(NameTemplate, DirFieldIsEmptyAtTheTop) {
  const NamedInput top{"in/a.png", "a.png", 1};
  EXPECT_EQ(placed("{dir}/{stem}.{ext}", top), "out/a.png");
  EXPECT_EQ(placed("x/{dir}//{stem}.{ext}", top), "out/x/a.png");
  EXPECT_EQ(placed("{parent}/{stem}.{ext}", top), "out/in/a.png");
  EXPECT_EQ(placed("{parent}.png", {"a.png", "a.png", 1}),
            "out/" + std::filesystem::current_path().filename().string() + ".png");
}

// The extension decides the format, then --format, then the input's format if it can be written, then PNG.
TEST(NameTemplate, ExtensionDecidesTheFormat) {
  const auto format = [](const std::string& name, const std::string& tree,
                         std::optional<Format> option = {}) {
    return NameTemplate(name).place("out", {"in/" + tree, tree, 1}, option).format;
  };
  EXPECT_EQ(format("{stem}.webp", "a.jpg"), Format::webp);
  EXPECT_EQ(format("{stem}.JPEG", "a.png"), Format::jpeg);
  EXPECT_EQ(format("{stem}.{ext}", "a.jpg"), Format::jpeg);
  EXPECT_EQ(format("{stem}.{ext}", "a.gif"), Format::png);
  EXPECT_EQ(format("{stem}.{ext}", "a.jpg", Format::bmp), Format::bmp);
  EXPECT_EQ(format("{stem}.{input_ext}", "a.jpg"), Format::jpeg);
  EXPECT_EQ(format("{stem}.data", "a.jpg", Format::bmp), Format::bmp);
  const auto check = [](const std::string& name, std::optional<Format> option) {
    return why([&] { NameTemplate(name).check_format(option); });
  };
  EXPECT_EQ(check("{stem}.png", {}), "");
  EXPECT_EQ(check("{stem}.png", Format::png), "");
  EXPECT_NE(check("{stem}.png", Format::jpeg).find("the extension is that of png, but --format is jpeg"),
            std::string::npos);
  EXPECT_EQ(check("{stem}.{ext}", Format::jpeg), "");
  EXPECT_EQ(check("{stem}.{input_ext}", {}), "");
  for (const char* name : {"{stem}", "{stem}.data", "{stem}.{n}", "x.png/{stem}", "{stem}{ext}"}) {
    EXPECT_NE(check(name, {}).find("no extension of an image format"), std::string::npos) << name;
    EXPECT_EQ(check(name, Format::png), "") << name;
  }
  EXPECT_NE(rejection_of("{stem}.gif").find("cannot write gif"), std::string::npos);
  // An extension that comes from a field may contradict the format.
  EXPECT_NE(why([] {
              (void)placed("{stem}.{input_ext}", {"a.gif", "a.gif", 1});
            }).find("but the format is png"),
            std::string::npos);
  EXPECT_NE(why([] {
              (void)placed("{stem}", {"a.jpg.png", "a.jpg.png", 1}, Format::png);
            }).find("has the extension of jpeg"),
            std::string::npos);
}

TEST(NameTemplate, WithoutATemplateNamesAreUnchanged) {
  const auto named = [](const std::string& tree, std::optional<Format> format, bool in_tree = true) {
    return NameTemplate::preset(in_tree).place("out", {"in/" + tree, tree, 1}, format).path;
  };
  EXPECT_EQ(named("sub/a.JPG", {}), "out/sub/a.JPG");
  EXPECT_EQ(named("sub/a.JPG", {}, false), "out/a.JPG");
  EXPECT_EQ(named("a.JPG", Format::png), "out/a.png");
  EXPECT_EQ(named("a.gif", {}), "out/a.png");
  EXPECT_EQ(named("scan.2024", {}), "out/scan.2024.png");
  EXPECT_EQ(named("scan", Format::tiff), "out/scan.tif");
  EXPECT_EQ(named("{n}.png", {}), "out/{n}.png");
}

TEST(NameTemplate, InvalidTemplates) {
  const std::string fields = "{dir}, {stem}, {ext}, {input_ext}, {parent}, {also}, {n}, {page}";
  EXPECT_EQ(rejection_of("{stme}.png"),
            "--name '{stme}.png': unknown field '{stme}'; did you mean stem? Must be one of " + fields);
  EXPECT_EQ(rejection_of("{x}.png"), "--name '{x}.png': unknown field '{x}'; must be one of " + fields);
  for (const char* name : {"{n:5}.png", "{n:}.png", "{n:0}.png", "{n:00}.png", "{n:019}.png", "{n:0x}.png",
                           "{n:0005}.png", "{n:-5}.png"})
    EXPECT_NE(
        rejection_of(name).find("the width must be 0 followed by a number from 1 to 18, such as {n:05}"),
        std::string::npos)
        << name;
  EXPECT_NE(rejection_of("{stem:05}.png").find("does not accept a width; only {n} and {page} do"),
            std::string::npos);
  for (const char* name : {"{stem.png", "{stem", "{", "{a{b}}.png"})
    EXPECT_NE(rejection_of(name).find("{ without }"), std::string::npos) << name;
  for (const char* name : {"stem}.png", "}", "{stem}}.png"})
    EXPECT_NE(rejection_of(name).find("} without {"), std::string::npos) << name;
  EXPECT_NE(rejection_of("{}.png").find("empty field name"), std::string::npos);
  EXPECT_NE(rejection_of("/tmp/{stem}.png").find("absolute path"), std::string::npos);
  for (const char* name : {"../{stem}.png", "a/../../{stem}.png", "a/.."})
    EXPECT_NE(rejection_of(name).find("is outside OUTPUT"), std::string::npos) << name;
  for (const char* name : {"", "{stem}/", ".", "a/."})
    EXPECT_NE(rejection_of(name).find("is not a file name"), std::string::npos) << name;
}

TEST(NameTemplate, InputNamesCannotEscapeTheOutputDirectory) {
  const NamedInput dots{"in/...png", "...png", 1};
  EXPECT_NE(why([&] { (void)placed("{stem}/x.png", dots); }).find("is outside OUTPUT"), std::string::npos);
  const NamedInput braces{"in/{n}/{stem}.png", "{n}/{stem}.png", 3};
  EXPECT_EQ(placed("{dir}/{stem}_{n}.png", braces), "out/{n}/{stem}_3.png");
  EXPECT_NE(why([] {
              (void)placed("{stem}.png", {"-", "", 1});
            }).find("but stdin has none"),
            std::string::npos);
  EXPECT_EQ(placed("{dir}/x.{ext}", {"-", "", 1}, Format::png), "out/x.png");
}

TEST(NameTemplate, UnknownPageFieldsRemain) {
  const NamedInput braces{"in/a{b}.tif", "a{b}.tif", 3};
  const std::string name = NameTemplate("{stem}/{page:03}_{n}.png").place("o{}", braces, {}).path;
  EXPECT_EQ(name, "o{{}}/a{{b}}/{page:03}_3.png");
  EXPECT_EQ(name_of_page(name, 5), "o{}/a{b}/005_3.png");
  EXPECT_EQ(name_of_page(name, 12345), "o{}/a{b}/12345_3.png");
  EXPECT_EQ(directory_of_pages(name), "o{}/a{b}");
  EXPECT_EQ(directory_of_pages("x_{page}.png"), "");
  EXPECT_EQ(directory_of_pages("out/p{page}/x.png"), "out");
}

}  // namespace
}  // namespace imgpipe::test::name_template_test
