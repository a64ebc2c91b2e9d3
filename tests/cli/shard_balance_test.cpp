// --balance: parts that are even, complete, and equal in every process.
#include "app/jobs/shard_balance.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <limits>
#include <numeric>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "app/shard/shard.h"
#include "images/error.h"
#include "tests/support/batch_cli.h"

namespace imgpipe::test::shard_balance_test {
namespace {

using Sizes = std::vector<std::int64_t>;
using Json = nlohmann::json;

// Sizes of photographs from various cameras and the web: lognormal, median 1.5 MB, mostly 0.3 to 8 MB
// (Downey, The structural cause of file size distributions, 2001).
Sizes photographs(std::size_t count) {
  std::mt19937_64 bits(20261121);
  const auto uniform = [&] { return (static_cast<double>(bits() >> 11) + 0.5) / 9007199254740992.0; };
  Sizes sizes(count);
  for (std::int64_t& size : sizes) {
    const double normal = std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::acos(-1.0) * uniform());
    size = static_cast<std::int64_t>(1.5e6 * std::exp(normal));
  }
  return sizes;
}

Sizes loads_of(const Sizes& sizes, const std::vector<int>& part_of, int parts) {
  Sizes loads(static_cast<std::size_t>(parts));
  for (std::size_t i = 0; i < sizes.size(); ++i) loads.at(static_cast<std::size_t>(part_of[i])) += sizes[i];
  return loads;
}

std::int64_t largest_part(const Sizes& loads) {
  return *std::ranges::max_element(loads);
}

// Lower bound of the largest part: the mean, the largest file, and the smallest two of the `parts` + 1
// largest files, two of which must share a part.
double lower_bound_of_largest_part(Sizes sizes, int parts) {
  std::ranges::sort(sizes, std::greater{});
  const auto n = static_cast<std::size_t>(parts);
  const double mean = static_cast<double>(std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0})) /
                      static_cast<double>(parts);
  const double shared = sizes.size() > n ? static_cast<double>(sizes[n - 1] + sizes[n]) : 0;
  return std::max({mean, sizes.empty() ? 0.0 : static_cast<double>(sizes.front()), shared});
}

void expect_even(const Sizes& sizes) {
  for (int parts = 1; parts <= 64; ++parts) {
    const std::vector<int> part_of = parts_by_bytes(sizes, parts);
    ASSERT_EQ(part_of.size(), sizes.size());
    const auto most = static_cast<double>(largest_part(loads_of(sizes, part_of, parts)));
    EXPECT_LE(most, lower_bound_of_largest_part(sizes, parts) * (4.0 / 3 - 1.0 / (3 * parts))) << parts;
  }
}

TEST(PartsByBytes, AreEven) {
  expect_even(photographs(300));
  expect_even(photographs(63));
  expect_even(Sizes(300, 4096));
}

TEST(PartsByBytes, AreEvenOnRealFiles) {
  const char* corpus = std::getenv("IMGPIPE_CORPUS");
  if (corpus == nullptr || *corpus == '\0') GTEST_SKIP() << "IMGPIPE_CORPUS is not set";
  Sizes sizes;
  for (const fs::path& path : files_below(corpus))
    sizes.push_back(static_cast<std::int64_t>(fs::file_size(path)));
  ASSERT_GT(sizes.size(), 50U);
  expect_even(sizes);
}

TEST(PartsByBytes, AreNearerTheIdealThanByHash) {
  const Sizes sizes = photographs(300);
  constexpr int kParts = 16;
  Sizes by_hash(kParts);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    for (int part = 0; part < kParts; ++part) {
      if (belongs_to_shard("IMG_" + std::to_string(i) + ".jpg", {part + 1, kParts}))
        by_hash[static_cast<std::size_t>(part)] += sizes[i];
    }
  }
  const double ideal = lower_bound_of_largest_part(sizes, kParts);
  const auto by_bytes =
      static_cast<double>(largest_part(loads_of(sizes, parts_by_bytes(sizes, kParts), kParts)));
  EXPECT_LT(by_bytes, 1.01 * ideal);
  EXPECT_GT(static_cast<double>(largest_part(by_hash)), 1.4 * ideal);
}

