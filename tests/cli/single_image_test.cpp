// What one image's command line promises about names, streams and folders: nothing is lost by two names for
// one file, by a closed descriptor or by a wrong ending.
#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "images/codecs/codec.h"
#include "images/files/file_identity.h"
#include "images/synth.h"
#include "tests/support/files.h"
#include "tests/support/process.h"

namespace imgpipe::test::single_image_test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

// A folder with one small image, s.png.
class SingleImage : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(run_imgpipe({"synth", file("s.png"), "--pattern", "photo", "--size", "40x30", "-q"}).exit_code,
              0);
    source_ = load_text(file("s.png"));
  }

  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }
  [[nodiscard]] bool exists(const std::string& name) const { return fs::exists(file(name)); }

  [[nodiscard]] RunResult run_here(const std::vector<std::string>& arguments) const {
    RunOptions here;
    here.folder = folder_.path().string();
    return run_imgpipe(arguments, here);
  }

  [[nodiscard]] int bash(const std::string& line) const { return run_bash(line, folder_.path().string()); }

  // Refused before any work: nothing new is there and the image is as it was.
  void expect_refused(const std::vector<std::string>& arguments, const std::string& reason) const {
    const std::vector<std::string> before = folder_.names();
    const RunResult run = run_here(arguments);
    EXPECT_EQ(run.exit_code, 2) << testing::PrintToString(arguments);
    EXPECT_NE(run.err.find(reason), std::string::npos) << run.err;
    EXPECT_EQ(folder_.names(), before) << testing::PrintToString(arguments);
    EXPECT_EQ(load_text(file("s.png")), source_);
  }

  [[nodiscard]] Shape shape_of(const std::string& name) const {
    const std::vector<std::byte> bytes = load(file(name));
    return open_reader(bytes)->header().shape;
  }

  TemporaryFolder folder_;
  std::string source_;
};

// ---- two names for one file ---------------------------------------------------------------------------

TEST_F(SingleImage, TwoResultsWithOneNameAreRefused) {
  fs::create_directory(file("d"));
  fs::create_directory_symlink("d", file("link"));
  fs::create_symlink("d/later.json", file("dangling.json"));
  const std::string both = "would be written by";
  expect_refused({"s.png", "o.png", "--histogram", "h.json", "--report", "h.json"}, both);
  expect_refused({"s.png", "o.png", "--trace", "h.json", "--report", "./h.json"}, both);
  expect_refused({"s.png", "o.png", "--trace", "h.json", "--histogram", "x/../h.json"}, both);
  expect_refused({"s.png", "o.png", "--report", "h.json", "--report", "h.csv", "--report", "h.json"}, both);
  expect_refused({"s.png", "o.json", "--format", "png", "--report", "./o.json"}, both);
  expect_refused({"s.png", "o.json", "--format", "png", "--report", file("o.json")}, both);
  expect_refused({"s.png", "d/o.json", "--format", "png", "--report", "link/o.json"}, both);
  expect_refused({"s.png", "o.png", "--report", "dangling.json", "--trace", "link/later.json"}, both);
  expect_refused({"s.png", "new/x/o.json", "--format", "png", "--report", "new/./x/o.json"}, both);
  EXPECT_TRUE(fs::is_empty(file("d")));
  EXPECT_EQ(run_here({"s.png", "d/o.json", "--format", "png", "--report", "o.json", "-q"}).exit_code, 0)
      << "one name in two folders";
}

TEST_F(SingleImage, ExistingResultsThatAreOneFileAreRefused) {
  save_text(file("a.json"), "{}");
  fs::create_hard_link(file("a.json"), file("b.json"));
  fs::create_symlink("a.json", file("c.json"));
  for (const char* other : {"b.json", "c.json"})
    expect_refused({"s.png", "o.png", "--report", "a.json", "--trace", other}, "would be written by");
}

