// The pipeline against the values of tests/golden/oracle.py, which shares nothing with the C++.
#include <string>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "kernels/stage.h"
#include "pipeline/engine.h"
#include "pipeline/plan.h"
#include "tests/support/files.h"

namespace imgpipe::test {
namespace {

using Json = nlohmann::json;

std::vector<Sample> from_hex(const std::string& text) {
  std::vector<Sample> out;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    out.push_back(static_cast<Sample>(std::stoi(text.substr(i, 2), nullptr, 16)));
  return out;
}

MicroPercent micro_percent(const std::string& text) {
  const std::size_t dot = text.find('.');
  std::string decimals = dot == std::string::npos ? "" : text.substr(dot + 1);
  decimals.resize(6, '0');
  return std::stoll(text.substr(0, dot)) * kOnePercent + std::stoll(decimals);
}

StageOptions options_of(const Json& json) {
  StageOptions options;
  const std::string luma = json.value("luma", "bt601");
  options.luma = luma == "bt709" ? Luma::bt709 : luma == "opencv" ? Luma::opencv : Luma::bt601;
  const std::string window = json.value("window", "box");
  options.window = window == "triangle" ? Window::triangle : window == "gauss" ? Window::gauss : Window::box;
  const std::string border = json.value("border", "shrink");
  options.border = border == "replicate" ? Border::replicate
                   : border == "reflect" ? Border::reflect
                                         : Border::shrink;
  options.stretch = json.value("stretch", "joint") == "each" ? Stretch::each : Stretch::joint;
  const std::string clip = json.value("clip", "0,0");
  options.clip_low = micro_percent(clip.substr(0, clip.find(',')));
  options.clip_high = micro_percent(clip.substr(clip.find(',') + 1));
  return options;
}

Outcome run(const Json& image, const std::string& stages, const StageOptions& options) {
  std::vector<Sample> pixels = from_hex(image["pixels"]);
  const int channels = image["channels"];
  const std::int64_t width = image["width"];
  const std::int64_t height = image["height"];
  Job job;
  job.reader = make_memory_reader({pixels.data(), width, height, width * channels, channels});
  job.plan = make_plan(parse_stages(stages), {width, height, channels}, options);
  const std::unique_ptr<Engine> engine = make_reference_engine();
  Outcome outcome = engine->run(std::move(job));
  if (outcome.error) std::rethrow_exception(outcome.error);
  return outcome;
}

const Json& golden() {
  static const Json json =
      Json::parse(load_text(std::string(IMGPIPE_SOURCE_DIR) + "/tests/golden/golden.json"));
  return json;
}

TEST(Golden, Pixels) {
  int results = 0;
  for (const Json& image : golden()["cases"]) {
    for (const Json& result : image["results"]) {
      const std::string stages = result["stages"];
      SCOPED_TRACE(image["name"].get<std::string>() + ": " + stages + " " + result["options"].dump());
      const Outcome outcome = run(image, stages, options_of(result["options"]));
      ASSERT_EQ(outcome.pixels.channels, static_cast<int>(result["planes"].size()));
      for (int c = 0; c < outcome.pixels.channels; ++c) {
        const std::vector<Sample> expected = from_hex(result["planes"][static_cast<std::size_t>(c)]);
        for (std::int64_t y = 0; y < outcome.pixels.height; ++y) {
          for (std::int64_t x = 0; x < outcome.pixels.width; ++x) {
            ASSERT_EQ(int{outcome.pixels.row(y)[x * outcome.pixels.channels + c]},
                      int{expected[static_cast<std::size_t>(y * outcome.pixels.width + x)]})
                << "x=" << x << " y=" << y << " channel " << c;
          }
        }
      }
      ++results;
    }
  }
  EXPECT_GT(results, 300);
}

TEST(Golden, Histograms) {
  for (const Json& image : golden()["cases"]) {
    SCOPED_TRACE(image["name"].get<std::string>());
    const Outcome outcome = run(image, "hist", {});
    for (std::size_t i = 0; i < outcome.plan.steps.size(); ++i) {
      if (!writes_histogram(outcome.plan.steps[i].stage->writes)) continue;
      std::vector<std::uint64_t> expected;
      for (const Json& plane : image["hist"]) {
        for (const Json& count : plane) expected.push_back(count);
      }
      EXPECT_EQ(outcome.histograms[i], expected);
    }
  }
}

}  // namespace
}  // namespace imgpipe::test
