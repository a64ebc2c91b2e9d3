// The words that bash completion offers for a command line.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "app/command_table.h"
#include "app/manual/completion_rows.h"
#include "app/manual/completions.h"
#include "kernels/stage.h"
#include "tests/support/files.h"
#include "tests/support/process.h"

namespace imgpipe::test::completion_test {
namespace {

class Completion : public testing::Test {
 protected:
  void SetUp() override {
    save_text(directory_.file("imgpipe.bash"), bash_completion(command_table()));
    save_text(directory_.file("try.bash"),
              "set -u\n"
              "source ./imgpipe.bash\n"
              "IFS=,\n"
              "COMP_LINE=$1 COMP_POINT=${#1}\n"
              "_imgpipe\n"
              "((${#COMPREPLY[@]} == 0)) || printf '%s\\n' \"${COMPREPLY[@]}\"\n");
    save_text(directory_.file("photo.png"), "");
  }
  [[nodiscard]] int bash(const std::string& line) const { return run_bash(line, directory_.path().string()); }
  // Returns bash's replacements for the last word, or for its part after : or =, in order.
  [[nodiscard]] std::vector<std::string> offered(const std::string& line) const {
    EXPECT_EQ(bash("bash try.bash '" + line + "' >out 2>said && ! test -s said"), 0)
        << load_text(directory_.file("said"));
    std::vector<std::string> words;
    std::string text = load_text(directory_.file("out"));
    for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n')) {
      words.push_back(text.substr(0, end));
      text.erase(0, end + 1);
    }
    return words;
  }
  using Words = std::vector<std::string>;

  TemporaryDirectory directory_;
};

TEST_F(Completion, OffersOptions) {
  EXPECT_EQ(offered("imgpipe in.png out.png --st"), (Words{"--stages", "--stretch", "--stack"}));
  EXPECT_EQ(offered("imgpipe bench --st"), (Words{"--stage", "--study"}));
  EXPECT_EQ(offered("imgpipe --no-"), (Words{"--no-orient", "--no-clobber", "--no-color"}));
  EXPECT_EQ(offered("imgpipe devices --"),
            (Words{"--json", "--calibrate", "--overwrite", "--no-clobber", "--quiet", "--verbose",
                   "--no-color", "--log-format", "--version", "--help"}));
  for (const CommandRow& command : command_table()) {
    const Words words = offered(full_name(command) + " -");
    for (const OptionRow& row : command.rows()) {
      for (const std::string& flag : spelled_flags(row))
        EXPECT_NE(std::ranges::find(words, flag), words.end()) << command.name << " " << flag;
    }
  }
}

TEST_F(Completion, OffersOptionValues) {
  EXPECT_EQ(offered("imgpipe a b --codec "), (Words{"auto", "turbo", "stb"}));
  EXPECT_EQ(offered("imgpipe a b --codec t"), Words{"turbo"});
  EXPECT_EQ(offered("imgpipe a b --codec=t"), Words{"turbo"});
  EXPECT_EQ(offered("imgpipe a b -d c"), (Words{"cuda", "cuda:", "cpu"}));
  EXPECT_EQ(offered("imgpipe a b --device cuda:"), Words{""}) << "a number";
  EXPECT_EQ(offered("imgpipe bench --stage pn"), Words{"png"});
  EXPECT_EQ(offered("imgpipe synth x.png --pattern co"), (Words{"colors:", "constant:", "collision-free"}));
  EXPECT_EQ(offered("imgpipe a b --jobs "), Words{});
  EXPECT_EQ(offered("imgpipe a b --report "), Words{}) << "files, by bash itself";
}

TEST_F(Completion, OffersStagesAndTheirParameters) {
  Words names;
  for (const Stage& stage : stage_table()) {
    if (stage.selectable) names.emplace_back(stage.name);
  }
  EXPECT_EQ(offered("imgpipe a b --stages "), names);
  Words after_gray;
  for (const std::string& name : names) after_gray.push_back("gray," + name);
  EXPECT_EQ(offered("imgpipe a b --stages gray,"), after_gray);
  EXPECT_EQ(offered("imgpipe a b --stages gray,con"), Words{"gray,contrast"});
  EXPECT_EQ(offered("imgpipe a b --stages=gray,con"), Words{"gray,contrast"});
  EXPECT_EQ(offered("imgpipe stats in --stages thr"), Words{"threshold"});
  // Readline keeps the text before the last : or =.
  EXPECT_EQ(offered("imgpipe a b --stages contrast:"),
            (Words{"clip=", "clip-high=", "stretch=", "to=", "range="}));
  EXPECT_EQ(offered("imgpipe a b --stages gray,smooth:"),
            (Words{"window=", "border=", "box", "triangle", "gauss"}));
  EXPECT_EQ(offered("imgpipe a b --stages gray,smooth:gauss:"), (Words{"window=", "border="}));
  EXPECT_EQ(offered("imgpipe a b --stages gray,smooth:gauss:border=re"), (Words{"replicate", "reflect"}));
  EXPECT_EQ(offered("imgpipe a b --stages smooth:border=reflect,medi"), Words{"reflect,median"});
  EXPECT_EQ(offered("imgpipe a b --stages contrast:range="), Words{"series"});
  EXPECT_EQ(offered("imgpipe a b --stages hist:"), (Words{"lo=", "hi="}));
  EXPECT_EQ(offered("imgpipe a b --stages nothing:"), Words{});
  EXPECT_EQ(bash("sed -i '1i COMP_WORDBREAKS=\" \"' try.bash"), 0);
  EXPECT_EQ(offered("imgpipe a b --stages gray,smooth:gau"), Words{"gray,smooth:gauss"})
      << ": breaks no words";
  EXPECT_EQ(offered("imgpipe a b --stages=smooth:gau"), Words{"--stages=smooth:gauss"});
}

TEST_F(Completion, OffersCommandsAndFiles) {
  EXPECT_EQ(offered("imgpipe st"), Words{"stats"});
  EXPECT_EQ(offered("imgpipe p"), Words{"photo.png"});
  EXPECT_EQ(offered("imgpipe photo.png p"), Words{}) << "files, by bash itself";
  EXPECT_EQ(offered("imgpipe help contr"), (Words{"contract", "contrast"}));
  EXPECT_EQ(offered("imgpipe help ben"), Words{"bench"});
  EXPECT_EQ(offered("imgpipe help contrast "), Words{});
  EXPECT_EQ(offered("imgpipe docs "), (Words{"man", "bash", "zsh", "fish", "files", "schema"}));
  EXPECT_EQ(offered("imgpipe docs man be"), Words{"bench"});
  EXPECT_EQ(offered("imgpipe docs man bench "), Words{});
  EXPECT_EQ(offered("imgpipe docs schema hist"), Words{"histogram"});
  EXPECT_EQ(offered("imgpipe docs bash "), Words{});
}

}  // namespace
}  // namespace imgpipe::test::completion_test