TEST_F(SingleImage, KeptStagesNeverTakeThePlaceOfInputOrOutput) {
  fs::create_directory(file("d"));
  for (const char* name : {"01_gray.png", "03_contrast.png"}) {
    fs::rename(file("s.png"), file("d/" + std::string(name)));
    fs::create_symlink("d/" + std::string(name), file("s.png"));
    expect_refused({"s.png", "o.png", "--keep-stages", "d"}, "is the input itself");
    expect_refused({"d/" + std::string(name), "o.png", "--keep-stages", "./d/"}, "is the input itself");
    fs::remove(file("s.png"));
    fs::rename(file("d/" + std::string(name)), file("s.png"));
  }
  expect_refused({"s.png", "d/03_contrast.png", "--keep-stages", "d"}, "OUTPUT");
  expect_refused({"s.png", "new.png", "--keep-stages", "new.png"}, "OUTPUT");
  fs::create_symlink("../s.png", file("d/04_smooth.png"));
  expect_refused({"s.png", "o.png", "--keep-stages", "d"}, "is the input itself");
  EXPECT_EQ(
      run_here({"s.png", "d/03_contrast.png", "--keep-stages", "d", "--stages", "gray", "-q"}).exit_code, 0)
      << "no stage is kept under that name";
}

TEST_F(SingleImage, StdinIsAFileLikeAnyOther) {
  for (const char* output : {"s.png", "s.bmp --keep-stages . --stages gray"}) {
    fs::copy_file(file("s.png"), file("01_gray.png"), fs::copy_options::overwrite_existing);
    const std::string input = std::string_view(output) == "s.png" ? "s.png" : "01_gray.png";
    EXPECT_EQ(bash("$I - " + std::string(output) + " -q <" + input + " 2>err"), 2) << output;
    EXPECT_NE(load_text(file("err")).find("is the input itself, stdin"), std::string::npos);
    EXPECT_EQ(load_text(file(input)), source_);
  }
  EXPECT_EQ(bash("$I - - --format png -q <s.png 1<>s.png 2>/dev/null"), 2);
  EXPECT_EQ(bash("cp s.png s.json; $I - o.png -q --report s.json <s.json 2>/dev/null"), 2);
  EXPECT_EQ(load_text(file("s.png")), source_);
  EXPECT_EQ(load_text(file("s.json")), source_);
  EXPECT_EQ(bash("cat s.png | $I - o.png -q"), 0);
  EXPECT_EQ(bash("$I - o.png -q <s.png"), 0);
}

TEST_F(SingleImage, ALoopOfLinksIsNamed) {
  for (const char* name : {"loop.png", "loop.json"}) fs::create_symlink(name, file(name));
  const auto expect_named = [&](const std::vector<std::string>& arguments, int code,
                                const std::string& line) {
    const RunResult run = run_here(arguments);
    EXPECT_EQ(run.exit_code, code) << testing::PrintToString(arguments);
    EXPECT_EQ(run.err.find("imgpipe: " + line), 0U) << run.err;
    EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
    EXPECT_FALSE(exists("o.png"));
  };
  expect_named({"loop.png", "o.png"}, 1, "loop.png: cannot open");
  expect_named({"loop.png", "o.png", "--report", "r.json"}, 1, "loop.png: cannot open");
  expect_named({"s.png", "loop.png"}, 4, "loop.png: cannot follow the link");
  expect_named({"s.png", "o.png", "--report", "loop.json"}, 4, "loop.json: cannot follow the link");
  expect_named({"s.png", "o.png", "--trace", "loop.json"}, 4, "loop.json: cannot follow the link");
  expect_named({"s.png", "o.png", "--histogram", "loop.json"}, 4, "loop.json: cannot follow the link");
  expect_named({"s.png", "o.png", "--keep-stages", "loop.json"}, 4, "loop.json: is no folder");
  expect_named({"s.png", "o.png", "--keep-stages", "loop.json/x"}, 4, "loop.json/x: is no folder");
  expect_named({"s.png", "loop.png/", "--format", "png"}, 4, "loop.png/: is no folder");
  expect_named({"synth", "loop.png", "--pattern", "ramp", "--size", "4x4"}, 4,
               "loop.png: cannot follow the link");
}

// ---- descriptors --------------------------------------------------------------------------------------

