#include "images/files/output_file.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "images/error.h"
#include "images/files/file.h"
#include "images/files/file_descriptor.h"
#include "images/files/file_identity.h"
#include "images/files/temporary_file.h"
#include "images/sha256.h"
#include "images/text.h"

namespace imgpipe {
namespace {

// The resolved destination of a path.
struct Target {
  std::filesystem::path path;     // after following symbolic links
  std::optional<int> descriptor;  // of this process: written directly, at its current position
  bool replaced = true;           // by a new file; else written directly
  std::optional<mode_t> mode;     // of the existing file
};

// Throws if the descriptor cannot be written. The number of a closed descriptor may later be reused for
// another of our files.
void check_descriptor(int fd) {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0) throw Error(ErrorKind::output, "the descriptor is not open");
  if ((flags & O_ACCMODE) == O_RDONLY)
    throw Error(ErrorKind::output, "the descriptor is not open for writing");
}

// The kernel does not apply fs.protected_symlinks when rename(2) replaces the target of a link.
void check_link(const std::filesystem::path& link) {
  if (may_be_planted(link))
    throw Error(ErrorKind::output, "cannot follow the link " + printable(link.string()) +
                                       ": it belongs to another user and is in a world-writable sticky "
                                       "directory; remove it or name another file");
}

Target target_of(const std::string& path) {
  struct stat info {};
  int error = ::lstat(path.c_str(), &info) == 0 ? 0 : errno;
  const bool is_link = error == 0 && S_ISLNK(info.st_mode);
  const std::optional<std::filesystem::path> resolved_path = is_link ? followed(path, check_link) : path;
  if (!resolved_path) throw Error(ErrorKind::output, "cannot follow the link");
  Target target{
      .path = *resolved_path, .descriptor = process_descriptor(*resolved_path), .mode = std::nullopt};
  if (target.descriptor) {
    check_descriptor(*target.descriptor);
    target.replaced = false;
    return target;
  }
  if (is_link) error = ::stat(target.path.c_str(), &info) == 0 ? 0 : errno;
  const bool exists = error == 0;
  if (!exists && error != ENOENT) throw Error(ErrorKind::output, "cannot write: " + system_reason(error));
  if (exists && S_ISDIR(info.st_mode)) throw Error(ErrorKind::output, "is a directory");
  target.replaced = !exists || S_ISREG(info.st_mode);
  if (exists) target.mode = info.st_mode & 0777;
  return target;
}

}  // namespace

// `descriptor` belongs to `temporary` or `device`, or is one of this process.
struct OutputFile::State {
  std::string path;
  OutputSync* sync;
  std::optional<Target> target;
  std::optional<TemporaryFile> temporary;
  std::optional<FileDescriptor> device;
  int descriptor = -1;  // being written; -1: not open yet
  std::optional<Sha256> digest;
  std::atomic<bool> has_changed = false;  // after the bytes were hashed
};

OutputFile::OutputFile(std::string path, OutputSync* sync) : state_(std::make_unique<State>()) {
  state_->path = std::move(path);
  state_->sync = sync;
}

OutputFile::~OutputFile() = default;

bool OutputFile::is_replaced() {
  if (state_->path == kStandardStream) return false;
  if (!state_->target) state_->target = target_of(state_->path);
  return state_->target->replaced;
}

bool OutputFile::exists() {
  return !is_replaced() || state_->target->mode.has_value();
}

void OutputFile::open() {
  State& state = *state_;
  if (state.path == kStandardStream) {
    state.descriptor = STDOUT_FILENO;
  } else if (is_replaced()) {
    state.temporary.emplace(state.target->path, state.target->mode);
    state.descriptor = state.temporary->descriptor();
  } else if (state.target->descriptor) {
    state.descriptor = *state.target->descriptor;
  } else {
    state.device.emplace(::open(state.target->path.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY));
    if (state.device->get() < 0) throw Error(ErrorKind::output, "cannot open: " + system_reason(errno));
    state.descriptor = state.device->get();
  }
}

void OutputFile::append(std::span<const std::byte> bytes) {
  if (state_->descriptor < 0) open();
  if (write_fully(state_->descriptor, bytes) < bytes.size())
    throw Error(ErrorKind::output, "cannot write: " + system_reason(errno));
  if (state_->digest) state_->digest->add(bytes);
}

