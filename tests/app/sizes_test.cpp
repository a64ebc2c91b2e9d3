// Amounts of memory and numbers of pixels on the command line.
#include "app/options/sizes.h"

#include <cstdint>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "images/error.h"

namespace imgpipe::test::sizes_test {
namespace {

constexpr std::int64_t kKibi = 1024;

std::int64_t bytes(const std::string& text) {
  return parse_memory(text, "memory", 0);
}
std::int64_t pixels(const std::string& text) {
  return parse_pixels(text, "max-pixels", std::int64_t{1} << 34);
}

// Returns the error message; empty: none.
template <class Function>
std::string refusal(const Function& function) {
  try {
    (void)function();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "";
}

TEST(Sizes, MemorySizes) {
  const std::pair<const char*, std::int64_t> rows[]{{"0", 0},
                                                    {"67108864", 67108864},
                                                    {"007", 7},
                                                    {"64B", 64},
                                                    {"1K", kKibi},
                                                    {"500M", 500 * kKibi * kKibi},
                                                    {"500m", 500 * kKibi * kKibi},
                                                    {"8G", 8 * kKibi * kKibi * kKibi},
                                                    {"1T", kKibi * kKibi * kKibi * kKibi},
                                                    {"1KiB", kKibi},
                                                    {"64MiB", 64 * kKibi * kKibi},
                                                    {"64mib", 64 * kKibi * kKibi},
                                                    {"3GiB", 3 * kKibi * kKibi * kKibi},
                                                    {"2TiB", 2 * kKibi * kKibi * kKibi * kKibi},
                                                    {"1kB", 1000},
                                                    {"1KB", 1000},
                                                    {"100MB", 100'000'000},
                                                    {"100mb", 100'000'000},
                                                    {"2GB", 2'000'000'000},
                                                    {"3TB", 3'000'000'000'000},
                                                    {"1.5G", 1'610'612'736},
                                                    {"1.5GB", 1'500'000'000},
                                                    {"0.5KiB", 512},
                                                    {"1.1G", 1'181'116'006},  // rounded down from .4
                                                    {"0.000001K", 0},
                                                    {"1.999999kB", 1999},
                                                    {"0.999999T", 1'099'510'528'264},
                                                    {"1024T", std::int64_t{1} << 50},
                                                    {"1024TiB", std::int64_t{1} << 50}};
  for (const auto& [text, value] : rows) EXPECT_EQ(bytes(text), value) << text;
}

TEST(Sizes, PixelCounts) {
  const std::pair<const char*, std::int64_t> rows[]{{"1", 1},
                                                    {"268435456", 268'435'456},
                                                    {"100k", 100'000},
                                                    {"100K", 100'000},
                                                    {"100kP", 100'000},
                                                    {"100M", 100'000'000},
                                                    {"47MP", 47'000'000},
                                                    {"47mp", 47'000'000},
                                                    {"1.5GP", 1'500'000'000},
                                                    {"1.5G", 1'500'000'000},
                                                    {"0.0015k", 1},
                                                    {"0.010TP", 10'000'000'000},
                                                    {"17179869184", std::int64_t{1} << 34}};
  for (const auto& [text, value] : rows) EXPECT_EQ(pixels(text), value) << text;
}

TEST(Sizes, RejectsInvalidSizes) {
  for (const std::string text : {"",
                                 " ",
                                 "M",
                                 "B",
                                 "P",
                                 ".",
                                 ".5G",
                                 "1.G",
                                 "1.5",
                                 "1..5G",
                                 "1.2.3G",
                                 "-1G",
                                 "+1G",
                                 "-64M",
                                 "1e9",
                                 "0x40",
                                 "1 G",
                                 " 1G",
                                 "1G ",
                                 "1GG",
                                 "G8",
                                 "1Gi",
                                 "1iB",
                                 "1MiBB",
                                 "1MBi",
                                 "1E",
                                 "1P",
                                 "1PB",
                                 "1X",
                                 "1,5G",
                                 "1'000",
                                 "1.0000001G",
                                 "NaN",
                                 "inf",
                                 "1G\n",
                                 "\xC2\xBDG",
                                 "\xEF\xBC\x91",
                                 "-99999999999999999999"}) {
    EXPECT_NE(refusal([&] { return bytes(text); }).find("expected an amount such as"), std::string::npos)
        << text;
  }
  for (const std::string text : {"", "MP", "47MiP", "47MiB", "47MB", "1B", "47Mpx", "1.5", "-1", "+1", "1e6",
                                 "1 M", "4P", "1.0000001M", "0x10"}) {
    EXPECT_NE(refusal([&] { return pixels(text); }).find("expected a number of pixels such as"),
              std::string::npos)
        << text;
  }
  EXPECT_NE(refusal([] { return bytes(std::string("1\0G", 3)); }), "");
  EXPECT_NE(refusal([] { return bytes(std::string(100'000, 'K')); }), "");
  EXPECT_NE(refusal([] { return bytes("1" + std::string(100'000, '.')); }), "");
}

TEST(Sizes, ReportsSizesOutOfRange) {
  const std::pair<const char*, const char*> rows[]{
      {"1025T", "--memory: expected at most 1024T, got '1025T'"},
      {"1024.000001T", "expected at most 1024T, got"},
      {"1125899906842625", "expected at most 1024T, got"},
      {"9223372036854775807", "expected at most 1024T, got"},
      {"9223372036854775808", "expected at most 1024T, got"},
      {"9223372036854775807.999999T", "expected at most 1024T, got"},
      {"8388608T", "expected at most 1024T, got"},
      {"99999999T", "expected at most 1024T, got"},
      {"63M", "--memory: expected at least 64M, got '63M'"},
      {"67MB", "expected at least 64M, got"},
      {"63.999999MiB", "expected at least 64M, got"},
      {"0", "expected at least 64M, got"}};
  for (const auto& row : rows) {
    const std::string message = refusal([&] { return parse_memory(row.first); });
    EXPECT_NE(message.find(row.second), std::string::npos) << row.first << ": " << message;
  }
  const std::string digits(100'000, '9');
  EXPECT_NE(refusal([&] { return parse_memory(digits); }).find("expected at most 1024T, got"),
            std::string::npos);
  for (const char* text :
       {"0", "0.1k0", "0.0009k", "18G", "17179869185", "99999999999999999999", "9999999999TP"}) {
    EXPECT_NE(refusal([&] { return pixels(text); }), "") << text;
  }
  EXPECT_EQ(refusal([] { return pixels("18GP"); }), "--max-pixels: expected 1 to 17179869184, got '18GP'");
  EXPECT_EQ(parse_memory("1M", "device-memory", 1), kKibi * kKibi);
  EXPECT_EQ(refusal([] { return parse_memory("1023K", "device-memory", 1); }),
            "--device-memory: expected at least 1M, got '1023K'");
}

}  // namespace
}  // namespace imgpipe::test::sizes_test
