// imgpipe bench and imgpipe-bench, two programs: the product's table of the lab's options, how the lab reads
// them, and how one program finds the other.
#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include <gtest/gtest.h>

#include "app/bench/bench_call.h"
#include "app/bench/bench_rows.h"
#include "app/build_id.h"
#include "app/options/option_parser.h"
#include "images/error.h"
#include "lab/bench/bench_options.h"
#include "lab/bench/kernel_template.h"
#include "lab/kernels/ladders.h"
#include "lab/pipeline/codec_lab.h"
#include "lab/pipeline/lab_transfer.h"
#include "tests/support/files.h"
#include "tests/support/process.h"
#include "tests/support/test_paths.h"

namespace imgpipe::test::bench_program_test {
namespace {

using Words = std::vector<std::string>;

const CommandRow kRow = bench_command();

BenchOptions options_of(const Words& arguments) {
  Parser parser(kRow, arguments);
  EXPECT_FALSE(parser.parse());
  return read_bench_options(parser);
}

// Returns the error message, or "" if the arguments are accepted.
std::string refusal(const Words& arguments) {
  try {
    (void)options_of(arguments);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    return error.what();
  }
  return "";
}

TEST(BenchOptions, ProductNamesTheLabsLaddersAndTemplates) {
  Words stages{"all"};
  for (const Ladder& ladder : ladder_table()) stages.emplace_back(ladder.name);
  for (const std::string_view more : {kTransferLadder, kJpegLadders, kPngLadder}) stages.emplace_back(more);
  EXPECT_EQ(strings(kBenchStages), stages);
  EXPECT_EQ(strings(kBenchTemplates), template_names());
}

TEST(BenchOptions, EveryWordOfTheTableIsAccepted) {
  for (const OptionRow& row : bench_rows()) {
    for (const std::string& value : row.values) {
      if (value.ends_with(':')) continue;  // followed by a number
      EXPECT_EQ(refusal({"--" + option_name(row), value}), "") << value;
    }
  }
}

TEST(BenchOptions, AlternativeSpellingsAreAccepted) {
  EXPECT_EQ(options_of({"--stage", "grey,grey16,gray"}).stages, (Words{"gray", "gray16"}));
  EXPECT_EQ(options_of({"--study", "colours"}).study, Study::colors);
}

TEST(BenchOptions, ErrorsSuggestTheIntendedWord) {
  const std::vector<std::pair<Words, std::string>> rows{
      {{"--variants", "x"}, "unknown option '--variants'; did you mean --variant? See imgpipe bench --help"},
      {{"--stage", "constrast"}, "--stage: must be one of all, gray,"},
      {{"--study", "color"},
       "--study: must be one of colors, contention, crossover, pipeline; got 'color'; did you mean colors?"},
      {{"--template", "hits"}, "--template: must be one of gray, hist,"},
      {{"--device", "cuda1"},
       "--device: must be one of auto, cuda, cuda:N, cuda:N,M, cpu, reference; got 'cuda1'; did you mean "
       "cuda:1?"},
      {{"--device", "cuda:x"},
       "--device: must be one of auto, cuda, cuda:N, cuda:N,M, cpu, reference; got 'cuda:x'"},
      {{"--device", "cuad"}, "--device: must be one of auto, cuda,"}};
  for (const auto& [arguments, message] : rows)
    EXPECT_EQ(refusal(arguments).substr(0, message.size()), message);
  EXPECT_NE(refusal({"--stage", "constrast"}).find("; did you mean contrast?"), std::string::npos);
  EXPECT_NE(refusal({"--device", "cuad"}).find("; did you mean cuda?"), std::string::npos);
  EXPECT_NE(refusal({"--stage", "hist", "--variant", "squential"}).find("did you mean sequential?"),
            std::string::npos);
}

TEST(BenchOptions, ProductRejectsUnknownOptionsAndForwardsOthers) {
  EXPECT_TRUE(Parser(kRow, {"--help"}).parse());
  EXPECT_NO_THROW((void)read_command(kRow, {"--stage", "grey", "-d", "cpu", "--stage=no"}));
  EXPECT_THROW((void)read_command(kRow, {"--variants", "x"}), Error);
}

// ---- two programs -------------------------------------------------------------------------------------

namespace fs = std::filesystem;

class BenchProgram : public testing::Test {
 protected:
  // Runs a line of bash in the test's directory; $I is the built imgpipe. Stores its output in out_ and err_.
  int run(const std::string& line) {
    const int code = run_bash("{ " + line + "; } >out 2>err", directory_.path().string());
    out_ = load_text(directory_.file("out"));
    err_ = load_text(directory_.file("err"));
    return code;
  }
  // Installs imgpipe without imgpipe-bench.
  void install() {
    for (const char* directory : {"p/bin", "p/libexec/imgpipe", "path"})
      fs::create_directories(directory_.path() / directory);
    std::error_code other_file_system;
    fs::create_hard_link(kProgram, directory_.path() / "p/bin/imgpipe", other_file_system);
    if (other_file_system) fs::copy_file(kProgram, directory_.path() / "p/bin/imgpipe");
  }
  // A program that prints its own name and its arguments, one per line.
  void save_stub(const std::string& name) const {
    save_text(directory_.path() / name, "#!/bin/sh\nprintf '%s\\n' " + name + " \"$@\"\n");
    fs::permissions(directory_.path() / name, fs::perms::owner_all);
  }

