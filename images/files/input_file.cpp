#include "images/files/input_file.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

#include <fcntl.h>
#include <isa-l.h>
#include <sys/stat.h>
#include <unistd.h>

#include "images/codecs/codec_table.h"
#include "images/error.h"
#include "images/files/file.h"

namespace imgpipe {
namespace {

constexpr std::int64_t kSmallBytes = std::int64_t{1} << 20;
constexpr std::size_t kBeginningBytes = std::size_t{1} << 16;

std::size_t read_fully(int fd, std::int64_t offset, std::span<std::byte> out) {
  std::size_t filled = 0;
  while (filled < out.size()) {
    // Linux transfers at most 0x7ffff000 bytes a call.
    const std::size_t chunk = std::min<std::size_t>(out.size() - filled, std::size_t{1} << 30);
    const ssize_t got = ::pread(fd, out.data() + filled, chunk, offset + static_cast<std::int64_t>(filled));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(ErrorKind::input, "cannot read: " + system_reason(errno));
    if (got == 0) break;
    filled += static_cast<std::size_t>(got);
  }
  return filled;
}

const Codec* streaming_codec(std::span<const std::byte> beginning) {
  const Codec* codec = codec_by_content(beginning);
  return codec != nullptr && codec->is_streamable != nullptr ? codec : nullptr;
}

// A file that can be read row by row, and may be; nothing for what read_file() is to judge.
std::optional<InputFile> open_in_parts(const std::string& path, const DecodeOptions& options) {
  constexpr std::size_t kSignatureBytes = 32;  // more than any format needs to be told
  // What is no regular file is not opened: a FIFO would lose its writer.
  if (options.codec == CodecChoice::stb || options.selects_bands() || file_size_bytes(path) <= kSmallBytes)
    return std::nullopt;
  const std::optional<InputFile> signature = open_where_it_lies(path, kSignatureBytes);
  if (!signature || streaming_codec(signature->bytes()) == nullptr) return std::nullopt;
  std::optional<InputFile> file = open_where_it_lies(path, kBeginningBytes);
  if (!file || file->bytes().size() < kBeginningBytes) return std::nullopt;
  const Codec* codec = streaming_codec(file->bytes());
  if (codec == nullptr || !codec->is_streamable(file->bytes(), options) ||
      file->size_bytes() > longest_file(file->bytes(), options))
    return std::nullopt;
  return file;
}

}  // namespace

std::optional<InputFile> open_where_it_lies(const std::string& path, std::size_t beginning_bytes) {
  auto file =
      std::make_unique<FileDescriptor>(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  struct stat info {};
  if (file->get() < 0 || ::fstat(file->get(), &info) != 0 || !S_ISREG(info.st_mode)) return std::nullopt;
  std::vector<std::byte> beginning(beginning_bytes);
  beginning.resize(read_fully(file->get(), 0, beginning));
  return InputFile(std::move(beginning), std::move(file), info.st_size);
}

InputFile::InputFile(std::vector<std::byte> whole)
    : bytes_(std::move(whole)), size_(static_cast<std::int64_t>(bytes_.size())) {}

InputFile::InputFile(std::vector<std::byte> beginning, std::unique_ptr<FileDescriptor> file,
                     std::int64_t size)
    : bytes_(std::move(beginning)), file_(std::move(file)), size_(size) {}

std::size_t InputFile::read_at(std::int64_t offset, std::span<std::byte> out) const {
  if (file_ != nullptr) return read_fully(file_->get(), offset, out);
  const std::size_t at = std::min(static_cast<std::size_t>(offset), bytes_.size());
  const std::span<const std::byte> there =
      std::span(bytes_).subspan(at, std::min(out.size(), bytes_.size() - at));
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
  block.resize(kBlockBytes);
  const std::int64_t last = size - kBlockBytes;  // where the last block begins
  const bool whole = size <= kBlocks * kBlockBytes;
  for (std::int64_t i = 0; i < kBlocks && i * kBlockBytes < size; ++i)
    add(file.read_at(whole ? i * kBlockBytes : i == kBlocks - 1 ? last : last / (kBlocks - 1) * i, block));
  return std::max<std::uint64_t>(crc, 1);
}

PendingInput::PendingInput(std::string path, const DecodeOptions& options, InputKind kind)
    : path_(std::move(path)), options_(options), kind_(kind) {
  if (path_ == kStandardStream) return;
  try {
    in_parts_ = open_in_parts(path_, options_);
  } catch (const Error&) {
    // Read as a whole it will say why not.
  }
}

std::int64_t PendingInput::held_bytes() const {
  return in_parts_ ? static_cast<std::int64_t>(in_parts_->bytes().size()) : file_size_bytes(path_);
}

InputFile PendingInput::read() {
  if (in_parts_) return *std::exchange(in_parts_, std::nullopt);
  const auto read_whole = kind_ == InputKind::any ? read_file : read_regular_file;
  return InputFile(read_whole(path_, max_file_bytes(options_), [&](std::span<const std::byte> beginning) {
    return longest_file(beginning, options_);
  }));
}

InputFile open_input(const std::string& path, const DecodeOptions& options, InputKind kind) {
  return PendingInput(path, options, kind).read();
}

std::unique_ptr<Reader> open_reader(const InputFile& file, const DecodeOptions& options) {
  return file.is_whole() ? open_reader(file.bytes(), options)
                         : codec_by_content(file.bytes())->open_streamed(file, options);
}

}  // namespace imgpipe
