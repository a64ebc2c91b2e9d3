// Tests the calibration file: entries of several machines, the format of 0.1.0, values that no measurement
// yields.
#include "app/devices/calibration.h"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/devices/calibration_file.h"
#include "tests/support/files.h"

namespace imgpipe::test::calibration_test {
namespace {

CalibrationEntry entry_of(const std::string& processor, const std::string& device, double ns_per_pixel) {
  return {{"0.1.0", processor, "AVX2", 16, device},
          {{154'000, ns_per_pixel}, {101'000, 8.24}, {120'000, 0.115}, 127e6, 54'000}};
}

bool same(const CostModel& a, const CostModel& b) {
  const auto same_cost = [](const LinearCost& x, const LinearCost& y) {
    return x.ns_per_image == y.ns_per_image && x.ns_per_pixel == y.ns_per_pixel;
  };
  return same_cost(a.host, b.host) && same_cost(a.with_lane, b.with_lane) && same_cost(a.lane, b.lane) &&
         a.lane_start_ns == b.lane_start_ns && a.lane_pixels == b.lane_pixels;
}

std::string entry_with(const std::string& name, const std::string& value) {
  std::string text = calibration_text({entry_of("p", "d", 9.5)});
  const std::size_t at = text.rfind("\"" + name + "\": ");
  EXPECT_NE(at, std::string::npos) << name;
  const std::size_t from = text.find(": ", at) + 2;
  return text.replace(from, text.find_first_of(",\n", from) - from, value);
}

// A file in the format of 0.1.0.
constexpr const char* kOldFile = R"({
  "key": {"imgpipe": "0.1.0", "processor": "p", "instructions": "AVX2", "threads": 16, "device": "d"},
  "host": {"ns_per_image": 154000.0, "ns_per_pixel": 9.5},
  "with_lane": {"ns_per_image": 101000.0, "ns_per_pixel": 8.24},
  "lane": {"ns_per_image": 120000.0, "ns_per_pixel": 0.115},
  "lane_start_ns": 127000000.0,
  "lane_pixels": 54000
})";

TEST(Calibration, RoundTripsEntries) {
  CalibrationEntry none = entry_of("q \"\\\n", "e", 7.125);
  none.model.lane_pixels.reset();
  const std::vector<CalibrationEntry> entries{entry_of("p", "d", 9.5), none};
  const CalibrationEntries read = parse_calibration(calibration_text(entries));
  EXPECT_EQ(read.note, "");
  ASSERT_EQ(read.entries.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_EQ(read.entries[i].key, entries[i].key);
    EXPECT_TRUE(same(read.entries[i].model, entries[i].model));
  }
}

TEST(Calibration, ReadsTheFormatOfVersion010AsOneEntry) {
  const CalibrationEntries read = parse_calibration(kOldFile);
  EXPECT_EQ(read.note, "");
  ASSERT_EQ(read.entries.size(), 1U);
  EXPECT_EQ(read.entries[0].key, entry_of("p", "d", 9.5).key);
  EXPECT_TRUE(same(read.entries[0].model, entry_of("p", "d", 9.5).model));
}

TEST(Calibration, RejectsImplausibleValues) {
  ASSERT_EQ(parse_calibration(entry_with("lane_start_ns", "5")).entries.size(), 1U);
  const std::pair<const char*, std::vector<const char*>> rows[]{
      {"lane_start_ns", {"-1", "1e300", "1e999", "-1e300", "null", "\"5\"", "[]", "true", "NaN"}},
      {"ns_per_pixel", {"-0.5", "1e300", "-1e-300", "{}", "false", "Infinity"}},
      {"ns_per_image", {"-1", "1e13", "\"\""}},
      {"lane_pixels", {"-1", "0", "1e300", "-1e300", "99999999999999999999999999", "0.5", "\"9\"", "[1]"}},
      {"threads", {"0", "-3", "1e300", "\"16\"", "null", "1.5"}},
      {"device", {"1", "null", "[[[]]]"}},
      {"imgpipe", {"1", "{}"}}};
  for (const auto& [name, values] : rows) {
    for (const char* value : values) {
      const CalibrationEntries read = parse_calibration(entry_with(name, value));
      EXPECT_TRUE(read.entries.empty()) << name << " " << value;
      EXPECT_NE(read.note, "") << name << " " << value;
    }
  }
  CostModel free_host = entry_of("p", "d", 9.5).model;
  free_host.host.ns_per_pixel = 0;
  EXPECT_FALSE(is_plausible(free_host));
  free_host.host.ns_per_pixel = std::numeric_limits<double>::quiet_NaN();
  EXPECT_FALSE(is_plausible(free_host));
}

TEST(Calibration, HostileTextsYieldANoteAndNoEntries) {
  std::string deep(400'000, '[');
  std::string deep_key = entry_with("device", std::string(200'000, '[') + std::string(200'000, ']'));
  std::string many = "{\"entries\": [";
  for (int i = 0; i < 100'000; ++i) many += i == 0 ? "1" : ",1";
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("null"), std::string("[]"), std::string("3"),
        std::string("{\"entries\": 1}"), std::string("{\"entries\": {\"key\": 1}}"),
        std::string("{\"key\": 1}"), std::string("{\"key\": {\"key\": {}}}"), std::string("\xff\xfe\0\0", 4),
        deep, deep + std::string(400'000, ']'), deep_key, many + "]}",
        "{\"entries\": [" + std::string(300'000, '[') + std::string(300'000, ']') + "]}"}) {
    const CalibrationEntries read = parse_calibration(text);
    EXPECT_TRUE(read.entries.empty()) << text.substr(0, 80);
    EXPECT_NE(read.note, "") << text.substr(0, 80);
  }
}

TEST(Calibration, ImplausibleEntryDoesNotAffectOthers) {
  std::string text = calibration_text({entry_of("a", "d", 1), entry_of("b", "d", 2), entry_of("c", "d", 3)});
  text.replace(text.find("\"ns_per_pixel\": 2.0"), 19, "\"ns_per_pixel\": -2.0");
  const CalibrationEntries read = parse_calibration(text);
  ASSERT_EQ(read.entries.size(), 2U);
  EXPECT_EQ(read.entries[1].key.processor, "c");
  EXPECT_NE(read.note, "");
}

// A cost model may hold any number; the pixel count derived from it saturates.
TEST(Calibration, NoModelOverflows) {
  for (const double saved : {1e-300, 1e-9, 1.0}) {
    CostModel model{{0, 1 + saved}, {0, 1}, {0, 0}, 1e300, {}};
    EXPECT_EQ(model.lane_start_pixels(1024), std::numeric_limits<std::int64_t>::max());
  }
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ((CostModel{{0, nan}, {0, 1}, {0, 0}, 1, {}}.lane_start_pixels(1)),
            std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ((CostModel{{0, 2}, {0, 1}, {0, 0}, -5, {}}.lane_start_pixels(1)), 0);
}

class CalibrationDirectory : public testing::Test {
 protected:
  [[nodiscard]] std::string path() const { return directory_.file("cache/imgpipe/calibration.json"); }
  TemporaryDirectory directory_;
};

TEST_F(CalibrationDirectory, KeepsOneEntryPerMachineAndDevice) {
  store_calibration(path(), entry_of("node 1", "d", 1));
  store_calibration(path(), entry_of("node 2", "d", 2));
  store_calibration(path(), entry_of("node 2", "e", 3));
  store_calibration(path(), entry_of("node 1", "d", 4));
  const CalibrationEntries read = read_calibration(path());
  EXPECT_EQ(read.note, "");
  ASSERT_EQ(read.entries.size(), 3U);
  EXPECT_TRUE(same(read.entries[2].model, entry_of("node 1", "d", 4).model));
  EXPECT_TRUE(same(read.entries[0].model, entry_of("node 2", "d", 2).model));
}

TEST_F(CalibrationDirectory, KeepsTheEntryOfVersion010) {
  std::filesystem::create_directories(std::filesystem::path(path()).parent_path());
  save_text(path(), kOldFile);
  store_calibration(path(), entry_of("node 2", "d", 2));
  EXPECT_EQ(read_calibration(path()).entries.size(), 2U);
}

TEST_F(CalibrationDirectory, DamagedFileIsReplaced) {
  std::filesystem::create_directories(std::filesystem::path(path()).parent_path());
  for (const std::string& text : {std::string("{"), std::string(2 << 20, ' '), std::string(300'000, '[')}) {
    save_text(path(), text);
    EXPECT_NE(read_calibration(path()).note, "");
    store_calibration(path(), entry_of("p", "d", 2));
    EXPECT_EQ(read_calibration(path()).entries.size(), 1U);
    EXPECT_EQ(read_calibration(path()).note, "");
  }
  EXPECT_EQ(read_calibration(directory_.file("none.json")).note, "")
      << "a file that is not there is nothing wrong";
}

TEST_F(CalibrationDirectory, NumberOfEntriesIsLimited) {
  std::vector<CalibrationEntry> entries;
  for (int i = 0; i < 400; ++i) entries.push_back(entry_of("node " + std::to_string(i), "d", 1));
  std::filesystem::create_directories(std::filesystem::path(path()).parent_path());
  save_text(path(), calibration_text(entries));
  store_calibration(path(), entry_of("this one", "d", 2));
  const CalibrationEntries read = read_calibration(path());
  EXPECT_LE(read.entries.size(), 256U);
  EXPECT_EQ(read.entries.back().key.processor, "this one");
}

// Simulates nodes that share a home directory: the file is valid after each write, and complete at the end.
TEST_F(CalibrationDirectory, ConcurrentProcessesLoseNoEntries) {
  constexpr int kNodes = 6;
  constexpr int kRounds = 5;
  std::vector<pid_t> nodes;
  for (int node = 0; node < kNodes; ++node) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      bool whole = true;
      for (int round = 0; round < kRounds; ++round) {
        store_calibration(path(), entry_of("node " + std::to_string(node), "d", 1 + round));
        whole = whole && read_calibration(path()).note.empty();
      }
      ::_exit(whole ? 0 : 1);
    }
    nodes.push_back(child);
  }
  for (const pid_t node : nodes) {
    int status = -1;
    ASSERT_EQ(::waitpid(node, &status, 0), node);
    EXPECT_EQ(status, 0);
  }
  const CalibrationEntries read = read_calibration(path());
  EXPECT_EQ(read.entries.size(), static_cast<std::size_t>(kNodes));
  for (const CalibrationEntry& entry : read.entries) EXPECT_EQ(entry.model.host.ns_per_pixel, kRounds);
}

// Calls load_calibration() for a device that does not exist.
TEST_F(CalibrationDirectory, UsesOnlyTheEntryOfThisMachine) {
  const char* before = std::getenv("XDG_CACHE_HOME");
  const std::string old = before == nullptr ? "" : before;
  ::setenv("XDG_CACHE_HOME", directory_.file("cache").c_str(), 1);
  const CudaDevice device{0, "a device", 9, 0, 1, 1};
  const CalibrationKey key = load_calibration(device).key;
  EXPECT_EQ(key.device, "a device");
  EXPECT_FALSE(load_calibration(device).measured);
  CalibrationEntry other = entry_of("another", "a device", 3);
  store_calibration(calibration_file(), other);
  EXPECT_FALSE(load_calibration(device).measured);
  EXPECT_EQ(load_calibration(device).entries, 1U);
  store_calibration(calibration_file(), {key, entry_of("", "", 5).model});
  const Calibration found = load_calibration(device);
  EXPECT_TRUE(found.measured);
  EXPECT_EQ(found.model.host.ns_per_pixel, 5);
  EXPECT_EQ(found.note, "");
  save_text(calibration_file(), "{");
  EXPECT_FALSE(load_calibration(device).measured);
  EXPECT_TRUE(same(load_calibration(device).model, default_cost_model()));
  EXPECT_NE(load_calibration(device).note.find("calibration.json"), std::string::npos);
  if (before == nullptr) {
    ::unsetenv("XDG_CACHE_HOME");
  } else {
    ::setenv("XDG_CACHE_HOME", old.c_str(), 1);
  }
}

}  // namespace
}  // namespace imgpipe::test::calibration_test
