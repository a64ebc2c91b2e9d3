// Presets: accepted options, precedence, and that a run's options written as a preset give the same run.
#include "app/options/presets.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "images/error.h"
#include "tests/support/files.h"
#include "tests/support/process.h"
#include "tests/support/read_options.h"

namespace imgpipe::test::presets_test {
namespace {

using Arguments = std::vector<std::string>;

class Presets : public testing::Test {
 protected:
  [[nodiscard]] std::string preset(const std::string& text, const std::string& name = "p.toml") const {
    save_text(directory_.file(name), text);
    return directory_.file(name);
  }
  static ProcessOptions process(Arguments arguments) {
    arguments.insert(arguments.begin(), {"in.png", "out.png"});
    return process_options(arguments);
  }
  static std::string refusal(Arguments arguments) {
    arguments.insert(arguments.begin(), {"in.png", "out.png"});
    return refusal_of(arguments);
  }

  const std::vector<OptionRow> rows_ = process_rows();
  TemporaryDirectory directory_;
};

// ---- reading -----------------------------------------------------------------------------------------

TEST_F(Presets, AcceptCommandLineOptions) {
  const ProcessOptions options =
      process({"--preset", preset("# for scans\n"
                                  "stages = [\"gray\", \"resize:1200\", \"smooth:gauss\"]\n"
                                  "clip = 0.5\n"
                                  "quality = 85\n"
                                  "memory = \"1.5G\"\n"
                                  "lenient = true\n"
                                  "no-orient = false\n"
                                  "include = [\"*.tif\", \"*.png\"]\n"
                                  "exclude = \"x*\"\n"
                                  "metadata = 'strip'\n")});
  EXPECT_EQ(options.stages.list, "gray,resize:1200,smooth:gauss");
  EXPECT_EQ(options.output.encode.quality, 85);
  EXPECT_EQ(options.execution.memory_bytes, std::int64_t{3} << 29);
  EXPECT_TRUE(options.decode.lenient() && options.decode.orient);
  EXPECT_EQ(options.input.include, (Arguments{"*.tif", "*.png"}));
  EXPECT_EQ(options.input.exclude, Arguments{"x*"});
  EXPECT_FALSE(options.output.keep_metadata);
  EXPECT_EQ(options.batch_options, Arguments{}) << "a preset is for single images too";
  const auto clip = std::ranges::find(options.stages.parameter_options, "clip", &OptionValue::option);
  EXPECT_EQ(clip->text, "0.5");
}

TEST_F(Presets, StagesAreOneTextOrAList) {
  EXPECT_EQ(process({"--preset", preset("stages = \"gray,smooth:gauss\"\n")}).stages.list,
            "gray,smooth:gauss");
  EXPECT_EQ(process({"--preset", preset("stages = [\"grey\", \"smooth:gauss,invert\"]\n")}).stages.list,
            "grey,smooth:gauss,invert");
}

TEST_F(Presets, CommandLineWins) {
  const std::string file = preset(
      "stages = [\"invert\"]\nquality = 10\nlenient = true\nverbose = true\noverwrite = true\n"
      "include = [\"*.a\", \"*.b\"]\n");
  for (const Arguments& more : {Arguments{"--preset", file}, Arguments{}}) {
    Arguments arguments{"--stages", "gray",         "--quality", "20", "--lenient=false",
                        "-q",       "--no-clobber", "--include", "*.c"};
    arguments.insert(more.empty() ? arguments.end() : arguments.begin(), {"--preset", file});
    const ProcessOptions options = process(arguments);
    EXPECT_EQ(options.stages.list, "gray");
    EXPECT_EQ(options.output.encode.quality, 20);
    EXPECT_FALSE(options.decode.lenient() || options.logging.verbose);
    EXPECT_TRUE(options.logging.quiet);
    EXPECT_EQ(options.output.replace, Replace::none);
    EXPECT_EQ(options.input.include, Arguments{"*.c"});
  }
  EXPECT_TRUE(process({"--preset", file, "--quiet=false"}).logging.verbose);
}

TEST_F(Presets, LaterPresetWins) {
  const std::string one =
      preset("quality = 10\npng-level = 2\nquiet = true\ninclude = [\"*.a\"]\n", "1.toml");
  const std::string two = preset("quality = 20\nverbose = true\nlenient = true\ninclude = []\n", "2.toml");
  const ProcessOptions options = process({"--preset", one, "--preset", two});
  EXPECT_EQ(options.output.encode.quality, 20);
  EXPECT_EQ(options.output.encode.png_level, 2);
  EXPECT_TRUE(options.logging.verbose && !options.logging.quiet && options.decode.lenient());
  EXPECT_EQ(options.input.include, Arguments{});
  EXPECT_EQ(process({"--preset", two, "--preset", one}).output.encode.quality, 10);
}

TEST_F(Presets, ErrorsNameTheLine) {
  const std::vector<std::pair<std::string, std::string>> rows{
      {"\n# x\nqualty = 85\n", "p.toml:3: unknown option 'qualty'; did you mean quality?"},
      {"png_level = 1\n", "p.toml:1: unknown option 'png_level'; did you mean png-level?"},
      {"q = true\n", "p.toml:1: unknown option 'q'"},
      {"[batch]\njobs = 4\n", "p.toml:1: unknown option 'batch'"},
      {"lenient = true\noutput = \"x.png\"\n", "p.toml:2: output: not allowed in presets"},
      {"preset = \"x.toml\"\n", "p.toml:1: preset: not allowed in presets"},
      {"cpu = true\ncompare = true\n", "p.toml:2: compare: given twice"},
      {"quality = 1\nquality = 2\n", "p.toml:2: "},
      {"lenient = 1\n", "p.toml:1: lenient: expected true or false, got a number"},
      {"lenient = \"true\"\n", "p.toml:1: lenient: expected true or false, got a string"},
      {"quality = true\n", "p.toml:1: quality: expected a string or a number, got true"},
      {"quality = [85]\n", "p.toml:1: quality: expected a string or a number, got a list"},
      {"quality = 2026-11-23\n", "p.toml:1: quality: expected a string or a number, got a date or time"},
      {"stages = [\"gray\",\n 1979-05-27]\n",
       "p.toml:2: stages: expected a string or a number, got a date or time"},
      {"smooth.window = \"gauss\"\n", "p.toml:1: unknown option 'smooth'"},
      {"window = {a = 1}\n", "p.toml:1: window: expected a string or a number, got a table"},
      {"metadata = \"a\\u0000b\"\n", "p.toml:1: metadata: contains a NUL byte"},
      {"quality = 85\nquality", "p.toml:2: "},
      {"\xFF = 1\n", "p.toml:1: "},
      {"\n\nquality = 500\n", "p.toml:3: --quality: expected an integer from 1 to 100, got '500'"},
      {"clip = 200\n", "p.toml:1: --clip: "},
      {"stages = [\"gray\", \"smoth\"]\n", "p.toml:1: --stages: unknown stage 'smoth'; did you mean smooth?"},
      {"stages = []\n", "p.toml:1: --stages: "},
      {"format = \"pgn\"\n", "p.toml:1: --format: must be one of"},
      {"overwrite = true\nno-clobber = true\n",
       "p.toml:1: --overwrite: cannot be combined with --no-clobber"}};
  for (const auto& [text, words] : rows) {
    const std::string why = refusal({"--preset", preset(text)});
    EXPECT_NE(why.find(words), std::string::npos) << text << why;
  }
  EXPECT_NE(refusal({"--preset", directory_.file("none.toml")}).find("none.toml"), std::string::npos);
  EXPECT_NE(refusal({"--preset", preset(std::string(3 << 20, '#'))}).find("p.toml"), std::string::npos);
  EXPECT_NE(refusal({"--preset", preset("a = " + std::string(100'000, '['))}).find("p.toml:1"),
            std::string::npos);
  EXPECT_EQ(refusal({"--preset", preset(""), "--quality", "500"}).find("p.toml"), std::string::npos);
}

TEST_F(Presets, HelpReadsNoPreset) {
  EXPECT_NE(printed_by({"--preset", directory_.file("none.toml"), "--help"}).find("--write-preset"),
            std::string::npos);
}

// ---- writing -----------------------------------------------------------------------------------------

// Returns values of several kinds; the caller uses the first that the option accepts.
Arguments samples_of(const OptionRow& row) {
  Arguments samples = row.values;
  std::ranges::reverse(samples);
  for (const char* sample : {"gray,contrast:clip=0.50,smooth:gauss", "0.25", "7", "32", "512M", "*.\"p\\n[g]",
                             "2-3", "cpu", "{stem}.{ext}", "dark=/d.png", "t=gray", "6x", "9x8", "white"})
    samples.emplace_back(sample);
  return samples;
}

bool is_taken(const Arguments& arguments) {
  try {
    (void)read_command_line(arguments);
    return true;
  } catch (const Error&) {
    return false;
  }
}

Arguments joined(Arguments first, const Arguments& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

// Returns the options without which an option is not accepted.
Arguments needed_by(const std::string& option) {
  if (option == "--image-stages") return {"--image", "dark=/d.png"};
  if (option == "--montage") return {"--cell", "9x8"};
  if (option == "--cell" || option == "--background") return {"--montage", "6x", "--cell", "9x8"};
  if (option == "--then") return {"--stack", "max"};
  return {};
}

// Returns the option with a value that it accepts; empty: it accepts none of the samples.
Arguments sample_of(const OptionRow& row) {
  const std::string name = "--" + option_name(row);
  if (row.value == nullptr) return {name};
  for (const std::string& sample : samples_of(row)) {
    const bool of_image = name == "--image-stages";
    if (!is_taken(joined({"in.png", "out.png", name, sample}, needed_by(name)))) continue;
    if (is_repeated(row))
      return {name, sample, name,
              of_image            ? "dark=invert"
              : name == "--also"  ? "other=invert"
              : name == "--image" ? "other=/o.png"
                                  : "other"};
    return {name, sample};
  }
  return {};
}

// Each option alone, and all compatible options at once: the parser gets the same arguments.
TEST_F(Presets, WrittenPresetReproducesTheRun) {
  const std::string file = directory_.file("w.toml");
  const auto expect_same = [&](const Arguments& given) {
    save_text(file, MergedOptions(given, rows_, "imgpipe").as_preset(file));
    EXPECT_EQ(argument_texts(MergedOptions({"--preset", file}, rows_, "imgpipe").all()),
              joined(given, {"--preset", file}))
        << load_text(file);
  };
  Arguments all, left_out;
  std::size_t tried = 0;
  for (const OptionRow& row : rows_) {
    if (!allowed_in_presets(row)) continue;
    const Arguments given = sample_of(row);
    ASSERT_FALSE(given.empty()) << option_name(row) << ": none of the samples is a value of it";
    expect_same(given);
    ++tried;
    if (is_taken(joined({"in.png", "out.png"}, joined(all, given)))) {
      all = joined(all, given);
    } else {
      left_out.push_back(option_name(row));
    }
  }
  expect_same(all);
  EXPECT_GT(tried, 30U);
  EXPECT_EQ(left_out, (Arguments{"stack", "montage", "cell", "background", "then", "hash", "lenient", "codec",
                                 "no-clobber", "skip-existing", "verbose"}))
      << "each is excluded by an earlier option: stack by --also, codec by --accept pillow; hash needs "
         "--report";
}

TEST_F(Presets, ExclusiveOptionsExist) {
  for (const ExclusiveOptions& pair : excluding_options()) {
    EXPECT_NE(find_option(std::string(pair.one), rows_), nullptr) << pair.one;
    EXPECT_NE(find_option(std::string(pair.other), rows_), nullptr) << pair.other;
  }
  std::size_t left_out = 0, repeated = 0;
  for (const OptionRow& row : rows_) {
    left_out += allowed_in_presets(row) ? 0 : 1;
    repeated += is_repeated(row) ? 1 : 0;
  }
  EXPECT_EQ(left_out, 17U);
  EXPECT_EQ(repeated, 7U);
}

TEST_F(Presets, UnusualTextsRoundTrip) {
  const std::string file = directory_.file("w.toml");
  for (const std::string& text :
       {std::string("a\"b\\c'd"), std::string("line\nbreak\ttab"), std::string("\x01\x7F"),
        std::string("Größe 大"), std::string("007"), std::string("1e3"), std::string("0.50"),
        std::string("-3"), std::string("inf"), std::string("true"), std::string("'''"), std::string("\"\"\""),
        std::string("0x10"), std::string("")}) {
    const Arguments given{"--include", text, "--stages", text.find(',') == text.npos ? text : "gray",
                          "--device",  text};
    save_text(file, MergedOptions(given, rows_, "imgpipe").as_preset(file));
    Arguments expected{"--stages", given[3], "--device", text, "--include", text, "--preset", file};
    EXPECT_EQ(argument_texts(MergedOptions({"--preset", file}, rows_, "imgpipe").all()), expected)
        << load_text(file);
  }
  EXPECT_THROW((void)MergedOptions({"--include", "\xFF.png"}, rows_, "imgpipe").as_preset(file), Error);
}

TEST_F(Presets, StepFilesAreRelativeToThePreset) {
  std::filesystem::create_directories(directory_.path() / "sets");
  const std::string sets = directory_.file("sets");
  const std::string written = preset("stages = [\"contrast:range=r.json\"]\n", "sets/p.toml");
  const MergedOptions read({"--preset", written}, rows_, "imgpipe");
  EXPECT_EQ(argument_texts(read.all()).at(1), "contrast:range=" + sets + "/r.json");
  // A file in or below the preset's directory gets a relative path, any other its full path.
  EXPECT_NE(read.as_preset(sets + "/q.toml").find("\"contrast:range=r.json\""), std::string::npos);
  const std::string canonical = std::filesystem::canonical(sets).string();
  EXPECT_NE(read.as_preset(directory_.file("q.toml")).find("range=sets/r.json"), std::string::npos);
  std::filesystem::create_directories(directory_.path() / "other");
  EXPECT_NE(read.as_preset(directory_.file("other/q.toml")).find("range=" + canonical + "/r.json"),
            std::string::npos);
  EXPECT_NE(read.as_preset("-").find("range=" + canonical + "/r.json"), std::string::npos);
  const std::string series = preset("stages = \"contrast:range=series\"\npages = \"all\"\n", "sets/s.toml");
  EXPECT_EQ(process({"--preset", series}).stages.series_steps.size(), 1U);
  std::filesystem::create_directories(directory_.path() / "a,b");
  EXPECT_NE(refusal({"--preset", preset("\nstages = \"contrast:range=r.json\"\n", "a,b/p.toml")})
                .find("p.toml:2: r.json: resolves to"),
            std::string::npos);
}

// ---- the program -------------------------------------------------------------------------------------

class PresetsCli : public Presets {
 protected:
  void SetUp() override {
    ASSERT_EQ(run_imgpipe({"synth", file("in.png"), "--pattern", "photo", "--size", "40x30"}).exit_code, 0);
  }
  [[nodiscard]] std::string file(const std::string& name) const { return directory_.file(name); }
};

TEST_F(PresetsCli, RunAndItsPresetWriteTheSameBytes) {
  const RunResult first =
      run_imgpipe({file("in.png"), file("a.jpg"), "--stages", "gray,contrast:clip=1.5,smooth:gauss",
                   "--quality", "33", "--write-preset", file("run.toml"), "--report", file("a.json")});
  ASSERT_EQ(first.exit_code, 0) << first.err;
  EXPECT_NE(first.err.find("--write-preset: left out options of a single run: --report\n"), std::string::npos)
      << first.err;
  const RunResult second = run_imgpipe({file("in.png"), file("b.jpg"), "--preset", file("run.toml")});
  ASSERT_EQ(second.exit_code, 0) << second.err;
  EXPECT_EQ(load(file("a.jpg")), load(file("b.jpg")));
  EXPECT_EQ(load_text(file("run.toml")).find("# imgpipe preset"), 0U);
}

TEST_F(PresetsCli, WithoutInputOnlyThePresetIsWritten) {
  const RunResult run = run_imgpipe({"--stages", "gray", "-j", "3", "--write-preset", file("p.toml")});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out + run.err, "");
  const RunResult shown = run_imgpipe({"--preset", file("p.toml"), "--quality", "7", "--write-preset", "-"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  EXPECT_EQ(shown.out.substr(shown.out.find('\n') + 1), "stages = [\"gray\"]\nquality = 7\njobs = 3\n");
  EXPECT_EQ(directory_.names(), (Arguments{"in.png", "p.toml"}));
  // A wrong value is reported before anything is written.
  EXPECT_EQ(run_imgpipe({"--quality", "700", "--write-preset", file("q.toml")}).exit_code, 2);
  EXPECT_EQ(run_imgpipe({file("in.png"), "--write-preset", file("q.toml")}).exit_code, 2) << "missing OUTPUT";
  EXPECT_EQ(run_imgpipe({"--write-preset", file("q.json")}).exit_code, 2);
  EXPECT_EQ(directory_.names(), (Arguments{"in.png", "p.toml"}));
}

TEST_F(PresetsCli, StdoutHoldsOnlyThePreset) {
  const RunResult run =
      run_imgpipe({file("in.png"), file("out.png"), "--stages", "gray", "--write-preset", "-"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.out.substr(run.out.find('\n') + 1), "stages = [\"gray\"]\n");
  EXPECT_NE(run.err.find("end to end"), std::string::npos);
  for (const Arguments& more : {Arguments{"-"}, {"x.png", "--report", "-"}, {"x.png", "--dry-run"}}) {
    Arguments arguments{file("in.png")};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.insert(arguments.end(), {"--write-preset", "-", "--format", "png"});
    const RunResult refused = run_imgpipe(arguments);
    EXPECT_EQ(refused.exit_code, 2) << refused.err;
    EXPECT_EQ(refused.out, "");
  }
}

TEST_F(PresetsCli, StdinHasOneReader) {
  RunOptions options;
  options.input = "quality = 3\n";
  for (const Arguments& more : {Arguments{"-", file("o.png")},
                                {"--files-from", "-", file("o/")},
                                {file("in.png"), file("o.png"), "--preset", "-"}}) {
    Arguments arguments{"--preset", "-"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const RunResult run = run_imgpipe(arguments, options);
    EXPECT_EQ(run.exit_code, 2);
    EXPECT_NE(run.err.find("--preset -: stdin is already used"), std::string::npos) << run.err;
  }
  EXPECT_EQ(run_imgpipe({file("in.png"), file("o.png"), "--preset", "-"}, options).exit_code, 0);
}

TEST_F(PresetsCli, OtherFilesAreNotReplaced) {
  save_text(file("mine.toml"), "quality = 3\n");
  const Arguments write{"--preset", file("mine.toml"), "--write-preset", file("mine.toml")};
  EXPECT_EQ(run_imgpipe(write).exit_code, 2);
  EXPECT_EQ(load_text(file("mine.toml")), "quality = 3\n");
  Arguments anyway = write;
  anyway.emplace_back("--overwrite");
  EXPECT_EQ(run_imgpipe(anyway).exit_code, 0);
  EXPECT_EQ(run_imgpipe(write).exit_code, 0) << "it is imgpipe's now";
  EXPECT_NE(load_text(file("mine.toml")).find("\nquality = 3\noverwrite = true\n"), std::string::npos);
}

}  // namespace
}  // namespace imgpipe::test::presets_test
