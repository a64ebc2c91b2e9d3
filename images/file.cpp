#include "images/file.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <new>
#include <optional>
#include <random>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "images/error.h"
#include "images/file_identity.h"

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
constexpr std::size_t kSlots = 1100;  // more than there can be threads that write
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
constexpr std::string_view kTemporaryMark = ".imgpipe-";
constexpr std::size_t kTemporaryNameBytes = 200;
constexpr std::size_t kSuffixBytes = 8;

std::filesystem::path temporary_path(const std::filesystem::path& target) {
  const std::string name = target.filename().string().substr(0, kTemporaryNameBytes);
  return target.parent_path() / ("." + name + std::string(kTemporaryMark) + random_suffix());
}

// The NAME of a temporary file, empty when it is none.
std::string name_of_temporary(const std::string& file_name) {
  const std::size_t tail = kTemporaryMark.size() + kSuffixBytes;
  if (file_name.size() <= tail + 1 || file_name.front() != '.') return "";
  const std::size_t mark = file_name.size() - tail;
  if (file_name.compare(mark, kTemporaryMark.size(), kTemporaryMark) != 0) return "";
  return file_name.substr(1, mark - 1);
}

// Held while a temporary file is made, and for ever by end_all_writing().
std::mutex& creation_mutex() {
  static std::mutex mutex;
  return mutex;
}

// Makes and locks a temporary file. The lock waits for a remove_stale_temporary_files() that came between;
// the file has then lost its name and another is made. Where a file system has no locks there is none.
int create_temporary(const std::filesystem::path& path) {
  constexpr int kTries = 5;
  for (int i = 0; i < kTries; ++i) {
    const int fd = [&] {
      const std::lock_guard lock(creation_mutex());
      return ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    }();
    if (fd < 0) throw Error(ErrorKind::output, "cannot create a file in its folder: " + system_reason(errno));
    (void)::flock(fd, LOCK_EX);
    struct stat info {};
    if (::fstat(fd, &info) != 0 || info.st_nlink > 0) return fd;
    ::close(fd);
  }
  throw Error(ErrorKind::output,
              "cannot create a file in its folder: it is being cleaned up again and again");
}

void write_by_rename(const std::filesystem::path& target, Pieces pieces, mode_t mode) {
  const std::filesystem::path temporary = temporary_path(target);
  const TemporaryName name(temporary.string());
  const int fd = create_temporary(temporary);
  FileDescriptor file(fd);
  try {
    if (mode != 0) (void)::fchmod(fd, mode);
    write_all(fd, pieces);
    if (file.close_now() != 0) throw Error(ErrorKind::output, "cannot write: " + system_reason(errno));
    if (::rename(temporary.c_str(), target.c_str()) != 0)
      throw Error(ErrorKind::output, "cannot put the finished file in place: " + system_reason(errno));
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
}

// Where the bytes for a path go.
struct Target {
  std::filesystem::path path;     // behind symbolic links
  std::optional<int> descriptor;  // of this process: written straight, wherever it stands
  bool replaced = true;           // by a new file; else written straight
  mode_t mode = 0;                // of the file that is there; 0: none is
};

// Throws what writing to it would. One that is closed now may later be some other file of ours.
void check_descriptor(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0) throw Error(ErrorKind::output, "is no open descriptor");
  if ((flags & O_ACCMODE) == O_RDONLY) throw Error(ErrorKind::output, "is not open for writing");
}

Target target_of(const std::string& path) {
  const std::optional<std::filesystem::path> behind_links = followed(path);
  if (!behind_links) throw Error(ErrorKind::output, "cannot follow the link");
  Target target{*behind_links, descriptor_of(path)};
  if (target.descriptor) {
    check_descriptor(*target.descriptor);
    target.replaced = false;
    return target;
  }
  struct stat info {};
  const bool exists = ::stat(target.path.c_str(), &info) == 0;
  if (!exists && errno != ENOENT) throw Error(ErrorKind::output, "cannot write: " + system_reason(errno));
  if (exists && S_ISDIR(info.st_mode)) throw Error(ErrorKind::output, "is a directory");
  target.replaced = !exists || S_ISREG(info.st_mode);
  if (exists) target.mode = info.st_mode & 07777;
  return target;
}

