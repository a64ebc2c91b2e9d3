// Endless streams, and the notices about profiles and further images.
#include <algorithm>
#include <atomic>
#include <initializer_list>
#include <iterator>
#include <thread>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "images/codecs/codec.h"
#include "images/codecs/png/deflate.h"
#include "images/error.h"
#include "images/files/file.h"
#include "tests/support/file_parts.h"
#include "tests/support/files.h"
#include "tests/support/process.h"
#include "tests/support/profiles.h"
#include "tests/support/sanitizers.h"

namespace imgpipe::test::input_streams_test {
namespace {

constexpr std::int64_t kPipeBytes = std::int64_t{1} << 20;  // more than the capacity of a pipe

// A FIFO that delivers the given bytes, then zeros until the reader closes its end (at most 2 GiB).
class EndlessFifo {
 public:
  EndlessFifo(const std::string& path, Bytes beginning) : path_(path) {
    ::signal(SIGPIPE, SIG_IGN);
    if (::mkfifo(path.c_str(), 0600) != 0) throw std::runtime_error("mkfifo");
    writer_ = std::thread([this, first = std::move(beginning)] { write_all(first); });
  }
  ~EndlessFifo() { writer_.join(); }
  EndlessFifo(const EndlessFifo&) = delete;
  EndlessFifo& operator=(const EndlessFifo&) = delete;

  // Waits until the reader has closed its end, then returns the number of bytes written.
  [[nodiscard]] std::int64_t bytes_taken() {
    while (!ended_) ::usleep(1000);
    return written_;
  }

 private:
  void write_all(const Bytes& first) {
    constexpr std::int64_t kFar = std::int64_t{2} << 30;  // a reader that takes this much has no limit
    const int fd = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    const Bytes zeros(std::size_t{1} << 16);
    ssize_t wrote = ::write(fd, first.data(), first.size());
    while (wrote >= 0 && written_ < kFar) {
      written_ += wrote;
      wrote = ::write(fd, zeros.data(), zeros.size());
    }
    ::close(fd);
    ended_ = true;
  }

  std::string path_;
  std::atomic<std::int64_t> written_{0};
  std::atomic<bool> ended_{false};
  std::thread writer_;
};

std::string read_reason(const std::string& path, const DecodeOptions& options) {
  try {
    (void)read_file(path, max_file_bytes(options),
                    [&](std::span<const std::byte> beginning) { return longest_file(beginning, options); });
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::input);
    return error.what();
  }
  return "";
}

TEST(InputStreams, UnknownContentIsRejectedByItsFirstBytes) {
  const TemporaryDirectory directory;
  for (const char* beginning : {"", "II*", "nonsense", "P8 3 3"}) {
    const std::string path =
        directory.file(std::string("fifo") + std::to_string(std::string_view(beginning).size()));
    EndlessFifo fifo(path, bytes_of(beginning));
    EXPECT_NE(read_reason(path, {}), "") << beginning;
    EXPECT_LE(fifo.bytes_taken(), 65536 + kPipeBytes);
  }
}

// LimitFollowsTheHeader covers the other formats.
TEST(InputStreams, HeaderLimitsTheBytesRead) {
  const TemporaryDirectory directory;
  DecodeOptions options;
  for (const Format format : {Format::jpeg, Format::ppm}) {
    const std::string path = directory.file(std::string(format_info(format).name));
    EndlessFifo fifo(path, encoded(format));
    const std::string reason = read_reason(path, options);
    EXPECT_TRUE(reason.starts_with("too long: more than ")) << reason;
    EXPECT_LE(fifo.bytes_taken(), kMaxMetadataBytes + 16 * 12 * 18 + kPipeBytes) << path;
  }
}

TEST(InputStreams, ExcessiveSizeIsRejectedAtOnce) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("fifo");
  EndlessFifo fifo(path, bytes_of("P5 #comment\n100000\n100000 255\n"));
  EXPECT_EQ(read_reason(path, {}), "too large: 100000x100000 pixels; raise --max-pixels (now 268435456)");
  EXPECT_LE(fifo.bytes_taken(), 65536 + kPipeBytes);
}