TEST_F(SingleImage, ErrorsNeverLandInAResultWhenStderrIsClosed) {
  ASSERT_EQ(bash("mkdir in && cp s.png in/ && head -c 99 s.png >in/bad.png"), 0);
  EXPECT_EQ(bash("$I in out/ -q --report r.ndjson 2>&-"), 1);
  const std::string lines = load_text(file("r.ndjson"));
  std::size_t count = 0;
  for (std::size_t at = 0, end = 0; at < lines.size(); at = end + 1, ++count) {
    end = lines.find('\n', at);
    EXPECT_TRUE(Json::accept(lines.substr(at, end - at))) << lines.substr(at, end - at);
  }
  EXPECT_EQ(count, 2U);
  for (const char* closed : {"<&-", ">&-", "2>&-", "<&- >&- 2>&-"}) {
    EXPECT_EQ(bash("$I s.png o.png -q --trace t.json " + std::string(closed)), 0) << closed;
    EXPECT_TRUE(Json::accept(load_text(file("t.json")))) << closed;
    EXPECT_EQ(shape_of("o.png"), (Shape{40, 30, 1})) << closed;
  }
}

TEST_F(SingleImage, AClosedStreamIsAnErrorWhereItIsNeeded) {
  EXPECT_EQ(bash("$I s.png - --format png -q >&- 2>err"), 4);
  EXPECT_NE(load_text(file("err")).find("stdout: "), std::string::npos);
  EXPECT_EQ(bash("$I s.png /dev/stdout --format png -q >&- 2>/dev/null"), 4);
  EXPECT_EQ(bash("$I s.png o.png >&- 2>/dev/null"), 4) << "the table";
  EXPECT_EQ(bash("$I --version >&- 2>/dev/null"), 4);
  EXPECT_EQ(bash("$I - new.png <&- 2>err"), 1);
  EXPECT_NE(load_text(file("err")).find("stdin: "), std::string::npos);
  EXPECT_EQ(bash("$I s.png o.png -q <&- 2>&-"), 0);
}

TEST_F(SingleImage, OutputMayBeADescriptor) {
  ASSERT_EQ(bash("$I s.png - --format png -q >want.png"), 0);
  const std::string want = load_text(file("want.png"));
  const std::vector<std::string> lines{
      "$I s.png /dev/stdout --format png 2>table | cat >got",
      "$I s.png /dev/stdout --format png 2>table >got",
      "$I s.png /dev/fd/1 --format png 2>table | cat >got",
      "$I s.png /proc/self/fd/1 --format png 2>table | cat >got",
      "$I s.png /dev/fd/7 --format png 7>&1 2>table | cat >got",
      "ln -s /dev/stdout link.png; $I s.png link.png 2>table | cat >got",
      "$I s.png /dev/fd/7 --format png 7>got >table",
      "$I s.png /dev/stderr --format png 2>got >table",
      "$I s.png >(cat >got) --format png >table; wait $!",
  };
  for (const std::string& line : lines) {
    SCOPED_TRACE(line);
    fs::remove(file("got"));
    fs::remove(file("table"));
    EXPECT_EQ(bash("set -o pipefail\n" + line), 0);
    EXPECT_EQ(load_text(file("got")), want);
    EXPECT_NE(load_text(file("table")).find("end to end"), std::string::npos);
  }
  EXPECT_EQ(bash("printf head >got; $I s.png /dev/fd/7 --format png -q 7>>got"), 0);
  EXPECT_EQ(load_text(file("got")), "head" + want) << "a descriptor stands where it stands";
  EXPECT_EQ(bash("$I synth /dev/stdout --pattern ramp --size 4x4 --format ppm | head -c 2 >got"), 0);
  EXPECT_EQ(load_text(file("got")), "P6");
}

TEST_F(SingleImage, ADescriptorNeedsAFormatAndMustBeOpen) {
  EXPECT_EQ(bash("$I s.png /dev/stdout 2>err | cat >got; exit ${PIPESTATUS[0]}"), 2);
  EXPECT_NE(load_text(file("err")).find("--format"), std::string::npos);
  EXPECT_EQ(bash("$I missing.png /dev/fd/77 --format png -q 2>err"), 4) << "before any work";
  EXPECT_NE(load_text(file("err")).find("is no open descriptor"), std::string::npos);
  EXPECT_EQ(bash("$I s.png /dev/fd/7 --format png -q 7<line.sh 2>err"), 4);
  EXPECT_NE(load_text(file("err")).find("not open for writing"), std::string::npos);
}

TEST_F(SingleImage, TheTableNeverMixesWithTheImage) {
  EXPECT_EQ(bash("$I s.png o.png >o.png 2>table"), 0);
  EXPECT_NE(load_text(file("table")).find("end to end"), std::string::npos);
  EXPECT_EQ(shape_of("o.png"), (Shape{40, 30, 1}));
  EXPECT_EQ(bash("$I s.png /dev/null --format png >/dev/null 2>table"), 0);
  EXPECT_EQ(load_text(file("table")), "") << "/dev/null is nobody's file";
}

