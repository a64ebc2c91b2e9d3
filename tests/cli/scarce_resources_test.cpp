// Tests system limits on threads and memory: the work is done, or one line says why not.
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <jpeglib.h>  // after <cstdio>, which it needs
#include <png.h>
#include <unistd.h>

#include "images/codecs/codec.h"
#include "images/synth.h"
#include "tests/support/decoding.h"
#include "tests/support/files.h"
#include "tests/support/gif_file.h"
#include "tests/support/jpeg_file.h"
#include "tests/support/process.h"
#include "tests/support/psd_file.h"
#include "tests/support/sanitizers.h"
#include "tests/support/test_paths.h"
#include "tests/support/tiff_file.h"
#include "tests/support/webp_file.h"

namespace imgpipe::test::scarce_resources_test {
namespace {

namespace fs = std::filesystem;

constexpr Shape kShape{700, 500, 3};

Image photo() {
  return synthesize(parse_pattern("photo"), kShape, 1);
}

void save_as(const std::string& path, Format format) {
  const Image image = photo();
  const auto writer = make_writer(format, image.shape());
  writer->write_rows(image.view());
  save(path, writer->finish().joined());
}

void save_progressive_jpeg(const std::string& path) {
  save(path, make_jpeg({.h = 2, .v = 2, .progressive = true}, photo().view()));
}

void append_to(png_structp png, png_bytep bytes, png_size_t count) {
  auto* file = static_cast<std::vector<std::byte>*>(png_get_io_ptr(png));
  const auto* first = reinterpret_cast<const std::byte*>(bytes);
  file->insert(file->end(), first, first + count);
}

void save_interlaced_png(const std::string& path) {
  Image image = photo();
  std::vector<std::byte> file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(png, &file, append_to, nullptr);
  png_set_compression_level(png, 1);
  png_set_IHDR(png, info, kShape.width, kShape.height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_ADAM7,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(png, info);
  std::vector<png_bytep> rows;
  for (std::int64_t y = 0; y < kShape.height; ++y) rows.push_back(image.view().row(y));
  png_write_image(png, rows.data());
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  save(path, file);
}

class ScarceResources : public testing::Test {
 protected:
  void SetUp() override {
    if (kSanitized) GTEST_SKIP() << "a sanitizer needs more than the limits leave";
    fs::permissions(directory_.path(), fs::perms::all);
    fs::create_directories(file("in"));
    save_as(file("in/a.jpg"), Format::jpeg);
    save_progressive_jpeg(file("in/b.jpg"));
    save_as(file("in/c.png"), Format::png);
    save_interlaced_png(file("in/d.png"));
    save_as(file("in/e.ppm"), Format::ppm);
    save_as(file("in/f.bmp"), Format::bmp);
    save_as(file("in/g.tga"), Format::tga);
    Psd psd{kShape.width, kShape.height};
    Values values(static_cast<std::size_t>(kShape.width * kShape.height));
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<int>(i % 251);
    psd.channels.assign(3, values);
    save(file("in/h.psd"), make_psd(psd));
    Gif gif{kShape.width, kShape.height};
    Indices indices;
    for (int i = 0; i < kShape.width * kShape.height; ++i) indices.push_back(i % 7 % 4);
    save(file("in/i.gif"), make_gif(gif, indices, {}));
    save(file("in/j.webp"), make_webp({true, 1}, photo().view()));
    const Image with_alpha = synthesize(parse_pattern("photo"), {kShape.width, kShape.height, 4}, 1);
    save(file("in/k.webp"), make_webp({false, 2}, with_alpha.view()));
    ASSERT_EQ(bash("$I in want/ -q --format png --device reference"), 0);
    for (const fs::path& path : files_below(file("want"))) want_[path.filename()] = load(path);
    ASSERT_EQ(want_.size(), 11U);
  }

  [[nodiscard]] std::string file(const std::string& name) const { return directory_.file(name); }
  [[nodiscard]] int bash(const std::string& line) const { return run_bash(line, directory_.path().string()); }

  [[nodiscard]] int limited(const std::string& limit, const std::string& arguments) const {
    fs::remove_all(file("out"));
    fs::remove(file("o.png"));
    return bash("ulimit -c 0; ulimit " + limit + "; exec \"$I\" " + arguments + " >out.txt 2>err.txt");
  }

  // Returns the smallest address space, in KiB, in which the program starts.
  [[nodiscard]] long starts_with() const {
    long low = 1 << 10;
    long high = 1 << 18;
    while (high - low > 64) {
      const long middle = (low + high) / 2;
      (limited("-v " + std::to_string(middle), "--version") == 0 ? high : low) = middle;
    }
    return high;
  }

  // After a batch, every image has a correct output or an error line.
  void expect_sound(int code) const {
    std::size_t failed = 0;
    bool as_a_whole = false;
    std::istringstream lines(load_text(file("err.txt")));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_TRUE(line.starts_with("imgpipe: ")) << line;
      if (line.find("warning: cannot start more threads") != std::string::npos) continue;
      EXPECT_NE(line.find("not enough memory"), std::string::npos) << line;
      as_a_whole = as_a_whole || line == "imgpipe: not enough memory";
      ++failed;
    }
    EXPECT_EQ(code, failed == 0 ? 0 : 1);
    std::size_t right = 0;
    if (fs::exists(file("out"))) {
      for (const fs::path& path : files_below(file("out"))) {
        ASSERT_TRUE(want_.contains(path.filename())) << path;
        // --lenient changes the mark, so only samples are compared.
        EXPECT_TRUE(samples(decode(load(path))) == samples(decode(want_.at(path.filename())))) << path;
        ++right;
      }
    }
    EXPECT_TRUE(as_a_whole || right + failed == want_.size()) << right << " right, " << failed << " failed";
  }

  TemporaryDirectory directory_;
  std::map<std::string, std::vector<std::byte>> want_;
};

constexpr int kMoreMegabytes[]{0, 1, 3, 6, 12, 25, 50, 110, 240, 3000};

TEST_F(ScarceResources, BatchWithLittleMemoryIsCorrectOrReportsFailures) {
  const long least = starts_with();
  for (const int more : kMoreMegabytes) {
    for (const char* options :
         {"--jobs 1 --device cpu", "--jobs 8 --threads 8", "--jobs 2 --device reference --lenient"}) {
      SCOPED_TRACE(std::to_string(more) + " MB more, " + options);
      expect_sound(limited("-v " + std::to_string(least + more * 1024L),
                           "in out/ -q --format png " + std::string(options)));
    }
  }
  EXPECT_EQ(load_text(file("err.txt")), "") << "enough, in the end";
}

TEST_F(ScarceResources, ImageWithLittleMemoryIsCorrectOrReportsWhy) {
  const long least = starts_with();
  for (const int more : kMoreMegabytes) {
    for (const char* name : {"a.jpg", "b.jpg", "d.png", "h.psd", "j.webp", "k.webp"}) {
      SCOPED_TRACE(std::to_string(more) + " MB more, " + name);
      const int code = limited("-v " + std::to_string(least + more * 1024L),
                               "in/" + std::string(name) + " o.png -q --lenient --threads 2 --device cpu");
      const std::string said = load_text(file("err.txt"));
      if (code == 0) {
        EXPECT_TRUE(said.empty() || said.find("h.psd: contrast has no range to stretch") != said.npos)
            << said;
        const std::string want = fs::path(name).stem().string() + ".png";
        EXPECT_TRUE(want_.contains(name) ||
                    samples(decode(load(file("o.png")))) == samples(decode(want_.at(want))));
      } else {
        EXPECT_EQ(code, 1);
        EXPECT_FALSE(fs::exists(file("o.png")));
        EXPECT_TRUE(said.starts_with("imgpipe: ")) << said;
        EXPECT_NE(said.find("not enough memory"), std::string::npos) << said;
        EXPECT_EQ(said.find('\n'), said.size() - 1) << said;
      }
    }
  }
}

// Each stack needs several descriptors. Without one, its pages fail with a line; a later run makes the rest.
TEST_F(ScarceResources, StacksWithFewDescriptorsAreCompleteOrReported) {
  constexpr int kPages = 4, kStacks = 6;
  const TiffKind kind{.width = 16, .height = 16};
  fs::create_directories(file("stacks"));
  for (int i = 0; i < kStacks; ++i)
    save(file("stacks/" + std::to_string(i) + ".tif"),
         make_tiff_stack(std::vector<TiffPageSource>(kPages, {kind, Values(256, i)})));
  const std::string arguments = "stacks out/ -q --pages all --format png --jobs 8 --stages invert";
  ASSERT_EQ(limited("-n 1024", arguments), 0) << load_text(file("err.txt"));
  fs::rename(file("out"), file("whole"));
  for (const int descriptors : {12, 14, 18, 24}) {  // bash itself needs 11
    SCOPED_TRACE(descriptors);
    const int code = limited("-n " + std::to_string(descriptors), arguments);
    EXPECT_TRUE(code == 0 || code == 1 || code == 4) << code;
    EXPECT_EQ(code == 0, load_text(file("err.txt")).empty()) << load_text(file("err.txt"));
    fs::create_directories(file("out"));
    for (const fs::path& path : files_below(file("out")))
      EXPECT_EQ(load(path), load(file("whole") / path.filename()));
    EXPECT_EQ(bash("\"$I\" " + arguments + " --skip-existing"), 0);
    EXPECT_EQ(files_below(file("out")).size(), static_cast<std::size_t>(kStacks * kPages));
  }
}

// Processes share a limit: threads available in a trial run may be taken later. Root switches to another
// user, as in terminal_test, because its processes are not limited.
TEST_F(ScarceResources, ProcessesSharingAThreadLimitAllSucceed) {
  const bool root = ::geteuid() == 0;
  if (root && bash("setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null") != 0)
    GTEST_SKIP() << "root has no limit of processes and cannot become another user";
  const std::string user = root ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : "";
  fs::copy_file(kProgram, file("imgpipe"));
  for (const int limit : {5, 7, 9, 12, 20}) {
    SCOPED_TRACE(limit);
    std::string line =
        "for k in 1 2 3 4; do mkdir -p -m 777 out$k; (" + user + "bash -c \"ulimit -u " +
        std::to_string(limit) +
        "; exec ./imgpipe in/c.png o$k.png -q --threads 8 --repeat 3\") 2>err$k.txt & one[$k]=$!; (" + user +
        "bash -c \"ulimit -u " + std::to_string(limit) +
        "; exec ./imgpipe in out$k/ -q --format png --jobs 4 --threads 8\") 2>more$k.txt & "
        "all[$k]=$!; done\n"
        "for k in 1 2 3 4; do wait ${one[$k]} || exit 1; wait ${all[$k]} || exit 2; done";
    EXPECT_EQ(bash(line), 0);
    for (const char* k : {"1", "2", "3", "4"}) {
      EXPECT_EQ(load_text(file("err" + std::string(k) + ".txt")), "");
      EXPECT_EQ(load_text(file("more" + std::string(k) + ".txt")).find("terminate"), std::string::npos);
      EXPECT_TRUE(load(file("o" + std::string(k) + ".png")) == want_.at("c.png"));
      for (const auto& [name, bytes] : want_)
        EXPECT_TRUE(load(file("out" + std::string(k) + "/" + name)) == bytes) << name;
      fs::remove_all(file("out" + std::string(k)));
      fs::remove(file("o" + std::string(k) + ".png"));
    }
  }
}

TEST_F(ScarceResources, EveryCommandRunsOnOneThread) {
  const bool root = ::geteuid() == 0;
  if (root && bash("setpriv --reuid=65534 --regid=65534 --clear-groups true 2>/dev/null") != 0)
    GTEST_SKIP() << "root has no limit of processes and cannot become another user";
  const std::string user = root ? "setpriv --reuid=65534 --regid=65534 --clear-groups " : "";
  fs::copy_file(kProgram, file("imgpipe"));
  fs::copy_file(std::string(kProgram) + "-bench", file("imgpipe-bench"));
  for (const char* arguments :
       {"devices", "devices --json", "synth s.png --pattern photo --size 40x30 -q", "--version",
        "bench --device cpu --threads 4 --stage gray --size 64x64 --repeat 2",
        "in out/ --jobs 8 --threads 8 --format png", "in/c.png o.png --threads 8 --cpu"}) {
    const std::string line =
        user + "bash -c 'ulimit -u 1; exec ./imgpipe " + arguments + "' >out.txt 2>err.txt";
    EXPECT_EQ(bash(line), 0) << arguments << ": " << load_text(file("err.txt"));
  }
  for (const auto& [name, bytes] : want_) EXPECT_TRUE(load(file("out/" + name)) == bytes) << name;
}

}  // namespace
}  // namespace imgpipe::test::scarce_resources_test