TEST(InputStreams, LimitFollowsTheHeader) {
  const DecodeOptions options;
  const auto limit = [&](const Bytes& beginning) {
    return longest_file(beginning, options) - kMaxMetadataBytes;
  };
  EXPECT_EQ(limit(bytes_of("P5\n# 7 8\n30 20\n255\n")), 30 * 20 * 18);
  EXPECT_EQ(limit(bytes_of("P5\n30 2")), 0) << "a number that may go on";
  EXPECT_EQ(limit(encoded(Format::jpeg)), 16 * 12 * 8);
  const Bytes jpeg = encoded(Format::jpeg);
  EXPECT_EQ(limit({jpeg.begin(), jpeg.begin() + 20}), 0) << "no frame header yet";
  EXPECT_EQ(limit(encoded(Format::png)), 16 * 12 * 8);
  EXPECT_EQ(limit(encoded(Format::bmp)), 16 * 12 * 8);
  EXPECT_EQ(limit(encoded(Format::tga)), 16 * 12 * 8);
  const std::string gif("GIF89a\x04\0\x03\0\0\0\0,\0\0\0\0\4\0\3\0\0\2\1\7\0;", 28);
  EXPECT_EQ(limit(bytes_of(gif)), 4 * 3 * 8 + 28) << "to its trailer";
  EXPECT_EQ(limit(bytes_of(gif + std::string(100, '\0'))), 4 * 3 * 8 + 28);
  const std::string padded = gif.substr(0, 27) + std::string(5, '\0') + ";";
  EXPECT_EQ(limit(bytes_of(padded)), 4 * 3 * 8 + 33) << "zeros between blocks";
  EXPECT_EQ(longest_file(bytes_of(gif.substr(0, 27)), options), max_file_bytes(options))
      << "more frames may come";
  // 5 channels, 3 rows of 4 pixels; 1 MB of layers.
  std::string psd = std::string("8BPS\0\1", 6) + std::string(6, '\0') +
                    std::string("\0\5\0\0\0\3\0\0\0\4\0\x10\0\3", 14) + std::string(8, '\0');
  EXPECT_EQ(limit(bytes_of(psd)), 4 * 3 * 10 + 38) << "up to the length of the layers";
  psd += std::string("\0\x10\0\0", 4);
  EXPECT_EQ(limit(bytes_of(psd)), 4 * 3 * 10 + 38 + (1 << 20));
  // The same file as PSB, whose layer section has an eight-byte length.
  psd.replace(5, 1, "\2");
  psd.replace(34, 4, std::string("\0\0\0\0\0\x10\0\0", 8));
  EXPECT_EQ(limit(bytes_of(psd)), 4 * 3 * 10 + 42 + (1 << 20));
  psd.replace(34, 8, std::string(8, '\xFF'));
  EXPECT_EQ(longest_file(bytes_of(psd), options), max_file_bytes(options));
  EXPECT_THROW((void)limit(bytes_of("nothing")), Error);
  DecodeOptions few;
  few.max_pixels = 100;
  EXPECT_THROW((void)longest_file(encoded(Format::png), few), Error);
}

