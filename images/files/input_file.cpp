#include "images/files/input_file.h"

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <isa-l.h>
#include <sys/stat.h>
#include <unistd.h>

#include "images/error.h"
#include "images/files/file.h"
#include "images/sha256.h"

namespace imgpipe {
namespace {

std::size_t read_fully(int fd, std::int64_t offset, std::span<std::byte> out) {
  std::size_t filled = 0;
  while (filled < out.size()) {
    // Linux transfers at most 0x7ffff000 bytes per call.
    const std::size_t chunk = std::min<std::size_t>(out.size() - filled, std::size_t{1} << 30);
    const ssize_t got = ::pread(fd, out.data() + filled, chunk, offset + static_cast<std::int64_t>(filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(ErrorKind::input, "cannot read: " + system_reason(errno));
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

}  // namespace

std::optional<InputFile> open_on_disk(const std::string& path, std::size_t beginning_bytes) {
  auto file =
      std::make_unique<FileDescriptor>(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat info {};
  if (file->get() < 0 || ::fstat(file->get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  std::vector<std::byte> beginning(beginning_bytes);
  beginning.resize(read_fully(file->get(), 0, beginning));
  return InputFile(std::move(beginning), std::move(file), info.st_size);
}

InputFile::InputFile(std::vector<std::byte> whole)
    : InputFile(std::make_shared<const std::vector<std::byte>>(std::move(whole))) {}

InputFile::InputFile(std::shared_ptr<const std::vector<std::byte>> whole)
    : held_(std::move(whole)), bytes_(*held_), size_(static_cast<std::int64_t>(bytes_.size())) {}

InputFile::InputFile(std::vector<std::byte> beginning, std::unique_ptr<FileDescriptor> file,
                     std::int64_t size)
    : held_(std::make_shared<const std::vector<std::byte>>(std::move(beginning))),
      bytes_(*held_),
      file_(std::move(file)),
      size_(size) {}

InputFile::InputFile(std::shared_ptr<const std::vector<std::byte>> metadata, OpenPage open)
    : InputFile(std::move(metadata)) {
  open_page_ = std::move(open);
}

InputFile InputFile::borrowed(std::span<const std::byte> whole) {
  InputFile file;
  file.bytes_ = whole;
  file.size_ = static_cast<std::int64_t>(whole.size());
  return file;
}

// The hash of a file's first `count` bytes.
struct InputFile::PassingBytes {
  std::mutex mutex;
  Sha256 digest;
  std::int64_t count = 0;

  void pass(std::int64_t offset, std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex);
    if (offset > count || offset + std::ssize(bytes) <= count) return;
    digest.add(bytes.subspan(static_cast<std::size_t>(count - offset)));
    count = offset + std::ssize(bytes);
  }
};

void InputFile::hash_passing_bytes() {
  if (file_ == nullptr) return;
  passing_ = std::make_shared<PassingBytes>();
  passing_->pass(0, bytes_);
}

std::string InputFile::sha256() const {
  if (file_ == nullptr) {
    Sha256 digest;
    digest.add(bytes_);
    return digest.hex();
  }
  PassingBytes unhashed;
  PassingBytes& passing = passing_ ? *passing_ : unhashed;
  std::vector<std::byte> block(std::size_t{1} << 18);
  for (std::size_t got = 1; got > 0;) {
    const std::int64_t at = passing.count;
    got = read_fully(file_->get(), at, block);
    passing.pass(at, std::span(block).first(got));
  }
  return passing.digest.hex();
}

std::size_t InputFile::read_at(std::int64_t offset, std::span<std::byte> out) const {
  if (file_ != nullptr) {
    const std::size_t got = read_fully(file_->get(), offset, out);
    if (passing_) passing_->pass(offset, out.first(got));
    return got;
  }
  const std::size_t at = std::min(static_cast<std::size_t>(offset), bytes_.size());
  const std::span<const std::byte> there = bytes_.subspan(at, std::min(out.size(), bytes_.size() - at));
  std::ranges::copy(there, out.begin());
  return there.size();
}

std::uint64_t content_hash(const InputFile& file) {
  constexpr std::int64_t kBlocks = 64, kBlockBytes = std::int64_t{16} << 10;
  const std::int64_t size = file.size_bytes();
  std::vector<std::byte> block(8);
  for (std::size_t i = 0; i < block.size(); ++i) block[i] = static_cast<std::byte>(size >> (8 * i));
  std::uint64_t crc = 0;
  const auto add = [&](std::size_t bytes) {
    crc = crc64_ecma_refl(crc, reinterpret_cast<const unsigned char*>(block.data()), bytes);
  };
  add(block.size());
  block.resize(static_cast<std::size_t>(std::min(size, kBlockBytes)));
  const std::int64_t last = size - kBlockBytes;  // offset of the last block
  const bool whole = size <= kBlocks * kBlockBytes;
  for (std::int64_t i = 0; i < kBlocks && i * kBlockBytes < size; ++i)
    add(file.read_at(whole ? i * kBlockBytes : i == kBlocks - 1 ? last : last / (kBlocks - 1) * i, block));
  return std::max<std::uint64_t>(crc, 1);
}

}  // namespace imgpipe