  TemporaryDirectory directory_;
  std::string out_, err_;
};

TEST_F(BenchProgram, IsSearchedNextToImgpipeThenInLibexec) {
  install();
  const std::string version = "--for-version=" + std::string(kVersion) + "\n";
  save_stub("p/libexec/imgpipe/imgpipe-bench");
  EXPECT_EQ(run("cd /; '" + directory_.file("p/bin/imgpipe") + "' bench --stage gray -q"), 0) << err_;
  EXPECT_EQ(out_, "p/libexec/imgpipe/imgpipe-bench\n" + version + "--stage\ngray\n-q\n");
  EXPECT_EQ(run("ln -s ../p/bin/imgpipe path/imgpipe; path/imgpipe bench --list"), 0) << err_;
  EXPECT_EQ(out_, "p/libexec/imgpipe/imgpipe-bench\n" + version + "--list\n") << "by a link";
  save_stub("p/bin/imgpipe-bench");
  EXPECT_EQ(run("p/bin/imgpipe bench"), 0) << err_;
  EXPECT_EQ(out_, "p/bin/imgpipe-bench\n" + version);
}

TEST_F(BenchProgram, IsNotSearchedInPath) {
  install();
  save_stub("path/imgpipe-bench");
  EXPECT_EQ(run("PATH=$PWD/path:$PWD/p/bin:$PATH; cd path; imgpipe bench --list"), 2);
  EXPECT_EQ(out_, "");
  EXPECT_EQ(err_, "imgpipe: imgpipe-bench: not found in " + directory_.file("p/bin") + " or " +
                      directory_.file("p/libexec/imgpipe") + "; install the package imgpipe-bench\n");
  EXPECT_EQ(run("p/bin/imgpipe help bench"), 0) << "needs no lab";
  EXPECT_NE(out_.find("--study NAME"), std::string::npos);
}

TEST_F(BenchProgram, UnusableProgramIsNamed) {
  install();
  fs::create_directory(directory_.path() / "p/bin/imgpipe-bench");
  save_text(directory_.path() / "p/libexec/imgpipe/imgpipe-bench", "no program");
  EXPECT_EQ(run("p/bin/imgpipe bench"), 2);
  EXPECT_EQ(err_, "imgpipe: " + directory_.file("p/libexec/imgpipe/imgpipe-bench") +
                      ": cannot run: Permission denied\n");
}

TEST_F(BenchProgram, OtherVersionIsRejected) {
  EXPECT_EQ(run("$I-bench --for-version=0.0.7 --list"), 2);
  EXPECT_EQ(out_, "");
  EXPECT_EQ(err_, "imgpipe: bench: imgpipe is version 0.0.7, imgpipe-bench is version " +
                      std::string(kVersion) + "; install the same version of both packages\n");
  EXPECT_EQ(run("$I-bench --for-version= --list"), 2);
  EXPECT_EQ(run("$I-bench --for-version=" + std::string(kVersion) + " --list --stage gray"), 0) << err_;
  const std::string listed = out_;
  EXPECT_EQ(run("$I-bench --list --stage gray"), 0) << "without imgpipe";
  EXPECT_EQ(out_, listed);
  EXPECT_EQ(run("$I bench --list --stage gray"), 0);
  EXPECT_EQ(out_, listed);
}

TEST_F(BenchProgram, PageNamesTheCommandAsItWasTyped) {
  const std::string command = "bench --stage gray -d reference --size 8x8 --repeat 1 -q --html 'a page.html'";
  for (const char* program : {"$I ", "$I-"}) {
    ASSERT_EQ(run(program + command + " --overwrite"), 0) << err_;
    const std::string page = load_text(directory_.file("a page.html"));
    EXPECT_NE(page.find("imgpipe " + command.substr(0, command.find('\''))), std::string::npos) << program;
    EXPECT_EQ(page.find("--for-version"), std::string::npos) << program;
  }
}

}  // namespace
}  // namespace imgpipe::test::bench_program_test