// A regular file that is too long is not read to its end either.
TEST(InputStreams, LongRegularFiles) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("sparse");
  save(path, encoded(Format::png));
  std::filesystem::resize_file(path, std::uintmax_t{3} << 30);
  EXPECT_TRUE(read_reason(path, {}).starts_with("too long: ")) << read_reason(path, {});
  const RunResult run = run_imgpipe({path, directory.file("o.png")});
  EXPECT_EQ(run.exit_code, 1);
  if (!kSanitized) {
    EXPECT_LT(run.max_rss_bytes, 900'000'000);
  }
  // A callback whose limit grows with the bytes that it has seen.
  int asked = 0;
  save(directory.file("a"), Bytes(300'000));
  const auto judge = [&](std::span<const std::byte> beginning) {
    ++asked;
    return static_cast<std::int64_t>(beginning.size()) + 100'000;
  };
  EXPECT_EQ(read_file(directory.file("a"), 1'000'000, judge).size(), 300'000U);
  EXPECT_GT(asked, 1);
  EXPECT_EQ(read_regular_file(directory.file("a"), 1'000'000, judge).size(), 300'000U);
}

TEST(InputStreams, DevZero) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("fifo");
  EndlessFifo fifo(path, {});
  const RunResult run = run_imgpipe({path, directory.file("o.png")});
  EXPECT_EQ(run.exit_code, 1);
  EXPECT_EQ(run.err, "imgpipe: " + path + ": not an image of a known format\n");
  EXPECT_LE(fifo.bytes_taken(), 65536 + kPipeBytes);
  EXPECT_EQ(directory.names(), std::vector<std::string>{"fifo"});
}

// ---- notices -----------------------------------------------------------------------------------------

// Returns `file` with `parts` inserted at `at`.
Bytes with(const Bytes& file, std::ptrdiff_t at, std::initializer_list<Bytes> parts) {
  Bytes out(file.begin(), file.begin() + at);
  for (const Bytes& part : parts) std::ranges::copy(part, std::back_inserter(out));
  std::ranges::copy(file.begin() + at, file.end(), std::back_inserter(out));
  return out;
}

// Returns a PNG with an additional chunk before its pixels.
Bytes png_with(std::string_view type, const Bytes& data) {
  constexpr std::ptrdiff_t kHeadBytes = 33;
  const Bytes covered = with(bytes_of(type), static_cast<std::ptrdiff_t>(type.size()), {data});
  const Bytes length = number(static_cast<std::uint32_t>(data.size()));
  return with(encoded(Format::png), kHeadBytes, {length, covered, number(crc32_of(covered))});
}

Bytes jpeg_with_profile() {
  const Bytes profile = adobe_profile();
  const std::size_t length = 16 + profile.size();
  const Bytes head = number(0xFFE20000U | static_cast<std::uint32_t>(length));
  return with(encoded(Format::jpeg), 2, {head, bytes_of(std::string_view("ICC_PROFILE\0\1\1", 14)), profile});
}

TEST(InputNotices, DroppedProfileIsReported) {
  const TemporaryDirectory directory;
  const std::string input = directory.file("photo.jpg");
  save(input, jpeg_with_profile());
  const std::vector<std::string> command{input, directory.file("o.png"), "--device", "cpu"};
  const RunResult run = run_imgpipe(command);
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "imgpipe: " + input +
                         ": dropped colour profile \"Adobe RGB (1998)\"; the colours were not converted\n");
  std::vector<std::string> quiet = command;
  quiet.insert(quiet.end(), {"-q", "--report", directory.file("r.json")});
  EXPECT_EQ(run_imgpipe(quiet).err, "");
  EXPECT_EQ(nlohmann::json::parse(load_text(directory.file("r.json")))["input"]["profile"],
            "Adobe RGB (1998)");
  save(input, encoded(Format::jpeg));
  EXPECT_EQ(run_imgpipe(command).err, "");
}

TEST(InputNotices, BatchReportsOnce) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory.path() / "in");
  save(directory.path() / "in/a.jpg", encoded(Format::jpeg));
  save(directory.path() / "in/b.jpg", jpeg_with_profile());
  save(directory.path() / "in/c.jpg", jpeg_with_profile());
  const std::vector<std::string> command{
      directory.file("in"), directory.file("out"),    "--device", "cpu",
      "--report",           directory.file("r.json"), "--report", directory.file("r.ndjson")};
  const RunResult run = run_imgpipe(command);
  EXPECT_EQ(run.exit_code, 0);
  EXPECT_EQ(run.err, "");
  const bool one =
      run.out.find("2 images had a colour profile that was dropped, for example b.jpg (Adobe RGB (1998))") !=
          std::string::npos ||
      run.out.find("2 images had a colour profile that was dropped, for example c.jpg (Adobe RGB (1998))") !=
          std::string::npos;
  EXPECT_TRUE(one) << run.out;
  EXPECT_EQ(nlohmann::json::parse(load_text(directory.file("r.json")))["profiles_dropped"], 2);
  const std::string lines = load_text(directory.file("r.ndjson"));
  EXPECT_NE(lines.find("\"profile\":\"Adobe RGB (1998)\""), std::string::npos) << lines;
  EXPECT_NE(lines.find("\"profile\":null"), std::string::npos) << lines;
}

TEST(InputNotices, FurtherImagesCauseAWarning) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory.path() / "in");
  const std::string input = directory.file("in/moving.png");
  Bytes frames = number(3);
  frames.resize(8);
  save(input, png_with("acTL", frames));
  const std::string line =
      "imgpipe: warning: " + input +
      ": contains more than one image; only the first is processed; use --pages all to process all pages\n";
  const RunResult one = run_imgpipe({input, directory.file("o.png"), "-q", "--device", "cpu"});
  EXPECT_EQ(one.exit_code, 0);
  EXPECT_EQ(one.err, line);
  const RunResult batch = run_imgpipe({directory.file("in"), directory.file("out"), "-q", "--device", "cpu"});
  EXPECT_EQ(batch.exit_code, 0);
  EXPECT_EQ(batch.err, line);
}

}  // namespace
}  // namespace imgpipe::test::input_streams_test
