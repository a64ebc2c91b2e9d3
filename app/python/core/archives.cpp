// Reads tar shards for imgpipe._samples and _shard_members.
#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <sys/uio.h>

#include "app/jobs/glob_paths.h"
#include "app/options/name_ranges.h"
#include "app/python/core/bindings.h"
#include "app/python/core/errors.h"
#include "app/python/core/sources.h"
#include "app/python/core/without_gil.h"
#include "images/codecs/codec.h"
#include "images/error.h"
#include "images/files/archive_reader.h"
#include "images/files/file.h"
#include "images/files/file_descriptor.h"
#include "images/files/input_file.h"
#include "images/text.h"
#include "pipeline/error_of.h"
#include "pipeline/image_io.h"

namespace imgpipe::python {
namespace {

constexpr std::int64_t kLargestData = std::int64_t{256} << 20;  // of a member that is not an image
constexpr const char* kTruncated = "damaged archive: truncated";
constexpr std::size_t kHeldBytes = std::size_t{16} << 20;

InputFile open_shard(const std::string& path) {
  std::optional<InputFile> file = open_on_disk(path, 0);
  if (!file) {
    (void)open_source(path);  // throws the reason
    throw Error(ErrorKind::input, "not a regular file");
  }
  return std::move(*file);
}

// Lists the files in a shard. Reads only the headers of an uncompressed shard.
class ShardReader {
 public:
  explicit ShardReader(const nb::bytes& path)
      : path_(path_of(path, "sources")),
        file_(without_gil(path_, [this] { return open_shard(path_); })),
        archive_([this](std::span<std::byte> buffer) { return read(buffer); },
                 [this](std::int64_t bytes) { return skip(bytes); }) {}

  // Returns the next files as (name, data), at most `count`, and fewer if their data exceeds kHeldBytes; none
  // at the end. `data` is bytes, or (offset, size) in an uncompressed shard, or the exception for
  // data that is too large.
  nb::list next(std::size_t count) {
    const std::vector<File> files = without_gil(path_, [this, count] { return read_files(count); });
    nb::list list;
    for (const File& file : files) list.append(nb::make_tuple(path_object(file.name), data_of(file)));
    return list;
  }

 private:
  struct File {
    std::string name;
    std::optional<std::int64_t> offset;
    std::int64_t size = 0;
    std::vector<std::byte> data;  // without an offset
    std::optional<Error> error;   // the data is too large
  };

  [[nodiscard]] nb::object data_of(const File& file) const {
    if (file.error) return exception_of(*file.error, path_ + "/" + file.name);
    if (file.offset) return nb::make_tuple(*file.offset, file.size);
    return nb::bytes(file.data.data(), file.data.size());
  }

  std::vector<File> read_files(std::size_t count) {
    std::vector<File> files;
    std::size_t held = 0;
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    try {
      while (files.size() < count && held < kHeldBytes && !ended_) {
        std::optional<ArchiveMember> member = archive_.next();
        ended_ = !member;
        if (!member) break;
        ++members_;
        if (!member->is_file) continue;
        files.push_back(file_of(std::move(*member)));
        held += files.back().data.size();
      }
    } catch (...) {
      ended_ = true;
      if (files.empty()) throw;
      error_ = std::current_exception();  // after the files before it
    }
    return files;
  }

  File file_of(ArchiveMember member) {
    File file;
    file.name = std::move(member.name);
    file.size = member.size_bytes;
    if (member.data_offset && !member.is_sparse) {
      file.offset = member.data_offset;
      reads_headers_only_ = true;
      if (file.size > file_.size_bytes() - *file.offset) throw Error(ErrorKind::input, kTruncated);
    } else {
      file.error = error_of([&] { file.data = data_in_archive(file.name); });
      if (file.error && archive_.is_broken()) throw Error(*file.error);
    }
    return file;
  }

  // A small archive may expand without end: an image is at most as long as its header allows.
  std::vector<std::byte> data_in_archive(const std::string& name) {
    if (const auto format = format_by_ending(name); format && format_info(*format).readable) {
      const DecodeOptions limits = usual_decoding();
      return archive_.read_all(max_file_bytes(limits), [&](std::span<const std::byte> beginning) {
        std::int64_t longest = kLargestData;  // for other data
        (void)error_of([&] { longest = longest_file(beginning, limits); });
        return longest;
      });
    }
    try {
      return archive_.read_all(kLargestData);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::input || archive_.is_broken()) throw;
      throw Error(ErrorKind::input, "too large: more than " + std::to_string(kLargestData) + " bytes");
    }
  }