void write_pieces(const std::string& path, Pieces pieces) {
  if (path == kStandardStream) {
    write_all(STDOUT_FILENO, pieces);
    return;
  }
  const Target target = target_of(path);
  if (target.replaced) {
    write_by_rename(target.path, pieces, target.mode);
    return;
  }
  if (target.descriptor) {
    write_all(*target.descriptor, pieces);
    return;
  }
  FileDescriptor device(::open(target.path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
  if (device.get() < 0) throw Error(ErrorKind::output, "cannot open: " + system_reason(errno));
  write_all(device.get(), pieces);
  if (device.close_now() != 0) throw Error(ErrorKind::output, "cannot write: " + system_reason(errno));
}

// What a descriptor is open on.
struct stat opened(const FileDescriptor& file) {
  if (file.get() < 0) throw Error(ErrorKind::input, "cannot open: " + system_reason(errno));
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) throw Error(ErrorKind::input, "cannot read: " + system_reason(errno));
  return info;
}

// How much of a file may be read, as its beginning is seen.
class LengthLimit {
 public:
  LengthLimit(std::int64_t max_bytes, const LengthJudge& judge)
      : max_bytes_(max_bytes), bytes_(max_bytes), judge_(judge) {}

  [[nodiscard]] std::int64_t bytes() const { return bytes_; }

  // Throws Error(input) for a file of which there is more than there may be.
  void check(std::int64_t length) const {
    if (length <= bytes_) return;
    const std::string more = "more than " + std::to_string(bytes_) + " bytes";
    throw Error(ErrorKind::input, bytes_ < max_bytes_
                                      ? "too long: " + more + ", beyond all that its header allows"
                                      : "too large: " + more + " (see --max-pixels)");
  }

  void ask(std::span<const std::byte> beginning) {
    if (judge_) bytes_ = std::min(judge_(beginning), max_bytes_);
  }

 private:
  std::int64_t max_bytes_, bytes_;
  const LengthJudge& judge_;
};

// Everything from here to the file's end.
std::vector<std::byte> read_to_end(const FileDescriptor& file, const struct stat& info, LengthLimit limit) {
  constexpr std::size_t kFirstBytes = std::size_t{1} << 16;
  const std::int64_t size = S_ISREG(info.st_mode) ? std::int64_t{info.st_size} : -1;
  limit.check(size);
  // Of a file one byte more than it has, so that its end is seen without growing.
  const auto next_room = [&](std::size_t room) {
    if (size >= static_cast<std::int64_t>(room) && size <= limit.bytes())
      return static_cast<std::size_t>(size) + 1;
    return std::min(2 * room, static_cast<std::size_t>(limit.bytes()) + 1);
  };
  try {
    std::vector<std::byte> bytes;
    std::size_t room = size >= 0 ? std::min(static_cast<std::size_t>(size) + 1, kFirstBytes) : kFirstBytes;
    std::size_t filled = 0;
    for (;;) {
      bytes.resize(room);
      const std::size_t chunk = std::min<std::size_t>(room - filled, std::size_t{1} << 30);
      const ssize_t got = ::read(file.get(), bytes.data() + filled, chunk);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) throw Error(ErrorKind::input, "cannot read: " + system_reason(errno));
      if (got == 0) break;
      filled += static_cast<std::size_t>(got);
      if (filled < room) continue;
      if (filled >= kFirstBytes) limit.ask(bytes);
      limit.check(static_cast<std::int64_t>(filled));
      room = next_room(room);
    }
    limit.check(static_cast<std::int64_t>(filled));
    bytes.resize(filled);
    return bytes;
  } catch (const std::bad_alloc&) {
    throw Error(ErrorKind::memory, "not enough memory to read the file");
  }
}

}  // namespace

std::vector<std::byte> read_file(const std::string& path, std::int64_t max_bytes, const LengthJudge& judge) {
  const bool standard = path == kStandardStream;
  const FileDescriptor file(standard ? STDIN_FILENO : ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  const struct stat info = opened(file);
  if (S_ISDIR(info.st_mode)) throw Error(ErrorKind::input, "is a directory");
  if (!standard && (S_ISCHR(info.st_mode) || S_ISBLK(info.st_mode)))
    throw Error(ErrorKind::input, "is a device, not an image file");
  return read_to_end(file, info, {max_bytes, judge});
}

std::vector<std::byte> read_regular_file(const std::string& path, std::int64_t max_bytes,
                                         const LengthJudge& judge) {
  // O_NONBLOCK: opening a FIFO would wait for its writer.
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  const struct stat info = opened(file);
  if (!S_ISREG(info.st_mode)) throw Error(ErrorKind::input, "is not a regular file");
  return read_to_end(file, info, {max_bytes, judge});
}

std::vector<std::byte> read_head(const std::string& path, std::size_t bytes) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat info {};
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  std::vector<std::byte> head(bytes);
  std::size_t filled = 0;
  while (filled < bytes) {
    const ssize_t got = ::read(file.get(), head.data() + filled, bytes - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    filled += static_cast<std::size_t>(got);
  }
  head.resize(filled);
  return head;
}

std::int64_t file_size_bytes(const std::string& path) {
  struct stat info {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) ? info.st_size : 0;
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

void check_writable(const std::string& path) {
  if (path == kStandardStream) return;
  const Target target = target_of(path);
  if (!target.replaced) return;
  const std::filesystem::path temporary = temporary_path(target.path);
  const TemporaryName name(temporary.string());
  const FileDescriptor file(create_temporary(temporary));
  ::unlink(temporary.c_str());
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw Error(ErrorKind::output, "cannot make the folder: " + error.message());
}

void remove_temporary_files() noexcept {
  for (TemporarySlot& slot : temporary_slots) {
    if (slot.named.load()) ::unlink(slot.path.data());
  }
}

void end_all_writing() noexcept {
  creation_mutex().lock();
  remove_temporary_files();
}

std::size_t remove_stale_temporary_files(const std::string& folder,
                                         const std::unordered_set<std::string>& names) {
  std::unordered_set<std::string> cut;
  for (const std::string& name : names) cut.insert(name.substr(0, kTemporaryNameBytes));
  std::size_t removed = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = name_of_temporary(entry->path().filename().string());
    if (name.empty() || !cut.contains(name)) continue;
    const FileDescriptor file(::open(entry->path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
    struct stat info {};
    if (file.get() < 0 || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) continue;
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0) continue;  // its writer lives
    if (::unlink(entry->path().c_str()) == 0) ++removed;
  }
  return removed;
}

}  // namespace imgpipe