TEST(PartsByBytes, ByHand) {
  EXPECT_EQ(parts_by_bytes({7, 5, 4, 3, 1}, 2), (std::vector<int>{0, 1, 1, 0, 1}));
  EXPECT_EQ(parts_by_bytes({1, 3, 4, 5, 7}, 2), (std::vector<int>{1, 0, 1, 1, 0}));
  EXPECT_EQ(parts_by_bytes({2, 2, 2, 2}, 3), (std::vector<int>{0, 1, 2, 0}))
      << "the first of equal ones first";
  EXPECT_EQ(parts_by_bytes({0, 0, 0, 0}, 2), (std::vector<int>{0, 1, 0, 1}))
      << "what is empty is dealt out too";
  EXPECT_EQ(parts_by_bytes({3}, 1'000'000), (std::vector<int>{0}));
  EXPECT_EQ(parts_by_bytes({}, 4), std::vector<int>());
  const Sizes huge(100, std::numeric_limits<std::int64_t>::max());
  const std::vector<int> part_of = parts_by_bytes(huge, 3);
  EXPECT_EQ(std::ranges::count(part_of, 0), 34);
  EXPECT_EQ(std::ranges::count(part_of, 1), 33);
}

// ---- lists of files ----------------------------------------------------------------------------------

class KeepShard : public testing::Test {
 protected:
  void SetUp() override {
    const Sizes sizes = photographs(40);
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      const std::string name = "n" + std::to_string(i) + ".png";
      save_text(directory_.file(name), std::string(static_cast<std::size_t>(sizes[i] / 1000), 'x'));
      names_.push_back(name);
    }
    fs::create_directory(directory_.file("folder.png"));
    save_text(directory_.file("empty.png"), "");
    for (const char* name : {"missing.png", "folder.png", "empty.png"}) names_.emplace_back(name);
  }

  [[nodiscard]] BatchFiles kept(const std::vector<std::string>& names, const Shard& shard) const {
    BatchFiles found;
    for (const std::string& name : names) {
      BatchFile file;
      file.input = directory_.file(name);
      file.name_begin = static_cast<std::uint16_t>(file.input.size() - name.size());
      found.files.push_back(std::move(file));
    }
    keep_shard(found, shard);
    EXPECT_EQ(found.files.size() + found.other_shards, names.size());
    return found;
  }
  static std::vector<std::string> names_of(const BatchFiles& found) {
    std::vector<std::string> all;
    for (const BatchFile& file : found.files) all.emplace_back(file.name());
    return all;
  }

  TemporaryDirectory directory_;
  std::vector<std::string> names_;
};

TEST_F(KeepShard, EveryFileIsInOnePart) {
  for (const Balance balance : {Balance::hash, Balance::count, Balance::bytes}) {
    for (int parts = 1; parts <= 64; ++parts) {
      std::multiset<std::string> all;
      std::size_t least = names_.size();
      std::size_t most = 0;
      for (int part = 1; part <= parts; ++part) {
        const std::vector<std::string> own = names_of(kept(names_, {part, parts, {}, balance}));
        all.insert(own.begin(), own.end());
        least = std::min(least, own.size());
        most = std::max(most, own.size());
      }
      EXPECT_EQ(all.size(), names_.size()) << parts;
      EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), names_.size()) << parts;
      EXPECT_TRUE(balance != Balance::count || most - least <= 1) << parts;
    }
  }
}

TEST_F(KeepShard, InAnyOrder) {
  std::mt19937 random(1);
  for (const Balance balance : {Balance::hash, Balance::count, Balance::bytes}) {
    for (int part = 1; part <= 5; ++part) {
      const BatchFiles first = kept(names_, {part, 5, {}, balance});
      std::vector<std::string> expected = names_of(first);
      std::ranges::sort(expected);
      for (int round = 0; round < 5; ++round) {
        std::vector<std::string> shuffled = names_;
        std::ranges::shuffle(shuffled, random);
        const BatchFiles again = kept(shuffled, {part, 5, {}, balance});
        std::vector<std::string> own = names_of(again);
        std::ranges::sort(own);
        EXPECT_EQ(own, expected);
        EXPECT_EQ(again.shard_list, first.shard_list);
      }
    }
  }
}

