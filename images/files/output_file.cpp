#include "images/files/output_file.h"

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>

#include "images/error.h"
#include "images/files/file.h"
#include "images/files/file_descriptor.h"
#include "images/files/file_identity.h"
#include "images/files/temporary_file.h"

namespace imgpipe {
namespace {

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

}  // namespace

// Exactly one of the last three is there once it is open, or standard output is written.
struct OutputFile::State {
  std::string path;
  std::optional<Target> target;
  std::optional<TemporaryFile> temporary;
  std::optional<FileDescriptor> device;
  int descriptor = -1;  // that is written; -1: not open yet
};

OutputFile::OutputFile(std::string path) : state_(std::make_unique<State>()) {
  state_->path = std::move(path);
}

OutputFile::~OutputFile() = default;

bool OutputFile::is_replaced() {
  if (state_->path == kStandardStream) return false;
  if (!state_->target) state_->target = target_of(state_->path);
  return state_->target->replaced;
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

void OutputFile::overwrite(std::uint64_t at, std::span<const std::byte> bytes) {
  if (!state_->temporary)
    throw Error(ErrorKind::usage, "overwrite: only of a file that is replaced, behind its first byte");
  if (write_fully(state_->descriptor, bytes, static_cast<off_t>(at)) < bytes.size())
    throw Error(ErrorKind::output, "cannot write: " + system_reason(errno));
}

void OutputFile::put_in_place() {
  if (state_->descriptor < 0) open();
  if (state_->temporary) state_->temporary->put_in_place();
  if (state_->device && state_->device->close_now() != 0)
    throw Error(ErrorKind::output, "cannot write: " + system_reason(errno));
}

void write_file(const std::string& path, std::span<const std::byte> bytes) {
  OutputFile file(path);
  file.append(bytes);
  file.put_in_place();
}

void write_file(const std::string& path, std::span<const std::vector<std::byte>> parts) {
  OutputFile file(path);
  file.append(parts);
  file.put_in_place();
}

void check_writable(const std::string& path) {
  if (path == kStandardStream) return;
  const Target target = target_of(path);
  if (target.replaced) const TemporaryFile unused(target.path);
}

void make_folder(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) throw Error(ErrorKind::output, "cannot make the folder: " + error.message());
}

}  // namespace imgpipe
