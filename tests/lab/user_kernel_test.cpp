// imgpipe bench --with: a user's kernels, from the file that --template writes to the lab's list. Compiling
// needs nvcc but no device; user_kernel_cuda_test.cpp runs kernels.
#include "tests/support/user_kernel.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <thread>

#include "lab/bench/kernel_template.h"
#include "lab/bench/time_limit.h"
#include "lab/bench/variant_source.h"
#include "lab/kernels/ladders.h"
#include "tests/support/cuda_backend.h"

namespace imgpipe::test::own_kernel_test {
namespace {

// ---- without nvcc -------------------------------------------------------------------------------------

TEST(UserKernelBuild, FlagsAreSplitLikeAShell) {
  EXPECT_EQ(split_words("f", ""), Words{});
  EXPECT_EQ(split_words("f", "  \t\n "), Words{});
  EXPECT_EQ(split_words("f", " -O2  -DA=1\t-lineinfo "), (Words{"-O2", "-DA=1", "-lineinfo"}));
  EXPECT_EQ(split_words("f", "-DA='b c' \"-Xptxas=-v -w\" d\\ e ''"),
            (Words{"-DA=b c", "-Xptxas=-v -w", "d e", ""}));
  EXPECT_EQ(split_words("f", "'\\' \"\\\"\" $HOME;`x`"), (Words{"\\", "\"", "$HOME;`x`"}));
  for (const char* open : {"'", "\"", "a 'b", "\"a\\\""})
    EXPECT_THROW((void)split_words("f", open), Error) << open;
}

TEST(UserKernelBuild, ArchitectureDefaultsToTheDevices) {
  const auto arguments = [](int capability, const Words& flags) {
    return nvcc_arguments("/a/my.cu", "/t/k.so", "/t", capability, flags);
  };
  const auto count = [](const Words& words, const std::string& word) {
    return std::ranges::count(words, word);
  };
  EXPECT_EQ(count(arguments(90, {}), "-arch=sm_90"), 1);
  EXPECT_EQ(count(arguments(75, {"-O1"}), "-arch=sm_75"), 1);
  EXPECT_EQ(arguments(75, {"-O1", "-w"}).back(), "-w") << "the user's flags are the last ones";
  for (const Words& own : {Words{"-arch=sm_90a"}, Words{"-arch", "sm_80"}, Words{"--gpu-architecture=sm_90"},
                           Words{"-gencode", "arch=compute_90,code=sm_90"}, Words{"--generate-code=x"}}) {
    for (const std::string& word : arguments(90, own)) EXPECT_FALSE(word == "-arch=sm_90") << own.front();
  }
  for (const std::string& word : arguments(0, {})) EXPECT_FALSE(word.starts_with("-arch"));
  EXPECT_EQ(count(arguments(90, {}), "-shared"), 1);
}

TEST(UserKernelTemplate, ListedLaddersHaveATemplate) {
  const Words names = template_names();
  for (const char* name : {"gray", "hist", "contrast", "smooth", "equalize", "median", "median5", "gray16",
                           "hist16", "contrast16", "smooth16", "header"})
    EXPECT_EQ(std::ranges::count(names, name), 1) << name;
  for (const std::string& name : names) {
    if (name == "header") continue;
    ASSERT_NE(find_ladder(name), nullptr);
    const std::string text = kernel_template(name);
    EXPECT_TRUE(has(text, "#include \"imgpipe_kernel.h\"")) << name;
    EXPECT_TRUE(has(text, "\n" + kernel_macro(name) + "(mine, \"")) << name;
    EXPECT_TRUE(has(text, "--stage " + name + " --with")) << name;
    EXPECT_EQ(has(text, "uint16_t"), find_ladder(name)->sample == Sample::u16) << name;
    EXPECT_EQ(has(text, "uint8_t"), find_ladder(name)->sample == Sample::u8) << name;
  }
  EXPECT_TRUE(has(kernel_template("hist16"), "kBins = 65536;"));
  EXPECT_TRUE(has(kernel_template("median5"), "kRadius = 2;"));
  EXPECT_TRUE(has(kernel_template("contrast16"), "IMGPIPE_SCRATCH(contrast16, mine)"));
  EXPECT_EQ(bench({"--template", "hist"}).out, kernel_template("hist"));
  EXPECT_EQ(bench({"--template", "grey"}).out, kernel_template("gray")) << "either spelling";
  EXPECT_EQ(bench({"--template", "header"}).out, kernel_header());
}

TEST(UserKernelSource, IncludesTheVariantAndItsDependencies) {
  const std::string text = kernel_template("contrast");
  const VariantSource source = user_source("my.cu", text, "contrast", "mine");
  EXPECT_EQ(source.path, "my.cu");
  EXPECT_EQ(source.functions, "mine");
  for (const char* part :
       {"__global__ void find_range(", "__global__ void stretch_pixels(", "IMGPIPE_SCRATCH(contrast, mine) {",
        "IMGPIPE_CONTRAST(mine, ", "// One thread per pixel"})
    EXPECT_TRUE(has(source.text, part)) << part;
  const std::string two = with_header(
      "__global__ void a_kernel() {\n  int x;\n}\n\n__global__ void b_kernel() {\n  int x;\n}\n\n"
      "IMGPIPE_HIST(a, \"{\") {\n  a_kernel<<<1, 1>>>();\n}\n\nIMGPIPE_HIST(b, \"b\") {\n  b_kernel<<<1, "
      "1>>>();\n}\n");
  const VariantSource b = user_source("my.cu", two, "hist", "b");
  EXPECT_TRUE(has(b.text, "b_kernel()"));
  EXPECT_FALSE(has(b.text, "a_kernel"));
  // If the layout is unexpected, user_source() returns the whole file, up to the limit.
  const VariantSource whole =
      user_source("my.cu", "  #define H IMGPIPE_HIST(c,\"c\")\n  H {}\n", "hist", "c");
  EXPECT_TRUE(has(whole.text, "#define H"));
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += "// line\n";
  EXPECT_LE(std::ranges::count(user_source("my.cu", lines, "hist", "c").text, '\n'), kMaxSourceLines + 1);
  EXPECT_EQ(user_source("my.cu", "", "hist", "c").text, "");
}

TEST(TimeLimit, EndsTheProcessAndNamesTheRun) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  EXPECT_EXIT(
      {
        TimeLimit limit(1);
        limit.begin("my.cu: mine on noise 1x1");
        std::this_thread::sleep_for(std::chrono::seconds(30));
      },
      testing::ExitedWithCode(1), "imgpipe: my.cu: mine on noise 1x1: still running after 1 s");
}

TEST(TimeLimit, AppliesToEachRunSeparately) {
  TimeLimit limit(1);
  for (int i = 0; i < 4; ++i) {
    limit.begin("x");
    std::this_thread::sleep_for(std::chrono::milliseconds(400));
  }
  limit.end();
  std::this_thread::sleep_for(std::chrono::milliseconds(1200));
  TimeLimit none(0);
  none.begin("x");
}

TEST_F(UserKernel, RejectsContradictingOptions) {
  const std::string source = save_source("my.cu", with_header(kNothing));
  for (const Words& arguments : std::vector<Words>{{"--with", ""},
                                                   {"--with", source, "--device", "cpu"},
                                                   {"--with", source, "--device", "reference"},
                                                   {"--with", source, "--study", "colors"},
                                                   {"--with", source, "--stage", "jpeg"},
                                                   {"--with", source, "--stage", "transfer"},
                                                   {"--with", source, "--time-limit", "-1"},
                                                   {"--nvcc-flags", "-O2"},
                                                   {"--time-limit", "3"},
                                                   {"--template", "sharpen"},
                                                   {"--template", "clahe"},
                                                   {"--template", ""},
                                                   {"--template", "hist", "--with", source},
                                                   {"--template", "hist", "--list"}})
    expect_refused(run(arguments), 2, "");
}

TEST_F(UserKernel, BuildWithoutCudaIsReported) {
  if (built_with_cuda()) GTEST_SKIP() << "this build has CUDA";
  expect_refused(run({"--with", save_source("my.cu", with_header(kNothing))}), 3, "this build has no CUDA");
}

// ---- stand-in compilers ------------------------------------------------------------------------------

class UserKernelCompiler : public UserKernel {
 protected:
  void SetUp() override {
    if (!built_with_cuda()) GTEST_SKIP() << "this build has no CUDA";
    UserKernel::SetUp();
  }
  void TearDown() override {
    if (!IsSkipped()) UserKernel::TearDown();
  }
};

TEST_F(UserKernelCompiler, MissingCompilerIsReported) {
  const std::string source = save_source("my.cu", with_header(kNothing));
  expect_refused(list({"--with", source}, {{"NVCC", "/nowhere/nvcc"}}), 3, "NVCC: not an executable program");
  expect_refused(list({"--with", source}, {{"NVCC", ""}, {"CUDACXX", "/nowhere/nvcc"}}), 3,
                 "CUDACXX: not an executable program");
  expect_refused(list({"--with", source}, {{"NVCC", temporary()}}), 3, "NVCC: not an executable program");
  expect_refused(list({"--with", directory_.file("none.cu")}), 1, "none.cu: ");
  expect_refused(list({"--with", directory_.path().string()}), 1, "");
}

TEST_F(UserKernelCompiler, ReceivesVerbatimArgumentsWithoutAShell) {
  const std::string said = directory_.file("said");
  const std::string nvcc =
      save_program("nvcc", "#!/bin/sh\nprintf '%s\\n' \"$@\" > '" + said + "'\necho to stdout\nexit 7\n");
  const std::string source = save_source("a (b)'s; my.cu", with_header(kNothing));
  const RunResult result =
      list({"--with", source, "--nvcc-flags", "-DA='b  c' '$(exit)' -w"}, {{"NVCC", nvcc}});
  expect_refused(result, 1, "nvcc failed (exit code 7): " + nvcc);
  EXPECT_TRUE(has(result.err, "to stdout\n")) << "what a compiler says goes to stderr";
  const std::string arguments = "\n" + load_text(said);
  EXPECT_TRUE(has(arguments, "\n" + source + "\n-DA=b  c\n$(exit)\n-w\n")) << arguments;
  // A compiler given by name only is found in PATH.
  const RunResult by_name =
      list({"--with", source}, {{"NVCC", "nvcc"}, {"PATH", directory_.path().string()}});
  EXPECT_TRUE(has(by_name.err, "exit code 7")) << by_name.err;
}

// nvcc passes names to a shell, between double quotes.
TEST_F(UserKernelCompiler, NamesWithShellCharactersAreRejected) {
  const std::string nvcc = save_program("nvcc", "#!/bin/sh\ntouch '" + directory_.file("called") + "'\n");
  for (const char* name : {"$(touch x).cu", "a\"b.cu", "a,b.cu", "a`b.cu", "a\\b.cu", "a\nb.cu"})
    expect_refused(list({"--with", save_source(name, with_header(kNothing))}, {{"NVCC", nvcc}}), 1,
                   "', which nvcc does not support in file names");
  const std::string position = directory_.file("a$b");
  ASSERT_EQ(::mkdir(position.c_str(), 0700), 0);
  const Words arguments{"--list", "--with", save_source("my.cu", with_header(kNothing))};
  expect_refused(bench(arguments, {{"NVCC", nvcc}, {"TMPDIR", position}}), 1,
                 ": contains '$', which nvcc does not support in file names");
  EXPECT_TRUE(std::filesystem::is_empty(position)) << "something was left";
  EXPECT_FALSE(std::filesystem::exists(directory_.file("called")));
}

TEST_F(UserKernelCompiler, IsAwaitedWhenSigchldIsIgnored) {
  const std::string source = save_source("my.cu", with_header(kNothing));
  const std::string nvcc = save_program("nvcc", "#!/bin/sh\nexit 7\n");
  EXPECT_EQ(
      run_bash("NVCC='" + nvcc + "' TMPDIR='" + temporary() +
                   "' python3 -c 'import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); "
                   "os.execv(sys.argv[1], sys.argv[1:])' $I bench --list --with '" +
                   source + "' 2>said",
               directory_.path().string()),
      1);
  EXPECT_TRUE(has(load_text(directory_.file("said")), "(exit code 7)")) << load_text(directory_.file("said"));
}

TEST_F(UserKernelCompiler, MissingOutputAndCrashesAreReported) {
  const std::string source = save_source("my.cu", with_header(kNothing));
  expect_refused(list({"--with", source}, {{"NVCC", save_program("true", "#!/bin/sh\nexit 0\n")}}), 1,
                 "my.cu: cannot load the compiled library: ");
  expect_refused(list({"--with", source}, {{"NVCC", save_program("dies", "#!/bin/sh\nkill -9 $$\n")}}), 1,
                 "signal 9");
  expect_refused(list({"--with", source}, {{"NVCC", save_program("odd", "no script\n")}}), 3, "cannot run ");
}

// timeout(1) signals the program and then its process group: the second signal may arrive at any time after
// the first. Here the compiler sends both.
TEST_F(UserKernelCompiler, IsTerminatedWithTheProgram) {
  const std::string source = save_source("my.cu", with_header(kNothing));
  for (const char* between : {"", "sleep 0.005; ", "sleep 0.01; "}) {
    const std::string nvcc = save_program("nvcc", "#!/bin/sh\n(kill -TERM $PPID; " + std::string(between) +
                                                      "kill -TERM $PPID) &\nexec sleep 60\n");
    EXPECT_EQ(
        run_bash("NVCC='" + nvcc + "' TMPDIR='" + temporary() + "' $I bench --list --with '" + source + "'",
                 directory_.path().string()),
        143);
    EXPECT_TRUE(std::filesystem::is_empty(temporary())) << "between the signals: '" << between << "'";
  }
}

// ---- with nvcc, without a device --------------------------------------------------------------------

TEST_F(UserKernel, EveryTemplateIsAVariantOfItsStage) {
  IMGPIPE_NEED_NVCC();
  Words arguments;
  Words stages = template_names();
  stages.pop_back();  // header
  for (const std::string& stage : stages)
    arguments.insert(arguments.end(), {"--with", save_source(stage + ".cu", kernel_template(stage))});
  arguments.insert(arguments.end(), {"--variant", "mine"});
  const RunResult result = list(arguments);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::set<std::string> listed;
  const Json json = Json::parse(result.out);
  for (const Json& row : json["tables"][0]["rows"]) {
    listed.insert(row["stage"].get<std::string>());
    EXPECT_EQ(row["variant"], "mine");
    EXPECT_EQ(row["runs_on"], "cuda");
    EXPECT_EQ(row["origin"], row["stage"].get<std::string>() + ".cu");
    EXPECT_FALSE(row["idea"].get<std::string>().empty());
  }
  EXPECT_EQ(listed, std::set<std::string>(stages.begin(), stages.end()));
  EXPECT_EQ(json["tables"][0]["rows"].size(), stages.size());
}

TEST_F(UserKernel, VariantsFollowTheLabsAndAreSelectableByName) {
  IMGPIPE_NEED_NVCC();
  const std::string source = save_source(
      "my.cu", with_header("IMGPIPE_HIST(first, \"one\") {}\nIMGPIPE_GRAY(grey_one, \"two\") {}\n"
                           "IMGPIPE_HIST(second, \"three\") {}\nIMGPIPE_CLAHE(tiles, \"four\") {}"));
  const RunResult all = list({"--with", source, "--stage", "hist"});
  ASSERT_EQ(all.exit_code, 0) << all.err;
  const Json json = Json::parse(all.out);
  const Json& rows = json["tables"][0]["rows"];
  ASSERT_GT(rows.size(), 5U);
  EXPECT_EQ(rows[rows.size() - 3]["variant"], "production");
  EXPECT_EQ(rows[rows.size() - 2]["variant"], "first");
  EXPECT_EQ(rows[rows.size() - 1]["variant"], "second");
  // The lab's variants run only if named; the file's run if named, or if none of the file's is named.
  const auto names = [&](const Words& variants) {
    Words arguments{"--with", source};
    for (const std::string& name : variants) arguments.insert(arguments.end(), {"--variant", name});
    std::set<std::string> found;
    for (const auto& [name, row] : rows_of(list(arguments))) found.insert(name);
    return found;
  };
  using Names = std::set<std::string>;
  EXPECT_EQ(names({"production"}), (Names{"production", "first", "grey_one", "second", "tiles"}));
  EXPECT_EQ(names({"production", "second"}), (Names{"production", "second"}));
  EXPECT_EQ(names({"grey_one"}), (Names{"grey_one"}));
  expect_refused(list({"--with", source, "--variant", "third"}), 2, "unknown variant 'third'");
  expect_refused(list({"--with", source, "--stage", "smooth"}), 1,
                 "my.cu: no variant of smooth, but first of hist, grey_one of gray");
}

TEST_F(UserKernel, GuideCodeCompiles) {
  IMGPIPE_NEED_NVCC();
  const RunResult result = list({"--with", save_source("my.cu", file_of_the_guide()), "--variant", "shared"});
  ASSERT_EQ(result.exit_code, 0) << result.err;
  std::set<std::string> names;
  for (const auto& [name, row] : rows_of(result)) names.insert(name);
  EXPECT_EQ(names, (std::set<std::string>{"shared", "mine", "mine_shared", "mine_vectors"}));
}

TEST_F(UserKernel, CompileErrorsComeFromNvcc) {
  IMGPIPE_NEED_NVCC();
  const std::string source =
      save_source("my.cu", with_header("IMGPIPE_HIST(mine, \"x\") {\n  no_such_name();\n}"));
  const RunResult result = list({"--with", source});
  expect_refused(result, 1, "imgpipe: " + source + ": nvcc failed (exit code ");
  EXPECT_TRUE(has(result.err, "my.cu(3): error: identifier \"no_such_name\" is undefined")) << result.err;
  // Flags reach the compiler.
  const std::string needs =
      save_source("needs.cu", with_header("#ifndef TILE\n#error no tile\n#endif\n" + std::string(kNothing)));
  expect_refused(list({"--with", needs}), 1, "no tile");
  EXPECT_EQ(list({"--with", needs, "--nvcc-flags", "-DTILE=3"}).exit_code, 0);
}

TEST_F(UserKernel, MissingPartsAreReported) {
  IMGPIPE_NEED_NVCC();
  const auto refused = [&](const std::string& text, const std::string& why) {
    expect_refused(list({"--with", save_source("my.cu", text)}), 1, "my.cu: " + why);
  };
  refused("__global__ void k() {}\n", "does not include \"imgpipe_kernel.h\"");
  refused(with_header(""), "no variants");
  refused(with_header("IMGPIPE_HIST(shared, \"x\") {}"), "the lab already has a variant 'shared' of hist");
  refused(with_header("IMGPIPE_HIST(mine, \"x\") {}\nIMGPIPE_SCRATCH(hist, yours) { return 4; }"),
          "IMGPIPE_SCRATCH(hist, yours): no variant of that name in this file");
  refused(with_header("IMGPIPE_VARIANT_OF(sharpen, mine, \"x\", ImgpipeFilter<uint8_t>) {}"),
          "unknown stage 'sharpen'");
  // A copy of another version's header in the file's directory.
  std::string header(kernel_header());
  const std::string version = "#define IMGPIPE_KERNEL_ABI 1\n";
  ASSERT_TRUE(has(header, version));
  header.replace(header.find(version), version.size(), "#define IMGPIPE_KERNEL_ABI 7\n");
  save_source("imgpipe_kernel.h", header);
  refused(with_header(kNothing), "imgpipe_kernel.h is version 7, but this program needs version 1");
}

TEST_F(UserKernel, VariantNamesAreUniqueAcrossFiles) {
  IMGPIPE_NEED_NVCC();
  const std::string a = save_source("a.cu", with_header("IMGPIPE_HIST(mine, \"x\") {}"));
  const std::string b =
      save_source("b.cu", with_header("IMGPIPE_HIST(mine, \"y\") {}\nIMGPIPE_GRAY(other, \"z\") {}"));
  expect_refused(list({"--with", a, "--with", b}), 1, "b.cu: a.cu also has a variant 'mine' of hist");
  const std::string c = save_source("c.cu", with_header("IMGPIPE_HIST(yours, \"y\") {}"));
  const std::map<std::string, Json> rows = rows_of(list({"--with", a, "--with", c}));
  ASSERT_TRUE(rows.contains("mine") && rows.contains("yours")) << "each library has a list of its own";
  EXPECT_EQ(rows.at("mine")["origin"], "a.cu");
  EXPECT_EQ(rows.at("yours")["origin"], "c.cu");
}

TEST_F(UserKernel, IsCompiledButNotRunWithoutADevice) {
  IMGPIPE_NEED_NVCC();
  if (cuda_unavailable_reason().empty()) GTEST_SKIP() << "there is a CUDA device";
  const std::string source = save_source("my.cu", kernel_template("hist"));
  expect_refused(run({"--with", source, "--size", "64x64"}), 3,
                 "mine of hist (my.cu): compiled and loaded, but no CUDA device can run it");
  expect_refused(run({"--with", source, "--device", "cuda"}), 3, "");
}

}  // namespace
}  // namespace imgpipe::test::own_kernel_test
