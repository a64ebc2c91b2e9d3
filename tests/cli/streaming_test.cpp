// Large files are neither read nor written as a whole: raw Netpbm inputs are read row by row, outputs written
// while encoding. Validation and the leftovers of a failed image are the same as with whole files.
#include <filesystem>
#include <functional>

#include <gtest/gtest.h>
#include <malloc.h>

#include "images/codecs/codec.h"
#include "images/error.h"
#include "images/formats/pending_input.h"
#include "images/synth.h"
#include "pipeline/jobs/batch.h"
#include "tests/support/files.h"
#include "tests/support/process.h"
#include "tests/support/sanitizers.h"

namespace imgpipe::test::streaming_test {
namespace {

using Bytes = std::vector<std::byte>;
using Strings = std::vector<std::string>;

// ---- inputs -------------------------------------------------------------------------------------------

// The width of the Netpbm files; the tests choose heights that make every file larger than 1 MB.
constexpr std::int64_t kWidth = 1203;

Bytes raw_netpbm(int kind, int maxval, std::int64_t height) {
  const std::string head = "P" + std::to_string(kind) + "\n# a comment\n" + std::to_string(kWidth) + " " +
                           std::to_string(height) + (kind == 4 ? "\n" : "\n" + std::to_string(maxval) + "\n");
  const std::int64_t row =
      kind == 4 ? (kWidth + 7) / 8 : kWidth * (kind == 6 ? 3 : 1) * (maxval > 255 ? 2 : 1);
  const auto first = std::as_bytes(std::span(head));
  Bytes file(first.begin(), first.end());
  std::uint32_t state = 1;
  for (std::int64_t i = 0; i < row * height; ++i) {
    state = state * 1664525 + 1013904223;
    file.push_back(static_cast<std::byte>((state >> 24) % (maxval < 255 ? maxval + 1U : 251U)));
  }
  return file;
}

struct Found {
  std::vector<Sample8> samples;
  Strings warnings;
  std::string error;
};

Found read(const std::function<std::unique_ptr<Reader>()>& open, std::int64_t band) {
  Found found;
  try {
    const auto reader = open();
    const Shape shape = reader->header().shape;
    Image image(shape);
    for (std::int64_t y = 0; y < shape.height; y += band)
      reader->read_rows(image.view().rows(y, std::min(band, shape.height - y)));
    found.samples.assign(image.view().data, image.view().data + shape.samples());
    found.warnings = reader->warnings();
  } catch (const Error& error) {
    found.error = error.what();
  }
  return found;
}

class RowsFromFile : public testing::Test {
 protected:
  // Reads by rows from a file and from memory, and expects the same result.
  void expect_same(const Bytes& bytes, const std::string& what) const {
    save(path_, bytes);
    for (const bool lenient : {false, true}) {
      DecodeOptions options;
      options.accept = lenient ? Acceptance::lenient : Acceptance::strict;
      for (const std::int64_t band : {std::int64_t{7}, std::int64_t{1} << 20}) {
        const Found whole = read([&] { return open_reader(bytes, options); }, band);
        InputFile input;
        const Found rows = read(
            [&] {
              input = open_input(path_, options, InputKind::any);
              EXPECT_FALSE(input.is_whole());
              EXPECT_EQ(input.size_bytes(), static_cast<std::int64_t>(bytes.size()));
              return open_reader(input, options);
            },
            band);
        EXPECT_EQ(rows.error, whole.error) << what;
        EXPECT_EQ(rows.warnings, whole.warnings) << what;
        EXPECT_TRUE(rows.samples == whole.samples) << what << ", bands of " << band;
      }
    }
  }