// ---- formats and folders ------------------------------------------------------------------------------

TEST_F(SingleImage, AFormatThatContradictsTheEndingIsRefused) {
  for (const char* name : {"x.jpg", "x.JPE", "x.gif", "x.psd", "x.ppm"}) {
    expect_refused({"s.png", name, "--format", "png"}, "--format");
    expect_refused({"synth", name, "--pattern", "ramp", "--size", "4x4", "--format", "png"}, "--format");
  }
  for (const auto& [name, format] : {std::pair{"x.jpe", "jpeg"}, {"x.JPG", "jpg"}, {"x.dib", "bmp"}}) {
    EXPECT_EQ(run_here({"s.png", name, "--format", format, "-q"}).exit_code, 0) << name;
    EXPECT_TRUE(exists(name));
  }
  EXPECT_EQ(run_here({"s.png", "x.v2", "--format", "png", "-q"}).exit_code, 0) << "no known ending";
  fs::create_directory(file("d.jpg"));
  EXPECT_EQ(run_here({"s.png", "d.jpg", "--format", "bmp", "-q"}).exit_code, 0) << "a folder has no format";
  EXPECT_TRUE(exists("d.jpg/s.bmp"));
}

TEST_F(SingleImage, AFolderThatIsNotThereIsMade) {
  EXPECT_EQ(run_here({"s.png", "out/", "-q"}).exit_code, 0);
  EXPECT_TRUE(exists("out/s.png"));
  EXPECT_EQ(run_here({"s.png", "a/b//", "-q", "--format", "jpeg"}).exit_code, 0);
  EXPECT_TRUE(exists("a/b/s.jpg"));
  EXPECT_EQ(run_here({"s.png", "bare", "--format", "png", "-q"}).exit_code, 0);
  EXPECT_TRUE(fs::is_regular_file(file("bare"))) << "without a slash it is a file";
  expect_refused({"s.png", "bare/"}, "not a directory");
  expect_refused({"-", "stdin/", "--format", "png"}, "stdin has no name");
  expect_refused({"-", "out", "--format", "png"}, "stdin has no name");
  expect_refused({"s.png", "later/", "--stages", "nonsense"}, "nonsense");
  EXPECT_EQ(run_here({"missing.png", "later/"}).exit_code, 1);
  EXPECT_EQ(run_here({"s.png", "later/", "--histogram", "h.svg", "--stages", "gray"}).exit_code, 2);
  EXPECT_FALSE(exists("later")) << "nothing to put into it";
  EXPECT_EQ(run_here({"s.png", "bare/x/", "-q"}).exit_code, 4);
}

// ---- synth --------------------------------------------------------------------------------------------

