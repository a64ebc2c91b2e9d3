// Reads tar shards for imgpipe._samples.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <tuple>
#include <utility>
#include <vector>

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "app/jobs/glob_paths.h"
#include "app/options/name_ranges.h"
#include "app/python/core/bindings.h"
#include "app/python/core/errors.h"
#include "images/codecs/codec.h"
#include "images/error.h"
#include "images/files/archive_reader.h"
#include "images/files/file.h"
#include "images/files/input_file.h"
#include "images/text.h"

namespace imgpipe::python {
namespace {

constexpr const char* kTruncated = "damaged archive: truncated";

InputFile open_shard(const std::string& path) {
  std::optional<InputFile> file = open_on_disk(path, 0);
  if (!file) {
    (void)open_source(path);  // throws the reason
    throw Error(ErrorKind::input, "not a regular file");
  }
  return std::move(*file);
}

// Runs `work` without the interpreter's lock. Its errors name the file `path`.
template <class Work>
auto on_file(const std::string& path, const Work& work) {
  try {
    const nb::gil_scoped_release others_run;
    return work();
  } catch (const Error& error) {
    set_exception(error, path);
    throw nb::python_error();
  }
}

// Lists the files in a shard. Reads only the headers of an uncompressed shard.
class ShardReader {
 public:
  explicit ShardReader(const nb::bytes& path)
      : path_(path.c_str(), path.size()),
        file_(on_file(path_, [this] { return open_shard(path_); })),
        archive_([this](std::span<std::byte> buffer) { return read(buffer); },
                 [this](std::int64_t bytes) { return skip(bytes); }) {}

  // Returns the next files as (name, data), at most `count`; none at the end. `data` is bytes, or (offset,
  // size) in an uncompressed shard.
  nb::list next(std::size_t count) {
    const std::vector<File> files = on_file(path_, [this, count] { return read_files(count); });
    nb::list list;
    for (const File& file : files)
      list.append(nb::make_tuple(path_object(file.name),
                                 file.offset ? nb::object(nb::make_tuple(*file.offset, file.size))
                                             : nb::object(nb::bytes(file.data.data(), file.data.size()))));
    return list;
  }

 private:
  struct File {
    std::string name;
    std::optional<std::int64_t> offset;
    std::int64_t size = 0;
    std::vector<std::byte> data;  // without an offset
  };

  std::vector<File> read_files(std::size_t count) {
    std::vector<File> files;
    if (error_) std::rethrow_exception(std::exchange(error_, nullptr));
    try {
      while (files.size() < count && !ended_) {
        std::optional<ArchiveMember> member = archive_.next();
        ended_ = !member;
        if (member && member->is_file) files.push_back(file_of(std::move(*member)));
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
      file.data = archive_.read_all(std::numeric_limits<std::int64_t>::max());
    }
    return file;
  }

  std::size_t read(std::span<std::byte> buffer) {
    constexpr std::size_t kHeaderBlock = 4096;  // one page: a header, and the data of small members
    const std::size_t bytes = reads_headers_only_ ? std::min(buffer.size(), kHeaderBlock) : buffer.size();
    const std::size_t got = file_.read_at(at_, buffer.first(bytes));
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
  std::int64_t at_ = 0;
  bool reads_headers_only_ = false, ended_ = false;
  std::exception_ptr error_;
  ArchiveReader archive_;
};

struct Part {
  std::string path;
  std::int64_t offset = 0, size = 0;
  std::byte* data = nullptr;
};

void read_part(const InputFile& file, const Part& part) {
  for (std::int64_t done = 0; done < part.size;) {
    const std::span<std::byte> rest(part.data + done, static_cast<std::size_t>(part.size - done));
    const std::size_t got = file.read_at(part.offset + done, rest);
    if (got == 0) throw Error(ErrorKind::input, kTruncated);
    done += static_cast<std::int64_t>(got);
  }
}

// Reads parts of shards, each (path, offset, size), and returns a list of bytes. Opens a shard once for
// adjacent parts of it.
nb::list read_parts(const std::vector<std::tuple<nb::bytes, std::int64_t, std::int64_t>>& parts) {
  std::vector<Part> wanted;
  nb::list list;
  for (const auto& [path, offset, size] : parts) {
    const nb::object data = nb::steal(PyBytes_FromStringAndSize(nullptr, size));
    if (!data.is_valid()) throw nb::python_error();
    list.append(data);
    wanted.push_back({{path.c_str(), path.size()},
                      offset,
                      size,
                      reinterpret_cast<std::byte*>(PyBytes_AsString(data.ptr()))});
  }
  for (auto first = wanted.begin(); first != wanted.end();) {
    const auto last =
        std::find_if(first, wanted.end(), [&](const Part& part) { return part.path != first->path; });
    on_file(first->path, [&] {
      const InputFile file = open_shard(first->path);
      std::for_each(first, last, [&](const Part& part) { read_part(file, part); });
    });
    first = last;
  }
  return list;
}

// Returns the names of the shards that a pattern stands for: ranges in order, then matching files by name.
nb::list expand_shards(const nb::bytes& pattern) {
  nb::list list;
  for (const std::string& name : expand_ranges({pattern.c_str(), pattern.size()})) {
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
           nb::sig("def next(self, count: int) -> list[tuple[str, bytes | tuple[int, int]]]"));
  module.def("read_parts", &read_parts, nb::arg("parts"),
             nb::sig("def read_parts(parts: list[tuple[bytes, int, int]]) -> list[bytes]"));
  module.def("expand_shards", &expand_shards, nb::arg("pattern"),
             nb::sig("def expand_shards(pattern: bytes) -> list[bytes]"));
  module.def("is_shard", &is_shard, nb::arg("name"));
  module.def("image_extensions", &image_extensions, nb::sig("def image_extensions() -> list[str]"));
}

}  // namespace imgpipe::python
