#include "images/files/temporary_file.h"

#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <new>
#include <random>
#include <string_view>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "images/error.h"
#include "images/files/file_descriptor.h"

namespace imgpipe {
namespace {

// Paths of temporary files for the signal handler. A slot is taken before its file is created.
constexpr std::size_t kSlots = 1100;  // more than the number of writing threads
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

// ".NAME.imgpipe-XXXXXXXX", with NAME cut so that the whole stays within NAME_MAX.
constexpr std::string_view kTemporaryMark = ".imgpipe-";
constexpr std::size_t kTemporaryNameBytes = 200;
constexpr std::size_t kSuffixBytes = 8;

constexpr mode_t kPrivateMode = 0600;
constexpr mode_t kPermissions = 0777;  // set-user-ID and the like are never preserved

std::string random_suffix() {
  constexpr std::string_view kLetters = "abcdefghijklmnopqrstuvwxyz0123456789";
  thread_local std::random_device random;  // creating one takes a tenth of the time that a tiny image takes
  std::uint64_t bits = (std::uint64_t{random()} << 32U) | random();
  std::string suffix;
  for (std::size_t i = 0; i < kSuffixBytes; ++i, bits /= kLetters.size())
    suffix += kLetters[bits % kLetters.size()];
  return suffix;
}

std::filesystem::path temporary_path(const std::filesystem::path& target) {
  const std::string name = target.filename().string().substr(0, kTemporaryNameBytes);
  return target.parent_path() / ("." + name + std::string(kTemporaryMark) + random_suffix());
}

// Returns the NAME of a temporary file; empty for other names.
std::string name_of_temporary(const std::string& file_name) {
  const std::size_t tail = kTemporaryMark.size() + kSuffixBytes;
  if (file_name.size() <= tail + 1 || file_name.front() != '.') return "";
  const std::size_t mark = file_name.size() - tail;
  if (file_name.compare(mark, kTemporaryMark.size(), kTemporaryMark) != 0) return "";
  return file_name.substr(1, mark - 1);
}

// Returns false if the writer is alive. Detects that with a shared lock, which, unlike an exclusive one,
// works on a read-only descriptor over NFS and SMB.
bool unlink_if_stale(const std::filesystem::path& path) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat info {};
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return false;
  return ::flock(file.get(), LOCK_SH | LOCK_NB) == 0 && ::unlink(path.c_str()) == 0;
}

// Locked while a temporary file is created, and forever by the thread that called block_new_outputs().
std::recursive_mutex& creation_mutex() {
  static std::recursive_mutex mutex;
  return mutex;
}

// Returns whether our open file still has its name. Over NFS, a file removed by another machine is stale; one
// removed by another process of this machine still exists under another name.
bool still_has_name(int fd, const std::filesystem::path& path) {
  struct stat info {};
  if (::fstat(fd, &info) != 0) return errno != ESTALE;
  return info.st_nlink > 0 && (::lstat(path.c_str(), &info) == 0 || errno != ENOENT);
}

// Locks a new file. A process that looks for stale files holds its lock for microseconds; if another user's
// process keeps it, returns false. Without locks in the file system, returns true.
bool lock_exclusively(int fd) {
  constexpr int kTries = 200;
  constexpr std::chrono::milliseconds kPause{1};
  for (int i = 0; ::flock(fd, LOCK_EX | LOCK_NB) != 0; ++i) {
    if (errno != EWOULDBLOCK && errno != EINTR) return true;
    if (i == kTries) return false;
    std::this_thread::sleep_for(kPause);
  }
  return true;
}

// A new temporary file; `mode`: the permissions of the complete file.
struct CreatedFile {
  int fd = -1;
  mode_t mode = 0;
};

// Creates and locks a temporary file. The descriptor is -1 if another process removed or locked it first. A
// new file briefly has its final permissions, because the umask and the directory's default ACL determine
// them. One that replaces another file never has more than 0600.
CreatedFile create_temporary(const std::filesystem::path& path, std::optional<mode_t> mode) {
  const int fd = [&] {
    const std::lock_guard lock(creation_mutex());
    return ::open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, mode ? kPrivateMode : 0666);
  }();
  if (fd < 0) {
    const int reason = errno;
    std::error_code unknown;
    const bool exists = reason != ENOENT || std::filesystem::exists(path.parent_path(), unknown);
    throw Error(ErrorKind::output, exists ? "cannot create a file in its directory: " + system_reason(reason)
                                          : "its directory does not exist");
  }
  struct stat info {};
  if (!mode && ::fstat(fd, &info) == 0) {
    mode = info.st_mode & kPermissions;
    (void)::fchmod(fd, kPrivateMode);
  }
  if (lock_exclusively(fd) && still_has_name(fd, path)) return {fd, mode.value_or(kPrivateMode)};
  ::unlink(path.c_str());
  ::close(fd);
  return {};
}

}  // namespace