  std::size_t read(std::span<std::byte> buffer) {
    constexpr std::size_t kHeaderBlock = 4096, kSmallMembersBlock = 65536;
    constexpr std::int64_t kSmallMember = kSmallMembersBlock / 4;
    std::size_t bytes = buffer.size();
    if (reads_headers_only_) bytes = at_ < members_ * kSmallMember ? kSmallMembersBlock : kHeaderBlock;
    const std::size_t got = file_.read_at(at_, buffer.first(std::min(bytes, buffer.size())));
    at_ += static_cast<std::int64_t>(got);
    return got;
  }

  // Stops at the end of the file: the header of a member may claim any length.
  std::int64_t skip(std::int64_t bytes) {
    const std::int64_t skipped = std::clamp<std::int64_t>(file_.size_bytes() - at_, 0, bytes);
    at_ += skipped;
    return skipped;
  }

  const std::string path_;
  const InputFile file_;
  std::int64_t at_ = 0, members_ = 0;
  bool reads_headers_only_ = false, ended_ = false;
  std::exception_ptr error_;
  ArchiveReader archive_;
};

struct Part {
  std::string path;
  std::int64_t offset = 0, size = 0;
  std::byte* data = nullptr;
};

std::int64_t end_of(const Part& part) {
  return part.offset + part.size;
}

// Reads the parts of a file, which are in ascending order with only small gaps, with one system call if the
// system permits.
void read_run(int file, std::span<const Part> parts, std::span<std::byte> gap) {
  std::vector<iovec> rest;
  std::int64_t at = parts.front().offset;
  std::int64_t end = at;
  for (const Part& part : parts) {
    if (part.offset > end) rest.push_back({gap.data(), static_cast<std::size_t>(part.offset - end)});
    rest.push_back({part.data, static_cast<std::size_t>(part.size)});
    end = end_of(part);
  }
  for (auto first = rest.begin(); first != rest.end();) {
    const ssize_t got = ::preadv(file, &*first, static_cast<int>(rest.end() - first), at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(ErrorKind::input, "cannot read: " + system_reason(errno));
    if (got == 0) throw Error(ErrorKind::input, kTruncated);
    at += got;
    auto left = static_cast<std::size_t>(got);
    for (; first != rest.end() && left >= first->iov_len; ++first) left -= first->iov_len;
    if (left == 0) continue;
    first->iov_base = static_cast<std::byte*>(first->iov_base) + left;
    first->iov_len -= left;
  }
}

// Reads parts of one file, in ascending order.
void read_from(const std::string& path, std::span<const Part> parts) {
  constexpr std::int64_t kGapBytes = 4096;   // padding and a header
  constexpr std::ptrdiff_t kRunParts = 512;  // with gaps at most IOV_MAX
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (file.get() < 0) (void)open_shard(path);  // throws the reason
  std::vector<std::byte> gap(kGapBytes);
  for (auto first = parts.begin(); first != parts.end();) {
    auto last = first + 1;
    while (last != parts.end() && last - first < kRunParts && last->offset >= end_of(*(last - 1)) &&
           last->offset - end_of(*(last - 1)) <= kGapBytes)
      ++last;
    read_run(file.get(), {first, last}, gap);
    first = last;
  }
}

// Memory that one call of read() after the other fills, because the system takes longer to provide new pages
// than to read files into them. Thread-safe, because interpreters without a GIL free memoryviews on any
// thread.
class PartReader {
 public:
  // Reads parts of shards, each (path, offset, size), and returns a list of memoryviews. Opens a shard once.
  nb::list read(const std::vector<std::tuple<nb::bytes, std::int64_t, std::int64_t>>& parts) {
    std::int64_t total = 0;
    for (const auto& [path, offset, size] : parts) total += size;
    const auto [view, data] = block_of(std::max<std::size_t>(total, 1));
    nb::list list;
    std::vector<Part> wanted;
    std::int64_t at = 0;
    for (const auto& [path, offset, size] : parts) {
      list.append(view[nb::slice(at, at + size)]);
      if (size > 0) wanted.push_back({path_of(path, "sources"), offset, size, data + at});
      at += size;
    }
    std::ranges::sort(wanted, {}, [](const Part& part) { return std::tie(part.path, part.offset); });
    for (auto first = wanted.begin(); first != wanted.end();) {
      const auto last =
          std::find_if(first, wanted.end(), [&](const Part& part) { return part.path != first->path; });
      without_gil(first->path, [&] { read_from(first->path, {first, last}); });
      first = last;
    }
    return list;
  }

 private:
  struct Block {
    std::unique_ptr<std::byte[]> data;
    std::size_t size = 0;
  };
  struct Idle {
    std::mutex mutex;
    std::vector<Block> blocks;
  };
  struct Lease {
    Block block;
    std::shared_ptr<Idle> idle;
  };

  // Returns a memoryview of `size` bytes that are used again once no object refers to them, and the bytes.
  std::pair<nb::object, std::byte*> block_of(std::size_t size) {
    Block block;
    {
      const std::lock_guard lock(idle_->mutex);
      if (!idle_->blocks.empty()) {
        block = std::move(idle_->blocks.back());
        idle_->blocks.pop_back();
      }
    }
    if (block.size < size)
      block = {std::make_unique_for_overwrite<std::byte[]>(size + size / 4), size + size / 4};
    auto lease = std::make_unique<Lease>(std::move(block), idle_);
    std::byte* const data = lease->block.data.get();
    const nb::capsule owner(lease.get(), [](void* ended) noexcept {
      const std::unique_ptr<Lease> last(static_cast<Lease*>(ended));
      const std::lock_guard lock(last->idle->mutex);
      last->idle->blocks.push_back(std::move(last->block));
    });
    (void)lease.release();
    return {nb::cast(nb::ndarray<nb::memview, std::uint8_t, nb::ndim<1>>(data, {size}, owner)), data};
  }

  std::shared_ptr<Idle> idle_ = std::make_shared<Idle>();
};

// Returns the names of the shards that a pattern stands for: ranges in order, then matching files by name.
nb::list expand_shards(const nb::bytes& pattern) {
  nb::list list;
  for (const std::string& name : expand_ranges(path_of(pattern, "sources"))) {
    std::vector<std::string> names{name};
    std::error_code unknown;
    if (is_pattern(name) && !std::filesystem::exists(name, unknown))
      names = paths_matching(name, [](const std::string&) { return false; }).paths;
    if (names.empty()) throw Error(ErrorKind::usage, "sources: '" + printable(name) + "': no match");
    for (const std::string& found : names) list.append(nb::bytes(found.data(), found.size()));
  }
  return list;
}

// Returns whether a file name is that of a tar shard.
bool is_shard(const nb::bytes& name) {
  return !archive_ending({name.c_str(), name.size()}).empty();
}

nb::list image_extensions() {
  nb::list list;
  for (const FormatInfo& info : format_table()) {
    if (!info.readable) continue;
    for (const std::string_view ending : info.endings) list.append(nb::cast(std::string(ending)));
  }
  return list;
}

}  // namespace

void bind_archives(nb::module_& module) {
  nb::class_<ShardReader>(module, "ShardReader")
      .def(nb::init<const nb::bytes&>(), nb::arg("path"))
      .def("next", &ShardReader::next, nb::arg("count"),
           nb::sig("def next(self, count: int) -> list[tuple[str, bytes | tuple[int, int] | Exception]]"));
  nb::class_<PartReader>(module, "PartReader")
      .def(nb::init<>())
      .def("read", &PartReader::read, nb::arg("parts"),
           nb::sig("def read(self, parts: list[tuple[bytes, int, int]]) -> list[memoryview]"));
  module.def("expand_shards", &expand_shards, nb::arg("pattern"),
             nb::sig("def expand_shards(pattern: bytes) -> list[bytes]"));
  module.def("is_shard", &is_shard, nb::arg("name"));
  module.def("image_extensions", &image_extensions, nb::sig("def image_extensions() -> list[str]"));
}

}  // namespace imgpipe::python
