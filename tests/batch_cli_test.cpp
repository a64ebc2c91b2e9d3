// Batches as their users meet them: what is taken, where it goes, what is refused before any work, what is
// said.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "images/codec.h"
#include "images/synth.h"
#include "images/text.h"
#include "tests/support/files.h"
#include "tests/support/process.h"

namespace imgpipe::test {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

class BatchCli : public testing::Test {
 protected:
  void SetUp() override {
    fs::create_directories(file("in/sub/deep"));
    write("in/a.png", 1);
    write("in/b.jpg", 2);
    write("in/c.GIF.ppm", 3);
    write("in/sub/d.png", 4);
    write("in/sub/deep/e.bmp", 5);
    save_text(file("in/notes.txt"), "no image");
    save_text(file("in/.hidden.png"), "passed over");
  }

  void write(const std::string& name, std::uint64_t seed, std::int64_t width = 40) const {
    const Image image = synthesize(parse_pattern("photo"), {width, 30, 3}, seed);
    const auto writer = make_writer(*format_by_ending(name), image.shape());
    writer->write_rows(image.view());
    save(file(name), writer->finish().joined());
  }
  [[nodiscard]] std::string file(const std::string& name) const { return folder_.file(name); }
  [[nodiscard]] std::string in() const { return file("in"); }
  [[nodiscard]] std::string out() const { return file("out"); }

  // Names below OUTPUT, sorted.
  [[nodiscard]] std::vector<std::string> written() const {
    std::vector<std::string> names;
    if (!fs::exists(out())) return names;
    for (const fs::path& path : files_below(out())) names.push_back(path.lexically_relative(out()).string());
    return names;
  }
  [[nodiscard]] std::map<std::string, std::string> contents(const std::string& folder) const {
    std::map<std::string, std::string> all;
    for (const fs::path& path : files_below(folder))
      all[path.lexically_relative(folder).string()] = load_text(path);
    return all;
  }

