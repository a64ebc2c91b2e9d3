// The references of the stages that tests/support/oracle.cpp knows against it, over more shapes and contents
// than golden.json has images of. New stages need no answer here: theirs stands in tests/golden/oracle.py.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/contrast/contrast.h"
#include "kernels/depth/depth.h"
#include "kernels/resize/resize.h"
#include "pipeline/stage_list.h"
#include "tests/support/oracle.h"
#include "tests/support/stage_cases.h"

namespace imgpipe::test::reference_test {
namespace {

using Channels = std::vector<Grid>;  // colour, then alpha if the stage has it

// The word that a choice stands for.
std::string word_of(const Stage& stage, const StageCase& test, std::size_t i) {
  return std::string(stage.parameters[i].words[static_cast<std::size_t>(test.parameters[i])]);
}

Channels gray_of(const std::string& luma, Channels channels) {
  Grid grey = channels[0];
  for (std::size_t y = 0; y < grey.size(); ++y) {
    for (std::size_t x = 0; x < grey[y].size(); ++x) {
      grey[y][x] = oracle_luma(luma, channels[0][y][x], channels[1][y][x], channels[2][y][x]);
    }
  }
  channels.erase(channels.begin(), channels.begin() + 3);
  channels.insert(channels.begin(), grey);
  return channels;
}

// Alpha is there, behind the colours, where the samples' type changes.
Channels contrast_of(const StageCase& test, const FrameType& type, Channels channels) {
  const ContrastParameters parameters(test.parameters);
  const int white = max_sample(type.sample);
  const int to = max_sample(contrast_output(type, test.parameters).sample);
  const auto colors = static_cast<std::size_t>(type.color_channels);
  std::vector<std::int64_t> joint(static_cast<std::size_t>(type.bins()), 0);
  for (std::size_t c = 0; c < colors; ++c) {
    const std::vector<std::int64_t> counts = oracle_counts(channels[c], white);
    for (std::size_t v = 0; v < counts.size(); ++v) joint[v] += counts[v];
  }
  for (std::size_t c = 0; c < colors; ++c) {
    const bool each = parameters.stretch == Stretch::each;
    const OracleRange range = oracle_range(each ? oracle_counts(channels[c], white) : joint,
                                           parameters.clip_low, parameters.clip_high);
    channels[c] = oracle_stretch(channels[c], range, white, to);
  }
  for (std::size_t c = colors; c < channels.size(); ++c) channels[c] = oracle_depth(channels[c], white, to);
  return channels;
}

// What the oracle makes of the channels.
Channels answer_of(const Stage& stage, const StageCase& test, const FrameType& type, Channels channels) {
  if (stage.name == "gray") return gray_of(word_of(stage, test, 0), channels);
  if (stage.name == "contrast") return contrast_of(test, type, channels);
  if (stage.name == "smooth") {
    for (Grid& channel : channels) {
      channel = oracle_smooth(channel, word_of(stage, test, 0), word_of(stage, test, 1));
    }
  }
  if (stage.name == "depth") {
    const int to = max_sample(depth_wanted(test.parameters));
    for (Grid& channel : channels) channel = oracle_depth(channel, max_sample(type.sample), to);
  }
  if (stage.name == "resize") {
    const FrameType out = resize_output(type, test.parameters);
    for (Grid& channel : channels) {
      channel =
          oracle_resize(channel, out.width, out.height, word_of(stage, test, 2), max_sample(type.sample));
    }
  }
  return channels;  // split and merge move them only
}

void expect_answer(const Stage& stage, const StageCase& test, const FrameType& type,
                   const std::string& content) {
  SCOPED_TRACE(std::string(stage.name) + " [" + test.text + "] " + std::to_string(type.width) + "x" +
               std::to_string(type.height) + " channels " + std::to_string(type.channels()) + " bits " +
               std::to_string(8 * sample_bytes(type.sample)) + " content " + content);
  OwnFrame in(type);
  fill(in.view(), content, 21);
  Channels channels;
  for (int c = 0; c < type.channels(); ++c) channels.push_back(channel_of(in.view(), c));
  Made made = made_by_reference(stage, test, in.view());
  if (stage.name == "hist") {
    ASSERT_EQ(made.counts, counts_of(in.view()));
    return;
  }
  const Channels expected = answer_of(stage, test, type, channels);
  ASSERT_EQ(static_cast<int>(expected.size()), made.frame.type.channels());
  for (std::size_t c = 0; c < expected.size(); ++c) {
    ASSERT_EQ(expected[c], channel_of(made.frame.view(), static_cast<int>(c))) << "channel " << c;
  }
}

void expect_answers(SampleType sample, std::vector<const char*> names) {
  for (const char* name : names) {
    const Stage& stage = *find_stage(name);
    for (const StageCase& test : cases_of(stage)) {
      for (const Size& size : awkward_sizes()) {
        for (const FrameType& type : inputs_of(stage, test, size, sample))
          expect_answer(stage, test, type, "noise");
      }
      for (const std::string& content : contents()) {
        for (const Size& size : few_sizes()) {
          for (const FrameType& type : inputs_of(stage, test, size, sample))
            expect_answer(stage, test, type, content);
        }
      }
      if (testing::Test::HasFatalFailure()) return;
    }
  }
}

TEST(Reference, IsTheOracle) {
  expect_answers(SampleType::u8, {"gray", "hist", "contrast", "smooth", "split", "merge", "depth"});
}

TEST(Reference, IsTheOracleOf16Bits) {
  expect_answers(SampleType::u16, {"gray", "hist", "contrast", "smooth", "split", "merge", "depth"});
}

TEST(Reference, ResizesBetweenPixelsOf16BitsByTheOracle) {
  const Stage& stage = *find_stage("resize");
  for (const char* step : {"resize:3:2", "resize:17:29", "resize:131:7"}) {
    const StageCase test{step, parse_stages(step).front().parameters, {}};
    for (const Size& size : {Size{1, 1}, Size{5, 4}, Size{6, 4}, Size{21, 3}, Size{33, 47}}) {
      for (const FrameType& type : inputs_of(stage, test, size, SampleType::u16)) {
        for (const char* content : {"noise", "full", "checker"}) expect_answer(stage, test, type, content);
      }
    }
  }
}

// Means of so many pixels that their sum is not exact in a float, and of as many as are.
TEST(Reference, ResizesWholeFactorsOf16BitsByTheOracle) {
  const Stage& stage = *find_stage("resize");
  for (const char* step : {"resize:3:2:area", "resize:7:1:area", "resize:1:1:area"}) {
    const StageCase test{step, parse_stages(step).front().parameters, {}};
    for (const Size& size :
         {Size{48, 32}, Size{51, 34}, Size{6, 4}, Size{21, 3}, Size{49, 7}, Size{1, 256}, Size{1, 257}}) {
      for (const FrameType& type : inputs_of(stage, test, size, SampleType::u16)) {
        for (const char* content : {"noise", "full", "ramp"}) expect_answer(stage, test, type, content);
      }
    }
  }
}

}  // namespace
}  // namespace imgpipe::test::reference_test