void OutputFile::append(std::span<const std::vector<std::byte>> parts) {
  constexpr std::size_t kSmallBytes = std::size_t{64} << 10;
  std::vector<std::byte> together;
  for (const std::vector<std::byte>& part : parts) {
    if (!together.empty() && together.size() + part.size() > kSmallBytes) {
      append(std::span<const std::byte>(together));
      together.clear();
    }
    if (part.size() > kSmallBytes) {
      append(std::span<const std::byte>(part));
    } else {
      together.insert(together.end(), part.begin(), part.end());
    }
  }
  if (!together.empty()) append(std::span<const std::byte>(together));
}

void OutputFile::check_replaced() const {
  if (!state_->temporary)
    throw Error(ErrorKind::usage, "overwrite: requires a file that is replaced, after its first byte");
}

void OutputFile::overwrite(std::uint64_t at, std::span<const std::byte> bytes) {
  check_replaced();
  if (write_fully(state_->descriptor, bytes, static_cast<off_t>(at)) < bytes.size())
    throw Error(ErrorKind::output, "cannot write: " + system_reason(errno));
  state_->has_changed = true;
}

void OutputFile::read_back(std::uint64_t at, std::span<std::byte> bytes) const {
  check_replaced();
  while (!bytes.empty()) {
    const ssize_t count = ::pread(state_->descriptor, bytes.data(), bytes.size(), static_cast<off_t>(at));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0)
      throw Error(ErrorKind::output,
                  "cannot read the temporary file: " + system_reason(count < 0 ? errno : EIO));
    bytes = bytes.subspan(static_cast<std::size_t>(count));
    at += static_cast<std::uint64_t>(count);
  }
}

void OutputFile::truncate(std::uint64_t size) const {
  check_replaced();
  if (::ftruncate(state_->descriptor, static_cast<off_t>(size)) != 0)
    throw Error(ErrorKind::output, "cannot write: " + system_reason(errno));
  state_->has_changed = true;
}

void OutputFile::hash_bytes() {
  state_->digest.emplace();
}

std::string OutputFile::sha256() const {
  return state_->digest ? state_->digest->hex() : "";
}

void OutputFile::hash_again() {
  state_->digest.emplace();
  std::vector<std::byte> block(std::size_t{1} << 18);
  const auto size = static_cast<std::uint64_t>(::lseek(state_->descriptor, 0, SEEK_END));
  for (std::uint64_t at = 0; at < size; at += block.size()) {
    block.resize(std::min<std::uint64_t>(block.size(), size - at));
    read_back(at, block);
    state_->digest->add(block);
  }
}

void OutputFile::put_in_place() {
  if (state_->descriptor < 0) open();
  if (state_->digest && state_->has_changed) hash_again();
  if (state_->temporary) {
    state_->temporary->put_in_place(state_->sync);
    add_name(state_->target->path, state_->sync);
  }
  if (state_->device && state_->device->close_now() != 0)
    throw Error(ErrorKind::output, "cannot write: " + system_reason(errno));
}

void write_file(const std::string& path, std::span<const std::byte> bytes, OutputSync* sync) {
  OutputFile file(path, sync);
  file.append(bytes);
  file.put_in_place();
}

void write_file(const std::string& path, std::span<const std::vector<std::byte>> parts, OutputSync* sync) {
  OutputFile file(path, sync);
  file.append(parts);
  file.put_in_place();
}

void check_writable(const std::string& path) {
  if (path == kStandardStream) return;
  const Target target = target_of(path);
  if (target.replaced) const TemporaryFile unused(target.path);
}

void make_directory(const std::string& path, OutputSync* sync) {
  std::error_code error;
  std::vector<std::filesystem::path> missing;
  for (std::filesystem::path level = path; !level.empty() && !std::filesystem::exists(level, error);
       level = level.parent_path())
    missing.push_back(level);
  if (missing.empty() && std::filesystem::is_directory(path, error)) return;
  std::filesystem::create_directories(path, error);
  if (error) throw Error(ErrorKind::output, "cannot create the directory: " + error.message());
  for (const std::filesystem::path& level : missing) add_name(level, sync);
}

}  // namespace imgpipe