TEST_F(KeepShard, ListIsRecognisedByItsMark) {
  const auto mark = [&](Balance balance) { return kept(names_, {1, 3, {}, balance}).shard_list; };
  EXPECT_EQ(mark(Balance::hash), "");
  const std::string bytes = mark(Balance::bytes);
  const std::string count = mark(Balance::count);
  EXPECT_EQ(bytes.size(), 16U);
  EXPECT_EQ(kept(names_, {2, 3, {}, Balance::bytes}).shard_list, bytes)
      << "that of all files, whichever the part";
  save_text(directory_.file("n7.png"), "another size");
  EXPECT_NE(mark(Balance::bytes), bytes);
  EXPECT_EQ(mark(Balance::count), count);
  names_.emplace_back("new.png");
  EXPECT_NE(mark(Balance::count), count);
}

// ---- by the program ----------------------------------------------------------------------------------

class BalanceCli : public BatchCli {
 protected:
  void SetUp() override {
    BatchCli::SetUp();
    for (int i = 0; i < 24; ++i) write("in/n" + std::to_string(i) + ".ppm", 1, 3 + i * i);
  }
};

TEST_F(BalanceCli, PartsAreBalancedCompleteAndReported) {
  std::set<std::string> lists;
  std::size_t done = 0;
  std::int64_t most = 0;
  std::int64_t all = 0;
  for (int part = 1; part <= 4; ++part) {
    const std::string path = file("r" + std::to_string(part) + ".json");
    const RunResult run = run_imgpipe({in(), out(), "--recursive", "--shard", std::to_string(part) + "/4",
                                       "--balance", "bytes", "--report", path});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_EQ(run.err, "imgpipe: shard " + std::to_string(part) + " of 4, given; balance bytes\n");
    const Json report = Json::parse(load_text(path));
    EXPECT_EQ(report["shard"]["balance"], "bytes");
    lists.insert(report["shard"]["list"].get<std::string>());
    EXPECT_NE(run.out.find("balance bytes of list " + *lists.begin()), std::string::npos) << run.out;
    done += report["done"].get<std::size_t>();
    most = std::max(most, report["input_bytes"].get<std::int64_t>());
    all += report["input_bytes"].get<std::int64_t>();
  }
  EXPECT_EQ(done, 29U);
  EXPECT_EQ(written().size(), 29U);
  EXPECT_EQ(lists.size(), 1U);
  EXPECT_LT(static_cast<double>(most), 1.1 * static_cast<double>(all) / 4);
}

TEST_F(BalanceCli, RequeuedPartIsIdentical) {
  for (const char* balance : {"bytes", "count"}) {
    fs::remove_all(out());
    const auto run = [&](const std::string& part) {
      const std::string path = file("r" + part.substr(0, 1) + ".json");
      const RunResult result = run_imgpipe(
          {in(), out(), "-q", "--shard", part, "--balance", balance, "--skip-existing", "--report", path});
      EXPECT_EQ(result.exit_code, 0) << result.err;
      return Json::parse(load_text(path));
    };
    const auto first = run("1/3")["done"].get<std::size_t>();
    EXPECT_GT(first, 1U);
    for (int i = 0; i < 24; i += 5) fs::remove(out() + "/n" + std::to_string(i) + ".ppm");
    const std::size_t left = written().size();
    const Json again = run("1/3");
    EXPECT_EQ(again["done"].get<std::size_t>(), first - left);
    EXPECT_EQ(again["skipped"].get<std::size_t>(), left);
    EXPECT_EQ(run("2/3")["skipped"], 0);
    EXPECT_EQ(run("3/3")["skipped"], 0);
    EXPECT_EQ(written().size(), 27U);
  }
}

