// Reads the data of shards' samples for imgpipe._samples.
#include "app/python/core/shard_samples.h"

#include <algorithm>
#include <cerrno>
#include <compare>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <fcntl.h>
#include <nanobind/stl/string.h>
#include <sys/uio.h>

#include "app/python/core/bindings.h"
#include "app/python/core/errors.h"
#include "app/python/core/without_gil.h"
#include "images/files/file.h"
#include "images/files/file_descriptor.h"
#include "images/text.h"

namespace imgpipe::python {
namespace {

// Where the data of a member is read to.
struct Part {
  const std::string* path = nullptr;
  ShardExtent extent;
  std::byte* data = nullptr;

  [[nodiscard]] std::int64_t end() const { return extent.offset + extent.size; }
};

// Reads the parts of a file, which are in ascending order with only small gaps, with one system call if the
// system permits.
void read_run(int file, std::span<const Part> parts, std::span<std::byte> gap) {
  std::vector<iovec> rest;
  std::int64_t at = parts.front().extent.offset;
  std::int64_t end = at;
  for (const Part& part : parts) {
    if (part.extent.offset > end)
      rest.push_back({gap.data(), static_cast<std::size_t>(part.extent.offset - end)});
    rest.push_back({part.data, static_cast<std::size_t>(part.extent.size)});
    end = part.end();
  }
  for (auto first = rest.begin(); first != rest.end();) {
    const ssize_t got = ::preadv(file, &*first, static_cast<int>(rest.end() - first), at);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw Error(ErrorKind::input, "cannot read: " + system_reason(errno));
    if (got == 0) throw Error(ErrorKind::input, kTruncatedShard);
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
  std::vector<std::span<const Part>> runs;
  for (auto first = parts.begin(); first != parts.end();) {
    auto last = first + 1;
    while (last != parts.end() && last - first < kRunParts && last->extent.offset >= (last - 1)->end() &&
           last->extent.offset - (last - 1)->end() <= kGapBytes)
      ++last;
    runs.emplace_back(first, last);
    first = last;
  }
  // The system fetches all runs at the same time, rather than each when it is read.
  for (const std::span<const Part> run : runs) {
    const std::int64_t first = run.front().extent.offset;
    if (runs.size() > 1)
      (void)::posix_fadvise(file.get(), first, run.back().end() - first, POSIX_FADV_WILLNEED);
  }
  std::vector<std::byte> gap(kGapBytes);
  for (const std::span<const Part> run : runs) read_run(file.get(), run, gap);
}

// Reads parts of any shards, without the interpreter's lock.
void read_parts(std::vector<Part> parts) {
  std::string path;
  without_gil([&](const Error& error) { return exception_of(error, path); },
              [&] {
                std::erase_if(parts, [](const Part& part) { return part.extent.size == 0; });
                std::ranges::sort(parts, [](const Part& a, const Part& b) {
                  const auto order = a.path == b.path ? std::strong_ordering::equal : *a.path <=> *b.path;
                  return order != 0 ? order < 0 : a.extent.offset < b.extent.offset;
                });
                for (auto first = parts.begin(); first != parts.end();) {
                  const auto last = std::find_if(
                      first, parts.end(), [&](const Part& part) { return *part.path != *first->path; });
                  path = *first->path;
                  read_from(path, {first, last});
                  first = last;
                }
              });
}

// Memory that one call of load() after the other fills, because the system takes longer to provide new pages
// than to read files into them. Thread-safe, because interpreters without a GIL free objects on any thread.
class ShardLoader {
 public:
  // Returns lists of the samples' keys, images, and dictionaries of other members. Opens a shard once.
  nb::tuple load(const nb::list& objects) {
    std::vector<const ShardSample*> samples;
    std::vector<Part> parts;
    std::size_t total = 0;
    for (const nb::handle object : objects) {
      samples.push_back(&nb::cast<const ShardSample&>(object));
      for (const ShardMember& member : samples.back()->members) {
        const auto* const extent = std::get_if<ShardExtent>(&member.data);
        if (extent == nullptr) continue;
        parts.push_back({samples.back()->shard.get(), *extent});
        total += static_cast<std::size_t>(extent->size);
      }
    }
    const auto [owner, data] = block_of(total);
    std::byte* end = data;
    for (Part& part : parts) part.data = std::exchange(end, end + part.extent.size);
    read_parts(parts);

    nb::list keys, images, members;
    const Part* part = parts.data();
    for (std::size_t i = 0; i < samples.size(); ++i) {
      const ShardSample& sample = *samples[i];
      const ShardMember& image_member = sample.members[sample.image];
      ShardImage image{.name = sample.name_of(image_member)};
      nb::dict others;
      for (const ShardMember& member : sample.members) {
        if (const auto* const error = std::get_if<Error>(&member.data)) {
          if (!image.error) image.error = exception_of(*error, sample.name_of(member));
          continue;
        }
        const auto* const held = std::get_if<std::vector<std::byte>>(&member.data);
        const std::span<const std::byte> content =
            held != nullptr
                ? std::span(*held)
                : std::span<const std::byte>(part->data, static_cast<std::size_t>(part->extent.size));
        if (held == nullptr) ++part;
        if (&member == &image_member) {
          image.data = content;
          image.owner = held != nullptr ? nb::borrow(objects[i]) : owner;
        } else {
          others[path_object(member.extension).attr("lower")()] = nb::bytes(content.data(), content.size());
        }
      }
      if (image.error) others.clear();
      keys.append(path_object(sample.key));
      images.append(nb::cast(std::move(image)));
      members.append(others);
    }
    return nb::make_tuple(keys, images, members);
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

  // Returns `size` bytes, which are used again once no object refers to their owner.
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
    nb::capsule owner(lease.get(), [](void* ended) noexcept {
      const std::unique_ptr<Lease> last(static_cast<Lease*>(ended));
      const std::lock_guard lock(last->idle->mutex);
      last->idle->blocks.push_back(std::move(last->block));
    });
    (void)lease.release();
    return {std::move(owner), data};
  }

  std::shared_ptr<Idle> idle_ = std::make_shared<Idle>();
};

}  // namespace

InputFile open_shard(const std::string& path) {
  std::optional<InputFile> file = open_on_disk(path, 0);
  if (!file) {
    (void)open_source(path);  // throws the reason
    throw Error(ErrorKind::input, "not a regular file");
  }
  return std::move(*file);
}

void bind_shard_samples(nb::module_& module) {
  nb::class_<ShardSample>(module, "ShardSample");
  nb::class_<ShardImage>(module, "ShardImage")
      .def_prop_ro(
          "name", [](const ShardImage& image) { return path_object(image.name); },
          nb::sig("def name(self) -> str"))
      .def("read", [](const ShardImage& image) {
        if (image.error) raise(image.error);
        return nb::bytes(image.data.data(), image.data.size());
      });
  nb::class_<ShardLoader>(module, "ShardLoader")
      .def(nb::init<>())
      .def("load", &ShardLoader::load, nb::arg("samples"),
           nb::sig("def load(self, samples: list[ShardSample]) -> tuple[list[str], list[ShardImage], "
                   "list[dict[str, bytes]]]"));
}

}  // namespace imgpipe::python
