// Parsing of the command line: letters, aliases, spellings, OUTPUT as an option, suggestions for typing
// errors.
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "app/command_table.h"
#include "app/synth_command.h"
#include "images/error.h"
#include "kernels/stage.h"
#include "tests/support/read_options.h"

namespace imgpipe::test::options_test {
namespace {

using Arguments = std::vector<std::string>;

ProcessOptions process(const Arguments& arguments) {
  return process_options(arguments);
}

// Returns the error message; empty: none.
std::string refusal(const Arguments& arguments) {
  try {
    (void)read_command_line(arguments);
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::usage);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    return error.what();
  }
  return "";
}

TEST(Options, LettersAreAliases) {
  for (const Arguments& arguments :
       std::vector<Arguments>{{"in", "out/", "-r", "-n", "-j", "3", "-d", "cpu", "-q"},
                              {"in", "out/", "-rnj3", "-dcpu", "-q"},
                              {"-qrnj", "3", "in", "-d", "cpu", "out/"},
                              {"in", "-r", "--jobs=3", "--dry-run", "--device=cpu", "-q", "--", "out/"}}) {
    const ProcessOptions options = process(arguments);
    EXPECT_TRUE(options.input.recursive && options.dry_run && options.logging.quiet);
    EXPECT_EQ(options.execution.jobs, 3);
    EXPECT_EQ(options.execution.device, "cpu");
    EXPECT_EQ(options.input.path, "in");
    EXPECT_EQ(options.output.path, "out/");
    EXPECT_EQ(options.batch_options, (Arguments{"--recursive", "--jobs", "--dry-run"}));
  }
  EXPECT_EQ(refusal({"in", "out", "-j"}), "--jobs: missing value; expected N");
  EXPECT_EQ(refusal({"in", "out", "--report"}), "--report: missing value; expected FILE, or - for stdout");
  EXPECT_EQ(refusal({"stats", "in", "--per-image"}),
            "--per-image: missing value; expected FILE, or - for stdout");
  EXPECT_EQ(refusal({"in", "out", "-j=3"}), "'-j=3': unexpected '='; use -j 3 or --jobs=3");
  EXPECT_EQ(refusal({"in", "-o=x.png"}), "'-o=x.png': unexpected '='; use -o x.png or --output=x.png");
  EXPECT_EQ(refusal({"in", "out/", "-rd="}), "'-rd=': unexpected '='; use -d NAME or --device=NAME");
}

TEST(Options, NamesNeedTwoDashes) {
  const std::vector<std::pair<Arguments, std::string>> rows{
      {{"a.png", "-output", "b.png"}, "'-output'; did you mean --output?"},
      {{"a.png", "-output=b.png"}, "'-output=b.png'; did you mean --output?"},
      {{"a.png", "-out.png"}, "'-out.png'; did you mean --output?"},
      {{"a", "b", "-device", "cpu"}, "'-device'; did you mean --device?"},
      {{"a", "b", "-jobs", "4"}, "'-jobs'; did you mean --jobs?"},
      {{"a", "b", "-jobs=4"}, "'-jobs=4'; did you mean --jobs?"},
      {{"a", "b", "-dry-run"}, "'-dry-run'; did you mean --dry-run?"},
      {{"a", "b", "-no-orient"}, "'-no-orient'; did you mean --no-orient?"},
      {{"a", "b", "-no-colour"}, "'-no-colour'; did you mean --no-color?"},
      {{"a", "b", "-cpu"}, "'-cpu'; did you mean --cpu?"}};
  for (const auto& [arguments, message] : rows)
    EXPECT_EQ(refusal(arguments), "unknown option " + message + " See imgpipe --help");
  EXPECT_EQ(process({"a", "-oout/"}).output.path, "out/");
  EXPECT_EQ(process({"a", "-o", "ut.png"}).output.path, "ut.png");
}

TEST(Options, OutputMayBeAnOption) {
  for (const Arguments& arguments : std::vector<Arguments>{{"a", "b", "c", "-o", "out/"},
                                                           {"-o", "out/", "a", "b", "c"},
                                                           {"a", "-oout/", "b", "c"},
                                                           {"a", "--output", "out/", "b", "c"},
                                                           {"a", "b", "c", "out/"},
                                                           {"--output=out/", "--", "a", "b", "c"}}) {
    const ProcessOptions options = process(arguments);
    EXPECT_EQ(options.input.path, "a");
    EXPECT_EQ(options.input.more_paths, (Arguments{"b", "c"}));
    EXPECT_EQ(options.output.path, "out/");
  }
  EXPECT_EQ(process({"-o", "out.png", "-"}).input.path, "-");
  const ProcessOptions list = process({"--files-from", "list", "-o", "out/"});
  EXPECT_EQ(list.input.path, "");
  EXPECT_EQ(list.output.path, "out/");
  EXPECT_EQ(read_options("synth", {"-o", "x.png", "--pattern", "noise", "--size", "4x4"}, read_synth).output,
            "x.png");
  EXPECT_EQ(refusal({"-o", "out.png"}), "missing INPUT; see imgpipe --help");
  EXPECT_EQ(refusal({"in.png"}), "missing OUTPUT; see imgpipe --help");
  EXPECT_EQ(refusal({"in.png", "-o", ""}), "INPUT or OUTPUT: empty name");
  EXPECT_EQ(refusal({"synth", "a.png", "-o", "b.png", "--pattern", "noise", "--size", "4x4"}),
            "unexpected argument 'a.png'");
  EXPECT_EQ(refusal({"--input", "a", "b"}).substr(0, 26), "unknown option '--input'; ");
}

TEST(Options, CpuIsAnAliasOfCompare) {
  EXPECT_TRUE(process({"in", "out", "--compare"}).reports.compare);
  EXPECT_TRUE(process({"in", "out", "--cpu"}).reports.compare);
  EXPECT_FALSE(process({"in", "out"}).reports.compare);
  EXPECT_TRUE(process({"in", "out", "--compare=yes"}).reports.compare);
  EXPECT_FALSE(process({"in", "out", "--compare=no"}).reports.compare);
  EXPECT_EQ(refusal({"in", "out", "--compare=maybe"}), "--compare: expected true or false, got 'maybe'");
}

TEST(Options, AlternativeSpellingsAreAccepted) {
  EXPECT_TRUE(process({"in", "out", "--no-colour"}).logging.no_color);
  const ProcessOptions grey = process({"in", "out", "--stages", "grey:bt709,crop:4x4:x=centre,equalise"});
  ASSERT_EQ(grey.stages.steps.size(), 3U);
  EXPECT_EQ(grey.stages.steps[0].stage->name, "gray");
  EXPECT_EQ(grey.stages.steps[2].stage->name, "equalize");
  const SynthOptions synth =
      read_options("synth", {"x.png", "--pattern", "colours:5", "--size", "4x4"}, read_synth);
  EXPECT_EQ(synth.pattern.info->name, "colors");
  EXPECT_EQ(printed_by({"help", "grey"}), printed_by({"help", "gray"}));
  EXPECT_EQ(process({"in", "--report", "--no-colour.json", "out"}).reports.files,
            Arguments{"--no-colour.json"})
      << "a value stays as it is";
}

TEST(Options, SuggestsTheIntendedName) {
  struct Row {
    Arguments arguments;
    std::string message;  // the beginning of the message
  };
  const std::vector<Row> rows{
      {{"a", "b", "--stagse", "gray"},
       "unknown option '--stagse'; did you mean --stages? See imgpipe --help"},
      {{"a", "b", "--nothing"}, "unknown option '--nothing'; see imgpipe --help"},
      {{"a", "b", "--"}, ""},
      {{"a", "b", "-x"}, "unknown option '-x'; see imgpipe --help"},
      {{"a", "b", "-recursive"}, "unknown option '-recursive'; did you mean --recursive? See imgpipe --help"},
      {{"bench", "--variants", "x"},
       "unknown option '--variants'; did you mean --variant? See imgpipe bench --help"},
      {{"a", "b", "--stages", "contrst"},
       "--stages: unknown stage 'contrst'; did you mean contrast? Must be one of gray,"},
      {{"a", "b", "--stages", "*"}, "--stages: unknown stage '*'; must be one of gray,"},
      {{"a", "b", "--stages", "contrast:strech=each"},
       "--stages: contrast: unknown parameter 'strech'; did you mean stretch? Must be one of clip,"},
      {{"a", "b", "--stages", "smooth:gaus"},
       "--stages: smooth: window: must be one of box, triangle, gauss; got 'gaus'; did you mean gauss?"},
      {{"a", "b", "--stages", "threshold:otzu"},
       "--stages: threshold: at: expected 0 to 65535, or otsu, got 'otzu'; did you mean otsu?"},
      {{"a", "b", "--window", "traingle"},
       "--window: must be one of box, triangle, gauss; got 'traingle'; did you mean triangle?"},
      {{"a", "b", "--codec", "trubo"},
       "--codec: must be one of auto, turbo, stb; got 'trubo'; did you mean turbo?"},
      {{"a", "b", "--format", "pgn"}, "--format: must be one of jpeg,"},
      {{"a", "b", "--tiff-compression", "deflat"}, "--tiff-compression: must be one of none, deflate,"},
      {{"a", "b", "--shard", "1/2", "--balance", "hsah"},
       "--balance: must be one of hash, count, bytes; got 'hsah'; did you mean hash?"},
      {{"synth", "a", "--size", "4x4", "--pattern", "nosie"},
       "unknown pattern 'nosie'; did you mean noise? Must be one of noise,"},
      {{"bnech", "--stage", "hist"}, "unknown command 'bnech'; did you mean bench? Must be one of bench,"},
      {{"stat", "a.png"}, "unknown command 'stat'; did you mean stats? Must be one of"},
      {{"hepl", "contrast"}, "unknown command 'hepl'; did you mean help? Must be one of"},
      {{"statss", "dir", "--json"}, "unknown command 'statss'; did you mean stats? Must be one of"},
      {{"stat", "--help"}, "unknown command 'stat'; did you mean stats? Must be one of"},
      {{"a.png", "stat"}, ""},
      {{"./stat", "a.png"}, ""},
      {{"stat*", "out/"}, ""},
      {{"doc", "out.png", "--quality", "500"}, "--quality: expected an integer from 1 to 100, got '500'"},
      {{"./doc", "--qualty"}, "unknown option '--qualty'; did you mean --quality?"},
      {{"stat"}, "unknown command 'stat'; did you mean stats? Must be one of"},
      {{"help", "contrst"}, "unknown topic 'contrst'; did you mean contrast? Must be one of bench,"},
      {{"help", "split"}, "unknown topic 'split'; must be one of"},
      {{"docs", "mann"},
       "docs: must be one of man, bash, zsh, fish, files, schema; got 'mann'; did you mean man?"},
      {{"docs", "man", "bnech"}, "docs man: must be one of bench,"},
      {{"docs", "schema"}, "docs schema: missing NAME; must be one of image, pages,"},
      {{"docs", "schema", "imag"}, "docs schema: must be one of image, pages,"},
      {{"docs", "bash", "bench"}, "unexpected argument 'bench'"},
      {{"docs"},
       "docs: missing KIND; must be one of man, bash, zsh, fish, files, schema; see imgpipe docs --help"}};
  for (const Row& row : rows) EXPECT_EQ(refusal(row.arguments).substr(0, row.message.size()), row.message);
  for (const char* end : {"--format pgn", "--tiff-compression deflat"}) {
    const std::string text = end;
    const std::size_t space = text.find(' ');
    EXPECT_NE(refusal({"a", "b", text.substr(0, space), text.substr(space + 1)}).find("; did you mean "),
              std::string::npos);
  }
}

TEST(Options, EveryTableValueIsAccepted) {
  for (const CommandRow& command : command_table()) {
    EXPECT_EQ(find_command(command_table(), command.name), &command);
    for (const OptionRow& row : command.rows()) {
      EXPECT_GE(spelled_flags(row).size(), option_letter(row) == 0 ? 1U : 2U);
      EXPECT_GE(option_name(row).size(), 2U);
    }
    EXPECT_TRUE(Parser(command, {"--help"}).parse()) << command.name;
  }
  for (const OptionRow& row : process_rows()) {
    const std::string name = option_name(row);
    for (const std::string& value : row.values) {
      if (value.ends_with(':')) continue;  // a number must follow
      Arguments arguments{"a", "b", "--" + name, value};
      if (name == "balance") arguments.insert(arguments.end(), {"--shard", "1/2"});
      EXPECT_EQ(refusal(arguments), "") << name << " " << value;
    }
  }
}

}  // namespace
}  // namespace imgpipe::test::options_test