// A shard may not do what an unsharded run may not do.
TEST_F(BalanceCli, ShardsShareNoFiles) {
  fs::create_directory(file("twice"));
  for (int i = 0; i < 6; ++i) write("twice/q" + std::to_string(i) + ".bmp", 1, 3);
  for (int i = 0; i < 6; ++i) write("twice/q" + std::to_string(i) + ".png", 1, 3);
  for (int part = 1; part <= 3; ++part) {
    const std::string shard = std::to_string(part) + "/3";
    EXPECT_EQ(run_imgpipe({file("twice"), out(), "--format", "pgm", "--shard", shard}).exit_code, 2);
    EXPECT_EQ(run_imgpipe({file("twice"), file("twice"), "--format", "png", "--shard", shard}).exit_code, 2);
  }
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(BalanceCli, FailureListCoversAllShards) {
  for (int i = 0; i < 6; ++i) save_text(file("in/x" + std::to_string(i)), "no image");
  for (int part = 1; part <= 3; ++part) {
    const RunResult run = run_imgpipe({in(), out(), "-q", "--include", "x*", "--no-clobber", "--failed-out",
                                       file("failed"), "--shard", std::to_string(part) + "/3"});
    EXPECT_NE(run.exit_code, 2) << run.err;
  }
  EXPECT_EQ(load_text(file("failed")), "x0\nx1\nx2\nx3\nx4\nx5\n");
  // A list written to a stream is not shared between shards.
  const RunResult run =
      run_imgpipe({in(), out(), "-q", "--include", "x0", "--failed-out", "-", "--shard", "1/1"});
  EXPECT_EQ(run.out, "x0\n");
  // Shards of a list that balancing divides must not change that list.
  expect_refused(run_imgpipe({in(), out(), "--files-from", file("failed"), "--failed-out", file("failed"),
                              "--shard", "1/3", "--balance", "count"}),
                 "name another file");
}

TEST_F(BalanceCli, EveryLineNamesItsShard) {
  save_text(file("in/bad.png"), "no image");
  const auto shards = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments{in(), out(), "-q", "--report", file("r.ndjson")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    EXPECT_LE(run_imgpipe(arguments).exit_code, 1);
    std::set<std::string> all;
    std::istringstream text(load_text(file("r.ndjson")));
    for (std::string line; std::getline(text, line);) all.insert(Json::parse(line).at("shard").dump());
    return all;
  };
  EXPECT_EQ(shards({"--shard", "2/2", "--balance", "count"}), std::set<std::string>{"\"2/2\""});
  EXPECT_EQ(shards({"--shard", "1/2", "--skip-existing"}), (std::set<std::string>{"\"1/2\"", "\"2/2\""}));
  EXPECT_EQ(shards({}), std::set<std::string>{"null"});
}

// The failures of a part form a complete list, which must not be divided again.
TEST_F(BalanceCli, FailuresAreReplayedWithoutShard) {
  for (int i = 0; i < 6; ++i) save_text(file("in/bad" + std::to_string(i) + ".png"), "no image");
  ASSERT_EQ(
      run_imgpipe({in(), out(), "-q", "--shard", "1/2", "--balance", "count", "--failed-out", file("f")})
          .exit_code,
      1);
  const std::string failed = load_text(file("f"));
  EXPECT_EQ(lines(failed), 3U);
  EXPECT_EQ(run_imgpipe({in(), out(), "-q", "--files-from", file("f"), "--failed-out", file("g")}).exit_code,
            1);
  EXPECT_EQ(load_text(file("g")), failed);
}

TEST_F(BalanceCli, RejectsInvalidBalance) {
  expect_refused(run_imgpipe({in(), out(), "--balance", "bytes"}), "--balance: needs --shard");
  expect_refused(run_imgpipe({in(), out(), "--shard", "1/2", "--balance", "size"}), "hash, count, bytes");
  expect_refused(run_imgpipe({in(), out(), "--shard", "1/2", "--balance", ""}), "--balance");
  expect_refused(run_imgpipe({in() + "/a.png", file("o.png"), "--shard", "1/2", "--balance", "bytes"}),
                 "needs a directory as OUTPUT");
  EXPECT_FALSE(fs::exists(out()));
}

}  // namespace
}  // namespace imgpipe::test::shard_balance_test
