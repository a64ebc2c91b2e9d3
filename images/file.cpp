#include "images/file.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <random>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "images/error.h"

namespace imgpipe {
namespace {

// The system's own words for an error number, without touching the shared buffer of strerror.
std::string system_reason(int error) {
  return std::generic_category().message(error);
}

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  ~FileDescriptor() {
    if (fd_ > STDERR_FILENO) ::close(fd_);
  }
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  // close(2) reports what earlier writes could not (NFS, quotas).
  int close_now() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd);
  }

 private:
  int fd_;
};

// Names of temporary files for the signal handler. A slot is taken before its file is made.
constexpr std::size_t kSlots = 64;
struct TemporarySlot {
  std::atomic<bool> taken{false};
  std::atomic<bool> named{false};
  std::array<char, 4096> path{};
};
std::array<TemporarySlot, kSlots> temporary_slots;

class TemporaryName {
 public:
  explicit TemporaryName(const std::string& path) {
    for (TemporarySlot& slot : temporary_slots) {
      bool expected = false;
      if (path.size() < slot.path.size() && slot.taken.compare_exchange_strong(expected, true)) {
        std::memcpy(slot.path.data(), path.c_str(), path.size() + 1);
        slot.named.store(true);
        slot_ = &slot;
        return;
      }
    }
  }
  ~TemporaryName() {
    if (slot_ == nullptr) return;
    slot_->named.store(false);
    slot_->taken.store(false);
  }
  TemporaryName(const TemporaryName&) = delete;
  TemporaryName& operator=(const TemporaryName&) = delete;

 private:
  TemporarySlot* slot_ = nullptr;
};

// What a file is made of, in order.
using Pieces = std::span<const std::span<const std::byte>>;

void write_piece(int fd, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    // Linux transfers at most 0x7ffff000 bytes a call.
    const std::size_t chunk = std::min<std::size_t>(bytes.size(), std::size_t{1} << 30);
    const ssize_t written = ::write(fd, bytes.data(), chunk);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0)
      throw Error(ErrorKind::output, "cannot write: " + system_reason(written < 0 ? errno : EIO));
    bytes = bytes.subspan(static_cast<std::size_t>(written));
  }
}

void write_all(int fd, Pieces pieces) {
  for (const std::span<const std::byte> piece : pieces) write_piece(fd, piece);
}

std::string random_suffix() {
  constexpr char kLetters[] = "abcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device random;
  std::string suffix;
  for (int i = 0; i < 8; ++i) suffix += kLetters[random() % 36];
  return suffix;
}

// ".NAME.imgpipe-XXXXXXXX", NAME cut so that the whole stays within NAME_MAX.
std::filesystem::path temporary_path(const std::filesystem::path& target) {
  const std::string name = target.filename().string().substr(0, 200);
  return target.parent_path() / ("." + name + ".imgpipe-" + random_suffix());
}

// The path behind a symbolic link, which need not exist yet.
std::filesystem::path followed(std::filesystem::path path) {
  constexpr int kMaxLinks = 40;  // as Linux itself
  std::error_code error;
  for (int i = 0; std::filesystem::is_symlink(path, error); ++i) {
    const std::filesystem::path link = std::filesystem::read_symlink(path, error);
    if (error || i == kMaxLinks) throw Error(ErrorKind::output, "cannot follow the link");
    path = path.parent_path() / link;  // an absolute link takes the place of all before it
  }
  return path;
}

void write_by_rename(const std::filesystem::path& target, Pieces pieces, mode_t mode) {
  const std::filesystem::path temporary = temporary_path(target);
  const TemporaryName name(temporary.string());
  const int fd = ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (fd < 0) throw Error(ErrorKind::output, "cannot create a file in its folder: " + system_reason(errno));
  FileDescriptor file(fd);
  try {
    if (mode != 0) (void)::fchmod(fd, mode);
    write_all(fd, pieces);
    if (file.close_now() != 0) throw Error(ErrorKind::output, "cannot write: " + system_reason(errno));
    if (::rename(temporary.c_str(), target.c_str()) != 0) {
      throw Error(ErrorKind::output, "cannot put the finished file in place: " + system_reason(errno));
    }
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
}

void write_pieces(const std::string& path, Pieces pieces) {
  if (path == kStandardStream) {
    write_all(STDOUT_FILENO, pieces);
    return;
  }
  const std::filesystem::path target = followed(path);
  struct stat info {};
  const bool exists = ::stat(target.c_str(), &info) == 0;
  if (!exists && errno != ENOENT) throw Error(ErrorKind::output, "cannot write: " + system_reason(errno));
  if (exists && S_ISDIR(info.st_mode)) throw Error(ErrorKind::output, "is a directory");
  if (exists && !S_ISREG(info.st_mode)) {
    FileDescriptor device(::open(target.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (device.get() < 0) throw Error(ErrorKind::output, "cannot open: " + system_reason(errno));
    write_all(device.get(), pieces);
    if (device.close_now() != 0) throw Error(ErrorKind::output, "cannot write: " + system_reason(errno));
    return;
  }
  write_by_rename(target, pieces, exists ? info.st_mode & 07777 : 0);
}

}  // namespace

std::vector<std::byte> read_file(const std::string& path, std::int64_t max_bytes) {
  const bool standard = path == kStandardStream;
  const FileDescriptor file(standard ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (file.get() < 0) throw Error(ErrorKind::input, "cannot open: " + system_reason(errno));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) throw Error(ErrorKind::input, "cannot read: " + system_reason(errno));
  if (S_ISDIR(info.st_mode)) throw Error(ErrorKind::input, "is a directory");
  if (!standard && (S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode))) {
    throw Error(ErrorKind::input, "is a device, not an image file");
  }
  const std::string too_long =
      "too large: more than " + std::to_string(max_bytes) + " bytes (see --max-pixels)";
  if (S_ISREG(info.st_mode) && info.st_size > max_bytes) throw Error(ErrorKind::input, too_long);
  try {
    std::vector<std::byte> bytes;
    // One byte more than the file has, so that its end is seen without growing.
    std::size_t room =
        S_ISREG(info.st_mode) ? static_cast<std::size_t>(info.st_size) + 1 : std::size_t{1} << 16;
    std::size_t filled = 0;
    for (;;) {
      bytes.resize(room);
      const std::size_t chunk = std::min<std::size_t>(room - filled, std::size_t{1} << 30);
      const ssize_t got = ::read(file.get(), bytes.data() + filled, chunk);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw Error(ErrorKind::input, "cannot read: " + system_reason(errno));
      if (got == 0) break;
      filled += static_cast<std::size_t>(got);
      if (static_cast<std::int64_t>(filled) > max_bytes) throw Error(ErrorKind::input, too_long);
      if (filled == room) room *= 2;
    }
    bytes.resize(filled);
    return bytes;
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::memory, "not enough memory to read the file");
  }
}

bool same_file(const std::string& a, const std::string& b) {
  struct stat first {};
  struct stat second {};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  write_pieces(path, {&bytes, 1});
}

void write_file(const std::string& path, std::span<const std::vector<std::byte>> parts) {
  const std::vector<std::span<const std::byte>> pieces(parts.begin(), parts.end());
  write_pieces(path, pieces);
}

void remove_temporary_files() noexcept {
  for (TemporarySlot& slot : temporary_slots) {
    if (slot.named.load()) ::unlink(slot.path.data());
  }
}

}  // namespace imgpipe
