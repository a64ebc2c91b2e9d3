// Inputs that are inspected before they are read, and writes of all bytes.
#include "images/formats/pending_input.h"

#include <array>
#include <cerrno>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "images/error.h"
#include "images/files/file_descriptor.h"
#include "tests/support/files.h"

namespace imgpipe::test::pending_input_test {
namespace {

constexpr std::int64_t kLarge = 3 << 20;

// Returns the bytes that this process has read by read(2) and related calls; -1 if unknown.
std::int64_t bytes_read() {
  std::ifstream file("/proc/self/io");
  std::string name;
  std::int64_t count = -1;
  file >> name >> count;
  return file && name == "rchar:" ? count : -1;
}

std::string raw_pgm() {
  return "P5 2048 1536 255\n" + std::string(kLarge, 'g');
}

TEST(PendingInput, InspectsOnlyAFewBytes) {
  if (bytes_read() < 0) GTEST_SKIP() << "/proc/self/io does not say what is read";
  const TemporaryDirectory directory;
  const std::string path = directory.file("a.png");
  save_text(path, "\x89PNG\r\n\x1A\n" + std::string(kLarge, 'x'));
  const std::int64_t before = bytes_read();
  const std::int64_t the_look = bytes_read() - before;  // bytes of one read of /proc/self/io
  PendingInput input(path, {}, InputKind::any);
  EXPECT_EQ(input.held_bytes(), kLarge + 8);
  EXPECT_LT(bytes_read() - before - 2 * the_look, 1024);
}

TEST(PendingInput, ReadsTheBeginningOfRowsOnce) {
  if (bytes_read() < 0) GTEST_SKIP() << "/proc/self/io does not say what is read";
  const TemporaryDirectory directory;
  const std::string path = directory.file("a.pgm");
  save_text(path, raw_pgm());
  const std::int64_t before = bytes_read();
  const std::int64_t the_look = bytes_read() - before;
  PendingInput input(path, {}, InputKind::regular_only);
  const std::int64_t held = input.held_bytes();
  const InputFile file = input.read();
  EXPECT_LT(bytes_read() - before - 2 * the_look, held + 1024);
  EXPECT_EQ(held, static_cast<std::int64_t>(file.bytes().size()));
  EXPECT_FALSE(file.is_whole());
  EXPECT_EQ(file.size_bytes(), static_cast<std::int64_t>(raw_pgm().size()));
}

// Missing and damaged files are reported only when they are read.
TEST(PendingInput, ReportsErrorsWhenRead) {
  const TemporaryDirectory directory;
  const std::string too_wide = directory.file("wide.pgm");
  save_text(too_wide, "P5 2147483000 2147483000 255\n" + std::string(kLarge, 'g'));
  const std::string not_there = directory.file("none");
  for (const std::string& path : {too_wide, not_there, directory.path().string()}) {
    PendingInput input(path, {}, InputKind::regular_only);
    EXPECT_EQ(input.held_bytes() > 0, path == too_wide) << path;
    EXPECT_THROW((void)input.read(), Error) << path;
  }
}

// A pipe accepts 64 KiB at a time, so there are several writes.
TEST(WriteFully, WritesAllBytesToAPipe) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  std::vector<std::byte> out(1'000'003);
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = static_cast<std::byte>(i * 31);
  std::vector<std::byte> in;
  std::thread reader([&] {
    std::array<std::byte, 777> buffer{};
    for (ssize_t got = 0; (got = ::read(ends[0], buffer.data(), buffer.size())) > 0;)
      in.insert(in.end(), buffer.begin(), buffer.begin() + got);
  });
  EXPECT_EQ(write_fully(ends[1], out), out.size());
  ::close(ends[1]);
  reader.join();
  ::close(ends[0]);
  EXPECT_EQ(in, out);
}

TEST(WriteFully, WritesOnlyAtTheGivenOffset) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("a");
  save_text(path, "0123456789");
  const FileDescriptor file(::open(path.c_str(), O_RDWR | O_CLOEXEC));
  ASSERT_GE(file.get(), 0);
  const std::string text = "abc";
  EXPECT_EQ(write_fully(file.get(), std::as_bytes(std::span(text)), 4), 3U);
  EXPECT_EQ(write_fully(file.get(), {}, 2), 0U);
  EXPECT_EQ(load_text(path), "0123abc789");
  EXPECT_EQ(write_fully(file.get(), std::as_bytes(std::span(text))), 3U) << "where it stands: at 0 still";
  EXPECT_EQ(load_text(path), "abc3abc789");
}

TEST(WriteFully, ReportsTheBytesWrittenAndTheError) {
  const FileDescriptor full(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  ASSERT_GE(full.get(), 0);
  const std::string text = "abc";
  errno = 0;
  EXPECT_EQ(write_fully(full.get(), std::as_bytes(std::span(text))), 0U);
  EXPECT_EQ(errno, ENOSPC);
  errno = 0;
  EXPECT_EQ(write_fully(-1, std::as_bytes(std::span(text)), 0), 0U);
  EXPECT_EQ(errno, EBADF);
}

}  // namespace
}  // namespace imgpipe::test::pending_input_test