  using Names = std::vector<std::string>;
  TemporaryFolder folder_;
};

std::size_t lines(const std::string& text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

void expect_refused(const RunResult& run, const std::string& words) {
  EXPECT_EQ(run.exit_code, 2) << run.err;
  EXPECT_EQ(lines(run.err), 1U) << run.err;
  EXPECT_NE(run.err.find(words), std::string::npos) << run.err;
  EXPECT_EQ(run.out, "");
}

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
    ASSERT_EQ(run_imgpipe({in() + "/" + from, file("one.png"), "-q"}).exit_code, 0);
    EXPECT_EQ(load(file("one.png")), load(out() + "/" + to)) << from;
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
  expect_refused(run_imgpipe({in() + "/a.png", in() + "/b.jpg", file("third")}), "is no folder");
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
  expect_refused(run_imgpipe({in(), out(), "--files-from", file("empty")}), "no images found");
  expect_refused(run_imgpipe({in() + "/a.png", out(), "--files-from", file("empty")}), "is no folder");
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
  RunOptions slurm;
  slurm.environment = {
      {"SLURM_ARRAY_TASK_ID", "7"}, {"SLURM_ARRAY_TASK_MIN", "5"}, {"SLURM_ARRAY_TASK_COUNT", "4"}};
  EXPECT_EQ(run_imgpipe({in(), out(), "--dry-run", "--shard", "auto"}, slurm).out,
            run_imgpipe({in(), out(), "--dry-run", "--shard", "3/4"}).out);
}

// ---- what is refused before any work ----------------------------------------------------------------

TEST_F(BatchCli, CollisionsAreFoundBeforeWorkStarts) {
  write("in/a.jpg", 9);
  const RunResult run = run_imgpipe({in(), out(), "--format", "png"});
  expect_refused(run, "would both be written there");
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
  expect_refused(
      run_imgpipe({in(), file("in2"), "--report", in() + "/a.png.json", "--trace", in() + "/b.jpg"}), "");
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
  expect_refused(run_imgpipe({in(), in() + "/notes.txt"}), "is no folder");
}

TEST_F(BatchCli, OutputInsideInputIsNotTakenAsInput) {
  for (int round = 0; round < 2; ++round) {
    EXPECT_EQ(run_imgpipe({in(), in() + "/sub/results", "--recursive", "-q"}).exit_code, 0);
    EXPECT_EQ(files_below(in() + "/sub/results").size(), 5U) << round;
  }
}

TEST_F(BatchCli, OptionsForTheOtherKindAreRefused) {
  for (const char* option : {"--cpu", "--repeat=3", "--histogram=h.svg", "--keep-stages=x", "--report=r.csv"})
    expect_refused(run_imgpipe({in(), out(), option}), "batch");
  for (const char* option : {"--recursive", "--jobs=2", "--include=x", "--skip-existing", "--shard=1/2",
                             "--dry-run", "--failed-out=x", "--memory=1G", "--fail-fast"})
    expect_refused(run_imgpipe({in() + "/a.png", file("o.png"), option}), "is for a batch");
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

// ---- what a tree may hold ---------------------------------------------------------------------------

TEST_F(BatchCli, LoopsAndSpecialFiles) {
  fs::create_directory_symlink("..", in() + "/sub/up");
  fs::create_directory_symlink(in(), in() + "/self");
  fs::create_symlink("a.png", in() + "/linked.png");
  fs::create_symlink("nowhere", in() + "/dangling.png");
  ::mkfifo(file("in/fifo.png").c_str(), 0600);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const int socket = ::socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_LT(file("in/socket.png").size(), sizeof address.sun_path);
  std::ranges::copy(file("in/socket.png"), address.sun_path);
  ASSERT_EQ(::bind(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  fs::create_symlink("/dev/zero", in() + "/device.png");
  const RunResult run = run_imgpipe({in(), out(), "--recursive"});
  ::close(socket);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(lines(run.err), 4U) << run.err;
  for (const char* bad : {"fifo.png: ", "socket.png: ", "device.png: ", "dangling.png: "})
    EXPECT_NE(run.err.find(bad), std::string::npos) << run.err;
  EXPECT_EQ(written(), (Names{"a.png", "b.jpg", "c.GIF.ppm", "linked.png", "sub/d.png", "sub/deep/e.bmp"}));
}

TEST_F(BatchCli, UnreadableFilesAndFolders) {
  if (::geteuid() == 0) GTEST_SKIP() << "root reads everything";
  fs::permissions(in() + "/a.png", fs::perms::none);
  fs::permissions(in() + "/sub/deep", fs::perms::none);
  const RunResult run = run_imgpipe({in(), out(), "--recursive"});
  fs::permissions(in() + "/sub/deep", fs::perms::owner_all);
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(lines(run.err), 2U) << run.err;
  EXPECT_EQ(written(), (Names{"b.jpg", "c.GIF.ppm", "sub/d.png"}));
}

TEST_F(BatchCli, EveryCorruptFileIsOneLineAndCostsNothingElse) {
  IMGPIPE_NEED_CORPUS();
  constexpr std::size_t kGood = 300;
  fs::create_directory(file("mixed"));
  for (std::size_t i = 0; i < kGood; ++i)
    write("mixed/good" + std::to_string(i) + (i % 2 == 0 ? ".png" : ".jpg"), 100 + i,
          static_cast<std::int64_t>(20 + i % 40));
  ASSERT_EQ(run_imgpipe({file("mixed"), file("clean"), "-q", "--format", "png"}).exit_code, 0);
  const auto clean = contents(file("clean"));
  std::size_t bad = 0;
  for (const char* folder : {"broken", "bombs"}) {
    for (const fs::path& path : files_below(*corpus() / folder)) {
      fs::create_symlink(path, file("mixed/" + std::to_string(bad++) + "_" + path.filename().string()));
    }
  }
  for (const char* jobs : {"1", "2", "8"}) {
    fs::remove_all(out());
    RunOptions patient;
    patient.timeout_s = 300;
    const RunResult run = run_imgpipe({file("mixed"), out(), "--format", "png", "--include", "*", "--jobs",
                                       jobs, "--report", file("r.json")},
                                      patient);
    EXPECT_EQ(run.exit_code, 1) << run.err;
    const Json report = Json::parse(load_text(file("r.json")));
    EXPECT_EQ(report["images"], kGood + bad);
    EXPECT_EQ(report["done"].get<std::size_t>() + report["failed"].get<std::size_t>(), kGood + bad);
    EXPECT_GT(report["failed"], bad / 2);
    EXPECT_EQ(report["done"], written().size());
    std::istringstream errors(run.err);
    std::size_t failures = 0;
    for (std::string line; std::getline(errors, line);) {
      EXPECT_TRUE(line.starts_with("imgpipe: ")) << line;
      EXPECT_EQ(printable(line), line);
      if (!line.starts_with("imgpipe: warning: ")) ++failures;
    }
    EXPECT_EQ(report["failed"], failures);
    const auto all = contents(out());
    for (const auto& [name, bytes] : clean) EXPECT_EQ(all.at(name), bytes) << name;
  }
}

// ---- reports ----------------------------------------------------------------------------------------

TEST_F(BatchCli, ReportsAndTrace) {
  save_text(file("in/z.png"), "no image");
  const RunResult run =
      run_imgpipe({in(), out(), "--recursive", "--report", file("r.json"), "--report", file("r.ndjson"),
                   "--trace", file("t.json"), "--failed-out", file("failed"), "--jobs", "2"});
  EXPECT_EQ(run.exit_code, 1);
  const Json totals = Json::parse(load_text(file("r.json")));
  EXPECT_EQ(totals["images"], 6);
  EXPECT_EQ(totals["done"], 5);
  EXPECT_EQ(totals["failed"], 1);
  EXPECT_EQ(totals["failures"].size(), 1U);
  EXPECT_EQ(totals["pixels"], 5 * 40 * 30);
  EXPECT_GT(totals["images_per_s"], 0);
  EXPECT_GT(totals["image_ms"]["p50"], 0);
  for (const Json& part : totals["parts"]) {
    EXPECT_GT(part["busy_s"], 0);
    EXPECT_GE(part["share"], 0);
    EXPECT_LE(part["share"], 1);
  }
  std::istringstream report(load_text(file("r.ndjson")));
  std::map<std::string, Json> images;
  for (std::string line; std::getline(report, line);) {
    const Json image = Json::parse(line);
    images[image["input"]] = image;
  }
  EXPECT_EQ(images.size(), 6U);
  EXPECT_EQ(images[in() + "/a.png"]["status"], "done");
  EXPECT_EQ(images[in() + "/a.png"]["width_pixels"], 40);
  EXPECT_EQ(images[in() + "/a.png"]["output_bytes"], fs::file_size(out() + "/a.png"));
  EXPECT_EQ(images[in() + "/z.png"]["status"], "failed");
  EXPECT_EQ(load_text(file("failed")), "z.png\n");
  const Json trace = Json::parse(load_text(file("t.json")));
  std::set<std::string> names;
  for (const Json& event : trace) {
    if (event["ph"] != "X") continue;
    names.insert(event["name"]);
    EXPECT_GE(event["dur"], 0);
    EXPECT_TRUE(event["args"].contains("image"));
  }
  for (const char* name : {"read", "decode", "gray", "hist", "contrast", "smooth", "encode", "write"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST_F(BatchCli, AReportThatCannotBeWrittenIsSaidBeforeWorkStarts) {
  for (const char* option : {"--report=/dev/full/r.ndjson", "--trace=/nowhere/t.json"}) {
    const RunResult run = run_imgpipe({in(), out(), option});
    EXPECT_EQ(run.exit_code, 4) << run.err;
    EXPECT_EQ(lines(run.err), 1U);
    EXPECT_FALSE(fs::exists(out()));
  }
}

TEST_F(BatchCli, JobsAndThreadsDoNotChangeABite) {
  ASSERT_EQ(run_imgpipe({in(), file("one"), "--recursive", "-q", "--jobs", "1", "--threads", "1"}).exit_code,
            0);
  const auto expected = contents(file("one"));
  for (const char* jobs : {"2", "3", "16"}) {
    for (const char* device : {"cpu", "reference"}) {
      fs::remove_all(out());
      EXPECT_EQ(run_imgpipe({in(), out(), "--recursive", "-q", "--jobs", jobs, "--device", device}).exit_code,
                0);
      EXPECT_EQ(contents(out()), expected) << jobs << device;
    }
  }
}

// ---- again, and interrupted -------------------------------------------------------------------------

TEST_F(BatchCli, SkipExistingGoesOnWhereARunEnded) {
  ASSERT_EQ(run_imgpipe({in(), out(), "-q"}).exit_code, 0);
  fs::remove(out() + "/b.jpg");
  save_text(out() + "/a.png", "kept");
  save_text(out() + "/.b.jpg.imgpipe-0a1b2c3d", "left by a run that was killed");
  save_text(out() + "/.other.jpg.imgpipe-0a1b2c3d", "another's");
  save_text(out() + "/.b.jpg.imgpipe-short", "no temporary file");
  const RunResult run = run_imgpipe({in(), out(), "--skip-existing"});
  EXPECT_EQ(run.exit_code, 0) << run.err;
  EXPECT_NE(run.out.find("3 images: 1 done, 2 skipped, 0 failed"), std::string::npos) << run.out;
  EXPECT_EQ(load_text(out() + "/a.png"), "kept");
  EXPECT_EQ(written(),
            (Names{".b.jpg.imgpipe-short", ".other.jpg.imgpipe-0a1b2c3d", "a.png", "b.jpg", "c.GIF.ppm"}));
  EXPECT_EQ(run_imgpipe({in(), out(), "--skip-existing", "-q"}).exit_code, 0) << "all skipped is done";
}

TEST_F(BatchCli, AFullDiskEndsTheBatch) {
  fs::create_directories(out());
  if (::mount("tmpfs", out().c_str(), "tmpfs", 0, "size=64k") != 0)
    GTEST_SKIP() << "mounting a small file system needs more rights";
  fs::create_directory(file("many"));
  for (int i = 0; i < 60; ++i) fs::copy_file(file("in/a.png"), file("many/" + std::to_string(i) + ".ppm"));
  const RunResult run = run_imgpipe({file("many"), out(), "--jobs", "2"});
  const Names names = written();
  ::umount(out().c_str());
  EXPECT_EQ(run.exit_code, 4) << run.err;
  EXPECT_NE(run.err.find("No space left"), std::string::npos) << run.err;
  EXPECT_LE(lines(run.err), 2U) << "one for each of the jobs at most";
  EXPECT_NE(run.out.find("ended early"), std::string::npos) << run.out;
  EXPECT_NE(run.out.find("not done"), std::string::npos) << run.out;
  EXPECT_FALSE(names.empty());
  for (const std::string& name : names) EXPECT_EQ(name.find(".imgpipe-"), std::string::npos) << name;
}

TEST_F(BatchCli, ASignalEndsItInOrder) {
  fs::create_directory(file("many"));
  for (int i = 0; i < 300; ++i) write("many/" + std::to_string(i) + ".png", 1, 700);
  for (const auto& [signal, code] : {std::pair{SIGINT, 130}, std::pair{SIGTERM, 143}}) {
    fs::remove_all(out());
    fs::create_directories(out());
    RunOptions options;
    options.signal = signal;
    options.signal_folder = out();
    const RunResult run =
        run_imgpipe({file("many"), out(), "--jobs", "2", "--report", file("r.json")}, options);
    EXPECT_EQ(run.exit_code, code) << run.err;
    EXPECT_FALSE(run.signalled);
    EXPECT_EQ(run.err, "");
    EXPECT_NE(run.out.find("ended early: signal"), std::string::npos) << run.out;
    const Json report = Json::parse(load_text(file("r.json")));
    EXPECT_EQ(report["done"], written().size());
    EXPECT_GT(report["not_done"], 0);
    for (const std::string& name : written()) {
      EXPECT_EQ(name.find(".imgpipe-"), std::string::npos) << name;
      EXPECT_NO_THROW((void)open_reader(load(out() + "/" + name)));
    }
  }
}

TEST_F(BatchCli, KilledAndBegunAgainNothingIsLost) {
  fs::create_directory(file("many"));
  for (int i = 0; i < 120; ++i)
    write("many/" + std::to_string(i) + ".png", static_cast<std::uint64_t>(i), 300);
  ASSERT_EQ(run_imgpipe({file("many"), file("whole"), "-q"}).exit_code, 0);
  const auto expected = contents(file("whole"));
  int killed = 0;
  for (int round = 0; round < 8; ++round) {
    fs::remove_all(out());
    fs::create_directories(out());
    RunOptions kill;
    kill.signal = SIGKILL;
    kill.signal_folder = out();
    killed += run_imgpipe({file("many"), out(), "-q", "--jobs", "3"}, kill).exit_code == 137 ? 1 : 0;
    EXPECT_EQ(run_imgpipe({file("many"), out(), "-q", "--skip-existing"}).exit_code, 0);
    EXPECT_EQ(contents(out()), expected);
  }
  EXPECT_GT(killed, 0);
}

}  // namespace
}  // namespace imgpipe::test
