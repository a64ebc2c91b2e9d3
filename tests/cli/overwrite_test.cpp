// What a run may replace: a user's pictures and texts never by a slip, imgpipe's own files always.
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "images/codecs/mark.h"
#include "tests/support/batch_cli.h"
#include "tests/support/places.h"

namespace imgpipe::test::overwrite_test {
namespace {

// a.png, b.jpg and so on are a user's own: nobody's mark is in them.
class Overwrite : public BatchCli {
 protected:
  [[nodiscard]] RunResult run(const std::vector<std::string>& arguments) const {
    RunOptions options;
    options.folder = folder_.path();
    return run_imgpipe(arguments, options);
  }

  // Refused in one line that says what to do, and every file is as it was.
  void expect_kept(const std::vector<std::string>& arguments, const std::string& named,
                   const std::string& words = "--overwrite") const {
    SCOPED_TRACE(testing::PrintToString(arguments));
    const auto before = contents(folder_.path());
    const RunResult result = run(arguments);
    expect_refused(result, words);
    EXPECT_NE(result.err.find(named), std::string::npos) << result.err;
    EXPECT_EQ(contents(folder_.path()), before);
  }

  void expect_done(const std::vector<std::string>& arguments) const {
    SCOPED_TRACE(testing::PrintToString(arguments));
    const RunResult result = run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
  }
};

TEST_F(Overwrite, TwoPicturesOfAUser) {
  expect_kept({"in/a.png", "in/b.jpg"}, "in/b.jpg");
  expect_kept({"in/a.png", "in/b.jpg", "-q"}, "in/b.jpg");
  expect_done({"in/a.png", "in/b.jpg", "-q", "--overwrite"});
  expect_done({"in/a.png", "in/b.jpg", "-q"});
}

TEST_F(Overwrite, ImgpipesOwnImagesAreReplaced) {
  for (const char* name : {"o.png", "o.jpg", "o.bmp", "o.tga", "o.pgm", "o.pnm"}) {
    for (const char* codec : {"auto", "stb"}) {
      expect_done({"in/a.png", name, "-q", "--codec", codec});
      const std::string first = load_text(file(name));
      expect_done({"in/a.png", name, "-q", "--codec", codec});
      EXPECT_EQ(load_text(file(name)), first);
      fs::remove(file(name));
    }
  }
  expect_done({"in/a.png", "o.ppm", "--stages", "smooth", "-q"});
  expect_done({"in/a.png", "o.ppm", "--stages", "smooth", "-q"});
}

// What `imgpipe *.png` is for a shell that finds two results.
TEST_F(Overwrite, AResultOfAnotherSourceIsKept) {
  write("in/g.png", 6);
  for (const char* ending : {"png", "jpg", "tga", "pgm", "tif", "webp"}) {
    const std::string a = std::string("a.") + ending, b = std::string("b.") + ending;
    for (const char* codec : {"auto", "stb"}) {
      expect_done({"in/a.png", a, "-q", "--codec", codec});
      expect_done({"in/b.jpg", b, "-q", "--codec", codec});
      expect_kept({a, b}, b, "is a result of another input; --overwrite replaces it");
      expect_kept({"in/g.png", b}, b, "is a result of another input");
      expect_kept({"in/a.png", "-o", b}, b, "is a result of another input");
      expect_done({"in/b.jpg", b, "-q"});
      fs::copy_file(file("in/b.jpg"), file("same.jpg"), fs::copy_options::overwrite_existing);
      expect_done({"same.jpg", b, "-q"});
      expect_done({"in/a.png", b, "-q", "--overwrite"});
      expect_kept({"in/b.jpg", b}, b, "is a result of another input");
      fs::remove(file(a));
      fs::remove(file(b));
    }
  }
}

TEST_F(Overwrite, AnEditedFileIsTheSameSource) {
  expect_done({"in/a.png", "o.png", "-q"});
  write("in/a.png", 77);
  expect_done({"in/a.png", "o.png", "-q"});
  fs::create_directories(file("elsewhere"));
  write("elsewhere/a.png", 78);
  expect_done({"elsewhere/a.png", "o.png", "-q"});
  write("in/other.png", 79);
  expect_kept({"in/other.png", "o.png"}, "o.png", "is a result of another input");
  expect_kept({"synth", "o.png", "--pattern", "photo", "--size", "20x10"}, "o.png", "another input");
}

// BMP holds no hashes.
TEST_F(Overwrite, APlainMark) {
  expect_done({"in/a.png", "a.bmp", "-q"});
  expect_done({"in/b.jpg", "b.bmp", "-q"});
  expect_done({"in/a.png", "b.bmp", "-q"});
  expect_kept({"a.bmp", "b.bmp"}, "b.bmp", "name it with -o");
  expect_kept({"b.bmp", "a.bmp"}, "a.bmp", "name it with -o");
  expect_done({"a.bmp", "-o", "b.bmp", "-q"});
  expect_done({"a.bmp", "b.bmp", "-q", "--overwrite"});
  expect_done({"a.bmp", "new.bmp", "-q"});
  fs::create_directories(file("next"));
  for (int i = 0; i < 2; ++i) expect_done({"a.bmp", "next/b.bmp", "-q"});
}

// Neither stdin nor a FIFO has a name.
TEST_F(Overwrite, Streams) {
  const auto shell = [&](const std::string& command) {
    return std::system(("cd '" + folder_.path().string() + "' && " + command + " 2>err").c_str());
  };
  const std::string program = std::string("'") + kProgram + "'";
  EXPECT_EQ(shell("cat in/a.png | " + program + " - s.png -q"), 0);
  EXPECT_EQ(shell("cat in/b.jpg | " + program + " - s.png -q"), 0);
  expect_done({"in/a.png", "s.png", "-q"});
  EXPECT_NE(shell("cat in/a.png | " + program + " - s.png -q"), 0);
  EXPECT_NE(load_text(file("err")).find("is a result of another input"), std::string::npos);
}

TEST_F(Overwrite, ABatchOfOtherSources) {
  expect_done({"in", "out", "-q"});
  expect_done({"in", "out", "-q"});
  write("in/a.png", 90);
  expect_done({"in", "out", "-q"});
  write("in/z.png", 91);
  fs::copy_file(file("out/b.jpg"), file("out/z.png"));
  expect_kept({"in", "out"}, "out/z.png", "is a result of another input");
  expect_kept({"in", "out", "--dry-run"}, "out/z.png", "is a result of another input");
  expect_done({"in", "out", "-q", "--skip-existing"});
  fs::remove(file("out/z.png"));
  expect_done({"in/a.png", "in/b.jpg", "out/", "-q"});
  expect_done({"in/*.png", "out", "-q"});
  fs::rename(file("in/a.png"), file("in/1.png"));  // the same content
  fs::rename(file("out/a.png"), file("out/1.png"));
  expect_done({"in", "out", "-q"});
}

// With a new first file {n} gives every name to another source.
TEST_F(Overwrite, NumbersThatMove) {
  expect_done({"in", "out", "-q", "--name", "{n}.png"});
  expect_done({"in", "out", "-q", "--name", "{n}.png"});
  write("in/0.png", 92);
  expect_kept({"in", "out", "--name", "{n}.png"}, "out/1.png", "so are 2 more");
}

TEST_F(Overwrite, AChangedPipelineIsCounted) {
  const auto notices = [&](const std::vector<std::string>& arguments) {
    const RunResult result = run(arguments);
    EXPECT_EQ(result.exit_code, 0) << result.err;
    return result.err;
  };
  expect_done({"in/a.png", "o.png", "-q"});
  EXPECT_EQ(notices({"in/a.png", "o.png"}), "");
  EXPECT_EQ(notices({"in/a.png", "o.png", "--stages", "gray"}),
            "imgpipe: replaces 1 result that was made with other options\n");
  EXPECT_EQ(notices({"in/a.png", "o.png", "--stages", "gray", "--threads", "1"}), "");
  expect_done({"in", "out", "-q"});
  EXPECT_NE(notices({"in", "out", "--stages", "gray"})
                .find("imgpipe: replaces 3 results that were made with other options\n"),
            std::string::npos);
  EXPECT_EQ(notices({"in", "out", "--stages", "gray"}).find("replaces"), std::string::npos);
}

// Results next to their sources are not inputs of the same command.
TEST_F(Overwrite, ResultsNextToTheirSources) {
  fs::remove_all(file("in/sub"));
  const std::vector<std::vector<std::string>> commands{{"in", "in", "--name", "{stem}_g.png"},
                                                       {"in", "in", "--name", "z_{n}.tif"},
                                                       {"in", "in", "--name", "{stem}.webp"}};
  for (const std::vector<std::string>& command : commands) {
    for (const char* more : {"--update", "--skip-existing", "", "--dry-run"}) {
      SCOPED_TRACE(command.back() + more);
      std::vector<std::string> run_again = command;
      if (*more != '\0') run_again.push_back(more);
      const RunResult first = run(run_again);
      EXPECT_EQ(first.exit_code, 0) << first.err;
      const auto made = contents(in());
      const RunResult again = run(run_again);
      EXPECT_EQ(again.exit_code, 0) << again.err;
      EXPECT_NE(again.err.find("3 inputs are results of this command"), std::string::npos) << again.err;
      EXPECT_EQ(contents(in()).size(), made.size());
    }
    for (const fs::path& path : files_below(in()))
      if (find_mark(load(path.string())) != Mark::none) fs::remove(path);
  }
}

TEST_F(Overwrite, WhatIsNoPictureIsKeptToo) {
  save_text(file("text.png"), "words of a user");
  save_text(file("empty.png"), "");
  save_text(file("raw.tga"), std::string("II*\0\1\2\3\4", 8));
  expect_kept({"in/a.png", "text.png"}, "text.png");
  expect_kept({"in/a.png", "raw.tga"}, "raw.tga");
  expect_done({"in/a.png", "empty.png", "-q"});
  expect_done({"in/a.png", "/dev/null", "--format", "png", "-q"});
}

TEST_F(Overwrite, NoClobberReplacesNothing) {
  save_text(file("empty.png"), "");
  expect_kept({"in/a.png", "empty.png", "--no-clobber"}, "empty.png", "--no-clobber");
  expect_done({"in/a.png", "o.png", "-q", "--no-clobber"});
  expect_kept({"in/a.png", "o.png", "--no-clobber"}, "o.png", "--no-clobber");
  expect_kept({"in/a.png", "in/b.jpg", "--no-clobber"}, "in/b.jpg", "--no-clobber");
  expect_kept({"in/a.png", "p.png", "--no-clobber", "--overwrite"}, "exclude each other", "--no-clobber");
  expect_done({"in", "out", "-q", "--no-clobber"});
  expect_kept({"in", "out", "--no-clobber"}, "so are 2 more", "--no-clobber");
  expect_done({"in", "out", "-q", "--no-clobber", "--skip-existing"});
}

TEST_F(Overwrite, Batches) {
  fs::create_directories(out());
  fs::copy_file(file("in/sub/d.png"), file("out/a.png"));
  fs::copy_file(file("in/b.jpg"), file("out/b.jpg"));
  expect_kept({"in", "out"}, "out/a.png");
  expect_kept({"in", "out"}, "so is 1 more");
  expect_kept({"in", "out", "--dry-run"}, "out/a.png");
  expect_done({"in", "out", "-q", "--skip-existing"});
  EXPECT_EQ(load_text(file("out/a.png")), load_text(file("in/sub/d.png")));
  expect_done({"in", "out", "-q", "--overwrite"});
  expect_done({"in", "out", "-q"});
}

TEST_F(Overwrite, KeptStages) {
  fs::create_directories(file("stages"));
  fs::copy_file(file("in/sub/d.png"), file("stages/03_contrast.png"));
  expect_kept({"in/a.png", "o.png", "--keep-stages", "stages"}, "03_contrast.png");
  fs::remove(file("stages/03_contrast.png"));
  expect_done({"in/a.png", "o.png", "--keep-stages", "stages", "-q"});
  expect_done({"in/a.png", "o.png", "--keep-stages", "stages", "-q"});
}

TEST_F(Overwrite, TextsOfOneImage) {
  const std::vector<std::pair<std::string, std::string>> texts{
      {"--report", "r.json"},    {"--report", "r.csv"},    {"--trace", "t.json"},
      {"--histogram", "h.json"}, {"--histogram", "h.csv"}, {"--histogram", "h.svg"}};
  for (const auto& [option, name] : texts) {
    save_text(file(name), "{\"mine\": 1}\n");
    expect_kept({"in/a.png", "o.png", option, name}, name);
    fs::remove(file(name));
    expect_done({"in/a.png", "o.png", option, name, "-q"});
    expect_done({"in/a.png", "o.png", option, name, "-q"});
    expect_done({"in/a.png", "o.png", option, name, "-q", "--overwrite"});
    expect_kept({"in/a.png", "p.png", option, name, "--no-clobber"}, name, "--no-clobber");
  }
}

TEST_F(Overwrite, TextsOfABatch) {
  save_text(file("in/broken.png"), "no picture");
  for (const auto& [option, name] : std::vector<std::pair<std::string, std::string>>{
           {"--report", "r.json"}, {"--report", "r.ndjson"}, {"--trace", "t.json"}}) {
    save_text(file(name), "{\"mine\": 1}\n");
    expect_kept({"in", "out", option, name}, name);
    expect_kept({"in", "out", option, name, "--skip-existing"}, name);
    fs::remove(file(name));
    for (int i = 0; i < 2; ++i) EXPECT_EQ(run({"in", "out", option, name, "-q"}).exit_code, 1);
  }
  fs::copy_file(file("in/a.png"), file("names"));
  expect_kept({"in", "out", "--failed-out", "names"}, "names");
  for (const char* text : {"milk, eggs\n", "int main() {}\n", "a.png\nnotes\n", "\xFF\xFE\1\0"}) {
    save_text(file("names"), text);
    expect_kept({"in", "out", "--failed-out", "names"}, "names");
  }
  for (const char* text : {"some/name.png\n", ""}) {
    save_text(file("names"), text);
    EXPECT_EQ(run({"in", "out", "--failed-out", "names", "-q"}).exit_code, 1);
    EXPECT_EQ(load_text(file("names")), "broken.png\n");
  }
  save_text(file("in/odd.dat"), "no picture");
  for (int i = 0; i < 2; ++i)
    EXPECT_EQ(run({"in", "out", "--include", "*.dat", "--failed-out", "odd", "-q"}).exit_code, 1);
  EXPECT_EQ(load_text(file("odd")), "odd.dat\n");
}

// A list that is read and written keeps what is not done, for whatever reason.
TEST_F(Overwrite, AListThatIsReadAndWritten) {
  save_text(file("in/broken.png"), "no picture");
  const std::string all = "a.png\nb.jpg\nbroken.png\nc.GIF.ppm\n";
  const std::vector<std::string> command{"in", "out", "--files-from", "L", "--failed-out", "L", "-q"};
  save_text(file("L"), all);
  for (const char* part : {"1/2", "2/2"}) {
    std::vector<std::string> shard = command;
    shard.insert(shard.end(), {"--shard", part});
    (void)run(shard);
  }
  EXPECT_EQ(load_text(file("L")), "broken.png\n") << "each part takes its own off the list";
  save_text(file("L"), all);
  std::vector<std::string> some = command;
  some.insert(some.end(), {"--exclude", "*.jpg"});
  EXPECT_EQ(run(some).exit_code, 1);
  EXPECT_EQ(load_text(file("L")), "b.jpg\nbroken.png\n");
  EXPECT_EQ(run(command).exit_code, 1);
  EXPECT_EQ(load_text(file("L")), "broken.png\n");
}

// The file appears while the image is on its way.
TEST_F(Overwrite, AFileThatAppearsMeanwhile) {
  for (const char* option : {"", "--no-clobber"}) {
    fs::remove(file("o.png"));
    const std::string command = "cd '" + folder_.path().string() +
                                "' && (sleep 0.3; cp in/b.jpg o.png; cat in/a.png) | '" + kProgram +
                                "' - o.png -q " + option + " 2>err";
    EXPECT_NE(std::system(command.c_str()), 0);
    EXPECT_EQ(load_text(file("o.png")), load_text(file("in/b.jpg")));
    EXPECT_NE(load_text(file("err")).find("imgpipe: o.png: is there already"), std::string::npos);
  }
}

// The same in a batch: one that waits for its file makes the time for it.
TEST_F(Overwrite, AFileThatAppearsDuringABatch) {
  // Large enough that its stages outlast the sleep; the other output is made while it is on its way.
  expect_done({"synth", "in/0.png", "--pattern", "noise", "--size", "6000x4000", "-q"});
  const std::string command = "cd '" + folder_.path().string() + "' && ('" + kProgram +
                              "' in out -q --jobs 1 2>err & while [ ! -e out ]; do sleep 0.01; done; "
                              "cp in/b.jpg out/b.jpg; wait $!)";
  EXPECT_NE(std::system(command.c_str()), 0);
  EXPECT_EQ(load_text(file("out/b.jpg")), load_text(file("in/b.jpg")));
  EXPECT_NE(load_text(file("err")).find("out/b.jpg: is there already"), std::string::npos)
      << load_text(file("err"));
  EXPECT_TRUE(fs::exists(file("out/a.png"))) << "the others are done";
}

TEST_F(Overwrite, ABatchWaitsForNoReader) {
  fs::create_directories(out());
  ASSERT_EQ(::mkfifo(file("out/a.png").c_str(), 0600), 0);
  expect_refused(run({"in", "out"}), "is no regular file");
}

// Test images are inputs: a pipeline's run does not take them for its own.
TEST_F(Overwrite, TestImages) {
  const std::vector<std::string> synth{"synth", "s.png", "--pattern", "photo", "--size", "20x10"};
  expect_done(synth);
  expect_done(synth);
  expect_kept({"in/a.png", "s.png"}, "s.png");
  expect_done({"in/a.png", "o.bmp", "-q"});
  expect_done({"synth", "o.bmp", "--pattern", "photo", "--size", "20x10"});
  expect_done({"in/a.png", "o.png", "-q"});
  expect_kept({"synth", "o.png", "--pattern", "photo", "--size", "20x10"}, "o.png", "another input");
  expect_kept({"synth", "in/a.png", "--pattern", "photo", "--size", "20x10"}, "in/a.png");
}

TEST_F(Overwrite, PlotsOfTheLab) {
  const std::vector<std::string> bench{"bench",     "--stage",  "hist", "--size", "64x64", "--device",
                                       "reference", "--repeat", "1",    "--plot", "p.svg"};
  save_text(file("p.svg"), "<svg xmlns=\"http://www.w3.org/2000/svg\"/>");
  expect_kept(bench, "p.svg");
  fs::remove(file("p.svg"));
  expect_done(bench);
  expect_done(bench);
}

}  // namespace
}  // namespace imgpipe::test::overwrite_test
