// Batches as their users meet them: what is taken, where it goes, what is refused before any work.
#include "tests/support/batch_cli.h"

#include <algorithm>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "images/text.h"

namespace imgpipe::test::batch_cli_test {
namespace {

using Json = nlohmann::json;

// ---- what is taken, and where it goes ---------------------------------------------------------------

TEST_F(BatchCli, AFolderGivesItsImagesUnderTheirNames) {
  const RunResult run = run_imgpipe({in(), out()});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_EQ(run.err, "");
  EXPECT_EQ(written(), (Names{"a.png", "b.jpg", "c.GIF.ppm"}));
  EXPECT_NE(run.out.find("3 images: 3 done, 0 skipped, 0 failed"), std::string::npos) << run.out;
  for (const char* part : {"read", "decode", "kernels", "encode", "write", "bottleneck"})
    EXPECT_NE(run.out.find(part), std::string::npos) << run.out;
  EXPECT_EQ(open_reader(load(out() + "/b.jpg"))->header().format, Format::jpeg);
}

TEST_F(BatchCli, EveryFileEqualsThatOfARunByItself) {
  ASSERT_EQ(run_imgpipe({in(), out(), "--recursive", "-q", "--format", "png"}).exit_code, 0);
  for (const auto& [from, to] : std::map<std::string, std::string>{{"a.png", "a.png"},
                                                                   {"b.jpg", "b.png"},
                                                                   {"c.GIF.ppm", "c.GIF.png"},
                                                                   {"sub/d.png", "sub/d.png"},
                                                                   {"sub/deep/e.bmp", "sub/deep/e.png"}}) {
    ASSERT_EQ(run_imgpipe({in() + "/" + from, file("one.png"), "-q", "--overwrite"}).exit_code, 0);
    // Behind the signature and IHDR the mark, which has a hash of the name relative to INPUT.
    constexpr std::size_t kMarkAt = 33, kMarkChunkBytes = 79;
    std::string alone = load_text(file("one.png")), in_batch = load_text(out() + "/" + to);
    EXPECT_EQ(alone == in_batch, from.find('/') == std::string::npos) << from;
    EXPECT_EQ(alone.substr(kMarkAt + 4, 12), "tEXtSoftware");
    EXPECT_EQ(alone.erase(kMarkAt, kMarkChunkBytes), in_batch.erase(kMarkAt, kMarkChunkBytes)) << from;
  }
  EXPECT_EQ(written().size(), 5U);
}

TEST_F(BatchCli, RecursiveKeepsTheTree) {
  EXPECT_EQ(run_imgpipe({in(), out(), "--recursive"}).exit_code, 0);
  EXPECT_EQ(written(), (Names{"a.png", "b.jpg", "c.GIF.ppm", "sub/d.png", "sub/deep/e.bmp"}));
}

TEST_F(BatchCli, IncludeAndExclude) {
  const auto names_with = [&](const std::vector<std::string>& options) {
    std::vector<std::string> arguments{in(), out(), "-q", "--recursive"};
    arguments.insert(arguments.end(), options.begin(), options.end());
    EXPECT_EQ(run_imgpipe(arguments).exit_code, 0);
    Names names = written();
    fs::remove_all(out());
    return names;
  };
  EXPECT_EQ(names_with({"--include", "*.png"}), (Names{"a.png", "sub/d.png"}));
  EXPECT_EQ(names_with({"--include", "*.png", "--include", "*.jpg"}), (Names{"a.png", "b.jpg", "sub/d.png"}));
  EXPECT_EQ(names_with({"--include", "sub/*"}), (Names{"sub/d.png"}));
  EXPECT_EQ(names_with({"--exclude", "sub"}), (Names{"a.png", "b.jpg", "c.GIF.ppm"}));
  EXPECT_EQ(names_with({"--exclude", "sub/deep", "--exclude", "a*"}),
            (Names{"b.jpg", "c.GIF.ppm", "sub/d.png"}));
  // What is no image by its name is taken when it is asked for.
  const RunResult run = run_imgpipe({in(), out(), "-q", "--include", "notes*"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.err.find("notes.txt: "), std::string::npos);
}

TEST_F(BatchCli, APatternTakesWhatMatches) {
  EXPECT_EQ(run_imgpipe({in() + "/*.[jp][pn]g", out(), "-q"}).exit_code, 0);
  EXPECT_EQ(written(), (Names{"a.png", "b.jpg"}));
  expect_refused(run_imgpipe({in() + "/*.tiff", out()}), "no images found");
}

TEST_F(BatchCli, SeveralInputsNeedAFolder) {
  EXPECT_EQ(run_imgpipe({in() + "/a.png", in() + "/sub/d.png", out() + "/", "-q"}).exit_code, 0);
  EXPECT_EQ(written(), (Names{"a.png", "d.png"}));
  expect_refused(run_imgpipe({in() + "/a.png", in() + "/b.jpg", file("third")}), "not a directory");
  EXPECT_FALSE(fs::exists(file("third")));
}

TEST_F(BatchCli, OneImageIntoAFolder) {
  fs::create_directory(out());
  EXPECT_EQ(run_imgpipe({in() + "/a.png", out(), "-q"}).exit_code, 0);
  EXPECT_EQ(run_imgpipe({in() + "/b.jpg", out() + "/", "-q", "--format", "png"}).exit_code, 0);
  EXPECT_EQ(written(), (Names{"a.png", "b.png"}));
  expect_refused(run_imgpipe({in() + "/a.png", in()}), "is the input itself");
}

TEST_F(BatchCli, ListsOfNames) {
  const std::string names = "a.png\nsub/d.png\n\n";
  save_text(file("list"), names);
  std::string with_nul = names.substr(0, names.size() - 1);
  std::ranges::replace(with_nul, '\n', '\0');
  RunOptions from_stdin;
  from_stdin.input = names;
  RunOptions nul;
  nul.input = with_nul;
  RunOptions here;
  here.folder = in();
  const std::vector<std::pair<std::vector<std::string>, RunOptions>> runs{
      {{in(), out(), "--files-from", file("list")}, {}},
      {{in(), out(), "--files-from", "-"}, from_stdin},
      {{in(), out(), "--files-from", "-"}, nul},
      {{out(), "--files-from", file("list")}, here}};
  for (const auto& [arguments, options] : runs) {
    for (const bool tree : {false, true}) {
      std::vector<std::string> all = arguments;
      all.emplace_back("-q");
      if (tree) all.emplace_back("--recursive");
      EXPECT_EQ(run_imgpipe(all, options).exit_code, 0);
      EXPECT_EQ(written(), tree ? (Names{"a.png", "sub/d.png"}) : (Names{"a.png", "d.png"}));
      fs::remove_all(out());
    }
  }
}

TEST_F(BatchCli, ListsThatCannotBeMeant) {
  save_text(file("up"), "../x.png\n");
  expect_refused(run_imgpipe({in(), out(), "--recursive", "--files-from", file("up")}), "leads out of");
  save_text(file("empty"), "");
  EXPECT_EQ(run_imgpipe({in(), out(), "--files-from", file("empty")}).exit_code, 0);
  expect_refused(run_imgpipe({in() + "/a.png", out(), "--files-from", file("empty")}), "not a directory");
  EXPECT_EQ(run_imgpipe({in(), out(), "--files-from", file("missing")}).exit_code, 1);
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(BatchCli, HostileNames) {
  fs::create_directory(file("odd"));
  for (const std::string& name :
       {std::string("new\nline"), std::string("\x1B[31mred"), std::string("\xFF\xFE"), std::string("-q"),
        std::string("a b'\"$(x)"), std::string(240, 'n')})
    fs::copy_file(file("in/a.png"), file("odd/" + name + ".png"));
  save_text(file("odd/bad\n\x1B[31m.png"), "no image");
  const RunResult run =
      run_imgpipe({file("odd"), out(), "--failed-out", file("failed"), "--report", file("r.ndjson")});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(lines(run.err), 1U);
  EXPECT_EQ(printable(run.err.substr(0, run.err.size() - 1)), run.err.substr(0, run.err.size() - 1));
  EXPECT_EQ(written().size(), 6U);
  const std::string failed = load_text(file("failed"));
  EXPECT_EQ(failed, std::string("bad\n\x1B[31m.png") + '\0') << "a newline in a name: ended by NUL";
  std::istringstream report(load_text(file("r.ndjson")));
  std::size_t count = 0;
  for (std::string line; std::getline(report, line); ++count) EXPECT_TRUE(Json::accept(line)) << line;
  EXPECT_EQ(count, 7U);
  // The list of the failed is the next list.
  fs::copy_file(file("in/a.png"), file("odd/bad\n\x1B[31m.png"), fs::copy_options::overwrite_existing);
  EXPECT_EQ(run_imgpipe({file("odd"), out(), "-q", "--files-from", file("failed")}).exit_code, 0);
  EXPECT_EQ(written().size(), 7U);
}

TEST_F(BatchCli, DryRunSaysWhatWouldBeDoneAndDoesNothing) {
  const RunResult run = run_imgpipe({in(), out(), "--recursive", "--dry-run", "--format", "png"});
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_NE(run.out.find(in() + "/sub/deep/e.bmp -> " + out() + "/sub/deep/e.png\n"), std::string::npos)
      << run.out;
  EXPECT_NE(run.out.find("5 to do"), std::string::npos);
  EXPECT_FALSE(fs::exists(out()));
}

// Also where nothing is left to be done, and no device is looked for.
TEST_F(BatchCli, ADeviceThatThereIsNotIsAMistakeBeforeAnyWork) {
  const std::string what = "--device: 'cudaa' is none of auto, cuda";
  expect_refused(run_imgpipe({in(), out(), "--dry-run", "--device", "cudaa"}), what);
  expect_refused(run_imgpipe({"--write-preset", file("p.toml"), "--device", "cudaa"}), what);
  EXPECT_FALSE(fs::exists(file("p.toml")));
  save_text(file("p.toml"), "recursive = true\ndevice = \"cudaa\"\n");
  expect_refused(run_imgpipe({in(), out(), "--dry-run", "--preset", file("p.toml")}), "p.toml:2: " + what);
  ASSERT_EQ(run_imgpipe({in(), out(), "-q", "--update"}).exit_code, 0);
  expect_refused(run_imgpipe({in(), out(), "--update", "--device", "cudaa"}), what);
}

TEST_F(BatchCli, ShardsAreAPartition) {
  for (int i = 0; i < 40; ++i) write("in/n" + std::to_string(i) + ".ppm", 1, 3);
  std::multiset<std::string> all;
  std::size_t smallest = 100;
  for (int shard = 1; shard <= 4; ++shard) {
    const RunResult run =
        run_imgpipe({in(), out(), "--dry-run", "--recursive", "--shard", std::to_string(shard) + "/4"});
    EXPECT_EQ(run.exit_code, 0);
    std::istringstream text(run.out);
    std::size_t count = 0;
    for (std::string line; std::getline(text, line);) {
      if (line.find(" -> ") == std::string::npos) continue;
      all.insert(line);
      ++count;
    }
    smallest = std::min(smallest, count);
  }
  EXPECT_EQ(all.size(), 45U);
  EXPECT_EQ(std::set<std::string>(all.begin(), all.end()).size(), 45U);
  EXPECT_GE(smallest, 4U) << "about even";
  // A part of nothing is done at once.
  EXPECT_EQ(run_imgpipe({in(), out(), "-q", "--include", "a.png", "--shard", "1/64"}).exit_code +
                run_imgpipe({in(), out(), "-q", "--include", "a.png", "--shard", "2/64"}).exit_code,
            0);
}

// ---- what is refused before any work ----------------------------------------------------------------

TEST_F(BatchCli, CollisionsAreFoundBeforeWorkStarts) {
  write("in/a.jpg", 9);
  const RunResult run = run_imgpipe({in(), out(), "--format", "png"});
  expect_refused(run, "would both be written there; add --name '{stem}_{input_ext}.{ext}'");
  EXPECT_FALSE(fs::exists(out()));
  write("in/sub/a.png", 9);
  save_text(file("list"), "a.png\nsub/a.png\n");
  expect_refused(run_imgpipe({in(), out(), "--files-from", file("list")}), "--recursive");
}

TEST_F(BatchCli, OutputsThatAreInputsAreRefused) {
  const auto before = contents(in());
  expect_refused(run_imgpipe({in(), in()}), "is the input itself");
  fs::create_directory_symlink(in(), file("link"));
  expect_refused(run_imgpipe({in(), file("link")}), "is the input itself");
  fs::create_directories(out());
  fs::create_symlink(in() + "/a.png", out() + "/a.png");
  expect_refused(run_imgpipe({in(), out()}), "is the input itself");
  fs::remove(out() + "/a.png");
  fs::create_hard_link(in() + "/b.jpg", out() + "/b.jpg");
  expect_refused(run_imgpipe({in(), out()}), "is the input itself");
  EXPECT_EQ(contents(in()), before);
}

// A file of the user's that has the name of a result is another input, and not a.png itself.
TEST_F(BatchCli, AnOutputThatIsAnotherInputIsToldWithBoth) {
  const std::vector<std::string> run{in(), in(), "-q", "--name", "{stem}_o.png", "--include", "a*.png"};
  fs::copy_file(file("in/sub/d.png"), file("in/a_o.png"));
  expect_refused(run_imgpipe(run), "/in/a_o.png: is an input, and would be replaced by the output of " +
                                       in() + "/a.png; name another folder, or --exclude '*_o.png'");
}

TEST_F(BatchCli, OutputsThatAreLinksToOnePlaceAreRefused) {
  const std::string both = "b.jpg would both be written there";
  fs::create_directories(out());
  // To one file that is there or is not yet there; to another output; through a linked folder.
  save_text(file("one"), "");
  for (const char* target : {"../one", "../later", "a.png"}) {
    fs::create_symlink(target, out() + "/b.jpg");
    if (std::string_view(target) != "a.png") fs::create_symlink(target, out() + "/a.png");
    expect_refused(run_imgpipe({in(), out()}), both);
    fs::remove(out() + "/a.png");
    fs::remove(out() + "/b.jpg");
  }
  fs::create_directories(file("tree/x"));
  fs::create_directories(file("tree/y"));
  for (const char* name : {"tree/x/a.png", "tree/y/a.png"}) fs::copy_file(in() + "/a.png", file(name));
  fs::create_directory(out() + "/x");
  fs::create_directory_symlink("x", out() + "/y");
  expect_refused(run_imgpipe({file("tree"), out(), "--recursive"}), "y/a.png would both be written there");
  EXPECT_EQ(load_text(file("one")), "");
  EXPECT_FALSE(fs::exists(file("later")));
}

TEST_F(BatchCli, OutputsThatLoseNothingMayBeOneFile) {
  // Hard links are replaced one by one; nothing of what a device takes is kept; what is skipped is not
  // written.
  fs::create_directories(out());
  save_text(out() + "/a.png", "");
  fs::create_hard_link(out() + "/a.png", out() + "/b.jpg");
  EXPECT_EQ(run_imgpipe({in(), out(), "-q"}).exit_code, 0);
  EXPECT_NE(load_text(out() + "/a.png"), load_text(out() + "/b.jpg"));
  for (const char* target : {"/dev/null", "c.GIF.ppm"}) {
    for (const char* name : {"/a.png", "/b.jpg"}) {
      fs::remove(out() + name);
      fs::create_symlink(target, out() + name);
    }
    const bool device = fs::is_character_file(out() + "/a.png");
    EXPECT_EQ(run_imgpipe({in(), out(), "-q", device ? "--jobs=1" : "--skip-existing"}).exit_code, 0)
        << target;
  }
}

TEST_F(BatchCli, ReportsThatAreInputsOrOutputsAreRefused) {
  save_text(in() + "/data.json", "taken by --include");
  const std::string input = "is an input itself";
  for (const auto& [option, words] : {std::pair{"--report=" + in() + "/data.json", input},
                                      {"--trace=" + in() + "/sub/../data.json", input},
                                      {"--failed-out=" + in() + "/a.png", input},
                                      {"--failed-out=" + out() + "/a.png", "by --failed-out and by OUTPUT"}})
    expect_refused(run_imgpipe({in(), out(), "--include", "*.json", "--include", "a.png", option}), words);
  EXPECT_EQ(load_text(in() + "/data.json"), "taken by --include");
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(BatchCli, TwoFilesOfOneNameInTheTreeAreACollision) {
  // An absolute and a relative path that end in the same place of the tree.
  const std::string below_root = in().substr(1);
  fs::create_directories(file(below_root));
  fs::copy_file(in() + "/b.jpg", file(below_root + "/a.png"));
  fs::create_directory(out());
  RunOptions here;
  here.folder = folder_.path().string();
  expect_refused(run_imgpipe({in() + "/a.png", below_root + "/a.png", out(), "--recursive"}, here),
                 "would both");
  EXPECT_EQ(run_imgpipe({in() + "/a.png", in() + "/a.png", out(), "-q"}).exit_code, 0)
      << "the same twice is one";
}

TEST_F(BatchCli, AFolderInTheWayIsRefused) {
  fs::create_directories(out() + "/a.png");
  expect_refused(run_imgpipe({in(), out()}), "is a folder");
  expect_refused(run_imgpipe({in(), in() + "/notes.txt"}), "not a directory");
}

TEST_F(BatchCli, OutputInsideInputIsNotTakenAsInput) {
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(run_imgpipe({in(), in() + "/sub/results", "--recursive", "-q"}).exit_code, 0);
    EXPECT_EQ(files_below(in() + "/sub/results").size(), 5U) << round;
  }
}

TEST_F(BatchCli, OptionsForTheOtherKindAreRefused) {
  for (const char* option : {"--compare", "--repeat=3", "--histogram=h.svg", "--keep-stages=x"})
    expect_refused(run_imgpipe({in(), out(), option}), "batch");
  expect_refused(run_imgpipe({in(), out(), "--cpu"}), "--compare is for one image");
  for (const char* option :
       {"--recursive", "--include=x", "--exclude=x", "--shard=1/2", "--failed-out=x", "--report=r.ndjson"})
    expect_refused(run_imgpipe({in() + "/a.png", file("o.png"), option}), "needs a directory as OUTPUT");
  expect_refused(run_imgpipe({in(), "-"}), "not stdout");
  for (const char* option : {"--shard=0/4", "--shard=5/4", "--shard=x", "--shard=auto", "--shard=1/0",
                             "--memory=1M", "--memory=x", "--memory=9999999T", "--jobs=-1"})
    expect_refused(run_imgpipe({in(), out(), option}), "--");
  EXPECT_FALSE(fs::exists(out()));
}

TEST_F(BatchCli, FailFastSaysWhyItEnded) {
  save_text(file("in/aa.png"), "no image");
  const RunResult run = run_imgpipe({in(), out(), "--jobs", "1", "--fail-fast"});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_NE(run.out.find("ended early: an image failed"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("2 not done"), std::string::npos) << run.out;
  EXPECT_EQ(written(), (Names{"a.png"}));
}

TEST_F(BatchCli, NothingToDoIsSaid) {
  fs::create_directory(file("none"));
  expect_refused(run_imgpipe({file("none"), out()}), "no images found");
  save_text(file("none/a.txt"), "x");
  expect_refused(run_imgpipe({file("none"), out()}), "--include");
  EXPECT_FALSE(fs::exists(out()));
}

}  // namespace
}  // namespace imgpipe::test::batch_cli_test