  TemporaryDirectory directory_;
  std::string path_ = directory_.file("image");
};

TEST_F(RowsFromFile, EqualRowsFromMemory) {
  for (const auto& [kind, maxval, height] :
       {std::tuple{4, 1, 7100}, std::tuple{5, 255, 901}, std::tuple{5, 100, 901}, std::tuple{5, 65535, 503},
        std::tuple{6, 255, 307}, std::tuple{6, 1000, 203}}) {
    const std::string name = "P" + std::to_string(kind) + " of " + std::to_string(maxval);
    const Bytes file = raw_netpbm(kind, maxval, height);
    expect_same(file, name);
    Bytes spaced = file;
    spaced.insert(spaced.end(), 200'000, std::byte{'\n'});
    expect_same(spaced, name + ", white space after");
    Bytes twice = spaced;
    twice.insert(twice.end(), file.begin(), file.end());
    expect_same(twice, name + ", another image after");
    Bytes more = file;
    more.push_back(std::byte{7});
    expect_same(more, name + ", a byte after");
    expect_same(Bytes(file.begin(), file.end() - 3000), name + ", cut");
    expect_same(Bytes(file.begin(), file.end() - 1), name + ", a byte short");
  }
}

TEST_F(RowsFromFile, BadSampleIsReportedAtItsPosition) {
  Bytes file = raw_netpbm(6, 100, 400);
  file[file.size() - 5] = std::byte{200};
  expect_same(file, "a sample beyond the maximum");
}

TEST_F(RowsFromFile, FileCutDuringReadingIsTruncated) {
  for (const int maxval : {255, 100}) {
    const Bytes file = raw_netpbm(6, maxval, 400);
    for (const bool lenient : {false, true}) {
      save(path_, file);
      DecodeOptions options;
      options.accept = lenient ? Acceptance::lenient : Acceptance::strict;
      const InputFile input = open_input(path_, options, InputKind::any);
      const Found found = read(
          [&] {
            auto reader = open_reader(input, options);
            std::filesystem::resize_file(path_, 700'000);
            return reader;
          },
          16);
      if (lenient) {
        EXPECT_EQ(found.error, "");
        ASSERT_EQ(found.warnings.size(), 1U);
        EXPECT_EQ(found.samples.back(), 128);
      } else {
        EXPECT_EQ(found.error, "Netpbm: the file is truncated");
      }
    }
  }
}

TEST_F(RowsFromFile, SmallPlainOrLongHeaderFilesAreReadWhole) {
  const std::string plain = "P2 1000 1000 9 " + std::string(1'000'000, '1') + " ";
  std::string spread;
  for (int i = 0; i < 1'000'000; ++i) spread += "1 ";
  const std::string comment =
      "P5 #" + std::string(100'000, 'x') + "\n1500 1000 255\n" + std::string(1'500'000, 'p');
  for (const std::string& text : {std::string("P5 2 2 255 abcd"), "P2 1000 1000 9 " + spread, comment}) {
    save_text(path_, text);
    const InputFile input = open_input(path_, {}, InputKind::any);
    EXPECT_TRUE(input.is_whole());
    EXPECT_EQ(PendingInput(path_, {}, InputKind::any).held_bytes(), static_cast<std::int64_t>(text.size()));
    EXPECT_EQ(read([&] { return open_reader(input, {}); }, 16).error, "");
  }
  save(path_, raw_netpbm(6, 255, 400));
  EXPECT_EQ(PendingInput(path_, {}, InputKind::any).held_bytes(), 1 << 16);
  DecodeOptions few;
  few.max_pixels = 1000;
  EXPECT_THROW((void)open_input(path_, few, InputKind::any), Error);
}

// ---- outputs ------------------------------------------------------------------------------------------

// An image of 12 million pixels whose last sample is invalid: it fails after most of the output is written.
class LargeOutput : public testing::Test {
 protected:
  void make_bad(const std::string& name) const {
    Bytes file = [] {
      const std::string head = "P5 4000 3000 200\n";
      const auto first = std::as_bytes(std::span(head));
      return Bytes(first.begin(), first.end());
    }();
    file.resize(file.size() + 12'000'000, std::byte{90});
    file.back() = std::byte{201};
    save(in_.file(name), file);
  }

  static BatchSettings settings() {
    BatchSettings batch;
    batch.stages = {};
    batch.jobs = 2;
    return batch;
  }

  // Runs a batch whose only image is IN/bad.pgm, to OUT/o.pgm.
  [[nodiscard]] BatchResult run_one(BatchSettings batch) const {
    const std::vector<BatchItem> items{{in_.file("bad.pgm"), out_.file("o.pgm"), Format::pgm}};
    Batch run(items, std::move(batch));
    std::optional<BatchResult> result;
    while (!result) result = run.next(std::chrono::milliseconds(100));
    return *result;
  }

  TemporaryDirectory in_, out_;
};

TEST_F(LargeOutput, FailingImageLeavesNoOutput) {
  make_bad("bad.pgm");
  for (const char* threads : {"1", "3"}) {
    const RunResult run = run_imgpipe({in_.file("bad.pgm"), out_.file("o.pgm"), "--stages", "gray",
                                       "--threads", threads, "--device", "cpu"});
    EXPECT_EQ(run.exit_code, 1) << run.err;
    EXPECT_NE(run.err.find("bad.pgm: Netpbm: a sample is larger"), std::string::npos) << run.err;
    EXPECT_EQ(out_.names(), Strings{});
  }
  const BatchResult result = run_one(settings());
  EXPECT_EQ(result.failed, ErrorKind::input);
  EXPECT_EQ(result.output_bytes, 0);
  EXPECT_EQ(out_.names(), Strings{});
}

// The last strip or tile of a TIFF has a wrong checksum; the first rows of the output are written by then.
TEST_F(LargeOutput, FailingTiffLeavesNoOutput) {
  for (const std::string tile : {"0", "256"}) {
    const std::string name = "bad" + tile + ".tif";
    ASSERT_EQ(run_imgpipe(
                  {"synth", in_.file(name), "--pattern", "photo", "--size", "4000x3000", "--tiff-tile", tile})
                  .exit_code,
              0);
    Bytes file = load(in_.file(name));
    file.back() ^= std::byte{1};  // of its checksum
    save(in_.file(name), file);
    for (const char* threads : {"1", "3"}) {
      for (const std::string stages : {"gray,smooth", "resize:1000"}) {
        const RunResult run = run_imgpipe({in_.file(name), out_.file("o.tif"), "--stages", stages,
                                           "--threads", threads, "--device", "cpu"});
        EXPECT_EQ(run.exit_code, 1) << run.err;
        EXPECT_EQ(run.err.find("imgpipe: " + in_.file(name) + ": TIFF: "), 0U) << run.err;
        EXPECT_EQ(std::ranges::count(run.err, '\n'), 1) << run.err;
        EXPECT_EQ(out_.names(), Strings{});
      }
    }
  }
}

TEST_F(LargeOutput, KeepsTheOldFileIfTheImageFails) {
  make_bad("bad.pgm");
  save_text(out_.file("o.pgm"), "old");
  EXPECT_EQ(run_one(settings()).failed, ErrorKind::input);
  EXPECT_EQ(load_text(out_.file("o.pgm")), "old");
  EXPECT_EQ(out_.names(), Strings{"o.pgm"});
}

// The check runs when everything but the rename is done.
TEST_F(LargeOutput, IsNotRenamedIfTheFinalCheckFails) {
  make_bad("bad.pgm");
  BatchSettings batch = settings();
  batch.decode.accept = Acceptance::lenient;
  std::size_t files_then = 0;
  batch.before_write = [&](const std::string&, const Mark&) {
    files_then = out_.names().size();
    throw Error(ErrorKind::output, "was made by another process");
  };
  const BatchResult result = run_one(std::move(batch));
  EXPECT_EQ(result.failed, ErrorKind::output);
  EXPECT_EQ(result.reason, out_.file("o.pgm") + ": was made by another process");
  EXPECT_EQ(files_then, 1U);  // the temporary file
  EXPECT_EQ(out_.names(), Strings{});
}

TEST_F(LargeOutput, FullDiskIsAnOutputError) {
  ASSERT_EQ(
      run_imgpipe({"synth", in_.file("good.ppm"), "--pattern", "photo", "--size", "4000x3000"}).exit_code, 0);
  RunOptions limited;
  limited.file_size_limit = 5'000'000;
  const RunResult run =
      run_imgpipe({in_.file("good.ppm"), out_.file("o.ppm"), "--stages", "gray", "--device", "cpu"}, limited);
  EXPECT_EQ(run.exit_code, 4);
  EXPECT_NE(run.err.find("o.ppm: cannot write"), std::string::npos) << run.err;
  EXPECT_EQ(run.err.find("good.ppm"), std::string::npos) << run.err;
  EXPECT_EQ(out_.names(), Strings{});
}

TEST_F(LargeOutput, StandardOutputReceivesTheSameBytes) {
  ASSERT_EQ(
      run_imgpipe({"synth", in_.file("good.ppm"), "--pattern", "photo", "--size", "4000x3000"}).exit_code, 0);
  for (const std::string ending : {"ppm", "png", "jpg", "tif"}) {
    const std::string file = out_.file("o." + ending);
    const Strings common{"--stages", "gray", "--device", "cpu", "--quiet"};
    Strings to_file{in_.file("good.ppm"), file};
    to_file.insert(to_file.end(), common.begin(), common.end());
    ASSERT_EQ(run_imgpipe(to_file).exit_code, 0);
    Strings to_stdout{in_.file("good.ppm"), "-", "--format",
                      ending == "jpg"   ? "jpeg"
                      : ending == "tif" ? "tiff"
                                        : ending};
    to_stdout.insert(to_stdout.end(), common.begin(), common.end());
    RunOptions into;
    into.stdout_path = out_.file("stdout." + ending);
    ASSERT_EQ(run_imgpipe(to_stdout, into).exit_code, 0);
    EXPECT_TRUE(load(file) == load(*into.stdout_path)) << ending;
  }
}

// ---- memory -------------------------------------------------------------------------------------------

// 1 GP takes 2.2 GB from PPM and 1.3 GB from JPEG. Here 40 MP take a proportional amount, plus the program.
TEST_F(LargeOutput, PeakMemoryIsFarBelowFileSizes) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer keeps freed memory";
  constexpr double kPixels = 8000.0 * 5000;
  constexpr double kProgram = 24 << 20;
  malloc_trim(0);  // memory freed by earlier tests would count as the forked child's
  ASSERT_EQ(run_imgpipe({"synth", in_.file("i.ppm"), "--pattern", "photo", "--size", "8000x5000"}).exit_code,
            0);
  ASSERT_EQ(run_imgpipe({"synth", in_.file("i.jpg"), "--pattern", "photo", "--size", "8000x5000"}).exit_code,
            0);
  for (const auto& [name, bytes_per_pixel] : {std::pair{"i.ppm", 2.2}, std::pair{"i.jpg", 1.3}}) {
    const RunResult run =
        run_imgpipe({in_.file(name), out_.file("o.pgm"), "--device", "cpu", "--quiet", "--threads", "2"});
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_LT(static_cast<double>(run.max_rss_bytes), kPixels * bytes_per_pixel + kProgram) << name;
    std::filesystem::remove(out_.file("o.pgm"));
  }
}

// Memory for the compressed file, some rows of strips or tiles, and the program, but not for 120 MB of pixels
// or 40 MB of output. The image is tall and narrow: a row of tiles, 256 pixels high, takes 1.5 MB.
TEST_F(LargeOutput, PeakMemoryOfATiffIsNearItsFileSize) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer keeps freed memory";
  constexpr std::int64_t kRoom = std::int64_t{56} << 20;
  malloc_trim(0);
  for (const std::string tile : {"0", "256"}) {
    ASSERT_EQ(run_imgpipe({"synth", in_.file("i.tif"), "--pattern", "photo", "--size", "2000x20000",
                           "--tiff-tile", tile, "--overwrite"})
                  .exit_code,
              0);
    const auto file = static_cast<std::int64_t>(std::filesystem::file_size(in_.file("i.tif")));
    for (const std::string stages : {"gray,smooth", "smooth", "resize:1000"}) {
      const RunResult run =
          run_imgpipe({in_.file("i.tif"), out_.file("o.tif"), "--stages", stages, "--tiff-tile", tile,
                       "--device", "cpu", "--quiet", "--threads", "2", "--overwrite"});
      ASSERT_EQ(run.exit_code, 0) << run.err;
      EXPECT_LT(run.max_rss_bytes, file + kRoom) << stages << ", tiles of " << tile;
    }
  }
}

}  // namespace
}  // namespace imgpipe::test::streaming_test
