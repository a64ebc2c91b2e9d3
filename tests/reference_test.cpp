// The references of the stages that tests/support/oracle.cpp knows against it, over more shapes and contents
// than golden.json has images of. New stages need no answer here: theirs stands in tests/golden/oracle.py.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "kernels/contrast/contrast.h"
#include "tests/support/oracle.h"
#include "tests/support/stage_cases.h"

namespace imgpipe::test {
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

Channels contrast_of(const ContrastParameters& parameters, Channels channels) {
  std::vector<std::int64_t> joint(kBins, 0);
  for (const Grid& channel : channels) {
    const std::vector<std::int64_t> counts = oracle_counts(channel);
    for (std::size_t v = 0; v < counts.size(); ++v) joint[v] += counts[v];
  }
  for (Grid& channel : channels) {
    const bool each = parameters.stretch == Stretch::each;
    const OracleRange range =
        oracle_range(each ? oracle_counts(channel) : joint, parameters.clip_low, parameters.clip_high);
    channel = oracle_stretch(channel, range);
  }
  return channels;
}

// What the oracle makes of the channels.
Channels answer_of(const Stage& stage, const StageCase& test, Channels channels) {
  if (stage.name == "gray") return gray_of(word_of(stage, test, 0), channels);
  if (stage.name == "contrast") return contrast_of(ContrastParameters(test.parameters), channels);
  if (stage.name == "smooth") {
    for (Grid& channel : channels) {
      channel = oracle_smooth(channel, word_of(stage, test, 0), word_of(stage, test, 1));
    }
  }
  return channels;  // split and merge move them only
}

void expect_answer(const Stage& stage, const StageCase& test, const FrameType& type,
                   const std::string& content) {
  SCOPED_TRACE(std::string(stage.name) + " [" + test.text + "] " + std::to_string(type.width) + "x" +
               std::to_string(type.height) + " channels " + std::to_string(type.channels()) + " content " +
               content);
  OwnFrame in(type);
  fill(in.view(), content, 21);
  Channels channels;
  for (int c = 0; c < type.channels(); ++c) channels.push_back(channel_of(in.view(), c));
  Made made = made_by_reference(stage, test, in.view());
  if (stage.name == "hist") {
    ASSERT_EQ(made.counts, counts_of(in.view()));
    return;
  }
  const Channels expected = answer_of(stage, test, channels);
  ASSERT_EQ(static_cast<int>(expected.size()), made.frame.type.channels());
  for (std::size_t c = 0; c < expected.size(); ++c) {
    ASSERT_EQ(expected[c], channel_of(made.frame.view(), static_cast<int>(c))) << "channel " << c;
  }
}

TEST(Reference, IsTheOracle) {
  for (const char* name : {"gray", "hist", "contrast", "smooth", "split", "merge"}) {
    const Stage& stage = *find_stage(name);
    for (const StageCase& test : cases_of(stage)) {
      for (const Size& size : awkward_sizes()) {
        for (const FrameType& type : inputs_of(stage, test, size)) expect_answer(stage, test, type, "noise");
      }
      for (const std::string& content : contents()) {
        for (const Size& size : few_sizes()) {
          for (const FrameType& type : inputs_of(stage, test, size))
            expect_answer(stage, test, type, content);
        }
      }
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace imgpipe::test
