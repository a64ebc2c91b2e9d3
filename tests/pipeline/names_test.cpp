// Tests names as people type them: spellings, distances, suggestions.
#include "images/names.h"

#include <array>
#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace imgpipe::test::names_test {
namespace {

TEST(Names, SpellingsAreNormalised) {
  EXPECT_EQ(canonical_spelling("grey"), "gray");
  EXPECT_EQ(canonical_spelling("grey16"), "gray16");
  EXPECT_EQ(canonical_spelling("--no-colour"), "--no-color");
  EXPECT_EQ(canonical_spelling("colours:5"), "colors:5");
  EXPECT_EQ(canonical_spelling("centre"), "center");
  EXPECT_EQ(canonical_spelling("equalise"), "equalize");
  EXPECT_EQ(canonical_spelling("greygreyGrey"), "graygrayGrey");
  for (const char* same : {"", "gray", "color", "gre", "colou", "contrast"})
    EXPECT_EQ(canonical_spelling(same), same);
}

TEST(Names, DistancesCountEditsAndTranspositions) {
  struct Row {
    const char* a;
    const char* b;
    std::size_t distance;
  };
  for (const Row& row :
       {Row{"", "", 0}, Row{"", "abc", 3}, Row{"abc", "abc", 0}, Row{"contrst", "contrast", 1},
        Row{"contraast", "contrast", 1}, Row{"contrazt", "contrast", 1}, Row{"cotnrast", "contrast", 1},
        Row{"kitten", "sitting", 3}, Row{"ca", "abc", 3}, Row{"ab", "ba", 1}, Row{"abcd", "badc", 2},
        Row{"a", "b", 1}}) {
    EXPECT_EQ(edit_distance(row.a, row.b), row.distance) << row.a << " " << row.b;
    EXPECT_EQ(edit_distance(row.b, row.a), row.distance) << row.b << " " << row.a;
  }
}

TEST(Names, SuggestionsDifferInAtMostAThirdOfTheLetters) {
  const std::array<std::string_view, 9> names{"gray", "hist", "contrast", "box", "gauss",
                                              "cpu",  "png",  "90",       "jpeg"};
  const auto nearest = [&](std::string_view given) { return nearest_name(given, names); };
  EXPECT_EQ(nearest("contrst"), "contrast");
  EXPECT_EQ(nearest("CONTRAST"), "contrast");
  EXPECT_EQ(nearest("cotrsat"), "contrast") << "two of eight";
  EXPECT_EQ(nearest("xontrzt"), "") << "three of eight";
  EXPECT_EQ(nearest("gery"), "gray");
  EXPECT_EQ(nearest("greyy"), "gray") << "the other spelling, and one letter more";
  EXPECT_EQ(nearest("gras"), "gray");
  EXPECT_EQ(nearest("gpu"), "") << "of three letters none is replaced";
  EXPECT_EQ(nearest("pgn"), "png");
  EXPECT_EQ(nearest("boxx"), "box");
  EXPECT_EQ(nearest("bx"), "box");
  EXPECT_EQ(nearest("PNG"), "png");
  EXPECT_EQ(nearest("jepg"), "jpeg");
  EXPECT_EQ(nearest("9"), "") << "numbers are not misspelt";
  EXPECT_EQ(nearest("900"), "");
  EXPECT_EQ(nearest(""), "");
  EXPECT_EQ(nearest("x"), "");
  EXPECT_EQ(nearest(std::string(41, 'a')), "");
  EXPECT_EQ(nearest(std::string(1 << 20, 'g')), "") << "takes no time";
  EXPECT_EQ(nearest(std::string("gr\0y", 4)), "gray");
  EXPECT_EQ(nearest_name("gray", {}), "");
}

TEST(Names, MessagesAreOneLine) {
  const std::array<std::string_view, 3> names{"auto", "turbo", "stb"};
  EXPECT_EQ(none_of("trubo", names), "must be one of auto, turbo, stb; got 'trubo'; did you mean turbo?");
  EXPECT_EQ(none_of("x\ny", names), "must be one of auto, turbo, stb; got 'x\\x0Ay'");
  EXPECT_EQ(unknown_name("unknown codec 'turb'", "turb", names, "the codecs are 3"),
            "unknown codec 'turb'; did you mean turbo? The codecs are 3");
  EXPECT_EQ(unknown_name("unknown codec '?'", "?", names, "the codecs are 3"),
            "unknown codec '?'; the codecs are 3");
  EXPECT_EQ(joined({}), "");
}

}  // namespace
}  // namespace imgpipe::test::names_test