struct TemporaryFile::State {
  State(const std::filesystem::path& of, std::optional<mode_t> wanted_mode)
      : target(of),
        path(temporary_path(of)),
        name(path.string()),
        created(create_temporary(path, wanted_mode)),
        file(created.fd) {}

  std::filesystem::path target, path;
  TemporaryName name;
  CreatedFile created;
  FileDescriptor file;
  bool in_place = false;
};

// Each try uses a new name, because the process that removed the first file may still be watching its name.
TemporaryFile::TemporaryFile(const std::filesystem::path& target, std::optional<mode_t> mode) {
  constexpr int kTries = 20;
  for (int i = 0; i < kTries && (state_ == nullptr || state_->file.get() < 0); ++i)
    state_ = std::make_unique<State>(target, mode);
  if (state_->file.get() < 0)
    throw Error(ErrorKind::output,
                "cannot create a file in its directory: other processes remove or lock new files there");
}

TemporaryFile::~TemporaryFile() {
  if (!state_->in_place) ::unlink(state_->path.c_str());
}

int TemporaryFile::descriptor() const noexcept {
  return state_->file.get();
}

// close() reports failed writes, so it must come before the rename. The lock must outlast the rename, or
// another run takes the file for a stale one in between. A second descriptor of the same open file keeps the
// lock, also over NFS and SMB, where Linux ties the server's lock to the open file and every close(2) writes
// back and reports. Without a free descriptor the lock ends early.
void TemporaryFile::put_in_place(const OutputSync* sync) {
  (void)::fchmod(state_->file.get(), state_->created.mode);  // before the sync, which may omit later changes
  sync_data(state_->file.get(), sync);
  const FileDescriptor lock(::fcntl(state_->file.get(), F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (state_->file.close_now() != 0) throw Error(ErrorKind::output, "cannot write: " + system_reason(errno));
  if (::rename(state_->path.c_str(), state_->target.c_str()) != 0)
    throw Error(ErrorKind::output, "cannot rename the finished file: " + system_reason(errno));
  state_->in_place = true;
}

void remove_temporary_files() noexcept {
  for (TemporarySlot& slot : temporary_slots) {
    if (slot.named.load()) ::unlink(slot.path.data());
  }
}

void block_new_outputs() noexcept {
  creation_mutex().lock();
  remove_temporary_files();
}

void unblock_new_outputs() noexcept {
  ::new (&creation_mutex()) std::recursive_mutex;  // the child's thread cannot unlock it: it has another id
}

std::size_t StaleTemporaryFiles::remove(const std::string& target) {
  const std::filesystem::path path(target);
  const std::string directory = path.has_parent_path() ? path.parent_path().string() : ".";
  const auto [files, fresh] = of_directories_.try_emplace(directory);
  std::error_code error;
  std::filesystem::directory_iterator entry, end;
  if (fresh) entry = std::filesystem::directory_iterator(directory, error);
  for (; !error && entry != end; entry.increment(error)) {
    const std::string name = name_of_temporary(entry->path().filename().string());
    if (!name.empty()) files->second.emplace(name, entry->path());
  }
  std::size_t removed = 0;
  const auto [first, last] =
      files->second.equal_range(path.filename().string().substr(0, kTemporaryNameBytes));
  for (auto file = first; file != last; ++file) removed += unlink_if_stale(file->second) ? 1 : 0;
  return removed;
}

}  // namespace imgpipe
