// contrast:range=FILE.json: one lo and hi for a series, from the counts that imgpipe wrote of all of it.
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "images/image.h"
#include "tests/support/decoding.h"
#include "tests/support/samples_cli.h"

namespace imgpipe::test::range_cli_test {
namespace {

using Json = nlohmann::json;

class RangeCli : public SamplesCli {
 protected:
  [[nodiscard]] std::vector<int> samples_of(const std::string& name) const {
    return samples(decode(load(file(name))));
  }

  void write_stats(const std::string& name) const {
    const RunResult run = run_imgpipe({"stats", in(), "--json", file(name), "-q"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
  }

  // Counts of 8 or 16 bits: 1 at each of these values.
  static Json counts(std::size_t bins, const std::vector<std::size_t>& values) {
    std::vector<int> list(bins);
    for (const std::size_t value : values) list[value] = 1;
    return list;
  }
  static Json histogram(const Json& of_grey) {
    return {{"imgpipe", "0"}, {"before", {{"counts", {{"grey", of_grey}}}}}};
  }

  // The label of the only step that a run with these stages has.
  [[nodiscard]] std::string step(const std::string& stages) const {
    const RunResult run = run_imgpipe({file("in/a.png"), file("o.png"), "--stages", stages, "-q", "--report",
                                       file("r.json"), "--device", "cpu"});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    const Json report = Json::parse(load_text(file("r.json")))["options"];
    EXPECT_EQ(report["steps"].size(), 1U) << report["steps"];
    std::string text = report["steps"][0]["stage"];
    for (const char* key : {"lo", "hi", "of"})
      text += ":" + report["steps"][0]["parameters"][key].get<std::string>();
    return text;
  }
};

TEST_F(RangeCli, AllImagesOfASeriesHaveOneRange) {
  write_samples("in/a.png", {2, 1, 1}, {10, 20});
  write_samples("in/b.png", {3, 1, 1}, {30, 110, 60});
  write_samples("in/c.png", {1, 1, 4}, {40, 50, 60, 255});  // alpha makes no range
  write_stats("s.json");
  const RunResult run =
      run_imgpipe({in(), out() + "/", "--stages", "contrast:range=" + file("s.json"), "-q"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(samples_of("out/a.png"), (std::vector<int>{0, 26}));
  EXPECT_EQ(samples_of("out/b.png"), (std::vector<int>{51, 255, 128}));
  EXPECT_EQ(samples_of("out/c.png"), (std::vector<int>{77, 102, 128, 255}));
  EXPECT_EQ(step("contrast:range=" + file("s.json")), "levels:10:110:8");
}

TEST_F(RangeCli, OfOneImageItIsTheImagesOwnContrast) {
  write("in/a.png", 5, 200);
  write_stats("s.json");
  for (const std::string clip : {"", "0.5:", "2:10:", "clip-high=30:"}) {
    for (const auto& [stages, name] :
         {std::pair{"contrast:" + clip + "range=" + file("s.json"), "x.ppm"},
          {clip.empty() ? "contrast" : "contrast:" + clip.substr(0, clip.size() - 1), "y.ppm"}}) {
      const RunResult run =
          run_imgpipe({file("in/a.png"), file(name), "--stages", stages, "-q", "--overwrite", "--cpu"});
      ASSERT_EQ(run.exit_code, 0) << run.err;
    }
    EXPECT_EQ(samples(decode(load(file("x.ppm")))), samples(decode(load(file("y.ppm"))))) << clip;
  }
}

TEST_F(RangeCli, TakesWhatHistogramWrote) {
  write_samples("in/a.png", {4, 1, 1}, {7, 9, 100, 200});
  const RunResult run = run_imgpipe(
      {file("in/a.png"), file("o.png"), "--stages", "contrast,invert", "--histogram", file("h.json"), "-q"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(step("contrast:range=" + file("h.json")), "levels:7:200:8");
  EXPECT_EQ(step("contrast:25:range=" + file("h.json")), "levels:9:100:8");
  EXPECT_EQ(step("contrast:range=" + file("h.json") + ":clip=25:clip-high=0"), "levels:9:200:8");
}

TEST_F(RangeCli, CountsOf16BitsGiveARangeOf16Bits) {
  write_samples("in/a.png", {3, 1, 1}, {0, 128, 255});
  save_text(file("h.json"), histogram(counts(65536, {1000, 40000})).dump());
  EXPECT_EQ(step("contrast:range=" + file("h.json")), "levels:1000:40000:16");
  // 128 is 32,896 of 65,535: (32,896 - 1,000) / 39,000 of 255 is 208.55.
  EXPECT_EQ(samples_of("o.png"), (std::vector<int>{0, 209, 255}));
  const Json both{
      {"imgpipe", "0"},
      {"histograms",
       {{{"counts", {{"grey", counts(256, {2})}}}}, {{"counts", {{"red", counts(65536, {9000})}}}}}}};
  save_text(file("h.json"), both.dump());
  EXPECT_EQ(step("contrast:range=" + file("h.json")), "levels:514:9000:16");
}

TEST_F(RangeCli, StatsTakesItToo) {
  write_samples("in/a.png", {2, 1, 1}, {10, 110});
  save_text(file("h.json"), histogram(counts(256, {10, 210})).dump());
  const RunResult run =
      run_imgpipe({"stats", in(), "--stages", "contrast:range=" + file("h.json"), "--json", "-", "-q"});
  ASSERT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(Json::parse(run.out)["groups"][0]["channels"]["grey"]["max"], 128);
}

TEST_F(RangeCli, RefusesWhatIsNoRange) {
  write_samples("in/a.png", {2, 1, 1}, {10, 20});
  save_text(file("h.json"), histogram(counts(256, {10, 20})).dump());
  const std::string good = "range=" + file("h.json");
  const auto run = [&](const std::string& stages) {
    return run_imgpipe({file("in/a.png"), file("o.png"), "--stages", stages, "-q"});
  };
  for (const auto& [stages, words] : std::vector<std::pair<std::string, std::string>>{
           {"contrast:range=", "empty name"},
           {"contrast:" + good + ":" + good, "twice"},
           {"contrast:" + good + ":stretch=each",
            "stretch=each does not go with range, which is one for all planes"},
           {"contrast:" + good + ":to=8",
            "to=8 does not go with range, which keeps the bits: add depth:8 behind it"},
           {"contrast:range=series:to=16",
            "to=16 does not go with range, which keeps the bits: add depth:16 before it"},
           {"contrast:101:" + good, "clip"},
           {"contrast:0:0:joint:same:2:3:4:" + good, "too many"},
           {"smooth:" + good, "no parameter 'range'"}})
    expect_refused(run(stages), words);
  expect_refused(
      run_imgpipe({file("in/a.png"), file("o.png"), "--stages", "contrast:" + good, "--stretch", "each"}),
      "stretch=each");
  for (const auto& [text, words] : std::vector<std::pair<std::string, std::string>>{
           {"", "is no JSON"},
           {"{", "is no JSON"},
           {"[]", "is not what imgpipe wrote"},
           {R"({"before": {}})", "is not what imgpipe wrote"},
           {R"({"imgpipe": "0"})", "holds no histogram"},
           {R"({"imgpipe": "0", "histograms": 3})", "holds no histogram"},
           {R"({"imgpipe": "0", "histograms": []})", "holds no counts"},
           {R"({"imgpipe": "0", "histograms": [3]})", "there are no counts"},
           {R"({"imgpipe": "0", "before": {"counts": {}}})", "holds no counts"},
           {R"({"imgpipe": "0", "before": {"counts": {"grey": 3}}})", "no list of 256"},
           {histogram(counts(255, {3})).dump(), "no list of 256"},
           {histogram(counts(256, {})).dump(), "all counts are zero"},
           {histogram(Json(std::vector<int>(256, -1))).dump(), "no whole number"},
           {histogram(Json(std::vector<double>(256, 0.5))).dump(), "no whole number"},
           {histogram(Json(std::vector<std::string>(256, "1"))).dump(), "no whole number"},
           {histogram(Json(std::vector<std::uint64_t>(256, ~std::uint64_t{0}))).dump(), "more than"},
           {std::string(100'000, '['), "is no JSON"}}) {
    save_text(file("h.json"), text);
    const RunResult result = run("contrast:" + good);
    EXPECT_EQ(result.exit_code, 1) << text.substr(0, 80) << result.err;
    EXPECT_EQ(lines(result.err), 1U) << result.err;
    EXPECT_NE(result.err.find("h.json: "), std::string::npos) << result.err;
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
  }
  EXPECT_EQ(run("contrast:range=" + file("none.json")).exit_code, 1);
  EXPECT_EQ(run("contrast:range=" + in()).exit_code, 1);
  EXPECT_FALSE(fs::exists(file("o.png")));
}

// The step counts nothing then, although it is written as contrast.
TEST_F(RangeCli, AHistogramNeedsHistBesideIt) {
  write_samples("in/a.png", {2, 1, 1}, {10, 20});
  write_stats("s.json");
  const auto histogram_of = [&](const std::string& stages) {
    return run_imgpipe({file("in/a.png"), file("o.png"), "--stages", stages, "-q", "--histogram",
                        file("h.json"), "--overwrite", "--device", "cpu"});
  };
  const RunResult run = histogram_of("contrast:range=" + file("s.json"));
  EXPECT_EQ(run.exit_code, 2);
  EXPECT_EQ(run.err,
            "imgpipe: --histogram needs hist among the stages: contrast with range=FILE counts nothing\n");
  EXPECT_EQ(histogram_of("hist,contrast:range=" + file("s.json")).exit_code, 0);
  EXPECT_EQ(histogram_of("contrast").exit_code, 0);
  EXPECT_EQ(histogram_of("invert").err, "imgpipe: --histogram needs hist or contrast among the stages\n");
}

TEST_F(RangeCli, HelpTellsOfIt) {
  const std::string help = run_imgpipe({"--help"}).out;
  const std::size_t at = help.find("\n    range ");
  ASSERT_NE(at, std::string::npos) << help;
  EXPECT_GT(at, help.find("clip-high"));
  for (const char* words : {"range=FILE.json", "range=series"})
    EXPECT_NE(help.find(words, at), std::string::npos) << help;
}

}  // namespace
}  // namespace imgpipe::test::range_cli_test