TEST_F(SingleImage, SynthTakesItsChannelsFromTheFormat) {
  const auto synth = [&](const std::string& name, std::vector<std::string> more = {}) {
    std::vector<std::string> arguments{"synth", name, "--pattern", "noise", "--size", "31x17"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run_here(arguments);
  };
  for (const auto& [name, channels] : {std::pair{"g.pgm", 1}, {"c.ppm", 3}, {"c.png", 3}, {"c.tga", 3}}) {
    EXPECT_EQ(synth(name).exit_code, 0) << name;
    EXPECT_EQ(shape_of(name), (Shape{31, 17, channels})) << name;
  }
  for (const char* name : {"a.png", "a.tga"}) {
    for (int channels = 1; channels <= 4; ++channels) {
      EXPECT_EQ(synth(name, {"--channels", std::to_string(channels)}).exit_code, 0) << name << channels;
      EXPECT_EQ(shape_of(name).channels, channels) << name;
    }
  }
  EXPECT_EQ(synth("a.bmp", {"--channels", "4"}).exit_code, 0);
  EXPECT_EQ(shape_of("a.bmp").channels, 4);
  for (const char* channels : {"2", "4"}) {
    for (const char* name : {"x.jpg", "x.ppm"})
      EXPECT_NE(synth(name, {"--channels", channels}).err.find("holds no alpha"), std::string::npos) << name;
  }
  EXPECT_NE(synth("x.pgm", {"--channels", "3"}).err.find("--channels 1"), std::string::npos);
  for (const char* channels : {"0", "5", ""})
    EXPECT_EQ(synth("x.png", {"--channels", channels}).exit_code, 2);
  EXPECT_FALSE(exists("x.jpg") || exists("x.ppm") || exists("x.pgm") || exists("x.png"));
}

TEST(SynthAlpha, RisesFromTopToBottomAndLeavesTheColours) {
  for (const Shape size : {Shape{1, 1, 0}, Shape{7, 1, 0}, Shape{1, 5, 0}, Shape{13, 300, 0}}) {
    for (const PatternInfo& info : pattern_table()) {
      for (const int colors : {1, 3}) {
        const Pattern pattern{&info, info.most};
        const Image plain = synthesize(pattern, {size.width, size.height, colors}, 9);
        const Image image = synthesize(pattern, {size.width, size.height, colors + 1}, 9);
        for (std::int64_t y = 0; y < size.height; ++y) {
          const auto alpha = size.height == 1 ? 0 : y * 255 / (size.height - 1);
          for (std::int64_t x = 0; x < size.width; ++x) {
            for (int c = 0; c < colors; ++c)
              ASSERT_EQ(image.view().row(y)[x * (colors + 1) + c], plain.view().row(y)[x * colors + c]);
            ASSERT_EQ(image.view().row(y)[x * (colors + 1) + colors], alpha) << x << "," << y;
          }
        }
      }
    }
  }
}

// ---- histograms ---------------------------------------------------------------------------------------

TEST_F(SingleImage, HistogramsSpeakOfImagesNotOfLayouts) {
  const auto before = [&](std::vector<std::string> more) {
    std::vector<std::string> arguments{"s.png", "o.png", "-q", "--histogram", "h.json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    const RunResult run = run_here(arguments);
    EXPECT_EQ(run.exit_code, 0) << run.err;
    return Json::parse(load_text(file("h.json")))["before"]["image"].get<std::string>();
  };
  EXPECT_EQ(before({}), "the image after gray");
  EXPECT_EQ(before({"--fuse"}), "the image after gray");
  EXPECT_EQ(before({"--stages", "contrast"}), "the image as it was read");
  EXPECT_EQ(before({"--stages", "hist"}), "the image as it was read");
  EXPECT_EQ(before({"--stages", "hist,hist,contrast"}), "the image as it was read");
  EXPECT_EQ(before({"--stages", "smooth,contrast"}), "the image after smooth");
  EXPECT_EQ(before({"--stages", "smooth,hist,contrast,smooth", "--fuse"}), "the image after smooth");
  EXPECT_EQ(before({"--stages", "smooth,gray,smooth,contrast"}), "the image after smooth#2");
}

// ---- identities ---------------------------------------------------------------------------------------

TEST_F(SingleImage, AnIdentityIsOneFileUnderAllItsNames) {
  fs::create_directory(file("d"));
  fs::create_directory_symlink("d", file("link"));
  fs::create_symlink("missing/target", file("dangling"));
  fs::create_symlink("loop", file("loop"));
  const auto same = [&](const std::string& a, const std::string& b) {
    return file_identity(file(a)) == file_identity(file(b));
  };
  EXPECT_TRUE(same("s.png", "./d/../s.png"));
  EXPECT_TRUE(same("d/new", "link/new"));
  EXPECT_TRUE(same("d/new", "link/x/../new"));
  EXPECT_TRUE(same("dangling", "missing/target"));
  EXPECT_FALSE(same("d/new", "new"));
  EXPECT_FALSE(same("d/new", "d/New"));
  EXPECT_FALSE(same("s.png", "d"));
  EXPECT_EQ(file_identity(file("loop")), std::nullopt);
  EXPECT_EQ(descriptor_of(file("loop")), std::nullopt);
  EXPECT_EQ(followed(file("loop")), std::nullopt);
  EXPECT_EQ(file_identity("/dev/null"), std::nullopt);
  EXPECT_EQ(descriptor_of("/dev/stdout"), 1);
  EXPECT_EQ(descriptor_of("/dev/fd/0002"), 2);
  for (const char* path :
       {"/dev/null", "/dev/fd", "/dev/fd/x", "/dev/fd/-1", "/dev/fd/99999999999", "1", "-"})
    EXPECT_EQ(descriptor_of(path), std::nullopt) << path;
}

}  // namespace
}  // namespace imgpipe::test::single_image_test
